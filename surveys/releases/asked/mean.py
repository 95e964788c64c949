"""Mean of a number, or of scored choices, with an interval that counts sampling, devices and publication.

Two ways, chosen by what the question is, so that the error is the smaller one that is possible:

    numbers, and scored choices sent as given that nobody may decline
                    dpengine.central.numeric: one noisy sum of clamped numbers
    other scored choices, those changed on the device above all
                    a linear combination of the noisy counts of reports, as in asked.shares

The second: with u the scores and r the noisy counts, a choice's people are ĉᵢ = (rᵢ − n·bᵢ)/(aᵢ − bᵢ), and the mean is
Σuᵢĉᵢ / Σĉᵢ over the choices that have a score; where n is public and nobody may decline, c + Σ(uᵢ − c)ĉᵢ / n with c in
the middle of the scores. Its standard error, to first order, is that of Σ(uᵢ − mean)ĉᵢ, or of Σ(uᵢ − c)ĉᵢ: people and
devices from the estimated shares, with two people more at each end of the scores, since a sample may have missed rare
ones (Agresti and Coull 1998); publication from the noise of each count. A report of w of k choices that does hold the
answer is that answer and w − 1 of the others by chance. All of it is post-processing of the counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.numeric import ERROR, Measured, Spread, half_width
from dpengine.central.numeric import Mean as NumericMean
from dpengine.estimates import Margin, simplex
from dpengine.privacy import Cost, Neighbours, plain
from surveys.design import documents
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
    questions_of,
)
from surveys.releases.asked.scored import bounds_of, given_numbers, row, rows_of
from surveys.releases.statistics import Part

KINDS = ("yes_no", "likert", "single", "number")
LARGEST_SCORE = 10**6
PLACES = 3
UNSEEN = 2  # people at each end whom a sample can have missed: without them the variance of rare answers is 0
SPREADS = {
    Spread.BOUND: gettext_lazy("The most that is possible at each mean"),
    Spread.RELEASED: gettext_lazy("Released with chance, for a quarter of the cost"),
}


@dataclass(frozen=True)
class Mean:
    question: dict[str, Any]
    scores: tuple[Decimal, ...]  # of the choices that count; none for a number
    spread: Spread
    epsilon: str
    neighbours: Neighbours
    whole: NumericMean | None  # the one noisy sum
    part: Part | None  # or the noisy counts

    kind: ClassVar[str] = "mean"
    title: ClassVar[str | Promise] = gettext_lazy("Mean of a number or of scored choices")
    sentence: ClassVar[str | Promise] = gettext_lazy("The average answer of all people, with its interval.")

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = _with_means(plan)
        if not questions:
            return None

        class MeanForm(forms.Form):
            question = question_field(questions, label=_("Question"))
            scores = forms.CharField(
                required=False,
                max_length=400,
                help_text=_(
                    "For choices: a number for each in order, with commas. Empty: 1 for the first, 2 for the second "
                    "and so on; 0 and 1 for no and yes. Who prefers not to say does not count."
                ),
                label=_("Scores"),
            )
            epsilon = EpsilonInput()
            spread = forms.ChoiceField(
                label=_("How spread out answers are"),
                choices=[(str(name), label) for name, label in SPREADS.items()],
                help_text=_("For the interval’s part of sampling."),
            )

        return MeanForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        question = question_of(parameters, "question", _with_means(plan), plan)
        scores = () if question["kind"] == "number" else _scores(parameters.get("scores"), question)
        wanted = parameters.get("spread", Spread.BOUND)
        if wanted not in list(Spread):
            raise Refused("spread", _("expected one of %(names)s") % {"names": ", ".join(Spread)})
        epsilon, neighbours = epsilon_of(parameters), neighbours_of(plan)
        text, spread = epsilon_text(epsilon), Spread(wanted)
        if _is_number(plan, question, scores):
            bounds = bounds_of(question)
            try:
                whole = NumericMean.for_epsilon(Fraction(epsilon), bounds, neighbours, spread)
            except ValueError as error:
                raise Refused("epsilon", words.told(str(error))) from error
            return cls(question, scores, spread, text, neighbours, whole, None)
        (part,) = statistics.parts_for(plan, [question["name"]], epsilon=Fraction(epsilon))
        return cls(question, scores, Spread.BOUND, text, neighbours, None, part)

    def document(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "question": self.question["name"],
            "scores": ",".join(str(plain(score)) for score in self.scores),
            "spread": str(self.spread),
        }

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question["name"],)

    @property
    def cost(self) -> Cost:
        if self.whole:
            return self.whole.cost
        return statistics.cost(self._parts)

    @property
    def mechanism(self) -> str:
        if not self.whole:
            return f"discrete Laplace on counts, scale {self._part.mechanism.scale:.6g}"
        named = [("sum", self.whole.total), ("n", self.whole.people), ("squares", self.whole.moment)]
        scales = ", ".join(f"{name} {noise.scale:.6g}" for name, noise in named if noise)
        return f"clamped mean, discrete Laplace of scales: {scales}"

    @property
    def sensitivity(self) -> str:
        if not self.whole:
            return f"{self._part.tally.sensitivity} counts by 1, L1"
        return f"{self.whole.total.sensitivity:,} half units of the sum, L1"

    def expected(self, n: int) -> list[str]:
        people = max(n, 1)
        if self.whole:
            half, added = self.whole.expected_half_width(people), self.whole.standard_error(people)
        else:
            half, added = self._expected(people)
        return [
            f"{self.question['label']}: within ± {half:.3g} {self._unit}, in 95 of 100 such studies, if answers are as "
            f"spread out as they can be. Chance added makes ± {1.96 * added:.3g} of it."
        ]

    def draw(self, counts: Counts, n: int) -> Numbers:
        if self.whole:
            values = [numbers[0] for numbers in rows_of([self.question], counts)]
            return self._numbers(self.whole.release(values), "One sum of clamped numbers got chance added, once.")
        if n < 1 and self._n_is_public:
            raise ValueError("n must be 1 or more, got 0")
        noisy = self._part.draw(statistics.marginal(counts, 0, self._part), n)
        return self._numbers(self._combined(noisy, n), "The mean was worked out from counts with chance added, once.")

    @property
    def _part(self) -> Part:
        (part,) = self._parts
        return part

    @property
    def _parts(self) -> tuple[Part, ...]:
        return (self.part,) if self.part else ()

    @property
    def _n_is_public(self) -> bool:
        return self.neighbours is Neighbours.CHANGE_ONE

    @property
    def _unit(self) -> str:
        return self.question["unit"] if self.question["kind"] == "number" else "points"

    @property
    def _held(self) -> int:
        """Return w: how many choices one report holds."""
        return getattr(self._part.tally.channel, "size", 1)

    def _combined(self, noisy: Sequence[int], n: int) -> Measured:
        """Return the mean from noisy counts: it knows nothing else of the answers, and n only where that is public."""
        margins = self._part.tally.margins()
        reports = float(n) if self._n_is_public else max(sum(noisy) / self._held, 1.0)
        people = [
            (count - reports * float(margin.lie)) / margin.contrast
            for count, margin in zip(noisy, margins, strict=True)
        ]
        scores = [float(score) for score in self.scores]
        scored = people[: len(scores)]
        is_fixed = len(scores) == len(people) and self._n_is_public
        everyone = reports if is_fixed else sum(scored)
        lowest, highest = min(scores), max(scores)
        weights = [1.0] * len(scores) + [0.0] * (len(people) - len(scores))
        if everyone <= 2 * self._noise(weights):  # too few to say: all that is possible
            middle = (lowest + highest) / 2
            return Measured(middle, lowest, highest, (highest - lowest) / 2)
        centre = (lowest + highest) / 2
        value = centre + sum((score - centre) * count for score, count in zip(scores, scored, strict=True)) / everyone
        origin = centre if is_fixed else value  # of a fixed n nothing cancels but what is taken off first
        away = [score - origin for score in scores] + [0.0] * (len(people) - len(scores))
        sampling = math.sqrt(reports * _variance(away, self._seen(people, reports), margins, self._held))
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
        margins = self._part.tally.margins()
        each = [weight / margin.contrast for weight, margin in zip(weights, margins, strict=True)]
        if self._part.tally.is_one_count:
            return abs(each[1] - each[0]) * math.sqrt(self._part.mechanism.variance)
        return math.sqrt(sum(weight**2 for weight in each) * self._part.mechanism.variance)

    def _expected(self, n: int) -> tuple[float, float]:
        """Return half of the interval, and the noise's part, for people half at each end of the scores."""
        scores = [float(score) for score in self.scores]
        middle = (min(scores) + max(scores)) / 2
        margins = self._part.tally.margins()
        away = [score - middle for score in scores] + [0.0] * (len(margins) - len(scores))
        ends = [0.0] * len(margins)
        for end in (min(scores), max(scores)):
            ends[scores.index(end)] += 0.5
        sampling = math.sqrt(_variance(away, ends, margins, self._held) / n)
        added = self._noise(away) / n
        return half_width(added / math.sqrt(2), sampling, ERROR, 0.0), added

    def _numbers(self, found: Measured, how: str) -> Numbers:
        scored = [f"Scores: {', '.join(str(plain(score)) for score in self.scores)}."] if self.scores else []
        return {
            "tables": [{"caption": self.question["label"], "rows": [row("Mean", found, self._unit)]}],
            "method": f"{how} The interval counts sampling, devices and publication; it holds in 95 of 100 such "
            "studies.",
            "notes": [*scored, "Answers beyond the question’s bounds count as the nearest bound."][
                : 1 + bool(self.whole)
            ],
            "derived": ["The interval and the standard error."],
        }


def _variance(away: Sequence[float], shares: Sequence[float], margins: Sequence[Margin], held: int) -> float:
    """Return the variance of one report's part of Σ awayᵢ·ĉᵢ, for people with these shares of answers.

    A report's part is Σ awayᵢ/(aᵢ − bᵢ) over the choices that it holds. Given the answer j it holds j with chance a,
    and others evenly (w of k: without replacement; one of k: each with its own b).
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
    """Return mean and mean square of a sum over a random subset: with its own choice and w − 1 others, or w others."""
    average, spread, pool = float(others.mean()), float(others.var()), len(others)

    def sums(size: int, extra: float) -> tuple[float, float]:
        mean = extra + size * average
        variance = size * spread * (pool - size) / max(pool - 1, 1)
        return mean, mean**2 + variance

    (with_mean, with_square), (without_mean, without_square) = sums(held - 1, own), sums(held, 0.0)
    return truth * with_mean + (1 - truth) * without_mean, truth * with_square + (1 - truth) * without_square


def _is_number(plan: Plan, question: Mapping[str, Any], scores: tuple[Decimal, ...]) -> bool:
    """Tell whether answers are known as numbers: as given, nobody may decline, and scores are the places themselves."""
    if question["name"] not in given_numbers(plan):
        return False
    return question["kind"] == "number" or scores == _usual(question)


def _usual(question: Mapping[str, Any]) -> tuple[Decimal, ...]:
    first = 0 if question["kind"] == "yes_no" else 1
    return tuple(Decimal(first + place) for place in range(len(question["choices"]) - documents.beside(question)))


def _scores(given: Any, question: Mapping[str, Any]) -> tuple[Decimal, ...]:
    """Read a score for every choice but the last one if that is to decline."""
    usual = _usual(question)
    if not given:
        return usual
    try:
        scores = tuple(Decimal(part.strip()) for part in str(given).split(","))
    except ArithmeticError:
        raise Refused("scores", _("expected numbers with commas")) from None
    if len(scores) != len(usual):
        raise Refused(
            "scores",
            _("expected %(count)s numbers, one for each choice in order, got %(got)s")
            % {"count": len(usual), "got": len(scores)},
        )
    if not all(score.is_finite() and abs(score) <= LARGEST_SCORE and score == round(score, PLACES) for score in scores):
        raise Refused(
            "scores",
            _("expected numbers within ± %(most)s, of at most %(places)s decimals")
            % {"most": f"{LARGEST_SCORE:,}", "places": PLACES},
        )
    if len(set(scores)) == 1:
        raise Refused("scores", _("expected scores that differ"))
    return scores


def _with_means(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the questions that have a mean here: not numbers that devices changed, whose rule publishes theirs."""
    found = questions_of(plan, kinds=KINDS)
    return {
        name: question
        for name, question in found.items()
        if question["kind"] != documents.NUMBER or question["protection"] == documents.PUBLICATION
    }
