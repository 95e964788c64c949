"""Accept a report, once."""

import datetime
import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from django.db import connection, transaction

from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.intake import queries, receipts
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
    content_digest = _sha256(report.report_id + report.canonical_content)
    with transaction.atomic():
        is_new = _insert(id_digest, content_digest, plan.pk, today)
        if is_new:
            if not design.is_open_now(plan.pk, today):
                raise Refused("plan", "this study has closed and takes no more answers", HTTPStatus.GONE)
            OpenReport.objects.create(plan=plan, values=report.canonical_values, given=_sealed(plan, report))
    accepted_on = today if is_new else _day_of(id_digest, content_digest, plan.pk)
    return Acceptance(receipt=receipts.number(id_digest), accepted_on=accepted_on, is_new=is_new)


def _sealed(plan: Plan, report: Report) -> bytes:
    """Encrypt what was sent as given before it is stored anywhere."""
    readers = documents.given(plan.content)
    if not readers:
        return b""
    packed = b"".join(reader.pack([report.given[name]]) for name, reader in readers.items())
    return seal(packed, about=queries.about(plan.digest))


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


def erase_retired() -> int:
    """Delete the reports of retired studies that no sweep has taken; return how many. Their receipts stay.

    A retired study's waves are closed in the transaction that retires it, and closing waits for reports under way,
    so none comes after. What a database keeps of deleted rows goes with its own housekeeping.
    """
    return OpenReport.objects.filter(plan__in=design.retired_plans()).delete()[0]


def encrypt_anew() -> int:
    """Encrypt with the first key what another one had encrypted, in transactions of CHUNK; return how many reports."""
    with_given = OpenReport.objects.exclude(given=b"").select_related("plan").order_by("pk")
    done, after = 0, 0
    while True:
        with transaction.atomic():
            reports = list(with_given.filter(pk__gt=after).select_for_update(of=("self",))[:CHUNK])
            old = [report for report in reports if not has_first_key(bytes(report.given))]
            for report in old:
                secret = queries.about(report.plan.digest)
                report.given = seal(open_sealed(bytes(report.given), about=secret), about=secret)
            OpenReport.objects.bulk_update(old, ["given"])
        if not reports:
            return done
        done, after = done + len(old), reports[-1].pk


def delete_open(ids: list[int]) -> int:
    """Delete swept reports; return how many there were."""
    chunks = (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
    return sum(OpenReport.objects.filter(pk__in=chunk).delete()[0] for chunk in chunks)
