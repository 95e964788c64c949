"""Linear regression of a number on others, from noisy sums of squares and products
(dpengine.central.regression).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.numeric import Measured
from dpengine.central.regression import REACH, Regression
from surveys.messages import message
from surveys.releases.numbers import Numbers, Table
from surveys.releases.queries.base import Counts, Query, digits, noise_name, plain_scale
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
NEEDED = message(
    "An interval that says something takes predictors that do not move together, each with a "
    "standard deviation of at least %(percent)s %% of the width of its bounds; answers that are "
    "spread evenly have 29 %%."
)
TOO_FEW = message(
    "With so few answers at this ε no interval can be expected, or one that says next to nothing. "
    "It would take %(many)s answers at this ε, or ε %(epsilon)s for these, even with predictors "
    "spread evenly."
)
TOO_FEW_FOR_ALL = message(
    "With so few answers at this ε no interval can be expected, or one that says next to nothing. "
    "It would take %(many)s answers at this ε, or ε %(epsilon)s for these, even with predictors "
    "spread evenly; or fewer predictors: one alone takes %(least)s answers."
)
CAPTION = message("%(label)s, by linear regression")
MIDDLE = message("With all predictors at the middle of their bounds")
SLOPE = message("%(label)s: for each of its %(answer_unit)s")
METHOD = message(
    "Chance was added, once, to the sums of squares and products of all columns; the coefficients "
    "were solved from them."
)
INTERVALS = message(
    "The intervals count that chance and sampling, at 95 of 100. Sampling is counted at the most "
    "that it can be wherever the spread around the line lies: they hold where it grows with a "
    "predictor, and are wider than they need to be where it is the same everywhere."
)
RESIDUAL = message(
    "The standard deviation around the line is at most %(amount)s %(unit_word)s, for what was "
    "released."
)
VAGUE = message(
    "At least one interval holds more than half of all slopes that lines between the bounds can "
    "have: it says next to nothing."
)
UNTOLD = message(
    "Where no interval is given, the noise leaves every value possible: the number says nothing."
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
    needs = gettext_lazy("It needs two numbers that are not randomised.")
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
        of = bounds, outcome, self.neighbours
        laplace = Regression.for_epsilon(self.strength(self.epsilon), *of)
        rho = self.rho_for(self.epsilon)
        if rho is None:
            return laplace
        gaussian = Regression.for_rho(rho, *of)
        return min(laplace, gaussian, key=lambda regression: regression.deviation)

    @property
    def mechanism(self) -> str:
        noise = self.engine.noise
        return MECHANISM(noise=noise_name(noise), scale=plain_scale(noise.scale))

    @property
    def sensitivity(self) -> str:
        noise = self.engine.noise
        if isinstance(noise, DiscreteGaussian):
            return SQUARES_MOVED(count=f"{noise.sensitivity_squared:,}")
        return PRODUCTS_MOVED(count=f"{noise.sensitivity:,}")

    @property
    def published(self) -> int:
        return len(self.columns)

    def covers(self, n: int) -> float:
        """Return how much of all slopes an interval holds: half of them where n is `enough`."""
        return min(1.0, self.engine.enough / (2 * max(n, 1)))

    def expected(self, n: int) -> list[str]:
        texts: list[str] = [
            EXPECTED(
                label=question.label,
                half=digits(REACH * self.engine.expected_slope_error(place, max(n, 1))),
                unit_word=unit_of(self.outcome),
                answer_unit=unit_of(question),
            )
            for place, question in enumerate(self.predictors)
        ]
        return [*texts, self._needed(n)]

    def _needed(self, n: int) -> str:
        """Say what an interval takes, and where that cannot be expected, what would help."""
        enough = self.engine.enough
        if n >= enough:
            return NEEDED(percent=f"{math.ceil(100 * self.engine.least_spread(n))}")
        epsilon = Fraction(self.epsilon) * enough / max(n, 1)
        helps = {"many": f"{enough:,}", "epsilon": f"{math.ceil(10 * epsilon) / 10:,}"}
        if len(self.predictors) == 1:
            return TOO_FEW(**helps)
        alone = replace(self, predictors=self.predictors[:1]).engine
        return TOO_FEW_FOR_ALL(**helps, least=f"{alone.enough:,}")

    def draw(self, counts: Counts, n: int) -> Numbers:
        fit = self.engine.release(rows_of(self.columns, counts))
        unit = unit_of(self.outcome)
        rows = [row(MIDDLE(), fit.middle, unit)]
        for question, slope in zip(self.predictors, fit.slopes, strict=True):
            label = SLOPE(label=question.label, answer_unit=unit_of(question))
            rows.append(row(label, slope, unit))
        notes: list[str] = [RESIDUAL(amount=digits(fit.residual), unit_word=unit)]
        notes += [RIDGE()] if fit.ridge else [INTERVALS()]
        spans = list(map(self._span, self.predictors, fit.slopes))
        if not fit.ridge and math.inf in (*spans, fit.middle.high):
            notes.append(UNTOLD())
        if any(0.5 < span < math.inf for span in spans):
            notes.append(VAGUE())
        return Numbers(
            tables=[Table(CAPTION(label=self.outcome.label), rows)],
            method=METHOD(),
            notes=notes,
            derived=[text() for text in DERIVED],
            n=n,
        )

    def _span(self, predictor: Question, slope: Measured) -> float:
        """Return an interval's share of all slopes that lines between the bounds can have."""
        steepest = bounds_of(self.outcome).width / bounds_of(predictor).width
        return (slope.high - slope.low) / (2 * steepest)
