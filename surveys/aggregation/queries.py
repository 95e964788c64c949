"""Read tallies: for releases, and for nobody else."""

from dataclasses import dataclass

from dpengine.local.channels import Channel
from dpengine.privacy import Neighbours
from surveys.aggregation.models import Batch, Tally
from surveys.aggregation.tallies import PublicTally as PublicTally
from surveys.design import documents
from surveys.design.models import Plan
from surveys.intake import queries as intake


@dataclass(frozen=True, slots=True)
class Totals:
    """Exact counts of the first so many batches of a Plan. Never shown without central noise."""

    reports: int
    batches: int
    counts: dict[str, list[int]]


def totals(plan: Plan, batches: int | None = None) -> Totals:
    """Return the counts of a Plan's first `batches` batches, of all of them by default.

    The running tally answers when it covers just these; else the sealed batches are counted again.
    """
    tally = Tally.objects.filter(plan=plan).first()
    if tally is None:
        return Totals(reports=0, batches=0, counts={})
    if batches is None or batches == tally.batches:
        return Totals(reports=tally.reports, batches=tally.batches, counts=tally.counts)
    return recount(plan, batches)


def recount(plan: Plan, batches: int) -> Totals:
    """Count a Plan's first batches anew, from what is sealed in them."""
    channels = documents.channels(plan.content)
    counts: dict[str, list[int]] = {}
    reports = 0
    for batch in Batch.objects.filter(plan=plan, number__lte=batches):
        reports += batch.size
        add(counts, unpack(bytes(batch.columns), batch.size, channels))
    return Totals(reports=reports, batches=batches, counts=counts)


def unpack(columns: bytes, size: int, channels: dict[str, Channel]) -> dict[str, list[int]]:
    """Count every question's column of a batch."""
    counts, start = {}, 0
    for name, channel in channels.items():
        end = start + size * channel.width
        counts[name] = channel.tally(columns[start:end])
        start = end
    if start != len(columns):
        raise ValueError(f"columns must be {start} bytes for {size} reports of this Plan, got {len(columns)}")
    return counts


def add(counts: dict[str, list[int]], more: dict[str, list[int]]) -> None:
    """Add counts in place: tallies merge by addition."""
    for name, new in more.items():
        old = counts.get(name, [0] * len(new))
        counts[name] = [before + after for before, after in zip(old, new, strict=True)]


def public_tallies(plan: Plan) -> list[PublicTally]:
    """Return what a publication of a Plan consists of, a tally a question."""
    neighbours = Neighbours(plan.content["neighbours"])
    return [PublicTally(name, channel, neighbours) for name, channel in documents.channels(plan.content).items()]


def sealed_reports(plan: Plan) -> int:
    """Return how many reports are sealed: a public quantity under change-one."""
    return Tally.objects.filter(plan=plan).values_list("reports", flat=True).first() or 0


def received(plan: Plan) -> int:
    """Return how many reports came, sealed or not: a public quantity under change-one."""
    return sealed_reports(plan) + intake.open_counts().get(plan.pk, 0)


def everything_is_sealed(plan: Plan) -> bool:
    return plan.pk not in intake.open_counts()
