"""Accept a report, once."""

import datetime
import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from django.db import connection, transaction

from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.intake import receipts
from surveys.intake.models import OpenReport, Receipt
from surveys.intake.reports import Refused, Report

CHUNK = 500  # ids in one statement


@dataclass(frozen=True, slots=True)
class Acceptance:
    receipt: str
    accepted_on: datetime.date
    is_new: bool


def accept(*, plan: Plan, report: Report, today: datetime.date) -> Acceptance:
    """Take a report, or recognise it as one that was taken; never count it twice.

    One INSERT that gives way to an earlier one decides, so that any number of equal posts at
    once are one report. Its values are stored in the same transaction, and only while the Plan is
    open; a retry of what was accepted is answered the same for ever.
    """
    id_digest = _sha256(report.report_id)
    content_digest = _sha256(report.report_id + report.canonical_values)
    with transaction.atomic():
        is_new = _insert(id_digest, content_digest, plan.pk, today)
        if is_new:
            if not design.is_open_now(plan.pk, today):
                raise Refused("plan", "this study has closed and takes no more answers", HTTPStatus.GONE)
            OpenReport.objects.create(plan=plan, values=report.canonical_values)
    accepted_on = today if is_new else _day_of(id_digest, content_digest, plan.pk)
    return Acceptance(receipt=receipts.number(id_digest), accepted_on=accepted_on, is_new=is_new)


def _insert(id_digest: str, content_digest: str, plan_id: int, day: datetime.date) -> bool:
    """Claim the id; tell whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO intake_receipt (id_digest, content_digest, plan_id, day) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (id_digest) DO NOTHING",
            [id_digest, content_digest, plan_id, day.isoformat()],
        )
        return bool(cursor.rowcount == 1)


def _day_of(id_digest: str, content_digest: str, plan_id: int) -> datetime.date:
    earlier = Receipt.objects.get(pk=id_digest)
    if (earlier.content_digest, earlier.plan_id) != (content_digest, plan_id):
        raise Refused("report_id", "a report with this id and other content was accepted before", HTTPStatus.CONFLICT)
    return earlier.day


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def delete_open(ids: list[int]) -> int:
    """Delete swept reports; return how many there were."""
    chunks = (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
    return sum(OpenReport.objects.filter(pk__in=chunk).delete()[0] for chunk in chunks)
