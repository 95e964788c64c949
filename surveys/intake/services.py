"""Accept a report, put receipts in order, erase and encrypt anew."""

import datetime
import itertools
from collections.abc import Collection, Iterable

from django.db import connection

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import erasing
from surveys.intake import group, receipt_tables, report_tables, selectors
from surveys.intake.group import Acceptance
from surveys.intake.models import Counted, DigestKey, Receipt
from surveys.intake.reports import Report
from surveys.isolation import isolate_failures

# Bytes that a door may wait for: more are a backlog, which sweeps take. Here 50,000 reports of 60
# characters keep it waiting for .6 s, and 2,000 of 4,000 for .4 s.
MOST_WAITING = 8 << 20


def accept_many(*, plan: Plan, reports: Iterable[Report], today: datetime.date) -> list[Acceptance]:
    """Take reports, a group in a transaction, or raise what keeps one of them from being taken."""
    entries = iter([group.Entry(plan, report, today) for report in reports])
    accepted: list[Acceptance] = []
    while some := list(itertools.islice(entries, group.LARGEST)):
        for outcome in group.accept_all(some):
            if not isinstance(outcome, Acceptance):
                assert isinstance(outcome, Exception)  # noqa: S101 (it goes through no log)
                raise outcome
            accepted.append(outcome)
    return accepted


def prepare(plan: Plan) -> None:
    """Make the place for a Plan's reports before the first comes: PostgreSQL's catalogs keep when
    it was made, and nothing writes them anew.
    """
    if connection.vendor == "postgresql":
        report_tables.make_place(plan.pk)


def count(plan: Plan) -> None:
    """Note how many reports of a Plan with a list have come, at midnight: by these it closes."""
    came = report_tables.accepted(plan.pk)
    Counted.objects.bulk_create(
        [Counted(plan=plan, stratum=at, reports=many) for at, many in sorted(came.items())],
        update_conflicts=True,
        unique_fields=["plan", "stratum"],
        update_fields=["reports"],
    )


def settle(*, today: datetime.date, but: Collection[int] = ()) -> int:
    """Move the receipts of earlier days to where they stay, in the order of their digests, but
    those of these Plans; return how many. May raise InUse.

    Nobody finds a receipt in neither table. Marks of news forget in what order they came.
    """
    if not Receipt.objects.filter(day__lt=today).exclude(plan__in=but).exists():
        return 0
    return receipt_tables.settle(today, but)


def forget_moments(swept: Collection[int]) -> None:
    """Write keys of receipts, counts of sealed reports and reports that wait anew: the last in the
    order of what they hold. May raise InUse: then some are, and the next try begins again.

    PostgreSQL says of each row which transaction wrote it, and of each table which cut it last: so
    tables of Plans that were `swept` lately are cut again. Beside a row that has a time, that tells
    when a Plan's first report came, when a batch was sealed, and when each waiting report came.
    """
    if connection.vendor == "postgresql":
        with erasing(intake_digestkey="sealed", intake_sealed="reports"):
            pass
    waits = design.plans().filter(pk__in=report_tables.plans_that_may_wait())

    def put_in_order(plan: Plan) -> None:
        was_cut = connection.vendor == "postgresql" and plan.pk in swept
        is_due = was_cut or report_tables.waiting(plan.pk, most=1)
        if is_due and report_tables.size(plan.pk) <= MOST_WAITING:
            report_tables.write_anew(plan, lambda row: row)

    isolate_failures(waits, put_in_order)


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
        values, given, stratum = row
        if has_first_key(given):
            return row
        count += 1
        return values, seal(open_sealed(given, about=aad), about=aad), stratum

    report_tables.write_anew(plan, anew)
    return count
