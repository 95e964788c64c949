"""Tell whether the ledger is what it was, and what was published what it vouches for."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.ledger import selectors
from surveys.operations.checks import faults


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

    def handle(self, *args: Any, head: str, length: int | None, **options: Any) -> None:
        if wrong := faults(head=head, length=length):
            raise CommandError("\n".join(map(str, wrong)))
        digest, rows = selectors.head()
        self.stdout.write(f"The ledger is whole: {rows} rows. Head {digest}")
