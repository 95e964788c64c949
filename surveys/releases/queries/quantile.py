"""A quantile of a number, the median above all, by one of three mechanisms, with an interval for
the population's; several by the first, which reads all intervals from one draw.

exponential    dpengine.central.quantiles: pure ε, by permute and flip and Laplace noise; where the
               study pays in ρ, by the exponential mechanism and Gaussian noise. A third for the
               quantile, two thirds for its interval; several share both
smooth         dpengine.central.smooth: (ε, δ), the median only; half of ρ for it, half for the
               interval
propose        dpengine.central.propose: the same, and it may answer nothing: that is charged as
               well

The last two are offered where they are expected to be nearer to the median than the first, for
people spread evenly: on whole numbers that the first tells apart they never were. Requests of
before have half of ε for each part, and the coarse lattice of smooth sensitivity.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.numeric import Bounds
from dpengine.central.propose import ProposedMedian
from dpengine.central.quantiles import Grid, Limits, QuantilesWithIntervals, within_limits
from dpengine.central.smooth import MAX_OUTCOMES, SmoothMedian, median
from dpengine.privacy import LARGEST_EPSILON, plain
from surveys.aggregation import selectors as aggregation
from surveys.design.models import Plan
from surveys.messages import Message, Text, message
from surveys.releases.numbers import Numbers, Row, Table
from surveys.releases.queries.base import Counts, Engine, Query, digits, noise_name, plain_scale
from surveys.releases.queries.parameters import (
    AnyQuestion,
    Context,
    Epsilon,
    Label,
    OneOf,
    Percent,
    Question,
    Whole,
    WrongParameter,
)
from surveys.releases.queries.scored import (
    CLAMPED,
    READ_OFF,
    bounds_of,
    is_number_in_clear,
    part_between,
    row,
    unit_of,
    values_of,
)

MEDIAN = Fraction(1, 2)
HALVES = (Fraction(1, 2), Fraction(1, 2))
MEDIANS_PAID = 8  # that the δ of a cap, all of what mechanisms may use of it, pays for
LIKELY = 0.05  # chance that a rank is farther off than is said
MOST = 9  # quantiles of one release
MADE_UP = 10**4  # people at most, for whom a noise that depends on the data is stated
COMPARED = 10**5  # people at most, for whom methods are compared
VAGUE = 4  # a method that is off by more than this part of the width is not offered
COARSE = 1  # parts of a unit, of the lattice of smooth sensitivity in requests of before

METHODS = {
    "exponential": message("Exponential mechanism", fills="way"),
    "smooth": message("Smooth sensitivity (median)", fills="way"),
    "propose": message("Propose, test, release (median; may answer nothing)", fills="way"),
}
CELLS = message("interval by %(noise)s on %(cells)s cells, scale %(scale)s")
NOISY_MAX = message("report noisy max over %(count)s values, %(limits)s")
EXPONENTIAL = message("exponential mechanism over %(count)s values, %(limits)s")
NOISY_MAXIMA = message("report noisy max over %(count)s values for %(many)s quantiles, %(limits)s")
EXPONENTIALS = message(
    "exponential mechanism over %(count)s values for %(many)s quantiles, %(limits)s"
)
SMOOTH = message("smooth sensitivity, r = %(r)s, discrete Laplace, δ = %(delta)s; %(limits)s")
PROPOSE = message(
    "propose-test-release, step %(step)s, threshold %(threshold)s, discrete Laplace of scale "
    "%(scale)s and %(other_scale)s, δ = %(delta)s; %(limits)s"
)
PROPOSE_NOUGHT = message(
    "propose-test-release, step 0, threshold %(threshold)s, discrete Laplace of scale %(scale)s, "
    "δ = %(delta)s; %(limits)s"
)
RANKS = message("ranks by 1 person")
SMOOTH_BOUND = message("smooth bound of the data’s own, within the ladder; ranks by 1 person")
IF_TEST_PASSES = message("%(count)s if the test passes; ranks by 1 person")
OFF_BY = message(
    "The value named is off by at most %(ranks)s people in rank, in 95 of 100 draws; values are "
    "told apart in steps of %(step)s."
)
OFF_BY_SHARE = message(
    "The value named is off by at most %(ranks)s people (%(share)s of 100) in rank, in 95 of 100 "
    "draws; values are told apart in steps of %(step)s."
)
TOO_FEW = message(
    "With so few answers at this ε a side of the interval will be the end of what can be answered."
)
REACH_OF = message(
    "The interval of the value that %(percent)s of 100 are at or below will reach from about rank "
    "%(low)s to rank %(high)s of %(n)s."
)
REACH = message("The interval will reach from about rank %(low)s to rank %(high)s of %(n)s.")
EVEN_SMOOTH = message(
    "If people were spread evenly, chance would add ± %(half)s %(unit_word)s; fewer if they are "
    "close."
)
EVEN_PROPOSE = message(
    "If it answers, chance adds ± %(half)s %(unit_word)s. If people were spread evenly it would "
    "answer with chance %(chance)s of 100. No answer costs the same."
)
MEDIAN_ROW = message("Median")
QUANTILE_ROW = message("%(percent)s of 100 are at or below")
UNSTABLE = message("not stable enough")
METHOD = message(
    "%(way)s. The interval was worked out from how many people are in cells around the value, each "
    "number with chance added, once. It counts sampling and publication; it holds for the "
    "population in 95 of 100 such studies, whatever the answers’ shape."
)
OF_SEVERAL = message(
    "All intervals were read from one draw of cells; each holds in 95 of 100 studies by itself."
)


def interval_by(limits: Limits) -> Text:
    """Say what an interval is worked out from."""
    noise = limits.noise
    return CELLS(noise=noise_name(noise), cells=limits.cells, scale=plain_scale(noise.scale))


def methods_of(plan: Plan) -> Mapping[str, Message]:
    """Return the methods that the study's cap can pay: two of them need a δ."""
    return METHODS if plan.content.is_concentrated else {"exponential": METHODS["exponential"]}


@dataclass(frozen=True, kw_only=True)
class Method(OneOf):
    """A method that the cap can pay; the form offers those that can be the nearest."""

    options: Callable[[Plan], Mapping[str, Label | Message]] = methods_of

    def field(self, context: Context) -> forms.Field:
        return OneOf.field(replace(self, options=_offered), context)

    def read(self, value: Any, name: str, context: Context) -> Any:
        return OneOf(options=methods_of).read(value, name, context)


def _offered(plan: Plan) -> Mapping[str, Message]:
    """Return the methods that are expected to be nearer than the first for a question of the Plan,
    at all that one request may cost.
    """
    content, most = plan.content, Decimal(plan.content.caps.central_epsilon)
    if content.publication.rule == "on-request":
        most = Decimal(content.publication.epsilon)
    # how many a request would be about, where anybody may know it at any moment
    people = aggregation.sealed_reports(plan) if content.is_counted_live else 0

    def is_nearer(method: str, question: Question) -> bool:
        step = 0
        query = Quantile(
            plan, question, (Decimal(50),), method, min(most, LARGEST_EPSILON), step, alone=True
        )
        return query.nearer_than_first(people)

    questions = Quantile.fitting(plan).values()
    return {
        method: label
        for method, label in methods_of(plan).items()
        if method == "exponential" or any(is_nearer(method, each) for each in questions)
    }


@dataclass(frozen=True, kw_only=True)
class Percents(Percent):
    """One percent or several, with commas; one is written as it always was."""

    def field(self, context: Context) -> forms.Field:
        return forms.CharField(max_length=80, initial=self.initial, **self.shown)

    def read(self, value: Any, name: str, context: Context) -> tuple[Decimal, ...]:
        parts = value if value and isinstance(value, list) else str(value).split(",")
        percents = {Percent().read(part, name, context) for part in parts[: MOST + 1]}
        if len(percents) > MOST:
            raise WrongParameter(name, _("expected at most %(most)s numbers"), most=MOST)
        return tuple(sorted(percents))

    def written(self, value: tuple[Decimal, ...]) -> str:  # type: ignore[override]
        return ",".join(_text(percent) for percent in value)


@dataclass(frozen=True, kw_only=True)
class Step(Whole):
    """What the analyst proposes that the median may move by at most; 0 for other methods."""

    def is_offered(self, plan: Plan) -> bool:
        return "propose" in _offered(plan)

    def field(self, context: Context) -> forms.Field:
        return forms.IntegerField(min_value=0, initial=0, required=False, **self.shown)

    def read(self, value: object, name: str, context: Context) -> int:
        if context.values["method"] != "propose":
            return 0
        most = bounds_of(context.question).width - 1
        whole: int = Whole(least=0, most=most).read(value or 0, name, context)
        return whole

    def written(self, value: int) -> int | None:
        return value or None


@dataclass(frozen=True)
class Quantile(Query):
    question: AnyQuestion
    percent: Annotated[
        tuple[Decimal, ...],
        Percents(
            label=gettext_lazy("Share of people below, in percent"),
            help=gettext_lazy("Several with commas, as in 25, 50, 75: they share the cost."),
            initial="50",
        ),
    ]
    method: Annotated[str, Method(label=gettext_lazy("Method"))]
    epsilon: Annotated[Decimal, Epsilon(help=gettext_lazy("A part of it pays for the interval."))]
    step: Annotated[
        int,
        Step(
            label=gettext_lazy("Proposed step"),
            help=gettext_lazy(
                "For propose, test, release: by how much one more person should be able to move "
                "the median. 0: not at all; then the median is given as it is."
            ),
        ),
    ]

    kind = "quantile"
    title = message("Median, or another quantile, of a number", fills="title")
    sentence = gettext_lazy(
        "The value that half of all people (or another share) are at or below, with its interval."
    )

    fits = staticmethod(is_number_in_clear)

    def settled(self) -> Self:
        if self.method != "exponential" and self.percent != (Decimal(50),):
            raise WrongParameter(
                "percent",
                _("expected 50 for this method: it is for the median only, got %(got)s"),
                got=", ".join(map(str, self.percent)),
            )
        return self

    @cached_property
    def point(self) -> QuantilesWithIntervals | SmoothMedian | ProposedMedian:
        bounds = bounds_of(self.question)
        if self.method == "exponential":
            parts = [Fraction(percent) / 100 for percent in self.percent]
            of = Grid(bounds), parts, self.neighbours
            if rho := self.rho_for(self.epsilon):
                return QuantilesWithIntervals.for_rho(rho, *of)
            return QuantilesWithIntervals.for_epsilon(self.strength(self.epsilon), *of)
        half, lattice = self._half, None if self.alone else COARSE
        if self.method == "smooth":
            return SmoothMedian.for_epsilon_delta(
                half, self.delta, bounds, self.neighbours, lattice
            )
        return ProposedMedian.for_epsilon_delta(
            half, self.delta, bounds, self.neighbours, self.step
        )

    @cached_property
    def limits(self) -> Limits:
        """Return what draws the interval: a part of the quantile's own, or for half of it all."""
        if isinstance(self.point, QuantilesWithIntervals):
            return self.point.limits
        of = Grid(bounds_of(self.question)), MEDIAN, self.neighbours
        rho = self.rho_for(self.epsilon) if self.alone else None
        return Limits.for_epsilon(self._half, *of) if rho is None else Limits.for_rho(rho / 2, *of)

    @property
    def _half(self) -> Fraction:
        """Return the ε of a median with a δ, and of its interval in older requests."""
        return self.strength(self.epsilon, HALVES) / 2

    @property
    def delta(self) -> Fraction:
        """Return the δ of one median: a share of the half of a cap's δ that is for mechanisms."""
        return Fraction(self.plan.content.caps.central_delta or "0") / 2 / MEDIANS_PAID

    @property
    def engines(self) -> Sequence[Engine]:
        return [self.point] if self.method == "exponential" else [self.point, self.limits]

    @property
    def mechanism(self) -> str:
        point, limits = self.point, interval_by(self.limits)
        if isinstance(point, QuantilesWithIntervals):
            count, many = f"{self.limits.grid.size:,}", len(self.percent)
            in_rho = self.rho_for(self.epsilon) is not None
            if many > 1:
                by = EXPONENTIALS if in_rho else NOISY_MAXIMA
                return by(count=count, many=str(many), limits=limits)
            by = EXPONENTIAL if in_rho else NOISY_MAX
            return by(count=count, limits=limits)
        delta = f"{float(self.delta):.2g}"
        if isinstance(point, SmoothMedian):
            return SMOOTH(r=plain_scale(float(point.step)), delta=delta, limits=limits)
        if point.noise is None:
            return PROPOSE_NOUGHT(
                threshold=f"{point.threshold:,}",
                scale=plain_scale(point.test.scale),
                delta=delta,
                limits=limits,
            )
        return PROPOSE(
            step=f"{point.proposed:,}",
            threshold=f"{point.threshold:,}",
            scale=plain_scale(point.test.scale),
            other_scale=plain_scale(point.noise.scale),
            delta=delta,
            limits=limits,
        )

    @property
    def sensitivity(self) -> str:
        if self.method == "smooth":
            return SMOOTH_BOUND()
        return IF_TEST_PASSES(count=f"{self.step:,}") if self.method == "propose" else RANKS()

    @property
    def published(self) -> int:
        return len(self.percent)

    def covers(self, n: int) -> float:
        return max(part_between(*ranks, n) for ranks in self._ranks(n))

    def _ranks(self, n: int) -> list[tuple[float, float]]:
        """Return from and to which rank each interval is expected to reach."""
        return [
            replace(self.limits, quantile=Fraction(percent) / 100).ranks(n)
            for percent in self.percent
        ]

    def expected(self, n: int) -> list[str]:
        ranks = self._ranks(n)
        if any(low < 0 or high > n for low, high in ranks):
            return [self._expected_of_point(n), TOO_FEW()]
        texts = [self._expected_of_point(n)]
        for percent, (low, high) in zip(self.percent, ranks, strict=True):
            said = {"low": f"{low:,.0f}", "high": f"{high:,.0f}", "n": f"{n:,}"}
            is_one = len(ranks) == 1
            texts.append(REACH(**said) if is_one else REACH_OF(**said, percent=_text(percent)))
        return texts

    def _expected_of_point(self, n: int) -> str:
        """Say how far off the value will be.

        Noise that depends on the answers is stated for people spread evenly over the bounds: that
        of the real ones is secret.
        """
        point, unit, bounds = self.point, unit_of(self.question), bounds_of(self.question)
        if isinstance(point, QuantilesWithIntervals):
            ranks, step = point.off_by(LIKELY), f"{self.limits.grid.step:,}"
            if not n:
                return OFF_BY(ranks=f"{ranks:,.0f}", step=step)
            ranks = min(ranks, n)
            return OFF_BY_SHARE(ranks=f"{ranks:,.0f}", share=f"{100 * ranks / n:.1f}", step=step)
        made_up = _evenly(bounds, n)
        if isinstance(point, SmoothMedian):
            half = 1.96 * point.standard_error(made_up)
            return EVEN_SMOOTH(half=digits(half), unit_word=unit)
        return EVEN_PROPOSE(
            half=digits(1.96 * point.standard_error),
            unit_word=unit,
            chance=f"{100 * point.chance_of_answer(made_up):.0f}",
        )

    def nearer_than_first(self, n: int) -> bool:
        """Tell whether it is expected to be nearer to the median than the first method at this ε,
        for n people spread evenly: on whole numbers, rounded as they are published.
        """
        bounds, first = bounds_of(self.question), replace(self, method="exponential", step=0)
        if bounds.width >= MAX_OUTCOMES or n < 1:
            return False
        try:
            error = self._expected_error(n)
            return VAGUE * error < bounds.width and error < first._expected_error(n)
        except ValueError:  # it cannot be drawn at this ε
            return False

    def _expected_error(self, n: int) -> float:
        """Return E|published − median| of n people spread evenly; of no answer, half the width."""
        bounds, point = bounds_of(self.question), self.point
        values = _evenly(bounds, n, COMPARED)
        off = np.abs(np.arange(bounds.least, bounds.most + 1) - median(values, bounds))
        if isinstance(point, SmoothMedian):
            return float(point.law(values) @ off)
        if isinstance(point, ProposedMedian):
            silent, chances = point.law(values)
            return float(silent * bounds.width / 2 + chances @ off)
        chosen = point.points[0]
        return float(np.array(chosen.law(values)) @ off[:: chosen.grid.step])

    def refuse_asked(self, n: int) -> None:
        if self.method != "exponential" and not self.nearer_than_first(n):
            raise WrongParameter(
                "method",
                _("expected the exponential mechanism: it is expected to be nearer here"),
            )

    def draw(self, counts: Counts, n: int) -> Numbers:
        values, unit = values_of(self.question, counts), unit_of(self.question)
        if isinstance(self.point, QuantilesWithIntervals):
            found = zip(self.percent, self.point.release(values), strict=True)
            drawn = [row(_label(percent), measured, unit) for percent, measured in found]
        else:
            value = self.point.release(values)
            bounds = bounds_of(self.question)
            centre = bounds.least + bounds.width // 2 if value is None else value
            low, high = self.limits.release(values, centre)
            if value is None:
                drawn = [Row(MEDIAN_ROW(), UNSTABLE(), low, high, unit=unit)]
            else:
                drawn = [row(MEDIAN_ROW(), within_limits(value, low, high), unit)]
        return Numbers(
            tables=[Table(self.question.label, drawn)],
            method=METHOD(way=METHODS[self.method]()),
            notes=[CLAMPED()] if len(drawn) == 1 else [OF_SEVERAL(), CLAMPED()],
            derived=[READ_OFF()],
            n=n,
        )


def _evenly(bounds: Bounds, n: int, most: int = MADE_UP) -> list[int]:
    """Return made-up answers, spread evenly."""
    people = min(n, most)
    return [bounds.least + bounds.width * place // max(people - 1, 1) for place in range(people)]


def _text(percent: Decimal) -> str:
    return str(plain(percent))


def _label(percent: Decimal) -> Text:
    return MEDIAN_ROW() if percent == 50 else QUANTILE_ROW(percent=_text(percent))
