"""A quantile of a number, the median above all, by one of three mechanisms, with an interval for the population's.

exponential    dpengine.central.quantiles: pure ε; a third of ε for the quantile, two thirds for its interval
smooth         dpengine.central.smooth: (ε, δ), the median only; half of ε for it, half for the interval
propose        dpengine.central.propose: the same, and it may answer nothing: that is charged as well
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.propose import ProposedMedian
from dpengine.central.quantiles import Grid, Limits, QuantileWithInterval, within_limits
from dpengine.central.smooth import SmoothMedian
from dpengine.privacy import Cost, Neighbours, plain
from surveys.design.models import Plan
from surveys.releases import statistics, words
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    neighbours_of,
    question_field,
    question_of,
)
from surveys.releases.asked.scored import bounds_of, given_numbers, row, rows_of, unit_of

METHODS = {
    "exponential": "Exponential mechanism (no δ)",
    "smooth": "Smooth sensitivity (median)",
    "propose": "Propose, test, release (median; may answer nothing)",
}
MEDIAN = Fraction(1, 2)
MEDIANS_PAID = 8  # that the δ of a cap, all of what mechanisms may use of it, pays for
LIKELY = 0.05  # chance that a rank is farther off than is said
MANY_BINS = 100  # made-up people for whom a noise that depends on the data is stated


@dataclass(frozen=True)
class Quantile:
    question: dict[str, Any]
    percent: str
    method: str
    epsilon: str
    step: int  # what the analyst proposes that the median may move by at most; 0 for other methods
    neighbours: Neighbours
    delta: Fraction  # of the methods that have one: it follows from the Plan

    kind: ClassVar[str] = "quantile"
    title: ClassVar[str | Promise] = gettext_lazy("Median, or another quantile, of a number")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "The value that half of all people (or another share) are at or below, with its interval."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = given_numbers(plan)
        if not questions:
            return None

        ways = [(name, words.told(way)) for name, way in _methods(plan).items()]

        class QuantileForm(forms.Form):
            question = question_field(questions, label=_("Question"))
            percent = forms.DecimalField(
                label=_("Share of people below, in percent"), min_value=0, max_value=100, decimal_places=1, initial=50
            )
            method = forms.ChoiceField(choices=ways, label=_("Method"))
            epsilon = EpsilonInput(help_text=_("A part of it pays for the interval."))
            if len(_methods(plan)) > 1:
                step = forms.IntegerField(
                    label=_("Proposed step"),
                    min_value=0,
                    initial=0,
                    required=False,
                    help_text=_(
                        "For propose, test, release: by how much one more person should be able to move the median."
                    ),
                )

        return QuantileForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        question = question_of(parameters, "question", given_numbers(plan), plan)
        percent, method = _percent(parameters), parameters.get("method")
        if not isinstance(method, str) or method not in _methods(plan):
            raise Refused("method", _("expected one of %(names)s") % {"names": ", ".join(_methods(plan))})
        if method != "exponential" and percent != 50:
            raise Refused(
                "percent", _("expected 50 for this method: it is for the median only, got %(got)s") % {"got": percent}
            )
        step, epsilon = _step(parameters, method, question), epsilon_text(epsilon_of(parameters))
        found = cls(question, str(plain(percent)), method, epsilon, step, neighbours_of(plan), _delta_of(plan))
        try:
            found._parts  # noqa: B018 (made here, so that what cannot be is refused before anything is charged)
        except ValueError as error:
            raise Refused("epsilon", words.told(str(error))) from error
        return found

    def document(self) -> dict[str, Any]:
        proposed = {"step": self.step} if self.method == "propose" else {}
        return {
            "epsilon": self.epsilon,
            "method": self.method,
            "percent": self.percent,
            "question": self.question["name"],
            **proposed,
        }

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question["name"],)

    @cached_property
    def _parts(self) -> tuple[QuantileWithInterval | SmoothMedian | ProposedMedian, Limits | None]:
        bounds, epsilon = bounds_of(self.question), Fraction(self.epsilon)
        if self.method == "exponential":
            quantile = Fraction(self.percent) / 100
            return QuantileWithInterval.for_epsilon(epsilon, Grid(bounds), quantile, self.neighbours), None
        limits = Limits(Grid(bounds), MEDIAN, self.neighbours, epsilon / 2)
        if self.method == "smooth":
            return SmoothMedian.for_epsilon_delta(epsilon / 2, self.delta, bounds, self.neighbours), limits
        return (
            ProposedMedian.for_epsilon_delta(epsilon / 2, self.delta, bounds, self.neighbours, self.step),
            limits,
        )

    @property
    def cost(self) -> Cost:
        point, limits = self._parts
        return point.cost + limits.cost if limits else point.cost

    @property
    def mechanism(self) -> str:
        point = self._parts[0]
        limits = "two limits by report noisy max"
        if isinstance(point, QuantileWithInterval):
            return f"report noisy max over {point.point.grid.size:,} values, {limits}"
        if isinstance(point, SmoothMedian):
            step = float(point.step)
            return f"smooth sensitivity, r = {step:.6g}, discrete Laplace, δ = {float(self.delta):.2g}; {limits}"
        return (
            f"propose-test-release, step {point.proposed:,}, threshold {point.threshold:,}, discrete Laplace of scale "
            f"{point.test.scale:.6g} and {point.noise.scale:.6g}, δ = {float(self.delta):.2g}; {limits}"
        )

    @property
    def sensitivity(self) -> str:
        if self.method == "smooth":
            return "smooth bound of the data’s own, within the ladder; ranks by 1 person"
        if self.method == "propose":
            return f"{self.step:,} if the test passes; ranks by 1 person"
        return "ranks by 1 person"

    def expected(self, n: int) -> list[str]:
        point, limits = self._parts
        if isinstance(point, QuantileWithInterval):
            ranks = point.point.off_by(LIKELY)
            said = [
                f"The value named is off by at most {_of_people(ranks, n)} in rank, in 95 of 100 draws; "
                f"values are told apart in steps of {point.point.grid.step:,}."
            ]
            limits = point.limits
        else:
            said = self._expected_noise(n)
        assert limits is not None  # noqa: S101 (for the type checker)
        low, high = limits.ranks(n)
        if low < 0 or high > n:
            return [
                *said,
                "With so few answers at this ε a side of the interval will be the end of what can be answered.",
            ]
        return [
            *said,
            f"The interval will reach from about rank {low:,.0f} to rank {high:,.0f} of {n:,}.",
        ]

    def _expected_noise(self, n: int) -> list[str]:
        """Say what the noise would be for people spread evenly over the bounds: that of the real ones is secret."""
        point, unit, bounds = self._parts[0], unit_of(self.question), bounds_of(self.question)
        people = min(n, 10**4)
        made_up = [bounds.least + bounds.width * place // max(people - 1, 1) for place in range(people)]
        if isinstance(point, SmoothMedian):
            error = point.standard_error(made_up)
            return [
                f"If people were spread evenly, chance would add ± {1.96 * error:,.3g} {unit}; fewer if they are close."
            ]
        assert isinstance(point, ProposedMedian)  # noqa: S101 (for the type checker)
        return [
            f"If it answers, chance adds ± {1.96 * point.standard_error:,.3g} {unit}. If people were spread evenly it "
            "would "
            f"answer with chance {100 * point.chance_of_answer(made_up):.0f} of 100. No answer costs the same."
        ]

    def draw(self, counts: Counts, n: int) -> Numbers:
        values = [numbers[0] for numbers in rows_of([self.question], counts)]
        point, limits = self._parts
        if isinstance(point, QuantileWithInterval):
            return self._numbers(row(self._label, point.release(values), unit_of(self.question)))
        assert limits is not None  # noqa: S101 (for the type checker)
        found, (low, high) = point.release(values), limits.release(values)
        if found is None:
            nothing = {"label": self._label, "value": "not stable enough", "low": low, "high": high}
            return self._numbers({**nothing, "standard_error": None, "unit": unit_of(self.question)})
        return self._numbers(row(self._label, within_limits(found, low, high), unit_of(self.question)))

    @property
    def _label(self) -> str:
        return "Median" if self.percent == "50" else f"{self.percent} of 100 are at or below"

    def _numbers(self, found: dict[str, Any]) -> Numbers:
        return {
            "tables": [{"caption": self.question["label"], "rows": [found]}],
            "method": f"{METHODS[self.method]}. The interval’s limits were drawn apart from the value, each at a rank "
            "that "
            "leaves room for sampling and for chance: it holds for the population in 95 of 100 such studies, "
            "whatever the answers’ shape.",
            "notes": ["Answers beyond the question’s bounds count as the nearest bound."],
            "derived": ["The standard error is read off the interval."],
        }


def _methods(plan: Plan) -> dict[str, str]:
    """Return the methods that the study's cap can pay: two of them need a δ."""
    return METHODS if statistics.is_concentrated(plan) else {"exponential": METHODS["exponential"]}


def _delta_of(plan: Plan) -> Fraction:
    """Return the δ of one median: half of a cap's δ is for mechanisms (design/terms.py), and this a share of that."""
    return Fraction(plan.content["caps"].get("central_delta", "0")) / 2 / MEDIANS_PAID


def _percent(parameters: Mapping[str, Any]) -> Decimal:
    try:
        percent = Decimal(str(parameters["percent"]))
    except (KeyError, ArithmeticError):
        raise Refused("percent", _("expected a decimal from 0 to 100")) from None
    if not percent.is_finite() or not 0 <= percent <= 100 or percent != round(percent, 1):
        raise Refused("percent", _("expected a decimal from 0 to 100, with one place, got %(got)s") % {"got": percent})
    return percent


def _step(parameters: Mapping[str, Any], method: str, question: Mapping[str, Any]) -> int:
    if method != "propose":
        return 0
    step, most = parameters.get("step"), bounds_of(question).width - 1
    if type(step) is not int or not 1 <= step <= most:
        raise Refused("step", _("expected a whole number from 1 to %(most)s") % {"most": most})
    return step


def _of_people(ranks: float, n: int) -> str:
    return f"{ranks:,.0f} people" + (f" ({100 * ranks / n:.1f} of 100)" if n else "")
