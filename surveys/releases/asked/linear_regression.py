"""Linear regression of a number on others, from noisy sums of squares and products (dpengine.central.regression)."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.regression import REACH, Regression
from dpengine.privacy import Cost
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
    question_choices,
    question_field,
    question_of,
)
from surveys.releases.asked.scored import bounds_of, given_numbers, row, rows_of, unit_of

MOST = 8  # predictors


@dataclass(frozen=True)
class LinearRegression:
    outcome: dict[str, Any]
    predictors: tuple[dict[str, Any], ...]
    epsilon: str
    regression: Regression

    kind: ClassVar[str] = "linear_regression"
    title: ClassVar[str | Promise] = gettext_lazy("Linear regression")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "How much a number changes, on average, with each step of others, all taken together."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = given_numbers(plan)
        if len(questions) < 2:
            return None

        class RegressionForm(forms.Form):
            outcome = question_field(questions, label=_("Outcome"))
            predictors = forms.MultipleChoiceField(
                choices=question_choices(questions),
                widget=forms.CheckboxSelectMultiple,
                help_text=_("1 to %(most)s, other than the outcome.") % {"most": MOST},
                label=_("Predictors"),
            )
            epsilon = EpsilonInput()

        return RegressionForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions = given_numbers(plan)
        outcome = question_of(parameters, "outcome", questions)
        wanted, others = parameters.get("predictors"), [name for name in questions if name != outcome["name"]]
        if not isinstance(wanted, list) or not 1 <= len(wanted) <= MOST or any(name not in others for name in wanted):
            raise Refused(
                "predictors", _("expected 1 to %(most)s of %(names)s") % {"most": MOST, "names": ", ".join(others)}
            )
        predictors = tuple(questions[name] for name in others if name in wanted)
        epsilon = epsilon_of(parameters)
        try:
            regression = _mechanism(plan, Fraction(epsilon), predictors, outcome)
        except ValueError as error:
            raise Refused("epsilon", words.told(str(error))) from error
        return cls(outcome, predictors, epsilon_text(epsilon), regression)

    def document(self) -> dict[str, Any]:
        predictors = [question["name"] for question in self.predictors]
        return {"epsilon": self.epsilon, "outcome": self.outcome["name"], "predictors": predictors}

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(question["name"] for question in (*self.predictors, self.outcome))

    @property
    def cost(self) -> Cost:
        return self.regression.cost

    @property
    def mechanism(self) -> str:
        noise = self.regression.noise
        name = "discrete Gaussian" if isinstance(noise, DiscreteGaussian) else "discrete Laplace"
        return f"sums of squares and products with {name} noise of scale {noise.scale:.6g}"

    @property
    def sensitivity(self) -> str:
        noise = self.regression.noise
        if isinstance(noise, DiscreteGaussian):
            return f"{noise.sensitivity_squared:,}, L2 squared, of the scaled products"
        return f"{noise.sensitivity:,}, L1, of the scaled products"

    def expected(self, n: int) -> list[str]:
        said = [
            f"{question['label']}: chance added makes the slope uncertain by ± "
            f"{REACH * self.regression.expected_slope_error(place, max(n, 1)):.3g} {unit_of(self.outcome)} per "
            f"{unit_of(question)}, if its answers are spread evenly; sampling adds to that."
            for place, question in enumerate(self.predictors)
        ]
        if self.regression.deviation > n / 30:
            said.append("With so few answers at this ε no interval can be expected: let it cost more, or wait.")
        return said

    def draw(self, counts: Counts, n: int) -> Numbers:
        fit = self.regression.release(rows_of([*self.predictors, self.outcome], counts))
        unit = unit_of(self.outcome)
        rows = [row("With all predictors at the middle of their bounds", fit.middle, unit)]
        for question, slope in zip(self.predictors, fit.slopes, strict=True):
            rows.append(row(f"{question['label']}: for each of its {unit_of(question)}", slope, unit))
        notes = [f"The standard deviation around the line is at most {fit.residual:.3g} {unit}, for what was released."]
        if fit.ridge:
            notes.append(
                "The predictors cannot be told apart at this much noise. A ridge penalty was added to have numbers "
                "at all: "
                "they lean towards 0, and no interval is given."
            )
        return {
            "tables": [{"caption": f"{self.outcome['label']}, by linear regression", "rows": rows}],
            "method": "Chance was added, once, to the sums of squares and products of all columns; the coefficients "
            "were "
            "solved from them. The intervals count that chance and sampling (equal spread around the line), at 95 of "
            "100.",
            "notes": notes,
            "derived": ["Every regression on a part of these predictors.", "The intervals and the residual spread."],
        }


def _mechanism(
    plan: Plan, epsilon: Fraction, predictors: tuple[dict[str, Any], ...], outcome: dict[str, Any]
) -> Regression:
    """Return the more precise noise of those that the study's cap can pay for."""
    bounds, neighbours = [bounds_of(question) for question in predictors], neighbours_of(plan)
    laplace = Regression.for_epsilon(epsilon, bounds, bounds_of(outcome), neighbours)
    if not statistics.is_concentrated(plan):
        return laplace
    gaussian = Regression.for_rho(epsilon**2 / 2, bounds, bounds_of(outcome), neighbours)
    return min(laplace, gaussian, key=lambda regression: regression.deviation)
