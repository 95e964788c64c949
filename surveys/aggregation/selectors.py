"""Read tallies: for releases, and for nobody else."""

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpengine.local.channel import Channel
from dpengine.privacy import Neighbours
from surveys.aggregation.columns import Counts, add_tallies, batch_aad, combinations, split
from surveys.aggregation.models import Batch, Tally
from surveys.aggregation.tallies import PublicTally as PublicTally, tally_of
from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import open_sealed
from surveys.intake import selectors as intake


def totals(plan: Plan, batches: int | None = None) -> Counts:
    """Return the exact counts of a Plan's first `batches` batches, of all of them by default.

    Never shown without central noise. The running tally answers for what was changed by chance,
    when it covers just these batches. Answers sent as given are decrypted and counted each time,
    choices only; of numbers there is no tally.
    """
    tally = Tally.objects.filter(plan=plan).first()
    if tally is None:
        return {}
    content = plan.content
    counts: Counts = tally.counts
    if batches is None or batches == tally.batches:
        batches = tally.batches
    else:
        counts = recount(plan, batches, content.channels)
    choices = {name: channel for name, channel in content.cleartext.items() if channel.cells}
    return counts | (recount(plan, batches, choices) if choices else {})


def recount(plan: Plan, batches: int, channels: Mapping[str, Channel]) -> Counts:
    """Count these questions anew, from what is sealed in a Plan's first batches."""
    counts: Counts = {}
    for batch in sealed(plan, batches):
        add_tallies(counts, _columns_of(plan, batch, channels), channels)
    return counts


def sealed(plan: Plan, batches: int) -> list[Batch]:
    """Return a Plan's first batches, all of which must be there: a release says which it
    counted.
    """
    first = list(Batch.objects.filter(plan=plan, number__lte=batches))
    if len(first) != batches:
        raise ValueError(f"batches must be at most {len(first)}, which are sealed, got {batches}")
    return first


def joint(plan: Plan, names: Sequence[str], batches: int | None = None) -> Counter[tuple[Any, ...]]:
    """Return how many of the sealed reports hold each combination of values: a tally, never a
    report.

    Values are as reports hold them: an index for a table, rising indices for a subset, twice the
    option plus the bit for one_of, an answer as it was given for what is protected in publications
    only, which is decrypted here.
    """
    channels = plan.content.channels | plan.content.cleartext
    for name in names:
        if name not in channels:
            raise ValueError(f"names must be questions of this Plan, got {name}")
    counted = sealed(plan, sealed_batches(plan) if batches is None else batches)
    parts = [_columns_of(plan, batch, names) for batch in counted]
    joined = ((channels[name], b"".join(part[name] for part in parts)) for name in names)
    return combinations(joined, sum(batch.size for batch in counted))


def _columns_of(plan: Plan, batch: Batch, names: Iterable[str]) -> dict[str, bytes]:
    """Return the columns of a batch, decrypting only if one of these questions needs it."""
    columns = split(bytes(batch.columns), batch.size, plan.content.channels)
    cleartext = plan.content.cleartext
    if not cleartext.keys().isdisjoint(names):
        opened = open_sealed(bytes(batch.given), about=batch_aad(plan.digest, batch.number))
        columns |= split(opened, batch.size, cleartext)
    return columns


def public_tallies(plan: Plan) -> list[PublicTally]:
    """Return what a publication of a Plan consists of: a tally a question, in the Plan's order.

    Numbers sent as given have none: a histogram of them would give every rare value away or drown
    it in noise. What is published of them is what a researcher asks for, a mean say, on its own
    charge.
    """
    neighbours = Neighbours(plan.content.neighbours)
    tallies = (tally_of(question, neighbours) for question in plan.content.questions)
    return [tally for tally in tallies if tally.channel.cells]


def sealed_reports(plan: Plan) -> int:
    """Return how many reports are sealed: a public quantity under change-one."""
    return Tally.objects.filter(plan=plan).values_list("reports", flat=True).first() or 0


def received(plan: Plan) -> int:
    """Return how many reports came, sealed or not: a public quantity under change-one."""
    if design.is_retired(plan):
        return intake.accepted(plan)
    return sealed_reports(plan) + intake.open_counts().get(plan.pk, 0)


def everything_is_sealed(plan: Plan) -> bool:
    return plan.pk not in intake.open_counts()


def sealed_batches(plan: Plan) -> int:
    """Return how many batches of a Plan are sealed: a request names them by this number."""
    return Tally.objects.filter(plan=plan).values_list("batches", flat=True).first() or 0


def reports_in(plan: Plan, batches: int) -> int:
    """Return how many reports are in a Plan's first batches: a public quantity under change-one."""
    return sum(Batch.objects.filter(plan=plan, number__lte=batches).values_list("size", flat=True))


def batch_sizes(plan: Plan) -> list[int]:
    """Return how many reports each of a Plan's batches holds: public under change-one; none once
    they are erased.
    """
    return list(Batch.objects.filter(plan=plan).values_list("size", flat=True))


def sealed_days(plan: Plan) -> list[datetime.date]:
    """Return the day on which each of a Plan's batches was sealed, in order: all that is kept of
    when.
    """
    return list(
        Batch.objects.filter(plan=plan).order_by("number").values_list("sealed_on", flat=True)
    )
