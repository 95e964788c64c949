from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "surveys.operations"
    label = "operations"

    def ready(self) -> None:
        from surveys.operations import tasks  # noqa: F401 (every task says when it was sent)
