"""Read tallies: for releases, and for nobody else."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpengine.local.channels import PlanChannel
from dpengine.privacy import Neighbours
from surveys.aggregation import contrasts as contrasts
from surveys.aggregation import crosstabs as crosstabs
from surveys.aggregation import derived as derived
from surveys.aggregation.columns import Reader, about, combinations, split
from surveys.aggregation.models import Batch, Tally
from surveys.aggregation.tallies import PublicTally as PublicTally
from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.encryption import open_sealed
from surveys.intake import queries as intake


@dataclass(frozen=True, slots=True)
class Totals:
    """Exact counts of the first so many batches of a Plan. Never shown without central noise."""

    reports: int
    batches: int
    counts: dict[str, list[int]]


def totals(plan: Plan, batches: int | None = None) -> Totals:
    """Return the counts of a Plan's first `batches` batches, of all of them by default.

    The running tally answers for what was changed by chance, when it covers just these batches. Answers sent
    as given are decrypted and counted each time, choices only; of numbers there is no tally.
    """
    tally = Tally.objects.filter(plan=plan).first()
    if tally is None:
        return Totals(reports=0, batches=0, counts={})
    if batches is None:
        batches = tally.batches
    if batches != tally.batches:
        found = recount(plan, batches)
    else:
        found = Totals(reports=tally.reports, batches=batches, counts=tally.counts)
    return replace(found, counts=found.counts | _given_counts(plan, batches))


def recount(plan: Plan, batches: int) -> Totals:
    """Count anew what was changed by chance in a Plan's first batches, from what is sealed in them."""
    channels = documents.channels(plan.content)
    counts: dict[str, list[int]] = {}
    reports = 0
    for batch in sealed(plan, batches):
        reports += batch.size
        add(counts, unpack(bytes(batch.columns), batch.size, channels))
    return Totals(reports=reports, batches=batches, counts=counts)


def sealed(plan: Plan, batches: int) -> list[Batch]:
    """Return a Plan's first batches, all of which must be there: a release says which it counted."""
    found = list(Batch.objects.filter(plan=plan, number__lte=batches))
    if len(found) != batches:
        raise ValueError(f"batches must be at most {len(found)}, which are sealed, got {batches}")
    return found


def joint(plan: Plan, names: Sequence[str], batches: int | None = None) -> Counter[tuple[Any, ...]]:
    """Return how many of the sealed reports hold each combination of values: a tally, never a report.

    Values are as reports hold them: an index for a table, rising indices for a subset, twice the option plus the
    bit for one_of, an answer as it was given for what is protected in publications only, which is decrypted here.
    """
    readers: dict[str, Reader] = documents.channels(plan.content) | documents.given(plan.content)
    for name in names:
        if name not in readers:
            raise ValueError(f"names must be questions of this Plan, got {name}")
    found = sealed(plan, _all_batches(plan) if batches is None else batches)
    parts = [_columns_of(plan, batch, names) for batch in found]
    joined = ((readers[name], b"".join(part[name] for part in parts)) for name in names)
    return combinations(joined, sum(batch.size for batch in found))


def _all_batches(plan: Plan) -> int:
    return Tally.objects.filter(plan=plan).values_list("batches", flat=True).first() or 0


def _columns_of(plan: Plan, batch: Batch, names: Iterable[str]) -> dict[str, bytes]:
    """Return the columns of a batch, decrypting only if one of these questions needs it."""
    found = split(bytes(batch.columns), batch.size, documents.channels(plan.content))
    given = documents.given(plan.content)
    if not given.keys().isdisjoint(names):
        opened = open_sealed(bytes(batch.given), about=about(plan.digest, batch.number))
        found |= split(opened, batch.size, given)
    return found


def _given_counts(plan: Plan, batches: int) -> dict[str, list[int]]:
    choices = {name: given for name, given in documents.given(plan.content).items() if not given.is_number}
    counts: dict[str, list[int]] = {}
    for batch in sealed(plan, batches) if choices else []:
        columns = _columns_of(plan, batch, choices)
        add(counts, {name: given.tally(columns[name]) for name, given in choices.items()})
    return counts


def unpack(columns: bytes, size: int, channels: dict[str, PlanChannel]) -> dict[str, list[int]]:
    """Count every question's column of a batch."""
    return {name: channels[name].tally(column) for name, column in split(columns, size, channels).items()}


def add(counts: dict[str, list[int]], more: dict[str, list[int]]) -> None:
    """Add counts in place: tallies merge by addition."""
    for name, new in more.items():
        old = counts.get(name, [0] * len(new))
        counts[name] = [before + after for before, after in zip(old, new, strict=True)]


def public_tallies(plan: Plan) -> list[PublicTally]:
    """Return what a publication of a Plan consists of: a tally a question, in the Plan's order.

    Numbers sent as given have none: a histogram of them would give every rare value away or drown it in noise. What is
    published of them is what a researcher asks for, a mean say, on its own charge.
    """
    neighbours = Neighbours(plan.content["neighbours"])
    readers: dict[str, Reader] = documents.channels(plan.content) | documents.given(plan.content)
    return [
        PublicTally(question["name"], readers[question["name"]], neighbours)
        for question in plan.content["questions"]
        if not (question["kind"] == documents.NUMBER and question["protection"] == documents.PUBLICATION)
    ]


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
    return _all_batches(plan)


def reports_in(plan: Plan, batches: int) -> int:
    """Return how many reports are in a Plan's first batches: a public quantity under change-one."""
    return sum(Batch.objects.filter(plan=plan, number__lte=batches).values_list("size", flat=True))


def batch_sizes(plan: Plan) -> list[int]:
    """Return how many reports each of a Plan's batches holds: public under change-one; none once they are erased."""
    return list(Batch.objects.filter(plan=plan).values_list("size", flat=True))


def sealed_days(plan: Plan) -> list[datetime.date]:
    """Return the day on which each of a Plan's batches was sealed, in order: all that is kept of when."""
    return list(Batch.objects.filter(plan=plan).order_by("number").values_list("sealed_on", flat=True))
