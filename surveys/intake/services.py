"""Accept a report, put receipts in order, erase and encrypt anew."""

import datetime

from django.db import connection, transaction

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import erasing
from surveys.intake import group, report_tables, selectors
from surveys.intake.group import Acceptance
from surveys.intake.models import DigestKey, OpenReport, Receipt
from surveys.intake.reports import Report
from surveys.isolation import isolate_failures


def accept(*, plan: Plan, report: Report, today: datetime.date) -> Acceptance:
    """Take one report, or recognise it as one that was taken: a group of one."""
    (outcome,) = group.accept_all([group.Entry(plan, report, today)])
    if isinstance(outcome, Acceptance):
        return outcome
    raise outcome


def settle(*, today: datetime.date) -> int:
    """Move the receipts of earlier days to where they stay, in the order of their digests; return
    how many.

    All at once, so that neither their place, nor the transaction that wrote them, nor the shape of
    the index tells more than the day. The door waits meanwhile; nobody finds a receipt in neither
    table.
    """
    earlier = Receipt.objects.filter(day__lt=today)
    if not earlier.exists():
        return 0
    columns = "id_digest, content_digest, plan_id, day"
    with erasing(intake_receipt="content_digest"), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO intake_settled ({columns}) "  # noqa: S608
            f"SELECT {columns} FROM intake_receipt WHERE day < %s ORDER BY id_digest",
            [today.isoformat()],
        )
        moved = cursor.rowcount
        cursor.execute("DELETE FROM intake_receipt WHERE day < %s", [today.isoformat()])
    return int(moved)


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
    left = retired.filter(pk__in=OpenReport.objects.values_list("plan_id", flat=True))
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
    waits = design.plans().filter(pk__in=selectors.open_counts())
    return sum(_encrypt_anew(plan) for plan in waits if plan.content.cleartext)


@transaction.atomic
def _encrypt_anew(plan: Plan) -> int:
    report_tables.hold_all(plan)
    aad = selectors.report_aad(plan.digest)
    rows = report_tables.rows(plan)
    old = [row for row in rows if row[2] and not has_first_key(row[2])]
    report_tables.remove(plan, [pk for pk, _, _ in old])
    new = [(seal(open_sealed(given, about=aad), about=aad), values) for _, values, given in old]
    new.sort()  # by what chance made of each, so in an order that tells nothing
    OpenReport.objects.bulk_create(
        (OpenReport(plan=plan, values=v, given=g) for g, v in new), batch_size=500
    )
    return len(new)
