"""Look up receipts, and hand open reports to the sweep."""

import datetime
import json
from typing import Any

from django.db.models import Count

from surveys.intake import receipts
from surveys.intake.models import OpenReport, Receipt

DIGEST_DIGITS = 64


def day_accepted(receipt: str) -> datetime.date | None:
    """Return the day a report was accepted, or None if none with this receipt was."""
    start = receipts.prefix(receipt)
    if start is None:
        return None
    padding = DIGEST_DIGITS - len(start)
    found = Receipt.objects.filter(id_digest__gte=start + "0" * padding, id_digest__lte=start + "f" * padding)
    return found.values_list("day", flat=True).first()


def open_counts() -> dict[int, int]:
    """Return how many reports wait for a sweep, by Plan id."""
    return dict(OpenReport.objects.values_list("plan_id").annotate(Count("pk")).order_by())


def open_reports(*, plan_id: int, limit: int) -> tuple[list[int], list[list[Any]]]:
    """Return the ids and values of reports that wait: whichever are visible, never from a mark on."""
    rows = OpenReport.objects.filter(plan_id=plan_id).order_by("pk").values_list("pk", "values")[:limit]
    return [row[0] for row in rows], [json.loads(row[1]) for row in rows]
