"""Look up receipts, and hand open reports to the sweep."""

import datetime
import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from surveys.design.models import Plan
from surveys.encryption import CannotOpen, open_sealed
from surveys.intake import receipts, report_tables
from surveys.intake.models import OpenReport, Receipt, Settled

DIGEST_DIGITS = 64


def day_accepted(receipt: str) -> datetime.date | None:
    """Return the day a report was accepted, or None if none with this receipt was."""
    start = receipts.prefix(receipt)
    if start is None:
        return None
    least, most = (bytes.fromhex(start.ljust(DIGEST_DIGITS, digit)) for digit in "0f")
    for table in (Receipt, Settled):  # in the order in which a receipt moves
        day = (
            table.objects.filter(id_digest__gte=least, id_digest__lte=most)
            .values_list("day", flat=True)
            .first()
        )
        if day is not None:
            return day
    return None


def accepted(plan: Plan) -> int:
    """Return how many reports were ever accepted for a Plan: what remains countable when they
    are erased.
    """
    today, earlier = (
        table.objects.filter(plan=plan).values("plan_id") for table in (Receipt, Settled)
    )
    return today.union(
        earlier, all=True
    ).count()  # in one statement, so that none is between the two


def open_counts() -> dict[int, int]:
    """Return how many reports wait for a sweep, by Plan id."""
    return dict(OpenReport.objects.values_list("plan_id").annotate(Count("pk")).order_by())


@dataclass(frozen=True, slots=True)
class Kept:
    """An open report: its values changed by chance, and its packed answers that were sent as
    given.
    """

    values: list[Any]
    given: bytes


def open_reports(*, plan: Plan, limit: int) -> tuple[list[int], list[Kept]]:
    """Return the ids and contents of reports that wait: whichever are visible, never from a mark
    on.
    """
    rows = report_tables.rows(plan, limit)
    aad = report_aad(plan.digest)
    sealed = [given for _, _, given in rows if given]
    if len(set(sealed)) != len(sealed):  # counted often, an answer outgrows the noise that hides it
        raise CannotOpen(
            f"{aad}: expected each sealed once, got one twice or more; put a backup of them back"
        )
    kept = [
        Kept(json.loads(values), open_sealed(given, about=aad) if given else b"")
        for _, values, given in rows
    ]
    return [row[0] for row in rows], kept


def report_aad(digest: str) -> str:
    """Return the associated data of an open report's ciphertext: public, and bound to it."""
    return f"report on plan {digest}"
