"""Sweep open reports into sealed batches, and count them.

One transaction reads, shuffles, packs, counts and deletes: a worker that dies in the middle
has done nothing, and the next sweep does it all. Two sweeps at once wait for each other at
the Plan's tally. Reports are taken as they are found, not from a mark on: a row that commits
late is found by the next sweep.
"""

import datetime
from typing import Any

from django.db import transaction

from dpengine.local.channels import Channel
from dpengine.randomness import shuffled
from surveys.aggregation import queries
from surveys.aggregation.models import Batch, Tally
from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.each import for_each
from surveys.intake import queries as intake
from surveys.intake.services import delete_open

LARGEST_BATCH = 10_000  # reports, unless a few more would be left over


def sweep_all(*, today: datetime.date) -> int:
    """Seal every Plan's open reports that are due; return how many."""
    waiting = intake.open_counts()
    due = [plan for plan in design.plans().filter(pk__in=waiting) if waiting[plan.pk] >= least_batch(plan)]

    def sweep_one(plan: Plan) -> int:
        return sweep_plan(plan, today)

    return sum(for_each(due, sweep_one))


def least_batch(plan: Plan) -> int:
    """Return how many reports a sweep must find to hide each among the others; after the close it takes what is left.

    A batch of one would keep the order of arrival that shuffling is there to destroy.
    """
    least: int = plan.content["publication"]["smallest_batch"]
    return min(least, LARGEST_BATCH) if plan.is_open else 1


def sweep_plan(plan: Plan, today: datetime.date) -> int:
    """Seal one Plan's open reports, batch after batch; return how many."""
    total = 0
    while swept := sweep(plan=plan, today=today):
        total += swept
    return total


@transaction.atomic
def sweep(*, plan: Plan, today: datetime.date) -> int:
    """Seal one batch of a Plan's open reports, if they are enough for one; return how many."""
    tally = _locked_tally(plan)
    waiting = intake.open_counts().get(plan.pk, 0)
    ids, reports = intake.open_reports(plan_id=plan.pk, limit=_size(plan, waiting))
    if len(reports) < least_batch(plan):
        return 0
    if (deleted := delete_open(ids)) != len(ids):
        raise RuntimeError(f"expected to seal {len(ids)} reports, found {deleted}")
    channels = documents.channels(plan.content)
    columns = pack(shuffled(reports), channels)
    queries.add(tally.counts, queries.unpack(columns, len(reports), channels))
    tally.reports += len(reports)
    tally.batches += 1
    tally.save()
    Batch.objects.create(plan=plan, number=tally.batches, size=len(reports), columns=columns, sealed_on=today)
    return len(reports)


def pack(reports: list[list[Any]], channels: dict[str, Channel]) -> bytes:
    """Turn reports, a row each, into packed columns, one a question, one after the other."""
    by_question = zip(*reports, strict=True)
    return b"".join(channel.pack(column) for channel, column in zip(channels.values(), by_question, strict=True))


def _size(plan: Plan, waiting: int) -> int:
    """Return how many of the waiting reports to seal now: all, rather than leave too few for a batch of their own."""
    least: int = plan.content["publication"]["smallest_batch"]
    return waiting if waiting < LARGEST_BATCH + least else LARGEST_BATCH


def _locked_tally(plan: Plan) -> Tally:
    Tally.objects.get_or_create(plan=plan)
    return Tally.objects.select_for_update().get(plan=plan)
