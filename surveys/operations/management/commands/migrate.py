"""Django's, for databases that this version opens."""

from typing import Any

from django.core.management.commands import migrate

from surveys.tables import Changes, refuse_older


class Command(migrate.Command):
    autodetector = Changes

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_older(options["database"])
        super().handle(*args, **options)
