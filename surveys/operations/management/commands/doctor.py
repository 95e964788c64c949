"""`manage.py doctor`: what this deployment lacks, and what to do about it."""

import datetime
import sys
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandParser

from surveys.operations import doctor
from surveys.operations.check import State

SIGNS = {State.ALARM: "MUST", State.WATCH: "look", State.GOOD: "well"}


class Command(BaseCommand):
    help = (
        "Looks at settings, database, migrations, clock, keys, files, broker, worker, scheduler, "
        "backups, disk, and asks the site as a visitor would. Says what to do; ends with 1 if "
        "something must be done."
    )
    requires_system_checks = []  # it says what they say

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--url", help="where visitors ask; in production https:// and the first allowed host"
        )

    def handle(self, *args: Any, url: str | None, **options: Any) -> None:
        if url is None and settings.PRODUCTION:
            url = settings.SITE_ADDRESS
        found = doctor.look(now=datetime.datetime.now(datetime.UTC), url=url and url.rstrip("/"))
        for line in found:
            self.stdout.write(f"{SIGNS[line.state]}  {line.name}: {line.said}")
            if line.state is not State.GOOD and line.todo:
                self.stdout.write(f"      {line.to_do}")
        if any(line.state is State.ALARM for line in found):
            sys.exit(1)
        self.stdout.write("Nothing must be done.")
