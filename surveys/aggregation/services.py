"""Sweep open reports into sealed batches, and count them.

One transaction takes the Plan's reports, shuffles, packs, counts and erases: a worker that dies in
the middle has done nothing, and the next sweep does it all. Which Plans to look at, marks say; a
worker that finds a Plan's tally held by another goes on to the next Plan. Reports are taken as they
are found, not from an id on: a row that commits late is found. Where a backup reads them, all stay.

Where a list of people was invited in strata, a batch is of one stratum, or at the last sweep of
those of which too few came (surveys/plan/strata.py). Nothing is taken before one is due; then all
are, and those who stay are drawn by chance and written anew, so that no file keeps their order.
"""

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

import structlog
from django.db import connection, transaction
from django.db.models import Q

from dpengine.randomness import shuffled
from surveys.aggregation import columns, tables
from surveys.aggregation.models import Batch, Settling, Tally
from surveys.design import selectors as design, services as lives
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import InUse, empty_journal, erasing
from surveys.intake import report_tables, selectors as intake, services as intake_services
from surveys.intake.selectors import WaitingReport
from surveys.isolation import isolate_failures
from surveys.plan import strata

log = structlog.get_logger(__name__)
MAX_BATCH = 10_000  # reports, unless a few more would be left over
PORTION = 1_000_000  # after which a task ends, and the next one goes on


def sweep_all(*, today: datetime.date) -> int:
    """Seal the open reports of every Plan with news, if they are due; return how many."""
    plans = design.plans().filter(pk__in=report_tables.marked())

    def sweep_one(plan: Plan) -> int:
        return sweep_plan(plan, today)

    return sum(isolate_failures(plans, sweep_one))


def least_batch(plan: Plan) -> int:
    """Return how many reports a sweep must find to hide each among the others; after the close it
    takes what is left.

    A batch of one would keep the order of arrival that shuffling is there to destroy.
    """
    return min(plan.content.publication.smallest_batch, MAX_BATCH) if plan.is_open else 1


def sweep_plan(plan: Plan, today: datetime.date) -> int:
    """Seal one Plan's open reports, batch after batch, up to a portion; return how many. Then
    close it, if as many have come as close it: what came after this look has a mark of its own.

    A mark says that more wait.
    """
    total = 0
    try:
        while total < PORTION and (swept := sweep(plan=plan, today=today)):
            total += swept
    except InUse:
        log.info("a sweep waits for the next one", plan=plan.pk)
    if plan.is_open and intake.is_full(plan):
        lives.close_plan(plan_id=plan.pk, today=today)
    return total


def sweep(*, plan: Plan, today: datetime.date) -> int:
    """Seal a Plan's open reports in one transaction, if they are enough for a batch: a portion on
    PostgreSQL, one batch on SQLite. Return how many; none where another worker is at it. May raise
    InUse.
    """
    Tally.objects.get_or_create(plan=plan)
    return _sweep(plan, today)


@transaction.atomic
def _sweep(plan: Plan, today: datetime.date) -> int:
    tally = Tally.objects.select_for_update(skip_locked=True).filter(plan=plan).first()
    if tally is None:
        return 0
    report_tables.unmark(plan)
    plan.refresh_from_db(fields=("closed_on",))  # which the mark may have been about
    if design.is_retired(plan):
        return 0
    smallest, before = plan.content.publication.smallest_batch, tally.reports
    limits = {"least": least_batch(plan), "smallest": smallest, "most": MAX_BATCH}
    if plan.content.stratum_sizes:
        waiting = intake.waiting_of_strata(plan)
        if not any((_sealed_now(plan, waiting) if plan.is_open else waiting).values()):
            return 0
        limits |= {"least": 1, "most": PORTION}  # of a list, all at once
    taken = intake.taken(plan=plan, **limits, portion=PORTION)
    for reports in _of_strata(plan, taken) if plan.content.stratum_sizes else taken:
        _seal(plan, tally, reports, today)
    if tally.reports > before:
        tally.save()
        empty_journal()
    return tally.reports - before


def _of_strata(plan: Plan, taken: Iterable[list[WaitingReport]]) -> Iterator[list[WaitingReport]]:
    """Yield what is sealed of what was taken, a batch at a time, and have the rest wait on."""
    waiting: dict[int, list[WaitingReport]] = defaultdict(list)
    least = strata.least_together(plan.content.publication.smallest_batch)
    for reports in taken:
        for report in shuffled(reports):
            waiting[report.stratum or 0].append(report)
    sizes, rest = {stratum: len(own) for stratum, own in waiting.items()}, []
    if plan.is_open or report_tables.waiting(plan.pk, most=1):
        sealed = _sealed_now(plan, sizes)
        parts = [own[: sealed.get(at, 0)] for at, own in waiting.items()]
        rest = [each for at, own in waiting.items() for each in own[sealed.get(at, 0) :]]
    else:
        few = strata.together(sizes, least)
        parts = [own for at, own in waiting.items() if at not in few]
        parts.append([each for at in few for each in waiting[at]])
    for part in parts:
        yield from _batches(part, least)
    if rest:
        intake.put_back(plan, shuffled(rest))


def _batches(part: list[WaitingReport], least: int) -> Iterator[list[WaitingReport]]:
    start = 0
    for size in strata.sizes(len(part), MAX_BATCH, least):
        yield part[start : start + size]
        start += size


def _sealed_now(plan: Plan, waiting: Mapping[int, int]) -> dict[int, int]:
    return strata.due(waiting, plan.content.publication.smallest_batch)


def _seal(plan: Plan, tally: Tally, reports: list[WaitingReport], today: datetime.date) -> None:
    """Make a batch, what was changed by chance in the open, what was sent as given encrypted; and
    count it in.
    """
    tally.reports += len(reports)
    tally.batches += 1
    mixed = shuffled(reports)
    channels, sets = plan.content.reports, plan.content.drawn_reports
    changed = columns.pack([report.values for report in mixed], channels, sets)
    answers = columns.transposed([report.given for report in mixed], plan.content.cleartext)
    about = columns.batch_aad(plan.digest, tally.batches)
    by_question = columns.split(changed, len(reports), channels, sets)
    columns.add_tallies(tally.counts, by_question, channels, sets)
    held = _held(plan, reports)
    intake.note_sealed(plan, held or [len(reports)])
    Batch.objects.create(
        plan=plan,
        number=tally.batches,
        size=len(reports),
        strata=held,
        sealed_on=today,
        columns=changed,
        given=seal(answers, about=about) if plan.content.cleartext else b"",
    )


def _held(plan: Plan, reports: list[WaitingReport]) -> list[int] | None:
    """Return how many reports are of each stratum; None where they are not told apart."""
    if not (people := plan.content.stratum_sizes):
        return None
    held = Counter(report.stratum or 0 for report in reports)
    return [held[at] for at in range(len(people))]


def erase_retired() -> int:
    """Erase what is held of retired studies, batches and counts; return how many batches there
    were.

    How many reports and batches there were stays. A sweep of the same Plan waits at its tally, then
    finds it retired. Tallies are written anew too: every sweep left the counts before it in their
    file.
    """
    counted = Tally.objects.exclude(counts={}).values_list("plan_id", flat=True)
    sealed = Batch.objects.values_list("plan_id", flat=True)
    plans = design.retired_plans().filter(Q(pk__in=counted) | Q(pk__in=sealed))
    return sum(isolate_failures(plans, _erase))


def _erase(plan: Plan) -> int:
    with erasing(aggregation_tally="counts", aggregation_batch="given"):
        Tally.objects.filter(plan=plan).update(counts={})
        return Batch.objects.filter(plan=plan).delete()[0]


def settle(*, today: datetime.date) -> bool:
    """Once a night, forget when in its day what is stored was written: of each row PostgreSQL says
    which transaction wrote it, so that rows with a time beside would tell when a batch was sealed.
    Tell whether it was done. May raise InUse.
    """
    last = Settling.objects.first() or Settling(pk=1, day=datetime.date(1, 1, 2))
    if last.day == today:  # a later one was noted by a clock that has been set right since
        return False
    intake_services.forget_moments(tables.swept(before=today))
    if connection.vendor == "postgresql":
        with erasing(aggregation_tally="counts"):
            tables.settle(before=today)
    last.day = today
    last.save()
    return True


def encrypt_anew() -> int:
    """Encrypt with the first key what another one had encrypted, a transaction a batch; return how
    many batches.

    Then erase how it was, from the files too. May raise InUse.
    """
    with_given = Batch.objects.exclude(given=b"").order_by("pk").values_list("pk", flat=True)
    count = sum(_encrypt_anew(pk) for pk in list(with_given))
    with erasing(aggregation_batch="given"):
        return count


@transaction.atomic
def _encrypt_anew(batch_id: int) -> bool:
    batch = (
        Batch.objects.select_for_update(of=("self",))
        .select_related("plan")
        .filter(pk=batch_id)
        .first()
    )
    if batch is None or not batch.given or has_first_key(bytes(batch.given)):
        return False
    aad = columns.batch_aad(batch.plan.digest, batch.number)
    batch.given = seal(open_sealed(bytes(batch.given), about=aad), about=aad)
    batch.save(update_fields=["given"])
    return True
