"""A release as a page shows it: every share with its interval, what it is made of, and how it was made."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from dpengine.estimates import Estimate, Variance
from surveys.dashboard.facts import shown_epsilon
from surveys.dashboard.measured import Measured, measured_of
from surveys.dashboard.pictures import Axis, Bar, doubts_of, percent
from surveys.design import queries as design
from surveys.design.queries import Odds
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step
from surveys.releases.queries import comparisons

MANY = 50  # false reports, to make the harm of one easier to see


@dataclass(frozen=True, slots=True)
class Row:
    """One choice of a question."""

    choice: str
    estimate: Estimate
    bars: list[Bar]
    centre: str  # where the estimate stands
    noisy_count: int
    projected: str
    is_not_asked: bool = False

    @property
    def value(self) -> str:
        return percent(self.estimate.value)

    @property
    def low(self) -> str:
        return percent(self.estimate.low)

    @property
    def high(self) -> str:
        return percent(self.estimate.high)

    @property
    def possible_low(self) -> str:
        """Return the least share that can be: what lies below 0 is chance."""
        return percent(self.estimate.low) if self.estimate.low > 0 else "0"

    @property
    def possible_high(self) -> str:
        return percent(min(max(self.estimate.high, 0.0), 1.0))

    @property
    def is_negative(self) -> bool:
        return self.value.startswith("−")

    @property
    def is_beyond(self) -> bool:
        return float(f"{100 * self.estimate.value:.1f}") > 100

    @property
    def doubts(self) -> dict[str, str]:
        """Return half the interval's width, in points, with the noises up to s, d and p; see `doubts_of`."""
        return doubts_of(50 * (self.estimate.high - self.estimate.low), self.estimate.variance, 1)


@dataclass(frozen=True, slots=True)
class Part:
    """The share of one answer among those who were asked."""

    choice: str
    value: str  # empty where too few were asked to say
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Result:
    """One question of a release whose answers are choices."""

    number: int
    question: dict[str, Any]
    odds: Odds | None  # none where the answer was sent as given
    contrast: float  # how far one answer moves the expected share of reports
    n: int
    axis: Axis
    rows: list[Row]  # in the order in which people see the choices
    as_precise_as: int | None
    mechanism: dict[str, Any]
    among_asked: list[Part]  # empty where all were asked, or where nothing sound can be said

    is_measured = False

    @property
    def is_multiple(self) -> bool:
        """Tell whether several answers could be ticked: then shares do not add up to 100."""
        return bool(self.question["kind"] == "multiple")

    @property
    def has_not_asked(self) -> bool:
        return bool(self.question.get("skipped"))

    @property
    def condition(self) -> dict[str, Any] | None:
        """Return what this question depends on."""
        found: dict[str, Any] | None = self.question.get("asked_if")
        return found

    @property
    def headline(self) -> Row | None:
        """Return the row to say first: Yes."""
        return self.rows[0] if self.question["kind"] == "yes_no" else None

    @property
    def own(self) -> str:
        return f"{float(self.odds.own):.6g}" if self.odds else "1"

    @property
    def other(self) -> str:
        return f"{float(self.odds.other):.6g}" if self.odds else "0"

    @property
    def noise(self) -> str:
        """Name the law of the chance that was added: the word picks the sentence in dashboard/noise.html."""
        return "laplace" if "epsilon" in self.mechanism else "refresh" if "step" in self.mechanism else "gaussian"

    @property
    def is_binary(self) -> bool:
        return len(self.rows) == 2

    @property
    def negatives(self) -> list[Row]:
        return [row for row in self.rows if row.is_negative]

    @property
    def beyond(self) -> list[Row]:
        """Return the rows above 100 %, but not the mirror image of a Yes that was explained."""
        return [] if self.is_binary and self.negatives else [row for row in self.rows if row.is_beyond]

    @property
    def total(self) -> str:
        return percent(sum(row.estimate.value for row in self.rows))

    @property
    def skew(self) -> str:
        """Return how far one false report can move a share, in points: 1/(n(a − b)), rounded up."""
        return f"{math.ceil(100 * self._skew) / 100:.2f}"

    @property
    def skew_of_many(self) -> str:
        return f"{math.ceil(10 * MANY * self._skew) / 10:.1f}"

    @property
    def _skew(self) -> float:
        return 100 / (self.n * self.contrast)


Shown = Result | Measured


def results_of(release: Release | Step) -> list[Shown]:
    """Return every question of a release, in the Plan's order."""
    return list(_results(release))


def _results(release: Release | Step) -> Iterator[Shown]:
    numbers, content = release.numbers, release.request.plan.spoken
    by_name = {found["name"]: found for found in numbers["questions"]}
    for number, question in enumerate(content["questions"], start=1):
        if (found := by_name.get(question["name"])) is None:
            continue
        mechanism = {**found["mechanism"], "scale": f"{found['mechanism']['scale']:.6g}"}
        if "choices" in found:
            yield _result(number, question, found, mechanism, release)
        else:
            epsilon = shown_epsilon(question["loss"]) if "loss" in question else ""
            yield measured_of(number, question, found, numbers["n"], mechanism, epsilon)


def _result(
    number: int, question: dict[str, Any], found: dict[str, Any], mechanism: dict[str, Any], release: Release | Step
) -> Result:
    numbers = release.numbers
    estimates = [_estimate(choice, numbers["confidence"]) for choice in found["choices"]]
    odds = design.odds_of(question) if question["protection"] == "device" else []
    order = design.shown_order(question)
    drawn = order[:1] if question["kind"] == "yes_no" and len(order) == 2 else order  # No mirrors Yes
    axis = Axis.covering(estimates[index] for index in drawn)
    last = len(order) - 1 if question.get("skipped") else -1
    each = 1 / len(order) if question["kind"] == "multiple" else 1.0  # a report is about one option of so many
    return Result(
        number=number,
        question=question,
        odds=odds[order[0]] if odds else None,
        contrast=each * min((float(each.own - each.other) for each in odds), default=1.0),
        n=numbers["n"],
        axis=axis,
        rows=[
            _row(question["choices"][at], found["choices"][at], estimates[at], axis, is_not_asked=at == last)
            for at in order
        ],
        as_precise_as=found["as_precise_as"],
        mechanism=mechanism,
        among_asked=_among_asked(question, order, release) if question.get("skipped") else [],
    )


def _among_asked(question: dict[str, Any], order: list[int], release: Release | Step) -> list[Part]:
    request = release.request
    shares = comparisons.among_asked(request.plan, releases.asked_of(request), release.numbers, question["name"])
    if shares is None:
        return []
    return [
        Part(
            question["choices"][at],
            "" if shares[at].value is None else percent(shares[at].value),  # type: ignore[arg-type]
            percent(shares[at].low),
            percent(shares[at].high),
        )
        for at in order[:-1]
    ]


@dataclass(frozen=True, slots=True)
class Block:
    """One question, or the statements of one matrix, which share a scale."""

    results: list[Shown]
    text: str = ""
    axis: Axis | None = None

    @property
    def is_matrix(self) -> bool:
        return self.axis is not None

    @property
    def end(self) -> str:
        """Return the last line of the scale, in percent."""
        return percent(min(self.axis.high, 1.0), 0) if self.axis else ""

    @property
    def choices(self) -> list[str]:
        return list(self.results[0].question["choices"])


def blocks_of(results: list[Shown]) -> list[Block]:
    """Return results as a page shows them: neighbouring statements of one group as one matrix."""
    found: list[Block] = []
    for _, group in groupby(results, key=_group):
        shown = list(group)
        matrix = [each for each in shown if isinstance(each, Result)]
        if _group(shown[0])[0] and len(matrix) == len(shown) > 1:
            found.append(_matrix(matrix))
        else:
            found += [Block([each]) for each in shown]
    return found


def _group(result: Shown) -> tuple[str, int]:
    group = result.question.get("group")
    return (group["name"], 0) if group else ("", result.number)


def _matrix(results: list[Result]) -> Block:
    axis = Axis.covering(row.estimate for result in results for row in result.rows)
    shared = [
        replace(
            result,
            axis=axis,
            rows=[
                replace(row, bars=axis.bars(row.estimate), centre=axis.at(row.estimate.value)) for row in result.rows
            ],
        )
        for result in results
    ]
    return Block(list(shared), results[0].question["group"].get("text", ""), axis)


def _estimate(choice: dict[str, Any], confidence: float) -> Estimate:
    low, high = choice["interval"]
    return Estimate(choice["estimate"], low, high, Variance.read(choice["variance"]), confidence)


def _row(said: str, choice: dict[str, Any], estimate: Estimate, axis: Axis, *, is_not_asked: bool) -> Row:
    return Row(
        choice=said,
        estimate=estimate,
        bars=axis.bars(estimate),
        centre=axis.at(estimate.value),
        noisy_count=choice["noisy_count"],
        projected=percent(choice["projected"]),
        is_not_asked=is_not_asked,
    )
