from typing import Any

from django.core.management import BaseCommand

from surveys.operations import up


class Command(BaseCommand):
    """`manage.py` calls the same without Django's applications, which a supervisor does not need:
    by this way, with options of Django's, it takes more memory.
    """

    help = (
        "Run the site: door, pages, worker, scheduler and, unless REDIS_URL is set, their "
        "broker. Ctrl-C ends all."
    )

    requires_system_checks = ()  # they are its first act

    def handle(self, *args: Any, **options: Any) -> None:
        up.main()
