"""`manage.py audit_linkage DUMP… --truth FILE [--log FILE]…`: play the insider."""

import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from surveys.operations.linkage.copies import Unreadable
from surveys.operations.linkage.joins import BadTruth, Join, audit, people_of

SHOWN = 20  # joins


class Command(BaseCommand):
    help = (
        "Tries to tell whose report is whose, from copies of the data of a rehearsal whose people "
        "are known: SQLite files, dumps of pg_dump, data folders, postgresql:// (the oldest "
        "first). Prints what it tried, how many people are hidden among how many, and the joins "
        "that are right more often than chance; ends with 1 if there are any."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dumps", nargs="+", metavar="DUMP")
        parser.add_argument(
            "--truth",
            type=Path,
            required=True,
            help="CSV, a line a person: stratum, fetched and answered (their order in whole "
            "numbers), list… and report… (identifiers on either side: a reference, a digest)",
        )
        parser.add_argument(
            "--log",
            type=Path,
            action="append",
            default=[],
            help="a log, or what a broker keeps: no identifier may stand in it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = audit(people_of(options["truth"]), options["dumps"], options["log"])
        except (BadTruth, Unreadable, OSError) as error:
            raise CommandError(str(error)) from None
        for look, sizes in found.sizes.items():
            said = ", ".join(f"{times} × {size}" for size, times in sorted(sizes.items()))
            self.stdout.write(f"{look}: hidden among each other, sets × people: {said}")
        least = min(found.joins, key=lambda each: each.likely, default=None)
        self.stdout.write(f"{len(found.joins)} joins tried")
        for join in found.found[:SHOWN] or ([least] if least else []):
            self.stdout.write(_said(join))
        for file, times in found.named.items():
            self.stdout.write(f"{file}: {times} identifiers")
        if found.found or any(found.named.values()):
            self.stdout.write(f"FOUND: {len(found.found)} joins tell more than chance")
            sys.exit(1)
        self.stdout.write("Nothing tells more than chance.")


def _said(join: Join) -> str:
    return (
        f"{join.copies}: {join.one} × {join.other}: {join.right} of {join.people} right where "
        f"chance has {join.sets}, {join.halves} in both first halves; by chance in all joins "
        f"{join.likely:.2g}"
    )
