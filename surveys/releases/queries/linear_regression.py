"""Linear regression of a number on others, from noisy sums of squares and products
(dpengine.central.regression).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.regression import REACH, Regression
from surveys.messages import message
from surveys.releases.numbers import Numbers, Table
from surveys.releases.queries.base import Counts, Query, noise_name, rho_at
from surveys.releases.queries.parameters import (
    Context,
    OneQuestion,
    Paid,
    Question,
    SomeQuestions,
)
from surveys.releases.queries.scored import bounds_of, is_number_in_clear, row, rows_of, unit_of

MAX_PREDICTORS = 8

MECHANISM = message("sums of squares and products with %(noise)s noise of scale %(scale)s")
SQUARES_MOVED = message("%(count)s, L2 squared, of the scaled products")
PRODUCTS_MOVED = message("%(count)s, L1, of the scaled products")
EXPECTED = message(
    "%(label)s: chance added makes the slope uncertain by ± %(half)s %(unit_word)s per "
    "%(answer_unit)s, if its answers are spread evenly; sampling adds to that."
)
TOO_FEW = message(
    "With so few answers at this ε no interval can be expected: let it cost more, or wait."
)
CAPTION = message("%(label)s, by linear regression")
MIDDLE = message("With all predictors at the middle of their bounds")
SLOPE = message("%(label)s: for each of its %(answer_unit)s")
METHOD = message(
    "Chance was added, once, to the sums of squares and products of all columns; the coefficients "
    "were solved from them. The intervals count that chance and sampling (equal spread around the "
    "line), at 95 of 100."
)
RESIDUAL = message(
    "The standard deviation around the line is at most %(amount)s %(unit_word)s, for what was "
    "released."
)
RIDGE = message(
    "The predictors cannot be told apart at this much noise. A ridge penalty was added to have "
    "numbers at all: they lean towards 0, and no interval is given."
)
DERIVED = (
    message("Every regression on a part of these predictors."),
    message("The intervals and the residual spread."),
)


@dataclass(frozen=True, kw_only=True)
class Predictors(SomeQuestions):
    """Numbers other than the outcome."""

    def read(self, value: Any, name: str, context: Context) -> tuple[Question, ...]:
        outcome = context.values["outcome"].name
        others = {name: one for name, one in context.questions.items() if name != outcome}
        return super().read(value, name, Context(context.plan, others))


@dataclass(frozen=True)
class LinearRegression(Query):
    outcome: Annotated[Question, OneQuestion(label=gettext_lazy("Outcome"))]
    predictors: Annotated[
        tuple[Question, ...],
        Predictors(
            label=gettext_lazy("Predictors"),
            help=lambda: _("1 to %(most)s, other than the outcome.") % {"most": MAX_PREDICTORS},
            at_most=MAX_PREDICTORS,
        ),
    ]
    epsilon: Paid

    kind = "linear_regression"
    title = message("Linear regression", fills="title")
    sentence = gettext_lazy(
        "How much a number changes, on average, with each step of others, all taken together."
    )
    needs = gettext_lazy("It needs two numbers that are sent as given.")
    fewest = 2

    fits = staticmethod(is_number_in_clear)

    @property
    def columns(self) -> Sequence[Question]:
        return (*self.predictors, self.outcome)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(question.name for question in self.columns)

    @cached_property
    def engine(self) -> Regression:
        """Return the more precise noise of those that the study's cap can pay for."""
        *bounds, outcome = map(bounds_of, self.columns)
        epsilon, neighbours = Fraction(self.epsilon), self.neighbours
        laplace = Regression.for_epsilon(epsilon, bounds, outcome, neighbours)
        if not self.is_concentrated:
            return laplace
        gaussian = Regression.for_rho(rho_at(self.epsilon), bounds, outcome, neighbours)
        return min(laplace, gaussian, key=lambda regression: regression.deviation)

    @property
    def mechanism(self) -> str:
        noise = self.engine.noise
        return MECHANISM(noise=noise_name(noise), scale=f"{noise.scale:.6g}")

    @property
    def sensitivity(self) -> str:
        noise = self.engine.noise
        if isinstance(noise, DiscreteGaussian):
            return SQUARES_MOVED(count=f"{noise.sensitivity_squared:,}")
        return PRODUCTS_MOVED(count=f"{noise.sensitivity:,}")

    @property
    def published(self) -> int:
        return len(self.columns)

    def expected(self, n: int) -> list[str]:
        texts: list[str] = [
            EXPECTED(
                label=question.label,
                half=f"{REACH * self.engine.expected_slope_error(place, max(n, 1)):.3g}",
                unit_word=unit_of(self.outcome),
                answer_unit=unit_of(question),
            )
            for place, question in enumerate(self.predictors)
        ]
        return [*texts, TOO_FEW()] if self.engine.deviation > n / 30 else texts

    def draw(self, counts: Counts, n: int) -> Numbers:
        fit = self.engine.release(rows_of(self.columns, counts))
        unit = unit_of(self.outcome)
        rows = [row(MIDDLE(), fit.middle, unit)]
        for question, slope in zip(self.predictors, fit.slopes, strict=True):
            label = SLOPE(label=question.label, answer_unit=unit_of(question))
            rows.append(row(label, slope, unit))
        residual = RESIDUAL(amount=f"{fit.residual:.3g}", unit_word=unit)
        return Numbers(
            tables=[Table(CAPTION(label=self.outcome.label), rows)],
            method=METHOD(),
            notes=[residual, RIDGE()] if fit.ridge else [residual],
            derived=[text() for text in DERIVED],
            n=n,
        )
