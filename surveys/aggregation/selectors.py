"""Read tallies: for releases, and for nobody else."""

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from dpengine.local.channel import Channel
from dpengine.privacy import Neighbours
from surveys.aggregation.columns import (
    SETS,
    Counts,
    add_tallies,
    asked_in,
    batch_aad,
    combinations,
    rows_of,
    split,
)
from surveys.aggregation.models import Batch, Tally
from surveys.aggregation.tallies import PublicTally as PublicTally, tally_of
from surveys.design.models import Plan
from surveys.encryption import open_sealed
from surveys.intake import report_tables, selectors as intake
from surveys.parts import in_parts
from surveys.plan.strata import only_stratum

MOST_NAMED = 30_000  # ids in one query


def totals(plan: Plan, batches: int | None = None) -> Counts:
    """Return the exact counts of a Plan's first `batches` batches, of all of them by default.

    Never shown without central noise. The running tally answers for what was changed by chance,
    when it covers just these batches. Answers sent as given are decrypted and counted each time,
    choices only; of numbers there is no tally.
    """
    counts, cleartext = _by_question(plan, _changed(plan, batches)), plan.content.cleartext
    choices = {name: channel for name, channel in cleartext.items() if channel.cells}
    if not choices or not Tally.objects.filter(plan=plan).exists():
        return counts
    return counts | recount(plan, sealed(plan, batches), choices)


def _by_question(plan: Plan, counts: Counts) -> Counts:
    """Return the counts of every question: of one sent in a joint answer, those of its view."""
    joint = {
        each.name: each.together.joint.view(each.together.place).counted(counts[each.together.name])
        for each in plan.content.questions
        if each.together
    }
    return {name: counts[name] for name in counts if name not in plan.content.joint_names} | joint


def _changed(plan: Plan, batches: int | None) -> Counts:
    """Return the counts of what was changed by chance, by the values of reports."""
    tally = Tally.objects.filter(plan=plan).first()
    channels = plan.content.reports | plan.content.cleartext
    nobody = {name: [0] * channel.cells for name, channel in channels.items() if channel.cells}
    if tally is None:
        return nobody
    counts: Counts = tally.counts
    is_running = batches is None or batches == tally.batches
    if not is_running:
        counts = recount(plan, sealed(plan, batches), plan.content.reports)
    return nobody | counts


def recount(plan: Plan, batches: Iterable[Batch], channels: Mapping[str, Channel]) -> Counts:
    """Count these values anew, from what is sealed in some batches of a Plan."""
    counts: Counts = {}
    sets = [] if channels.keys() <= plan.content.cleartext.keys() else plan.content.drawn_reports
    for batch in batches:
        add_tallies(counts, _columns_of(plan, batch, channels), channels, sets)
    return counts


@dataclass(frozen=True, slots=True)
class Part:
    """What is counted of one stratum, or of those that were sealed as one."""

    reports: tuple[int, ...]  # of each stratum of the Plan
    counts: Counts


def parts(plan: Plan, batches: int) -> list[Part]:
    """Return the exact counts of each part of a Plan's first batches, those of strata first; none
    where reports are not told apart. Never shown without central noise.
    """
    by_part: dict[tuple[bool, int | None], list[Batch]] = {}
    for batch in sealed(plan, batches) if plan.content.stratum_sizes else []:
        stratum = only_stratum(batch.strata)
        by_part.setdefault((stratum is None, stratum), []).append(batch)
    channels = plan.content.reports | {
        name: channel for name, channel in plan.content.cleartext.items() if channel.cells
    }
    return [
        Part(
            tuple(map(sum, zip(*(batch.strata for batch in own), strict=True))),
            _by_question(plan, recount(plan, own, channels)),
        )
        for _, own in sorted(by_part.items(), key=lambda pair: (pair[0][0], pair[0][1] or 0))
    ]


def sealed(plan: Plan, batches: int | None = None) -> list[Batch]:
    """Return a Plan's first batches, all of which must be there: a release says which it counted.
    By default all that the tally has.
    """
    batches = sealed_batches(plan) if batches is None else batches
    first = list(Batch.objects.filter(plan=plan, number__lte=batches))
    if len(first) != batches:
        raise ValueError(f"batches must be at most {len(first)}, which are sealed, got {batches}")
    return first


def joint(plan: Plan, names: Sequence[str], batches: int | None = None) -> Counter[tuple[Any, ...]]:
    """Return how many of the sealed reports hold each combination of values: a tally, never a
    report.

    Values are as reports hold them: an index for a table, rising indices for a subset, the packed
    number for one_of, an answer as it was given for what is protected in publications
    only, which is decrypted here. Where devices draw what they ask: of the reports that hold all.
    """
    channels = plan.content.reports | plan.content.cleartext
    for name in names:
        if name not in channels:
            raise ValueError(f"names must be questions of this Plan sent apart, got {name}")
    found: Counter[tuple[Any, ...]] = Counter()
    for batch in sealed(plan, batches):
        columns, size = _rows_of(plan, batch, names)
        found.update(combinations([(channels[name], columns[name]) for name in names], size))
    return found


def _rows_of(plan: Plan, batch: Batch, names: Sequence[str]) -> tuple[dict[str, bytes], int]:
    """Return the columns of these questions, of the reports that hold all, and how many do."""
    columns, content = _columns_of(plan, batch, names), plan.content
    hidden = [name for name in names if name in content.reports]
    if not (content.drawn and hidden):
        return columns, batch.size
    sets = content.report_sets
    kept = asked_in(columns[SETS], hidden, sets)
    for name in names:
        asked = [name] if name in hidden else []
        columns[name] = rows_of(columns[name], kept[asked_in(columns[SETS], asked, sets)])
    return columns, int(kept.sum())


def _columns_of(plan: Plan, batch: Batch, names: Iterable[str]) -> dict[str, bytes]:
    """Return the columns of a batch, decrypting only if one of these questions needs it."""
    columns = split(
        bytes(batch.columns), batch.size, plan.content.reports, plan.content.drawn_reports
    )
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
    neighbours, losses = Neighbours(plan.content.neighbours), plan.content.losses
    tallies = (
        tally_of(each, neighbours, counts_answers=losses[each.name] is not None)
        for each in plan.content.questions
    )
    return [tally for tally in tallies if tally.channel.cells]


def sealed_reports(plan: Plan) -> int:
    """Return how many reports are sealed: a public quantity under change-one."""
    return Tally.objects.filter(plan=plan).values_list("reports", flat=True).first() or 0


def sealed_of(plan: str, what: str = "reports") -> Coalesce:
    """Return an expression for how many reports, or batches, of a Plan are sealed: `plan` names
    its id in the query that this becomes a part of.
    """
    tallies = Tally.objects.filter(plan=OuterRef(plan)).order_by().values("plan")
    return Coalesce(Subquery(tallies.annotate(n=Sum(what)).values("n")), 0)


def oldest_beyond(counted: Mapping[int, int]) -> tuple[datetime.date, int] | None:
    """Return when the oldest batch was sealed that is not among the first `counted` reports of its
    Plan, and the Plan's id; None if there is none.
    """
    oldest: tuple[datetime.date, int] | None = None
    reports: Counter[int] = Counter()
    for some in in_parts(list(counted), MOST_NAMED):
        batches = Batch.objects.filter(plan__in=some)
        for plan_id, size, day in batches.order_by("plan", "number").values_list(
            "plan_id", "size", "sealed_on"
        ):
            reports[plan_id] += size
            if reports[plan_id] > counted[plan_id] and (oldest is None or day < oldest[0]):
                oldest = day, plan_id
    return oldest


def received(plan: Plan) -> int:
    """Return how many reports came, sealed or not: a public quantity under change-one."""
    return received_of([plan])[plan.pk]


def received_of(plans: Iterable[Plan]) -> dict[int, int]:
    """Return the same of several Plans, by id: of each by one statement, for a sweep between two
    would be seen by neither, or by both.
    """
    ids = [plan.pk for plan in plans]
    counts = dict.fromkeys(ids, 0)
    for some in in_parts(ids, intake.AT_ONCE):
        sealed = Tally.objects.filter(plan__in=some).values_list("plan_id", "reports")
        for pk, reports in sealed.union(*intake.unsealed(some), all=True):
            counts[pk] += reports
    return counts


def sealed_before(plans: Iterable[Plan], day: datetime.date) -> dict[int, int]:
    """Return how many reports of each of these Plans were sealed before a day, by id: a number that
    changes once a day.
    """
    ids = [plan.pk for plan in plans]
    sealed = Batch.objects.filter(plan__in=ids, sealed_on__lt=day).order_by()
    sums = dict(sealed.values("plan").annotate(n=Sum("size")).values_list("plan", "n"))
    return {pk: sums.get(pk, 0) for pk in ids}


def everything_is_sealed(plan: Plan) -> bool:
    """Tell whether no report of a Plan waits."""
    return not report_tables.waiting(plan.pk, most=1)


def batches_before(plan: Plan, day: datetime.date) -> int:
    """Return how many batches of a Plan were sealed before a day."""
    return Batch.objects.filter(plan=plan, sealed_on__lt=day).count()


def sealed_batches(plan: Plan) -> int:
    """Return how many batches of a Plan are sealed: a request names them by this number."""
    return Tally.objects.filter(plan=plan).values_list("batches", flat=True).first() or 0


def reports_in(plan: Plan, batches: int, names: Iterable[str] = ()) -> int:
    """Return how many reports in a Plan's first batches hold all of these questions: a public
    quantity under change-one, for no answer has a say in what a device draws.
    """
    content = plan.content
    hidden = [name for name in names if name in content.channels]
    if content.drawn and hidden:
        return asked_of(plan, hidden, _changed(plan, batches))
    return sum(Batch.objects.filter(plan=plan, number__lte=batches).values_list("size", flat=True))


def asked_of(plan: Plan, names: Iterable[str], counts: Mapping[str, Sequence[int]]) -> int:
    """Return how many of the reports of such `totals` hold all of these, where some are drawn."""
    of_sets = counts.get(SETS)
    return sum(of_sets[index] for index in plan.content.sets_with(names)) if of_sets else 0


def batch_sizes(plan: Plan, before: datetime.date = datetime.date.max) -> list[int]:
    """Return how many reports each of a Plan's batches holds, of those sealed before a day: public
    under change-one; none once they are erased.
    """
    sealed = Batch.objects.filter(plan=plan, sealed_on__lt=before)
    return list(sealed.values_list("size", flat=True))
