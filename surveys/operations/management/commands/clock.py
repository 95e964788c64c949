"""`manage.py clock`: both clocks, and a person's word that they are right."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from surveys import clock


class Command(BaseCommand):
    help = (
        "Says the time of this server and of the database, and whether it decides what cannot be "
        "undone. After a jump that somebody has looked at, --is-right ends the wait of two hours."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--is-right", action="store_true", help="it was compared with another")

    def handle(self, *args: Any, is_right: bool, **options: Any) -> None:
        look = clock.Look()
        self.stdout.write(f"Here {look.here:%Y-%m-%d %H:%M:%S} UTC, database {look.there:%H:%M:%S}")
        if is_right:
            clock.note(is_right=True)
        if doubt := clock.doubt():
            raise CommandError(doubt)
        self.stdout.write("The clock decides what is due.")
