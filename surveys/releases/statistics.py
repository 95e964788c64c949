"""What a publication of shares consists of: mechanisms, their cost, and the estimates derived from
their draw.

One respondent's report is in the tally of every question that they were asked, so that what one
publication may cost is split over these equally, and their losses add up (basic composition; for ρ
too). Where one answer is protected, each has the whole of it. Laplace noise in a pure study; in a
concentrated one whichever of Laplace and Gaussian has the smaller error at its part of ρ
(dpengine.central.counts).

What follows from noisy counts is post-processing, and free. Every number has an interval. Where a
standard error means something it is split by where the doubt comes from; a distribution's limits
hold without one, and are wider than its errors. What a release keeps is in English: it is drawn
once, by a worker, for readers of any language; pages say it in theirs from the same numbers.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from django.utils.translation import override
from msgspec import structs

from dpengine.central import counts
from dpengine.central.counts import AsTheyCame, Mechanism
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.contraction import shared_out
from dpengine.estimates import (
    CONFIDENCE,
    COUNTED,
    Estimate,
    Noise,
    NoNoise,
    Variance,
    over_people,
    plain_answers,
    simplex,
)
from dpengine.privacy import plain, round_up
from surveys.aggregation import selectors as aggregation
from surveys.aggregation.selectors import PublicTally
from surveys.design.calendars import amount_text, calendar_of
from surveys.design.models import Plan
from surveys.messages import message
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.plan.kinds import MONTH, MULTIPLE
from surveys.releases.numbers import (
    ChoiceFigure,
    Document,
    Figure,
    MeanFigure,
    NoiseLaw,
    QuartileFigure,
    QuestionNumbers,
    RangeFigure,
    Row,
    Table,
)

RHO_PLACES = 12
RANGES = 8  # into which the bins of a distribution are put together for people to read
MEAN = message("Mean", fills="result")
SHARES, QUARTILES = message("%(label)s: shares of people"), message("%(label)s: quartiles")
SPAN = message("%(least)s to %(most)s")
BELOW = {  # by percent
    25: message("A quarter of people are at most"),
    50: message("Half of people are at most"),
    75: message("Three quarters of people are at most"),
}
HALF = Fraction(1, 2)
HALF_WIDTH = 1.96  # standard errors on each side of 95 of 100


@dataclass(frozen=True, slots=True)
class PublishedPart:
    """The tally of one question, and the law of the noise in its published counts.

    Numbers that were published without the use of a known sum do not name it, and stay as they are.
    """

    question: PlanQuestion
    tally: PublicTally
    mechanism: Noise
    law: NoiseLaw
    asked: Fraction = Fraction(1)  # the share of people who are expected to be asked
    draws: int = 1  # of the noise, of as many strata, that are in one number

    @property
    def name(self) -> str:
        return self.tally.name

    @property
    def noise(self) -> Noise:
        """Return the law of the noise in the counts that people are estimated from."""
        return self.tally.noise_left(self.mechanism) if self.law.known_sum else self.mechanism


@dataclass(frozen=True, slots=True)
class Part(PublishedPart):
    """The tally of one question, and the mechanism that publishes it."""

    mechanism: Mechanism

    def draw(self, counts: list[int], n: int) -> list[int]:
        """Return the noisy counts. Each call is a new draw, and must be paid for."""
        return self.tally.channel.noisy_counts(self.mechanism.release(self.tally.vector(counts)), n)


def law_of(mechanism: Mechanism) -> NoiseLaw:
    scale = mechanism.scale  # JSON keeps a binary float exactly
    if isinstance(mechanism, AsTheyCame):
        return NoiseLaw(name="no noise", scale=scale)
    if isinstance(mechanism, DiscreteLaplace):
        return NoiseLaw(
            name="discrete Laplace",
            scale=scale,
            epsilon=str(plain(round_up(mechanism.epsilon))),
            sensitivity=mechanism.sensitivity,
        )
    return NoiseLaw(
        name="discrete Gaussian",
        scale=scale,
        rho=str(plain(round_up(mechanism.rho, RHO_PLACES))),
        sensitivity_squared=mechanism.sensitivity_squared,
    )


def mechanism_of(law: NoiseLaw) -> Mechanism:
    """Return what drew noise of this law, of one release."""
    if law.sensitivity_squared:
        return DiscreteGaussian(law.scale, law.sensitivity_squared)
    return DiscreteLaplace(law.scale, law.sensitivity or 1) if law.scale else AsTheyCame()


def public_names(plan: Plan) -> list[str]:
    """Return the questions that a rule publishes, in order: all but numbers in the clear."""
    return [tally.name for tally in aggregation.public_tallies(plan)]


def parts_for(
    plan: Plan, names: Sequence[str], *, epsilon: Fraction, rho: Fraction | None = None
) -> list[Part]:
    """Return what draws these questions' tallies within ε, or within ρ where that is given.

    Where the Plan counts what answers lose, ε is that: noise that is read through the devices' own.
    """
    content, parts = plan.content, []
    strengths = _strengths(content, epsilon, names)
    for tally in aggregation.public_tallies(plan):
        if tally.name not in names:
            continue
        if rho is None:
            mechanism: Mechanism = counts.laplace_or_none(strengths[tally.name], tally.moved.l1)
        else:  # the smaller of Laplace and Gaussian
            moved = tally.moved.l1, tally.moved.squared
            mechanism = counts.lesser(*moved, rho / content.most_asked(names))
        question, asked = content.question(tally.name), content.part_asked([tally.name])
        law = structs.replace(law_of(mechanism), known_sum=tally.has_known_sum(mechanism))
        draws = max(len(content.stratum_sizes), 1)
        parts.append(Part(question, tally, mechanism, law, asked, draws))
    return parts


def _strengths(
    content: PlanContent, epsilon: Fraction, names: Sequence[str]
) -> dict[str, Fraction | None]:
    """Return the ε of the noise on each question's counts, with which a person loses ε: whichever
    set their device drew; or one answer of theirs, where that is protected.
    """
    sent: dict[str, list[str]] = {}  # in one answer: its ε is that of all noises that read it
    for name in names:
        sent.setdefault(content.sent_in(name), []).append(name)
    losses = {report: content.losses[own[0]] for report, own in sent.items()}
    parts = dict.fromkeys(sent, epsilon)
    for held in content.records_sent:
        own = [each for each in sent if each in held]
        if own:
            shares = shared_out(epsilon, [losses[each] for each in own])
            parts |= {
                each: min(parts[each], share) for each, share in zip(own, shares, strict=True)
            }
    return {
        name: strength and strength / len(own)
        for report, own in sent.items()
        for question in [content.question(own[0])]
        for strength in [content.publication.noise_within(question, parts[report])]
        for name in own
    }


def marginal(joint: Counter[tuple[Any, ...]], position: int, cells: int) -> list[int]:
    """Return one question's tally from joint counts of reports: an index, or the indices held."""
    counts = [0] * cells
    for values, people in joint.items():
        held = values[position]
        for index in held if isinstance(held, tuple) else (held,):
            counts[index] += people
    return counts


def digest(statistic: Document) -> str:
    text = json.dumps(statistic, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# What follows from noisy counts


def noise_in_people(content: PlanContent) -> Mechanism | None:
    """Return what counts a Plan's people, where how many there are is not public."""
    if content.n_is_public:
        return None
    terms = content.of_people
    if terms.rho:
        return counts.lesser(1, 1, Fraction(terms.rho))
    return counts.laplace_or_none(Fraction(terms.epsilon), 1)


@dataclass(frozen=True, slots=True)
class PeopleCounted:
    """How many people numbers are about; the noise in that, where it is not public."""

    n: int
    noise: Mechanism | None = None

    @classmethod
    def of(cls, plan: Plan, n: int) -> "PeopleCounted":
        return cls(n, noise_in_people(plan.content))

    def estimates(
        self, at: Callable[[int, float], Sequence[Estimate]], confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        """Return what `at` gives for so many people."""
        if self.noise is None:
            return list(at(self.n, confidence))
        reach = counts.largest_error(self.noise, 1, 1 - COUNTED * (1 - confidence))
        return over_people(at, self.n, reach, self.noise.variance, confidence)


def question_numbers(
    part: PublishedPart, noisy: list[int], people: PeopleCounted, confidence: float = CONFIDENCE
) -> QuestionNumbers:
    """Return what is known of people's answers to one question."""
    question, n = part.question, people.n
    if question.wanted == "distribution":
        return _distribution(part, noisy, people, confidence)

    def at(many: int, sure: float) -> list[Estimate]:
        return part.tally.channel.estimates(noisy, many, part.noise, sure)

    estimates = people.estimates(at, confidence)
    if question.wanted == "mean":
        return _mean(part, noisy, n, estimates[0])
    if question.kind == MULTIPLE:  # options can go together: each is a share of its own
        projected = [min(max(estimate.value, 0.0), 1.0) for estimate in estimates]
    else:
        projected = simplex([estimate.value for estimate in estimates])
    plain = plain_answers(estimates, n, is_partition=question.kind != MULTIPLE)
    rows = zip(question.choices, noisy, estimates, projected, strict=True)
    return QuestionNumbers(
        name=part.name,
        mechanism=part.law,
        as_precise_as=plain and [*plain],
        kind="multiple" if question.kind == MULTIPLE else "",
        choices=[
            ChoiceFigure.of(estimate, choice=text, index=index, noisy_count=count, projected=share)
            for index, (text, count, estimate, share) in enumerate(rows)
        ],
    )


def _mean(part: PublishedPart, noisy: list[int], n: int, estimate: Estimate) -> QuestionNumbers:
    question = part.question
    channel: Any = part.tally.channel  # a `NumberChannel`
    plain = channel.plain_answers(noisy, n, part.mechanism)
    return QuestionNumbers(
        name=part.name,
        mechanism=part.law,
        as_precise_as=plain and [*plain],
        kind="mean",
        noisy_counts=noisy,
        unit=question.unit,
        is_month=question.kind == MONTH,
        mean=MeanFigure.of(estimate, unit=question.unit),
    )


def _distribution(
    part: PublishedPart, noisy: list[int], people: PeopleCounted, confidence: float
) -> QuestionNumbers:
    question, noise = part.question, part.mechanism
    channel: Any = part.tally.channel  # a `Distribution`

    def quantiles(n: int, sure: float) -> list[Estimate]:
        below = channel.cdf(noisy, n, noise, sure)
        bounded = [channel.quantile_of(percent / 100, below) for percent in BELOW]
        unknown = Variance(0.0, 0.0, 0.0)
        return [Estimate(each.value, each.low, each.high, unknown, sure) for each in bounded]

    quartiles = []
    for percent, bounded in zip(BELOW, people.estimates(quantiles, confidence), strict=True):
        # as whole numbers: a bin from 3 up to 5 holds 3 and 4
        low, high = ceil(bounded.low), ceil(bounded.high) - 1
        value = min(max(floor(bounded.value), low), high)
        quartiles.append(
            QuartileFigure(part=percent, estimate=value, interval=[low, high], standard_error=None)
        )
    ranges = []
    many = min(channel.bins, RANGES)  # as even as can be
    ends = list(pairwise(place * channel.bins // many for place in range(many + 1)))

    def within(n: int, sure: float) -> list[Estimate]:
        return [channel.within(first, end - 1, noisy, n, noise, sure) for first, end in ends]

    for (first, after), share in zip(ends, people.estimates(within, confidence), strict=True):
        least, most = question.bin_ends(first, after - 1)
        ranges.append(
            RangeFigure(
                least=least,
                most=most,
                estimate=share.value,
                interval=[share.low, share.high],
                standard_error=None,
                variance=share.variance.document(),
            )
        )
    return QuestionNumbers(
        name=part.name,
        mechanism=part.law,
        as_precise_as=None,  # no plain survey has limits like these
        kind="distribution",
        noisy_counts=noisy,
        unit=question.unit,
        is_month=question.kind == MONTH,
        quartiles=quartiles,
        ranges=ranges,
    )


# Tables for people


def tables(question: PlanQuestion, numbers: QuestionNumbers) -> list[Table]:
    """Return the same numbers as tables with a caption."""
    with override("en"):
        if numbers.mean:
            return [Table(question.label, [_number_row(MEAN(), numbers.mean, question)])]
        if numbers.choices:
            rows = [each.scaled(100).row(each.choice, "percent") for each in numbers.choices]
            return [Table(question.label, rows)]
        shares = []
        for each in numbers.ranges:
            least, most = (
                amount_text(question, end, "{:,}".format) for end in (each.least, each.most)
            )
            span = least if least == most else SPAN(least=least, most=most)
            shares.append(each.scaled(100).row(span, "percent"))
        quarters = [_number_row(BELOW[each.part](), each, question) for each in numbers.quartiles]
        return [
            Table(SHARES(label=question.label), shares),
            Table(QUARTILES(label=question.label), quarters),
        ]


def _number_row(label: str, figure: Figure, question: PlanQuestion) -> Row:
    """Return a number as a row; a month in words, for nobody reads months since year 0."""
    calendar = calendar_of(question)
    if calendar is None:
        return figure.row(label, question.unit)
    value, low, high = map(calendar.text, (figure.estimate, figure.low, figure.high))
    return Row(label, value, low, high, figure.standard_error, str(calendar.steps()))


# Before anything is drawn


def covered(part: PublishedPart, n: int, people: Mechanism | None = None) -> float:
    """Return how much of all that is possible an interval is expected to cover, at most 1."""
    half, _added, _unit = expected(part, n, people)
    question = part.question
    reach = question.most - question.least if question.wanted == "mean" else 100
    return min(2 * half / reach, 1.0)


def expected(
    part: PublishedPart, n: int, people: Mechanism | None = None
) -> tuple[float, float, str]:
    """Return half an interval's width, how much of it publication adds, and its unit.

    From public values only, for the answers that are the least certain: half say yes, or half of
    people are at each end of a number's scale. `people` is the noise in n, where that has any. Of
    strata as if all answered as often: then n·W_h reports have noise of their own, and the sum of
    W_h²·σ²/(n·W_h)² is as many times σ²/n² as there are strata.
    """
    question, channel, n = part.question, part.tally.channel, max(round(n * part.asked), 1)
    estimate = channel.forecast(n, HALF, part.noise)
    lean = 0.0 if people is None else channel.lean(HALF) / n * people.variance**0.5
    if question.wanted == "distribution":  # whose limits hold without a standard error
        without = channel.forecast(n, HALF, NoNoise())
        bare = 50 * (without.high - without.low)
        added = 50 * (estimate.high - estimate.low) - bare
        half = bare + added * part.draws**0.5 + 100 * HALF_WIDTH * lean
        return half, max(half - bare, 0.0), ""
    scale, unit = 100.0, ""
    if question.wanted == "mean":
        calendar = calendar_of(question)
        scale, unit = 1.0, calendar.steps() if calendar else question.unit
    half = HALF_WIDTH * scale
    publication = part.draws * estimate.variance.publication + lean**2
    total = estimate.variance.total - estimate.variance.publication + publication
    return half * total**0.5, half * publication**0.5, unit
