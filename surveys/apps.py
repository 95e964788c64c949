"""The hall: what belongs to the whole house and to no room."""

from importlib import import_module

from django.apps import AppConfig


class HallConfig(AppConfig):
    name = "surveys"
    label = "hall"

    def ready(self) -> None:
        import_module("surveys.checks")  # registers them
