"""Accept a report, put receipts in order, erase and encrypt anew."""

import datetime
import itertools
from collections.abc import Iterable

from django.db import connection

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import erasing
from surveys.intake import group, receipt_tables, report_tables, selectors
from surveys.intake.group import Acceptance
from surveys.intake.models import DigestKey, Receipt
from surveys.intake.reports import Report
from surveys.isolation import isolate_failures


def accept(*, plan: Plan, report: Report, today: datetime.date) -> Acceptance:
    """Take one report, or recognise it as one that was taken."""
    (accepted,) = accept_many(plan=plan, reports=[report], today=today)
    return accepted


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


def settle(*, today: datetime.date) -> int:
    """Move the receipts of earlier days to where they stay, in the order of their digests; return
    how many. May raise InUse.

    Nobody finds a receipt in neither table. Marks of news forget in what order they came, and the
    keys of receipts when a Plan's first report made them: PostgreSQL says of each row which
    transaction wrote it, so that rows with a time beside would tell.
    """
    if not Receipt.objects.filter(day__lt=today).exists():
        return 0
    if connection.vendor == "postgresql":
        with erasing(intake_digestkey="sealed"):
            pass
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
        values, given, stratum = row
        if has_first_key(given):
            return row
        count += 1
        return values, seal(open_sealed(given, about=aad), about=aad), stratum

    report_tables.write_anew(plan, anew)
    return count
