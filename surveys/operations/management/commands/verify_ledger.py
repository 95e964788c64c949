"""Tell whether the ledger is what it was, and what was published what it vouches for."""

import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.ledger import selectors
from surveys.operations.checks import faults, news


class Command(BaseCommand):
    help = (
        "Check every row of the ledger against its digest, and budgets, requests and all "
        "published numbers against "
        "their rows. Ends with 1 and names the rows and requests if anything was changed. Give "
        "the head and length "
        "that you noted, here or in the registry, to see whether rows were cut off since, or the "
        "chain written anew."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--head", default="", help="the digest of the newest row, when it was noted"
        )
        parser.add_argument("--length", type=int, help="how many rows there were then")
        parser.add_argument(
            "--new",
            action="store_true",
            help="read only rows since the last check: sees no change of what was read before",
        )

    def handle(self, *args: Any, head: str, length: int | None, new: bool, **options: Any) -> None:
        if new and (head or length is not None):
            raise CommandError("--new reads no older rows: --head and --length need all of them")
        found = news(now=datetime.datetime.now(datetime.UTC)) if new else None
        wrong = faults(head=head, length=length) if found is None else found
        if wrong:
            raise CommandError("\n".join(map(str, wrong)))
        digest, rows = selectors.head()
        said = "The ledger is whole" if found is None else "What is new of the ledger is whole"
        self.stdout.write(f"{said}: {rows} rows. Head {digest}")
