"""A release as a page shows it: every share with its interval, what it is made of, and how it was made."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpengine.estimates import Estimate, Variance
from surveys.dashboard.pictures import Axis, Bar, narrowed, percent
from surveys.design import queries as design
from surveys.design.queries import Odds
from surveys.releases.models import Release, Step

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
        """Return half the interval's width, in points, with the noises up to s, d and p."""
        half = (self.estimate.high - self.estimate.low) / 2
        return {noise: percent(half * part) for noise, part in narrowed(self.estimate.variance).items()}


@dataclass(frozen=True, slots=True)
class Result:
    """One question of a release."""

    number: int
    question: dict[str, Any]
    odds: Odds | None  # none where the answer was sent as given
    contrast: float  # how far one answer moves the expected share of reports
    n: int
    axis: Axis
    rows: list[Row]  # in the order in which people see the choices
    as_precise_as: int
    mechanism: dict[str, Any]

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


def results_of(release: Release | Step) -> list[Result]:
    """Return every question of a release of shares, in the Plan's order."""
    return list(_results(release.request.plan.content, release.numbers))


def _results(content: dict[str, Any], numbers: dict[str, Any]) -> Iterator[Result]:
    confidence, n = numbers["confidence"], numbers["n"]
    by_name = {found["name"]: found for found in numbers["questions"]}
    for number, question in enumerate(content["questions"], start=1):
        if (found := by_name.get(question["name"])) is None:
            continue
        estimates = [_estimate(choice, confidence) for choice in found["choices"]]
        odds = design.odds_of(question) if question["protection"] == "device" else []
        order = design.shown_order(question)
        drawn = order[:1] if question["kind"] == "yes_no" and len(order) == 2 else order  # No mirrors Yes
        axis = Axis.covering(estimates[index] for index in drawn)
        yield Result(
            number=number,
            question=question,
            odds=odds[order[0]] if odds else None,
            contrast=min((float(each.own - each.other) for each in odds), default=1.0),
            n=n,
            axis=axis,
            rows=[_row(found["choices"][index], estimates[index], axis) for index in order],
            as_precise_as=found["as_precise_as"],
            mechanism={**found["mechanism"], "scale": f"{found['mechanism']['scale']:.6g}"},
        )


def _estimate(choice: dict[str, Any], confidence: float) -> Estimate:
    low, high = choice["interval"]
    return Estimate(choice["estimate"], low, high, Variance(**choice["variance"]), confidence)


def _row(choice: dict[str, Any], estimate: Estimate, axis: Axis) -> Row:
    return Row(
        choice=choice["choice"],
        estimate=estimate,
        bars=axis.bars(estimate),
        centre=axis.at(estimate.value),
        noisy_count=choice["noisy_count"],
        projected=percent(choice["projected"]),
    )
