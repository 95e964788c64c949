"""Sweep open reports into sealed batches, and count them.

One transaction holds the Plan's reports, reads, shuffles, packs, counts and erases: a worker
that dies in the middle has done nothing, and the next sweep does it all. Two sweeps at once wait
for each other at the Plan's tally. Reports are taken as they are found, not from a mark on: a row
that commits late is found by the next sweep. Where a backup reads them, all stay for a later one.
"""

import datetime

import structlog
from django.db import transaction
from django.db.models import Q

from dpengine.randomness import shuffled
from surveys.aggregation import columns
from surveys.aggregation.models import Batch, Tally
from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import InUse, empty_journal, erasing
from surveys.intake import report_tables, selectors as intake
from surveys.intake.selectors import Kept
from surveys.isolation import isolate_failures

log = structlog.get_logger(__name__)
MAX_BATCH = 10_000  # reports, unless a few more would be left over


def sweep_all(*, today: datetime.date) -> int:
    """Seal every Plan's open reports that are due; return how many."""
    waiting = intake.open_counts()
    due = [
        plan
        for plan in design.plans().filter(pk__in=waiting)
        if waiting[plan.pk] >= least_batch(plan)
    ]

    def sweep_one(plan: Plan) -> int:
        return sweep_plan(plan, today)

    return sum(isolate_failures(due, sweep_one))


def least_batch(plan: Plan) -> int:
    """Return how many reports a sweep must find to hide each among the others; after the close it
    takes what is left.

    A batch of one would keep the order of arrival that shuffling is there to destroy.
    """
    return min(plan.content.publication.smallest_batch, MAX_BATCH) if plan.is_open else 1


def sweep_plan(plan: Plan, today: datetime.date) -> int:
    """Seal one Plan's open reports, batch after batch; return how many."""
    total = 0
    try:
        while swept := sweep(plan=plan, today=today):
            total += swept
    except InUse:
        log.info("a sweep waits for the next one", plan=plan.pk)
    return total


@transaction.atomic
def sweep(*, plan: Plan, today: datetime.date) -> int:
    """Seal one batch of a Plan's open reports, if they are enough for one; return how many. May
    raise InUse.
    """
    Tally.objects.get_or_create(plan=plan)
    tally = Tally.objects.select_for_update().get(plan=plan)
    if design.is_retired(plan):
        return 0
    waiting, smallest = report_tables.hold_all(plan), plan.content.publication.smallest_batch
    # All, rather than leave too few for a batch of their own.
    size = waiting if waiting < MAX_BATCH + smallest else MAX_BATCH
    ids, reports = intake.open_reports(plan=plan, limit=size)
    if len(reports) < least_batch(plan):
        return 0
    if (deleted := report_tables.remove(plan, ids)) != len(ids):
        raise RuntimeError(f"expected to seal {len(ids)} reports, found {deleted}")
    tally.reports += len(reports)
    tally.batches += 1
    packed = _packed(plan, tally.batches, shuffled(reports))
    channels, sets = plan.content.reports, plan.content.drawn_reports
    by_question = columns.split(packed["columns"], len(reports), channels, sets)
    columns.add_tallies(tally.counts, by_question, channels, sets)
    tally.save()
    Batch.objects.create(
        plan=plan, number=tally.batches, size=len(reports), sealed_on=today, **packed
    )
    empty_journal()
    return len(reports)


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


def _packed(plan: Plan, number: int, reports: list[Kept]) -> dict[str, bytes]:
    """Pack reports into a batch: what was changed by chance in the open, what was sent as given
    encrypted.
    """
    content = plan.content
    cleartext, values = content.cleartext, [report.values for report in reports]
    answers = columns.transposed([report.given for report in reports], cleartext)
    return {
        "columns": columns.pack(values, content.reports, content.drawn_reports),
        "given": seal(answers, about=columns.batch_aad(plan.digest, number)) if cleartext else b"",
    }


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
