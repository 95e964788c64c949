"""Look up receipts, and hand open reports to the sweep."""

import datetime
import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from surveys.design.models import Plan
from surveys.encryption import CannotOpen, open_sealed
from surveys.intake import receipts
from surveys.intake.models import OpenReport, Receipt
from surveys.intake.pages import words as words_of_page  # also for the preview of a draft

__all__ = ["words_of_page"]  # of what stands in a module of its own

DIGEST_DIGITS = 64


def day_accepted(receipt: str) -> datetime.date | None:
    """Return the day a report was accepted, or None if none with this receipt was."""
    start = receipts.prefix(receipt)
    if start is None:
        return None
    padding = DIGEST_DIGITS - len(start)
    found = Receipt.objects.filter(id_digest__gte=start + "0" * padding, id_digest__lte=start + "f" * padding)
    return found.values_list("day", flat=True).first()


def accepted(plan: Plan) -> int:
    """Return how many reports were ever accepted for a Plan: what remains countable when they are erased."""
    return Receipt.objects.filter(plan=plan).count()


def open_counts() -> dict[int, int]:
    """Return how many reports wait for a sweep, by Plan id."""
    return dict(OpenReport.objects.values_list("plan_id").annotate(Count("pk")).order_by())


@dataclass(frozen=True, slots=True)
class Kept:
    """An open report: its values changed by chance, and its packed answers that were sent as given."""

    values: list[Any]
    given: bytes


def open_reports(*, plan: Plan, limit: int) -> tuple[list[int], list[Kept]]:
    """Return the ids and contents of reports that wait: whichever are visible, never from a mark on."""
    rows = OpenReport.objects.filter(plan=plan).order_by("pk").values_list("pk", "values", "given")[:limit]
    secret = about(plan.digest)
    _refuse_copies([bytes(given) for _, _, given in rows if given], secret)
    kept = [
        Kept(json.loads(values), open_sealed(bytes(given), about=secret) if given else b"") for _, values, given in rows
    ]
    return [row[0] for row in rows], kept


def _refuse_copies(sealed: list[bytes], secret: str) -> None:
    """No two are sealed alike unless someone copied one: counted often, an answer outgrows the noise that hides it."""
    if len(set(sealed)) != len(sealed):
        raise CannotOpen(f"{secret}: expected each sealed once, got one twice or more; put a backup of them back")


def about(digest: str) -> str:
    """Return what the encrypted part of an open report is bound to."""
    return f"report on plan {digest}"
