"""Look up receipts, and hand open reports to the sweep."""

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, QuerySet

from surveys.design.models import Plan
from surveys.encryption import CannotOpen, open_sealed, seal
from surveys.intake import receipts, report_tables
from surveys.intake.models import Counted, OpenReport, Receipt, Sealed, Settled, Unswept
from surveys.intake.reports import encoded
from surveys.parts import in_parts
from surveys.plan.strata import least_waiting

DIGEST_DIGITS = 64
AT_ONCE = 500  # tables in one statement, which locks them: a server has room for some thousands


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


def waiting_of_strata(plan: Plan) -> dict[int, int]:
    """Return how many reports of each stratum of a Plan wait; of one without strata, as of 0."""
    return {at or 0: many for at, many in report_tables.waiting_of_strata(plan.pk).items()}


def note_sealed(plan: Plan, strata: Sequence[int]) -> None:
    """Count what a sweep takes of each stratum, in its transaction, where somebody has to know."""
    if not (plan.content.stratum_sizes or plan.is_limited):
        return
    for stratum, reports in enumerate(strata):
        Sealed.objects.get_or_create(plan=plan, stratum=stratum)
        Sealed.objects.filter(plan=plan, stratum=stratum).update(reports=F("reports") + reports)


def accepted_of_strata(plan: Plan) -> list[int]:
    """Return how many reports of each stratum of an invited Plan were accepted, sealed or not: as
    public as how many came. Empty where they are not told apart; of a retired study, those that
    were sealed.
    """
    accepted = report_tables.accepted(plan.pk)
    return [accepted.get(at, 0) for at in range(len(plan.content.stratum_sizes))]


def is_full(plan: Plan) -> bool:
    """Tell whether as many answers have come as close a Plan, or each of its strata."""
    if not plan.is_limited:
        return False
    accepted = sum(deciding(plan.pk, is_listed=plan.content.invited is not None).values())
    if plan.closes_at is not None and accepted >= plan.closes_at:
        return True
    return len(full_strata(plan)) == (len(plan.content.stratum_sizes) or 1)


def full_strata(plan: Plan) -> list[int]:
    """Return the strata of which as many have answered as close them: each is as public as that a
    Plan has closed.
    """
    if plan.stratum_closes_at is None:
        return []
    accepted = deciding(plan.pk, is_listed=plan.content.invited is not None)
    strata = range(len(plan.content.stratum_sizes) or 1)
    return [at for at in strata if accepted.get(at, 0) >= plan.stratum_closes_at]


def deciding(plan_id: int, *, is_listed: bool) -> dict[int, int]:
    """Return how many reports of each stratum decide whether a Plan is full: those that came; where
    a list is asked, those that had come by last midnight.
    """
    if not is_listed:
        return report_tables.accepted(plan_id)
    return dict(Counted.objects.filter(plan=plan_id).values_list("stratum", "reports"))


def unsealed(plan_ids: Iterable[int]) -> list[QuerySet[Any, tuple[int, int]]]:
    """Return what counts the reports of Plans that are in no tally, by Plan id: those that wait for
    a sweep, and those that were erased before one, as their study retired.
    """
    erased = Unswept.objects.filter(plan__in=plan_ids)
    return [_open_counts(plan_ids), erased.values_list("plan_id", "reports")]


def open_counts() -> dict[int, int]:
    """Return how many reports of every Plan wait for a sweep, by its id: for rare looks."""
    counts: dict[int, int] = {}
    for some in in_parts(report_tables.plans_that_may_wait(), AT_ONCE):
        counts.update(_open_counts(some))
    return counts


def _open_counts(plan_ids: Iterable[int]) -> QuerySet[Any, tuple[int, int]]:
    waiting = OpenReport.objects.filter(plan__in=plan_ids).order_by().values("plan_id")
    return waiting.annotate(many=Count("pk")).values_list("plan_id", "many")


def has_waiting(plan_id: int, least: int) -> bool:
    """Tell whether so many reports of a Plan wait; of its strata, as many as a sweep seals of one.

    No more are counted, unless there are strata.
    """
    if report_tables.waiting(plan_id, least) < least:
        return False
    strata = report_tables.waiting_of_strata(plan_id)
    return least == 1 or any(
        many >= (least if stratum is None else least_waiting(least))
        for stratum, many in strata.items()
    )


@dataclass(frozen=True, slots=True)
class WaitingReport:
    """An open report: its values changed by chance, and its packed answers that were sent as
    given.
    """

    values: list[Any]
    given: bytes
    stratum: int | None = None


def taken(*, plan: Plan, **limits: int) -> Iterator[list[WaitingReport]]:
    """Take reports that wait, as `report_tables.taken` does, and yield what they hold."""
    aad = report_aad(plan.digest)
    for rows in report_tables.taken(plan, **limits):
        sealed = [given for _, given, _ in rows if given]
        if len(set(sealed)) != len(sealed):  # counted often, an answer outgrows its noise
            raise CannotOpen(
                f"{aad}: expected each sealed once, got one twice or more; put a backup of them "
                "back"
            )
        said = json.loads(
            f"[{','.join(values for values, _, _ in rows)}]"
        )  # at once: 4 times as fast
        yield [
            WaitingReport(values, open_sealed(given, about=aad) if given else b"", stratum)
            for values, (_, given, stratum) in zip(said, rows, strict=True)
        ]


def put_back(plan: Plan, kept: Sequence[WaitingReport]) -> None:
    """Let reports that were taken wait on, in this order, in the transaction that took them."""
    aad = report_aad(plan.digest)
    report_tables.put(
        [
            (
                plan.pk,
                encoded(each.values),
                seal(each.given, about=aad) if each.given else b"",
                each.stratum,
            )
            for each in kept
        ]
    )


def report_aad(digest: str) -> str:
    """Return the associated data of an open report's ciphertext: public, and bound to it."""
    return f"report on plan {digest}"
