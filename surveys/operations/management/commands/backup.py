"""`manage.py backup`: a copy of the database that only its owner may read."""

import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from surveys.operations import backups

USUAL_KEPT = 7


class Command(BaseCommand):
    help = (
        "Make a backup of the database while the site goes on, keep the newest few, and note it "
        "for /health/. "
        "The keys are not in it: keep them elsewhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to", type=Path, help="the folder; CANDOR_BACKUPS, or backups in the data folder"
        )
        parser.add_argument(
            "--keep",
            type=int,
            default=USUAL_KEPT,
            help=f"how many to keep; {USUAL_KEPT} if not given",
        )

    def handle(self, *args: Any, to: Path | None, keep: int, **options: Any) -> None:
        if keep < 1:
            raise CommandError(f"--keep must be 1 or more, got {keep}")
        folder = to or settings.BACKUPS_DIR
        try:
            made = backups.make(folder=folder, keep=keep, now=datetime.datetime.now(datetime.UTC))
        except backups.Failed as failure:
            raise CommandError(f"No backup was made. {failure}") from failure
        self.stdout.write(
            f"{made} ({made.stat().st_size:,} bytes). The keys are not in it: keep them elsewhere."
        )
