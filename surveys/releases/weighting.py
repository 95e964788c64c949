"""Numbers of all whom a list invited, from those of its strata: each part of a release weighs what
its people stand for (surveys/plan/strata.py has the formula, and what “other” does to it).

Post-processing of what was drawn. The same sums with n_g/n as weights are the numbers as answers
came, unweighted, which are shown beside. Of how a number is spread the parts' limits are averaged
with the same weights: they hold without a standard error, and wider is safe.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor
from typing import Any

from msgspec import structs

from dpengine.estimates import CONFIDENCE, Estimate, averaged, plain_answers, simplex
from surveys.plan.content import PlanContent
from surveys.plan.kinds import MULTIPLE
from surveys.plan.strata import Weights, weights
from surveys.releases.numbers import (
    ChoiceFigure,
    Figure,
    MeanFigure,
    QuestionNumbers,
    StratumNumbers,
)
from surveys.releases.statistics import PublishedPart

Bound = tuple[float, float, float]  # a value, and its limits


def weights_of(people: Sequence[int], strata: Sequence[StratumNumbers]) -> Weights:
    """Return what each part weighs; so many people of each stratum were invited."""
    return weights(people, [part.reports for part in strata])


def part_name(content: PlanContent, reports: Sequence[int]) -> str:
    """Return what a part is called in any language: its stratum, or all that were sealed as one."""
    strata = content.invited.strata if content.invited else []
    return " + ".join(stratum.name for stratum, many in zip(strata, reports, strict=True) if many)


def put_together(
    part: PublishedPart,
    strata: Sequence[StratumNumbers],
    weighed: Sequence[float],
    confidence: float = CONFIDENCE,
) -> QuestionNumbers:
    """Return what is known of the answers to one question, of all whom the parts speak for."""
    pairs = [
        (weight, numbers)
        for each, weight in zip(strata, weighed, strict=True)
        for numbers in each.questions
        if numbers.name == part.name
    ]
    whole = sum(weight for weight, _ in pairs)
    shares = [weight / whole for weight, _ in pairs]
    own = [numbers for _, numbers in pairs]
    n = sum(numbers.n for numbers in own)
    added = [sum(each) for each in zip(*(numbers.noisy_counts for numbers in own), strict=True)]
    found = structs.replace(own[0], as_precise_as=None, noisy_counts=added, n=n)
    if found.choices:
        return _choices(found, own, shares, confidence, is_partition=found.kind != MULTIPLE)
    if found.mean:
        means = [numbers.mean for numbers in own if numbers.mean]
        mean = MeanFigure.of(_estimate(means, shares, confidence), unit=found.mean.unit)
        return structs.replace(found, mean=mean)
    return _distribution(found, part, own, shares, confidence)


def _choices(
    found: QuestionNumbers,
    own: Sequence[QuestionNumbers],
    shares: Sequence[float],
    confidence: float,
    *,
    is_partition: bool,
) -> QuestionNumbers:
    columns = list(zip(*(numbers.choices for numbers in own), strict=True))
    estimates = [_estimate(column, shares, confidence) for column in columns]
    values = [estimate.value for estimate in estimates]
    projected = simplex(values) if is_partition else [min(max(each, 0.0), 1.0) for each in values]
    plain = plain_answers(estimates, found.n, is_partition=is_partition)
    choices = [
        ChoiceFigure.of(
            estimate,
            choice=column[0].choice,
            index=column[0].index,
            noisy_count=sum(figure.noisy_count for figure in column),
            projected=share,
        )
        for estimate, column, share in zip(estimates, columns, projected, strict=True)
    ]
    return structs.replace(found, choices=choices, as_precise_as=plain and [*plain])


def _distribution(
    found: QuestionNumbers,
    part: PublishedPart,
    own: Sequence[QuestionNumbers],
    shares: Sequence[float],
    confidence: float,
) -> QuestionNumbers:
    channel: Any = part.tally.channel  # a `Distribution`
    steps = [
        channel.cdf(list(each.noisy_counts), each.n, part.mechanism, confidence) for each in own
    ]
    below = [
        replace(
            edge[0], **dict(zip(("value", "low", "high"), _averaged(edge, shares), strict=True))
        )
        for edge in zip(*steps, strict=True)
    ]
    quartiles = []
    for figure in found.quartiles:
        bounded = channel.quantile_of(figure.part / 100, below)
        low, high = ceil(bounded.low), ceil(bounded.high) - 1
        value = min(max(floor(bounded.value), low), high)
        quartiles.append(structs.replace(figure, estimate=value, interval=[low, high]))
    ranges = []
    for column in zip(*(numbers.ranges for numbers in own), strict=True):
        estimates = [figure.as_estimate(confidence) for figure in column]
        value, low, high = _averaged(estimates, shares)
        doubt = averaged(estimates, shares).variance.document()
        ranges.append(
            structs.replace(column[0], estimate=value, interval=[low, high], variance=doubt)
        )
    return structs.replace(found, quartiles=quartiles, ranges=ranges)


def _averaged(parts: Sequence[Any], shares: Sequence[float]) -> Bound:
    """Return the average of values, and of their limits."""
    value, low, high = (
        sum(share * getattr(part, name) for part, share in zip(parts, shares, strict=True))
        for name in ("value", "low", "high")
    )
    return value, low, high


def _estimate(figures: Sequence[Figure], shares: Sequence[float], confidence: float) -> Estimate:
    return averaged([each.as_estimate(confidence) for each in figures], shares)
