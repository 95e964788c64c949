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
from surveys.intake import queries as intake
from surveys.intake.services import delete_open

LARGEST_BATCH = 10_000  # reports


def sweep_all(*, today: datetime.date) -> int:
    """Seal every Plan's open reports that are due; return how many."""
    waiting = intake.open_counts()
    plans = design.plans().filter(pk__in=waiting)
    return sum(sweep_plan(plan, today) for plan in plans if is_due(plan, waiting[plan.pk]))


def is_due(plan: Plan, waiting: int) -> bool:
    """Tell whether a sweep would hide each report among enough others, or is the last.

    A batch of one would keep the order of arrival that shuffling is there to destroy.
    """
    least = plan.content["publication"]["smallest_batch"]
    return waiting > 0 and (not plan.is_open or waiting >= least)


def sweep_plan(plan: Plan, today: datetime.date) -> int:
    """Seal one Plan's open reports, batch after batch; return how many."""
    total = 0
    while (swept := sweep(plan=plan, today=today)) == LARGEST_BATCH:
        total += swept
    return total + swept


@transaction.atomic
def sweep(*, plan: Plan, today: datetime.date) -> int:
    """Seal at most LARGEST_BATCH open reports of a Plan into one batch; return how many."""
    tally = _locked_tally(plan)
    ids, reports = intake.open_reports(plan_id=plan.pk, limit=LARGEST_BATCH)
    if not reports:
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


def _locked_tally(plan: Plan) -> Tally:
    Tally.objects.get_or_create(plan=plan)
    return Tally.objects.select_for_update().get(plan=plan)
