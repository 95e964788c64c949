"""The whole way: how often the 95 % intervals of a dashboard hold what is true of the population.

People    n drawn from a population; the report of each is drawn by the chances of its channel,
          whole numbers in the Plan. (That the form draws by just these is what the channels' own
          tests enumerate.) Seeded.
Way       Reports are packed and counted as batches are; a query of the Plan publishes by the
          engine's mechanisms, whose chance is not seeded; intervals are read from what pages show.
Cells     n, and a share π: of yes, of the first choice (the last is nobody's), of a tick, of people
          at the top of a number's scale (the rest at its bottom, or over its lower half), of an
          answer in one group, which half of the other group gives; or the people of the demo. At
          the ceiling a publication adds nothing; below, it may lose half of what the devices gave
          away.
Held      of RUNS publications, by the interval that held least often, or all at once. The least of
          several falls below .95 by chance: below .945 a cell is run again, with AGAIN times as
          many, and those are said. A difference of groups that are not both told from 0 is told
          by no interval: all that is possible.

    python -m tests.bench.whole_way [runs [kind ...]]
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import product
from typing import Any

import django
import numpy as np
import numpy.typing as npt

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
django.setup()

from surveys.aggregation import columns  # noqa: E402
from surveys.demo.answers import people_of_health, people_with_habits  # noqa: E402
from surveys.demo.studies import DEPRESSED, HARD_DRUGS, HEALTH_QUESTIONS  # noqa: E402
from surveys.design.models import Plan, Question  # noqa: E402
from surveys.plan.content import ANSWERS, PlanQuestion, to_document  # noqa: E402
from surveys.plan.kinds import MULTIPLE  # noqa: E402
from surveys.planning.questions import PlannedQuestion  # noqa: E402
from surveys.releases import comparisons, selectors as releases  # noqa: E402
from surveys.releases.models import Release, Request  # noqa: E402
from surveys.releases.queries.base import Query  # noqa: E402
from surveys.results.questions import JointIntervals, Result, results_of  # noqa: E402
from tests import tables  # noqa: E402
from tests.bench.report import save, table  # noqa: E402
from tests.plans import whole  # noqa: E402

Floats = npt.NDArray[np.float64]
Found = tuple[str, float, float]  # an interval's name and its ends
Truth = tuple[float, float]  # the least and the greatest number that it may hold

SEED = 20_261_123
RUNS, AGAIN, LEAST = 2000, 4, 0.945
SIZES, SHARES, EPSILONS = (40, 100, 400), (0.0, 0.02, 0.1, 0.5), ("1", "3")
WAYS = {"at the ceiling": Decimal(1), "below": Decimal("0.5")}  # of what the devices gave away
WORKERS = 2
HAIR = 1e-9
ALL = "all at once"
TOP, BINNED = 100, 79  # steps of a number's scale, of a spread's
OPTIONS = 4


@dataclass(frozen=True)
class Asked:
    """A question, and the shares of people who give each of its answers."""

    name: str
    question: PlanQuestion
    people: Floats

    @classmethod
    def of(cls, name: str, kind: str, epsilon: str, people: Sequence[float], **parts: Any) -> Any:
        content = PlannedQuestion.made_up(kind, **parts).at(Decimal(epsilon)).content
        return cls(name, content, np.array(people))

    @property
    def document(self) -> dict[str, Any]:
        return {**to_document(self.question), "name": self.name}

    @property
    def epsilon(self) -> float:
        return float(np.log(float(self.question.loss or 1)))


@dataclass(frozen=True)
class Study:
    """A Plan, what is published of it, and people: each of `drawn` draws some columns of reports.

    `found` are the intervals of a publication; `truths` what they are to hold, by their names.
    """

    query: Query
    drawn: Sequence[tuple[Sequence[str], list[tuple[Any, ...]], Floats]]
    truths: Mapping[str, Truth]
    found: Callable[[Release, Query], Iterator[Found]]
    is_joint: bool = False

    def runs(self, n: int, runs: int, chance: np.random.Generator) -> Iterator[Release]:
        each = [chance.multinomial(n, chances, size=runs) for _, _, chances in self.drawn]
        for counts in zip(*each, strict=True):
            packed = {}
            for (names, reports, _), own in zip(self.drawn, counts, strict=True):
                rows = [report for at in own.nonzero()[0] for report in [reports[at]] * own[at]]
                for name, column in zip(names, zip(*rows, strict=True), strict=True):
                    packed[name] = self.query.plan.content.question(name).channel.pack(column)
            yield self.published(packed, n)

    def published(self, packed: Mapping[str, bytes], n: int) -> Release:
        channels = {name: self.query.plan.content.question(name).channel for name in packed}
        counted: Any = {}
        if self.is_joint:
            counted = columns.combinations(((channels[each], packed[each]) for each in packed), n)
        else:
            columns.add_tallies(counted, packed, channels)
        statistic = {"kind": self.query.kind, "parameters": self.query.document()}
        request = Request(plan=self.query.plan, statistic=statistic)
        return Release(request=request, numbers=self.query.draw(counted, n).document())


def plan_of(asked: Sequence[Asked], way: str) -> Plan:
    epsilon = str(
        WAYS[way] * sum(Decimal(f"{each.epsilon:.6f}") for each in asked) + Decimal("0.001")
    )
    terms = {"epsilon": epsilon, "counts": ANSWERS, "smallest_batch": 1}
    questions = [each.document for each in asked]
    return Plan(
        document=whole(questions=questions, publication=terms, caps={"central_epsilon": "50"}),
        wave=1,
    )


# What the rule publishes


def of_shares(asked: Sequence[Asked], way: str, together: bool = False) -> Study:
    """Return what a rule publishes of questions whose answers have nothing to do with each other."""
    drawn, truths = [], {}
    for each in asked:
        reports, chances = tables.chances_of(each.question.channel)
        inputs = each.people if each.question.wanted != "distribution" else _binned(each)
        whole_law = inputs @ chances
        drawn.append(([each.name], [(report,) for report in reports], whole_law / whole_law.sum()))
        truths |= dict(_truths(each))
    query = releases.by_rule(plan_of(asked, way))
    return Study(query, drawn, truths, all_shown if together else by_themselves)


def _binned(asked: Asked) -> Floats:
    inputs = [asked.question.input_of(step) for step in range(len(asked.people))]
    return np.bincount(inputs, asked.people, minlength=asked.question.bins)


def _truths(asked: Asked) -> Iterator[tuple[str, Truth]]:
    question, name, people = asked.question, asked.name, asked.people
    if question.wanted == "mean":
        mean = question.least + float(people @ np.arange(len(people)))
        yield f"mean/{name}", (mean, mean)
    elif question.wanted == "distribution":
        below = people.cumsum()
        for part in (25, 50, 75):  # any number that so many are at or below, and at or above
            least = int(np.searchsorted(below, part / 100 - HAIR))
            most = int(np.searchsorted(below, part / 100 + HAIR))
            yield f"quartile/{name} {part}", (question.least + least, question.least + most)
        for least in range(question.least, question.most + 1):
            for most in range(least, question.most + 1):
                inside = float(people[least - question.least : most + 1 - question.least].sum())
                yield f"range/{name} {least}–{most}", (inside, inside)
    else:
        if question.kind == MULTIPLE:
            whole_sets = people.reshape((2,) * len(question.choices))
            people = np.array([whole_sets.take(1, at).sum() for at in range(whole_sets.ndim)])
        for choice, share in zip(question.choices, people, strict=True):
            yield f"share/{name} {choice}", (float(share), float(share))
        if question.skipped:
            for choice, share in zip(question.choices[:-1], people, strict=False):
                among = float(share / people[:-1].sum())
                yield f"among those asked/{name} {choice}", (among, among)


def shown(release: Release, together: JointIntervals | None) -> Iterator[Found]:
    """Yield the intervals that the page of a release shows, within what is possible."""
    for result in results_of(release, together):
        name = result.question.name
        if isinstance(result, Result):
            for row in result.rows:
                yield f"share/{name} {row.label}", row.number.low, row.number.high
            for each in result.among_asked:
                yield f"among those asked/{name} {each.label}", each.number.low, each.number.high
            continue
        if result.mean:
            yield f"mean/{name}", result.mean.number.low, result.mean.number.high
        for quarter in result.quartiles:
            yield f"quartile/{name} {quarter.label}", quarter.number.low, quarter.number.high
        for figure in result.numbers.ranges:
            yield f"range/{name} {figure.least}–{figure.most}", figure.low, figure.high


def by_themselves(release: Release, query: Query) -> Iterator[Found]:
    return shown(release, None)


def all_shown(release: Release, query: Query) -> Iterator[Found]:
    return shown(release, JointIntervals.of(release))


def yes_or_no(share: float, epsilon: str, way: str) -> Study:
    return of_shares([Asked.of("q", "yes_no", epsilon, [1 - share, share])], way)


def one_of_five(share: float, epsilon: str, way: str) -> Study:
    return of_shares([Asked.of("q", "single", epsilon, rest_of(share))], way)


def rest_of(share: float) -> list[float]:
    return [share, *(part * (1 - share) for part in (0.6, 0.3, 0.1, 0.0))]


def ticks(share: float, epsilon: str, way: str) -> Study:
    return of_shares([Asked.of("q", "multiple", epsilon, sets(share), choices=OPTIONS)], way)


def sets(share: float) -> Floats:
    """Return the people of every set of options, each ticked whatever the others are."""
    picked = [[1 - part, part] for part in (share, 0.3, 0.1, 0.0)]
    return reduce(np.multiply.outer, np.array(picked)).ravel()


def mean_of_ends(share: float, epsilon: str, way: str) -> Study:
    return of_shares([Asked.of("q", "number", epsilon, ends(share), most=TOP)], way)


def ends(share: float, top: int = TOP) -> list[float]:
    return [1 - share, *[0.0] * (top - 1), share]


def mean(share: float, epsilon: str, way: str) -> Study:
    return of_shares([Asked.of("q", "number", epsilon, lower_half(share), most=TOP)], way)


def lower_half(share: float, top: int = TOP) -> list[float]:
    half = (top + 1) // 2
    return [*[(1 - share) / half] * half, *[0.0] * (top - half), share]


def spread(share: float, epsilon: str, way: str) -> Study:
    people = lower_half(share, BINNED)
    asked = Asked.of("q", "number", epsilon, people, most=BINNED, wanted="distribution")
    return of_shares([asked], way)


def spread_of_ends(share: float, epsilon: str, way: str) -> Study:
    people = ends(share, BINNED)
    asked = Asked.of("q", "number", epsilon, people, most=BINNED, wanted="distribution")
    return of_shares([asked], way)


def at_once(share: float, epsilon: str, way: str) -> Study:
    asked = [
        *(Asked.of(f"y{at}", "yes_no", epsilon, [1 - share, share]) for at in range(3)),
        Asked.of("five", "single", epsilon, rest_of(share)),
        Asked.of("ticks", "multiple", epsilon, sets(share), choices=OPTIONS),
        Asked.of("mean", "number", epsilon, lower_half(share), most=TOP),
    ]
    return of_shares(asked, way, together=True)


# Tables of two questions


def of_pairs(left: Asked, right: Asked, people: Floats, way: str) -> Study:
    """Return a table of two questions; `people` [left, right] are shares of pairs of answers."""
    sides = [tables.chances_of(each.question.channel) for each in (left, right)]
    law = (sides[0][1].T @ people @ sides[1][1]).ravel()
    pairs = list(product(sides[0][0], sides[1][0]))
    epsilon = round(float(WAYS[way]) * (left.epsilon + right.epsilon) + 0.001, 6)
    plan = plan_of([left, right], way)
    setting = {"rows": left.name, "within": right.name, "epsilon": str(epsilon)}
    query = releases.read(plan, "crosstab", setting)
    rows, groups = left.question.choices, right.question.choices
    truths = {}
    for a, b in product(range(len(rows)), range(len(groups))):
        truths[f"cell/{a} {b}"] = (float(people[a, b]),) * 2
        truths[f"within/{a} {b}"] = (float(people[a, b] / people[:, b].sum()),) * 2
    for a in range(len(rows)):
        one, other = (truths[f"within/{a} {b}"][0] for b in (0, 1))
        truths[f"difference/{a}"] = (one - other,) * 2
        if min(one, other) > 0 and max(one, other) < 1:
            truths[f"odds ratio/{a}"] = (one * (1 - other) / (1 - one) / other,) * 2
    drawn = [((left.name, right.name), pairs, law / law.sum())]
    return Study(query, drawn, truths, crossed, is_joint=True)


def crossed(release: Release, query: Query) -> Iterator[Found]:
    """Yield the intervals of a table's page, and of the page that compares its first two groups."""
    cells, *within = (each.rows for each in release.content.tables)
    for at, row in enumerate(cells):
        yield f"cell/{at // len(within)} {at % len(within)}", row.low / 100, row.high / 100
    for b, rows in enumerate(within):
        for a, row in enumerate(rows):
            yield f"within/{a} {b}", row.low / 100, row.high / 100
    for a, apart in enumerate(comparisons.group_differences(query, release.content, 0, 1) or ()):
        yield f"difference/{a}", apart.low, apart.high
        if apart.odds_ratio:
            yield f"odds ratio/{a}", *apart.odds_ratio[1:]


def two_by_two(share: float, epsilon: str, way: str) -> Study:
    left, right = (Asked.of(name, "yes_no", epsilon, []) for name in "lr")
    people = 0.5 * np.array([[share, 0.5], [1 - share, 0.5]])
    return of_pairs(left, right, people, way)


def five_by_two(share: float, epsilon: str, way: str) -> Study:
    left = Asked.of("l", "single", epsilon, [])
    right = Asked.of("r", "yes_no", epsilon, [])
    people = np.array([rest_of(share), rest_of(0.5)]).T * [0.3, 0.7]
    return of_pairs(left, right, people, way)


# The demo's studies, with the people of their data


def health(share: float, epsilon: str, way: str) -> Study:
    return of_shares(
        [_of_demo(each, people_of_health(), epsilon) for each in HEALTH_QUESTIONS], way
    )


def drugs_by_mood(share: float, epsilon: str, way: str) -> Study:
    people = people_with_habits()
    left, right = (_of_demo(each, people, epsilon) for each in (HARD_DRUGS, DEPRESSED))
    pairs = Counter((person["hard_drugs"], person["depressed"]) for person in people)
    shares = [[pairs[a, b] / len(people) for b in range(3)] for a in range(2)]
    return of_pairs(left, right, np.array(shares), way)


def _of_demo(fields: Mapping[str, Any], people: Sequence[Mapping[str, Any]], epsilon: str) -> Asked:
    content = PlannedQuestion(Question(**fields)).at(Decimal(epsilon)).content
    given = Counter(person[content.name] for person in people)
    shares = [given[choice] / len(people) for choice in range(len(content.choices))]
    return Asked(content.name, content, np.array(shares))


KINDS: dict[str, Callable[[float, str, str], Study]] = {
    "yes or no": yes_or_no,
    "one of five": one_of_five,
    "ticks": ticks,
    "mean, at the ends": mean_of_ends,
    "mean": mean,
    "spread": spread,
    "spread, at the ends": spread_of_ends,
    "all at once": at_once,
    "2 × 2": two_by_two,
    "5 × 2": five_by_two,
    "demo: health": health,
    "demo: drugs by mood": drugs_by_mood,
}
SLOW = ("spread", "spread, at the ends", "all at once")  # at the first ε only
DEMO = {"demo: health": people_of_health, "demo: drugs by mood": people_with_habits}


# Counting


Cell = tuple[str, str, int, float, str]  # kind, ε, n, π, way


def measured(work: tuple[Cell, int]) -> list[dict[str, Any]]:
    """Return a row for each group of a cell's intervals."""
    cell, runs = work
    rows = once(cell, runs, 0)
    return once(cell, AGAIN * runs, 1) if min(row["held"] for row in rows) < LEAST else rows


def once(cell: Cell, runs: int, again: int) -> list[dict[str, Any]]:
    kind, epsilon, n, share, way = cell
    study = KINDS[kind](share, epsilon, way)
    words = map(ord, kind + epsilon + way)
    chance = np.random.default_rng([SEED, again, n, int(100 * share), *words])
    missed: Counter[str] = Counter(dict.fromkeys(study.truths, 0))
    widths: dict[str, list[float]] = {}
    for release in study.runs(n, runs, chance):
        over = []
        for name, low, high in study.found(release, study.query):
            if name in study.truths:
                least, most = study.truths[name]
                over += [name] * (not (low <= most + HAIR and least - HAIR <= high))
                widths.setdefault(name.split("/")[0], []).append((high - low) / 2)
        missed.update([ALL] * bool(over) if study.found is all_shown else over)
    groups: dict[str, int] = {}
    for name, times in missed.items():
        group = ALL if study.found is all_shown else name.split("/")[0]
        groups[group] = max(groups.get(group, 0), times)
    parts = {"kind": kind, "ε": epsilon, "n": n, "π": share, "way": way}
    return [
        {
            **parts,
            "of": group,
            "held": 1 - times / runs,
            "±": float(np.median(widths[group])) if group in widths else 0.0,
            "runs": runs,
        }
        for group, times in groups.items()
    ]


def main(runs: int = RUNS, *kinds: str) -> None:
    cells = [cell for kind in kinds or KINDS for cell in cells_of(kind)]
    with ProcessPoolExecutor(WORKERS) as pool:
        rows = [
            row for each in pool.map(measured, ((cell, runs) for cell in cells)) for row in each
        ]
    title = f"The whole way, {runs:,} publications each: how often an interval holds, at least"
    table(title, list(summed(rows)))
    save("whole_way", rows)
    below = [row for row in rows if row["held"] < LEAST]
    if below:
        table(f"Below {LEAST:.1%}", below)


def cells_of(kind: str) -> Iterator[Cell]:
    epsilons = EPSILONS[: 1 if kind in SLOW else None]
    sizes, shares = (SIZES, SHARES) if kind not in DEMO else ((len(DEMO[kind]()),), (0.0,))
    for epsilon, n, share, way in product(epsilons, sizes, shares, WAYS):
        yield kind, epsilon, n, share, way


def summed(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the least of every kind, over ε and π, by n."""
    for kind, of, way in dict.fromkeys((row["kind"], row["of"], row["way"]) for row in rows):
        mine = [row for row in rows if (row["kind"], row["of"], row["way"]) == (kind, of, way)]
        least = min(mine, key=lambda row: row["held"])
        yield {
            "kind": kind,
            "of": of,
            "way": way,
            **{f"n = {n}": _least(row["held"] for row in mine if row["n"] == n) for n in SIZES},
            "at all": least["held"],
            "least at": f"ε {least['ε']}, n {least['n']}, π {least['π']}",
        }


def _least(held: Iterable[float]) -> float | str:
    return min(held, default="")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
