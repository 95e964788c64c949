"""Mean of a number, or of scored choices, with an interval that counts sampling, devices and
publication.

Two ways, chosen by what the question is, so that the error is the smaller one that is possible:

    numbers, and scored choices sent as given that nobody may decline
                    dpengine.central.numeric: one noisy sum of clamped numbers
    other scored choices, those changed on the device above all
                    a linear combination of the noisy counts of reports, as in queries.shares

The second: with u the scores and r the noisy counts, a choice's people are ĉᵢ = (rᵢ − n·bᵢ)/(aᵢ −
bᵢ), and the mean is Σuᵢĉᵢ / Σĉᵢ over the choices that have a score; where n is public and nobody
may decline, c + Σ(uᵢ − c)ĉᵢ / n with c in the middle of the scores. Its standard error, to first
order, is that of Σ(uᵢ − mean)ĉᵢ, or of Σ(uᵢ − c)ĉᵢ: people and devices from the estimated shares,
with two people more at each end of the scores, since a sample may have missed rare ones (Agresti
and Coull 1998); publication from the noise of each count. A report of w of k choices that does hold
the answer is that answer and w − 1 of the others by chance. All of it is post-processing of the
counts.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.numeric import ERROR, Mean as NumericMean, Measured, Spread, half_width
from dpengine.estimates import Margin, simplex
from dpengine.privacy import plain
from surveys.messages import Text, message
from surveys.plan import kinds
from surveys.releases import statistics
from surveys.releases.numbers import Numbers, Table
from surveys.releases.queries.base import Counts, Engine, Query, digits, plain_scale
from surveys.releases.queries.parameters import (
    ONE_CHOICE,
    AnyQuestion,
    Context,
    OneOf,
    Paid,
    Parameter,
    Question,
    WrongParameter,
)
from surveys.releases.queries.scored import (
    CLAMPED,
    bounds_of,
    is_number_in_clear,
    number_of,
    row,
    unit_of,
    values_of,
)
from surveys.releases.statistics import MEAN, Part

MAX_SCORE = 10**6
PLACES = 3
# people at each end whom a sample can have missed: without them the variance of rare answers is 0
UNSEEN = 2
SPREADS = {
    Spread.BOUND: gettext_lazy("The most that is possible at each mean"),
    Spread.RELEASED: gettext_lazy("Released with chance, for a quarter of the cost"),
}

ON_COUNTS = message("discrete Laplace on counts, scale %(scale)s")
WITHOUT_NOISE = message("no noise on counts")
CLAMPED_MEAN = message("clamped mean, discrete Laplace of scales: %(scales)s")
SCALES = {  # by what has noise besides the sum
    (): message("sum %(scale)s"),
    ("people",): message("sum %(scale)s, n %(other_scale)s"),
    ("moment",): message("sum %(scale)s, squares %(size)s"),
    ("people", "moment"): message("sum %(scale)s, n %(other_scale)s, squares %(size)s"),
}
COUNTS_MOVED = message("%(count)s counts by 1, L1")
SUM_MOVED = message("%(count)s half units of the sum, L1")
EXPECTED = message(
    "%(label)s: within ± %(half)s %(unit_word)s, in 95 of 100 such studies, if answers are as "
    "spread out as they can be. Chance added makes ± %(part)s of it."
)
EXPECTED_WITHOUT_UNIT = message(
    "%(label)s: within ± %(half)s, in 95 of 100 such studies, if answers are as spread out as they "
    "can be. Chance added makes ± %(part)s of it."
)
FROM_SUM = message(
    "Chance was added to one sum of clamped numbers, once. The interval counts sampling and "
    "publication; it holds in 95 of 100 such studies."
)
FROM_COUNTS = message(
    "The mean was worked out from counts with chance added, once. The interval counts "
    "sampling, devices and publication; it holds in 95 of 100 such studies."
)
FROM_COUNTS_OF_CLEARTEXT = message(
    "The mean was worked out from counts with chance added, once. The interval counts "
    "sampling and publication; it holds in 95 of 100 such studies."
)
FROM_COUNTS_WITHOUT_NOISE = message(
    "The mean was worked out from counts to which nothing was added. The interval counts "
    "sampling and devices; it holds in 95 of 100 such studies."
)
SCORES = message("Scores: %(list)s.")
DERIVED = message("The interval and the standard error.")


@dataclass(frozen=True, kw_only=True)
class Scores(Parameter):
    """A score for every choice but the last one if that is to decline; none for a number."""

    def field(self, context: Context) -> forms.Field:
        return forms.CharField(required=False, max_length=400, **self.shown)

    def read(self, value: Any, name: str, context: Context) -> tuple[Decimal, ...]:
        if context.question.kind == "number":
            return ()
        usual = usual_scores(context.question)
        if not value:
            return usual
        try:
            scores = tuple(Decimal(part.strip()) for part in str(value).split(","))
        except ArithmeticError:
            raise WrongParameter(name, _("expected numbers with commas")) from None
        if len(scores) != len(usual):
            raise WrongParameter(
                name,
                _("expected %(count)s numbers, one for each choice in order, got %(got)s"),
                count=len(usual),
                got=len(scores),
            )
        if not all(
            score.is_finite() and abs(score) <= MAX_SCORE and score == round(score, PLACES)
            for score in scores
        ):
            raise WrongParameter(
                name,
                _("expected numbers within ± %(most)s, of at most %(places)s decimals"),
                most=f"{MAX_SCORE:,}",
                places=PLACES,
            )
        if len(set(scores)) == 1:
            raise WrongParameter(name, _("expected scores that differ"))
        return scores

    def written(self, value: tuple[Decimal, ...]) -> str:
        return ",".join(str(plain(score)) for score in value)


@dataclass(frozen=True)
class Mean(Query):
    question: AnyQuestion
    scores: Annotated[
        tuple[Decimal, ...],
        Scores(
            label=gettext_lazy("Scores"),
            help=gettext_lazy(
                "For choices: a number for each in order, with commas. Empty: 1 for the first, "
                "2 for the second and so on; 0 and 1 for no and yes. Who prefers not to say does "
                "not count."
            ),
        ),
    ]
    epsilon: Paid
    spread: Annotated[
        str,
        OneOf(
            label=gettext_lazy("How spread out answers are"),
            help=gettext_lazy("For the interval’s part of sampling."),
            options=lambda plan: SPREADS,
            initial=Spread.BOUND,
        ),
    ]

    kind = "mean"
    title = message("Mean of a number or of scored choices", fills="title")
    sentence = gettext_lazy("The average answer of all people, with its interval.")

    @staticmethod
    def fits(question: Question) -> bool:
        """Not a number that devices changed, whose rule has its mean."""
        is_number = question.kind == kinds.NUMBER
        return question.is_cleartext if is_number else question.kind in ONE_CHOICE

    def settled(self) -> Self:
        return self if self.whole else replace(self, spread=Spread.BOUND)

    @cached_property
    def whole(self) -> NumericMean | None:
        """Return the noisy sum of answers that are numbers, or choices scored by their places."""
        if not is_number_in_clear(self.question):
            return None
        if self.question.kind != "number" and self.scores != usual_scores(self.question):
            return None
        strength, bounds = self.strength(self.epsilon), bounds_of(self.question)
        return NumericMean.for_epsilon(strength, bounds, self.neighbours, Spread(self.spread))

    @cached_property
    def _counted(self) -> Part:
        """Return the noisy counts, where there is no noisy sum."""
        strength = self.strength(self.epsilon)
        (part,) = statistics.parts_for(self.plan, self.names, epsilon=strength)
        return part

    @property
    def is_share(self) -> bool:
        """Tell whether it is the share of yes, which is said in percent."""
        return self.question.kind == "yes_no" and self.scores == usual_scores(self.question)

    @property
    def engine(self) -> Engine:
        return self.whole or self._counted.mechanism

    @property
    def mechanism(self) -> str:
        if not self.whole and not self._counted.mechanism.scale:
            return WITHOUT_NOISE()
        if not self.whole:
            return ON_COUNTS(scale=plain_scale(self._counted.mechanism.scale))
        scales = {"scale": plain_scale(self.whole.total.scale)}
        if self.whole.people:
            scales["other_scale"] = plain_scale(self.whole.people.scale)
        if self.whole.moment:
            scales["size"] = plain_scale(self.whole.moment.scale)
        noisy = tuple(name for name in ("people", "moment") if getattr(self.whole, name))
        return CLAMPED_MEAN(scales=SCALES[noisy](**scales))

    @property
    def sensitivity(self) -> str:
        if not self.whole:
            return COUNTS_MOVED(count=self._counted.tally.moved.l1)
        return SUM_MOVED(count=f"{self.whole.total.sensitivity:,}")

    def covers(self, n: int) -> float:
        bounds = bounds_of(self.question)
        scores = [float(score) for score in self.scores] or [bounds.least, bounds.most]
        return min(1.0, float(2 * self._half_and_added(n)[0] / (max(scores) - min(scores))))

    def _half_and_added(self, n: int) -> tuple[float, float]:
        people = max(n, 1)
        if self.whole:
            return self.whole.expected_half_width(people), self.whole.standard_error(people)
        return self._expected(people)

    def expected(self, n: int) -> list[str]:
        half, added = self._half_and_added(n)
        times = 100 if self.is_share else 1
        told = {
            "label": self.question.label,
            "half": digits(times * half),
            "part": digits(times * 1.96 * added),
        }
        unit = unit_of(self.question)
        return [EXPECTED(**told, unit_word=unit) if unit else EXPECTED_WITHOUT_UNIT(**told)]

    def draw(self, counts: Counts, n: int) -> Numbers:
        if self.whole:
            measured = self.whole.release(values_of(self.question, counts))
        elif n < 1 and self.n_is_public:
            raise ValueError("n must be 1 or more, got 0")
        else:
            noisy = self._counted.draw(
                statistics.marginal(counts, 0, self._counted.tally.channel.cells), n
            )
            measured = self._combined(noisy, n)
        notes: list[str] = []
        if self.scores:
            notes.append(SCORES(list=", ".join(str(plain(score)) for score in self.scores)))
        if self.whole:
            notes.append(CLAMPED())
        unit = unit_of(self.question)
        if self.is_share:
            measured, unit = Measured(*(100 * part for part in astuple(measured))), "percent"
        return Numbers(
            tables=[Table(self.question.label, [row(MEAN(), measured, unit)])],
            method=self._method,
            notes=notes,
            derived=[DERIVED()],
            n=n,
        )

    @property
    def _method(self) -> Text:
        if self.whole:
            return FROM_SUM()
        if not self._counted.mechanism.scale:
            return FROM_COUNTS_WITHOUT_NOISE()
        return FROM_COUNTS_OF_CLEARTEXT() if self.question.is_cleartext else FROM_COUNTS()

    @property
    def _held(self) -> int:
        """Return w: how many choices one report holds."""
        return self._counted.tally.channel.held

    def _combined(self, noisy: Sequence[int], n: int) -> Measured:
        """Return the mean from noisy counts alone, and from n where that is public."""
        margins = self._counted.tally.channel.margins()
        reports = float(n) if self.n_is_public else max(sum(noisy) / self._held, 1.0)
        people = [
            (count - reports * float(margin.lie)) / margin.contrast
            for count, margin in zip(noisy, margins, strict=True)
        ]
        scores = [float(score) for score in self.scores]
        scored = people[: len(scores)]
        is_fixed = len(scores) == len(people) and self.n_is_public
        everyone = reports if is_fixed else sum(scored)
        lowest, highest = min(scores), max(scores)
        weights = [1.0] * len(scores) + [0.0] * (len(people) - len(scores))
        if everyone <= 2 * self._noise(weights):  # too few to say: all that is possible
            middle = (lowest + highest) / 2
            return Measured(middle, lowest, highest, (highest - lowest) / 2)
        centre = (lowest + highest) / 2
        value = (
            centre
            + sum((score - centre) * count for score, count in zip(scores, scored, strict=True))
            / everyone
        )
        # Of a fixed n nothing cancels but what is taken off first.
        origin = centre if is_fixed else value
        away = [score - origin for score in scores] + [0.0] * (len(people) - len(scores))
        sampling = math.sqrt(
            reports * _variance(away, self._seen(people, reports), margins, self._held)
        )
        added = self._noise(away) / everyone
        half = half_width(added / math.sqrt(2), sampling / everyone, ERROR, 0.0)
        value = min(max(value, lowest), highest)
        low, high = max(value - half, lowest), min(value + half, highest)
        return Measured(value, low, high, math.hypot(added, sampling / everyone))

    def _seen(self, people: Sequence[float], reports: float) -> list[float]:
        """Return the estimated shares with UNSEEN more people at each end of the scores."""
        ends = [list(self.scores).index(end(self.scores)) for end in (min, max)]
        counted = [count + UNSEEN * (place in ends) for place, count in enumerate(people)]
        return simplex([count / (reports + 2 * UNSEEN) for count in counted])

    def _noise(self, weights: Sequence[float]) -> float:
        """Return the standard deviation that publication adds to a weighted sum of people."""
        margins = self._counted.tally.channel.margins()
        each = [weight / margin.contrast for weight, margin in zip(weights, margins, strict=True)]
        if self._counted.tally.channel.is_one_count(self._counted.tally.neighbours):
            return abs(each[1] - each[0]) * math.sqrt(self._counted.mechanism.variance)
        return math.sqrt(sum(weight**2 for weight in each) * self._counted.mechanism.variance)

    def _expected(self, n: int) -> tuple[float, float]:
        """Return half of the interval and the noise's part of it, for people half at each end."""
        scores = [float(score) for score in self.scores]
        middle = (min(scores) + max(scores)) / 2
        margins = self._counted.tally.channel.margins()
        away = [score - middle for score in scores] + [0.0] * (len(margins) - len(scores))
        ends = [0.0] * len(margins)
        for end in (min(scores), max(scores)):
            ends[scores.index(end)] += 0.5
        sampling = math.sqrt(_variance(away, ends, margins, self._held) / n)
        added = self._noise(away) / n
        return half_width(added / math.sqrt(2), sampling, ERROR, 0.0), added


def _variance(
    away: Sequence[float], shares: Sequence[float], margins: Sequence[Margin], held: int
) -> float:
    """Return the variance of one report's part of Σ awayᵢ·ĉᵢ, for these shares of answers.

    A report's part is Σ awayᵢ/(aᵢ − bᵢ) over the choices that it holds. Given the answer j it holds
    j with chance a, and others evenly (w of k: without replacement; one of k: each with its own b).
    """
    each = np.array([value / margin.contrast for value, margin in zip(away, margins, strict=True)])
    truth = np.array([float(margin.truth) for margin in margins])
    first = second = 0.0
    for answer, share in enumerate(shares):
        others = np.delete(each, answer)
        if held == 1:
            lies = np.delete(np.array([float(margin.lie) for margin in margins]), answer)
            mean = truth[answer] * each[answer] + float(lies @ others)
            square = truth[answer] * each[answer] ** 2 + float(lies @ others**2)
        else:
            mean, square = _of_subset(each[answer], others, float(truth[answer]), held)
        first, second = first + share * mean, second + share * square
    return max(second - first**2, 0.0)


def _of_subset(own: float, others: Any, truth: float, held: int) -> tuple[float, float]:
    """Return mean and mean square of a sum over w random choices: own + (w − 1), or w others."""
    average, spread, pool = float(others.mean()), float(others.var()), len(others)

    def sums(size: int, extra: float) -> tuple[float, float]:
        mean = extra + size * average
        variance = size * spread * (pool - size) / max(pool - 1, 1)
        return mean, mean**2 + variance

    (with_mean, with_square), (without_mean, without_square) = sums(held - 1, own), sums(held, 0.0)
    return truth * with_mean + (1 - truth) * without_mean, truth * with_square + (
        1 - truth
    ) * without_square


def usual_scores(question: Question) -> tuple[Decimal, ...]:
    """Return the places of a question's choices, from 1; of no and yes 0 and 1."""
    answers = range(len(question.choices) - question.beside)
    return tuple(Decimal(number_of(question, place)) for place in answers)
