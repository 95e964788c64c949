"""Accept a report, once."""

import datetime
import hashlib
import hmac
from dataclasses import dataclass
from http import HTTPStatus

from django.db import connection, transaction

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import erasing
from surveys.intake import digest_keys, receipt_tables, receipts, report_tables, selectors
from surveys.intake.models import DigestKey, Receipt, Settled
from surveys.intake.reports import Refused, Report
from surveys.isolation import isolate_failures


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
    try:
        return _accept(plan, report, today)
    except report_tables.NoPlace:
        report_tables.make_place(plan.pk)
        return _accept(plan, report, today)


def _accept(plan: Plan, report: Report, today: datetime.date) -> Acceptance:
    id_digest = hashlib.sha256(report.report_id.encode()).digest()
    key = digest_keys.key_of(plan, today)
    content_digest = (
        digest_keys.digest(key, report.report_id, report.canonical_content) if key else None
    )
    receipt = Receipt(id_digest=id_digest, content_digest=content_digest, plan=plan, day=today)
    is_new = key is not None and _take(receipt, report)
    accepted_on = today if is_new else _day_of(receipt)
    return Acceptance(receipt=receipts.number(id_digest), accepted_on=accepted_on, is_new=is_new)


def _take(receipt: Receipt, report: Report) -> bool:
    """Store a report whose id is free; tell whether it was.

    Its receipt comes first: from then on no receipt of an earlier day leaves this table (`settle`
    holds it alone for that, and copied them before), so settled ones are looked through as they
    are.
    """
    with transaction.atomic():
        if not _insert(receipt):
            return False
        if Settled.objects.filter(pk=receipt.id_digest).exists():
            transaction.set_rollback(True)  # the id is that of an earlier day
            return False
        if not design.is_open_now(receipt.plan_id, receipt.day):
            raise _closed()
        report_tables.put(receipt.plan, report.canonical_values, _sealed(receipt.plan, report))
    return True


def _closed() -> Refused:
    return Refused("plan", "this study has closed and takes no more answers", HTTPStatus.GONE)


def _sealed(plan: Plan, report: Report) -> bytes:
    """Encrypt what was sent as given before it is stored anywhere."""
    channels = plan.content.cleartext
    if not channels:
        return b""
    packed = b"".join(channel.pack([report.given[name]]) for name, channel in channels.items())
    return seal(packed, about=selectors.report_aad(plan.digest))


def _insert(receipt: Receipt) -> bool:
    """Claim the id; tell whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO intake_receipt (id_digest, content_digest, plan_id, day) VALUES (%s, %s, "
            "%s, %s) "
            "ON CONFLICT (id_digest) DO NOTHING",
            [
                bytes(receipt.id_digest),
                bytes(receipt.content_digest),
                receipt.plan_id,
                receipt.day.isoformat(),
            ],
        )
        return bool(cursor.rowcount == 1)


def _day_of(receipt: Receipt) -> datetime.date:
    """Return when a report was accepted. Without the Plan's key nobody can compare what it says,
    and nobody does.
    """
    earlier = selectors.receipt(bytes(receipt.id_digest))
    if earlier is None:
        raise _closed()
    same = receipt.content_digest is None or hmac.compare_digest(
        bytes(earlier.content_digest), receipt.content_digest
    )
    if not same or earlier.plan_id != receipt.plan_id:
        raise Refused(
            "report_id",
            "a report with this id and other content was accepted before",
            HTTPStatus.CONFLICT,
        )
    return earlier.day


def settle(*, today: datetime.date) -> int:
    """Move the receipts of earlier days to where they stay, in the order of their digests; return
    how many. May raise InUse.

    Nobody finds a receipt in neither table. Marks of news forget in what order they came.
    """
    if not Receipt.objects.filter(day__lt=today).exists():
        return 0
    return receipt_tables.settle(today)


def erase_retired() -> int:
    """Erase the reports of retired studies that no sweep has taken; return how many. Their receipts
    stay.

    The key that binds receipts to what was said goes too. A retired study's waves are closed in the
    transaction that retires it, and closing waits for reports under way, so none comes after.
    """
    retired = design.retired_plans()
    keys = DigestKey.objects.filter(plan__in=retired)
    if keys.exists():
        with erasing(intake_digestkey="sealed"):
            keys.delete()
    left = retired.filter(pk__in=report_tables.plans_that_may_wait())
    return sum(isolate_failures(left, report_tables.empty))


def drop_closed() -> int:
    """Drop the tables in which the reports of closed Plans waited, once they are empty; return
    how many.
    """
    closed = design.plans().filter(
        pk__in=report_tables.plans_with_a_place(), closed_on__isnull=False
    )
    return sum(isolate_failures(closed, report_tables.drop))


def encrypt_anew() -> int:
    """Encrypt with the first key what another one had encrypted, a transaction a Plan; return how
    many reports.

    May raise InUse.
    """
    waits = design.plans().filter(pk__in=report_tables.plans_that_may_wait())
    return sum(_encrypt_anew(plan) for plan in waits if plan.content.cleartext)


def _encrypt_anew(plan: Plan) -> int:
    aad, count = selectors.report_aad(plan.digest), 0

    def anew(row: report_tables.Row) -> report_tables.Row:
        nonlocal count
        values, given = row
        if has_first_key(given):
            return row
        count += 1
        return values, seal(open_sealed(given, about=aad), about=aad)

    report_tables.write_anew(plan, anew)
    return count
