"""Install the words of the form in one more language, from a catalogue (gettext, .po): then studies
can be asked in it. Nothing is installed if one message of it is wrong.
"""

import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys import languages
from surveys.design.refusals import Refused
from surveys.design.words import install
from surveys.people.services import CONSOLE


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the catalogue, made from locale/form/en.po")
        parser.add_argument("--why", required=True, help="who made it, for the public ledger")

    def handle(self, *args: Any, file: Path, why: str, **options: Any) -> None:
        now = datetime.datetime.now(datetime.UTC)
        try:
            made = install(po=file.read_bytes(), who=CONSOLE, why=why, now=now)
        except (Refused, OSError) as refusal:
            raise CommandError(f"{refusal}\nNothing was installed.") from refusal
        self.stdout.write(f"Installed: {languages.name(made.tag)} ({made.tag}), {made.sha256}")
