"""What follows from numbers already published, by comparing them: free, for no answer is looked at
again.

The law of the noise and the channels come from the request that was drawn, never from what a page
guesses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec import structs

from dpengine.estimates import CONFIDENCE, Estimate
from surveys.aggregation import contrasts, crosstabs
from surveys.aggregation.tallies import tally_of
from surveys.design.models import Plan
from surveys.plan.kinds import MULTIPLE
from surveys.plan.strata import Weights
from surveys.releases.numbers import Figure, Numbers, QuestionNumbers, StratumNumbers
from surveys.releases.queries.base import Query
from surveys.releases.queries.crosstab import Crosstab as Crosstab
from surveys.releases.statistics import (
    PeopleCounted,
    PublishedPart,
    noise_in_people,
    question_numbers,
)
from surveys.releases.weighting import part_name, put_together, weights_of

Difference = contrasts.Difference
Limits = tuple[float, float, float]  # a value, and the ends of its interval
Within = crosstabs.Within
FigureType = TypeVar("FigureType", bound=Figure)


def group_differences(
    query: Crosstab, numbers: Numbers, one: int, other: int
) -> list[Difference] | None:
    """Return every answer's share in one group of a cross-table less its share in another."""
    table = query.table_of(numbers)
    if table is None:
        return None
    return [
        contrasts.difference(table, answer, (one, other)) for answer in range(table.left.answers)
    ]


@dataclass(frozen=True, slots=True)
class Change:
    """A share in one wave less that in another."""

    choice: str
    value: float
    low: float
    high: float
    one: Estimate
    other: Estimate
    odds_ratio: Limits | None


def changes(one: QuestionNumbers, other: QuestionNumbers) -> list[Change]:
    """Return how shares differ between releases of two waves, whose noise is separate."""
    estimates = {choice.choice: choice.as_estimate() for choice in other.choices}
    changes = []
    for choice in one.choices:
        if (right := estimates.get(choice.choice)) is not None:
            left = choice.as_estimate()
            odds_ratio = contrasts.odds_ratio(_limits(left), _limits(right))
            apart = contrasts.between(left, right)
            changes.append(Change(choice.choice, *apart, left, right, odds_ratio))
    return changes


def _limits(estimate: Estimate) -> Limits:
    return estimate.value, estimate.low, estimate.high


def among_asked(
    plan: Plan, query: Query, numbers: Numbers, name: str, confidence: float = CONFIDENCE
) -> Sequence[Within] | None:
    """Return each answer's share among those who were asked; None where nothing sound can be said.

    The last choice is "Not asked". It needs one channel that every answer went through whole: a
    table or a subset; and a number of people without noise.
    """
    question = next((one for one in numbers.questions if one.name == name), None)
    part = None if question is None else _part_of(plan, query, numbers, question)
    if question is None or part is None or not plan.content.n_is_public or numbers.strata:
        return None
    try:
        side = part.tally.channel.features()
    except ValueError:
        return None
    counts = [choice.noisy_count for choice in question.choices]
    if len(counts) != side.features:
        return None
    return contrasts.among(counts, side, part.noise, numbers.n_of(question), confidence)


def _part_of(
    plan: Plan, query: Query, numbers: Numbers, question: QuestionNumbers
) -> PublishedPart | None:
    """Return a question's tally with the law that it was published with; None if not known."""
    noise = query.noise_of(question.name, numbers)
    if noise is None or not numbers.n:
        return None
    asked = plan.content.question(question.name)
    return PublishedPart(asked, tally_of(asked, query.neighbours), noise, question.mechanism)


def interval_count(plan: Plan, numbers: Numbers) -> int:
    """Return how many intervals the questions of a release have: that of No is that of Yes."""
    return sum(
        len(_figures(question))
        - (len(question.choices) == 2 and question.kind != MULTIPLE)
        + (len(question.choices) - 1) * bool(plan.content.question(question.name).skipped)
        for question in numbers.questions
    )


def simultaneous(plan: Plan, query: Query, numbers: Numbers, confidence: float) -> Numbers | None:
    """Return the same numbers with intervals of this confidence, from the published counts.

    None where the law of the noise is not known. No interval is narrower than it was published.
    """
    widened = []
    strata = _strata_at(plan, query, numbers, confidence)
    for question in numbers.questions:
        part = _part_of(plan, query, numbers, question)
        if part is None or strata is None:
            return None
        if strata:
            wider = put_together(part, strata, [each.weight for each in strata], confidence)
        else:
            wider = _at(part, question, numbers.n_of(question), plan, confidence)
        widened.append(_widened(question, wider))
    return structs.replace(numbers, questions=widened, confidence=confidence)


def _at(
    part: PublishedPart, question: QuestionNumbers, n: int, plan: Plan, confidence: float
) -> QuestionNumbers:
    noisy = [choice.noisy_count for choice in question.choices] or [*question.noisy_counts]
    people = PeopleCounted(n, noise_in_people(plan.content))
    return question_numbers(part, noisy, people, confidence)


def _strata_at(
    plan: Plan, query: Query, numbers: Numbers, confidence: float
) -> list[StratumNumbers] | None:
    """Return a list's parts with intervals of this confidence; None where a law is not known."""
    strata = []
    for each in numbers.strata:
        questions = []
        for question in each.questions:
            part = _part_of(plan, query, numbers, question)
            if part is None:
                return None
            wider = _at(part, question, question.n, plan, confidence)
            questions.append(structs.replace(wider, n=question.n))
        strata.append(structs.replace(each, questions=questions))
    return strata


@dataclass(frozen=True, slots=True)
class OfStrata:
    """One question of a list: of each part what is known of it, and of all as they came."""

    parts: list[tuple[str, StratumNumbers, QuestionNumbers]]  # each with its name
    unweighted: QuestionNumbers
    weights: Weights


def of_strata(
    plan: Plan, query: Query, numbers: Numbers, question: QuestionNumbers
) -> OfStrata | None:
    """Return what is beside the weighted numbers of a question; None of a study without strata."""
    part = _part_of(plan, query, numbers, question) if numbers.strata else None
    if part is None:
        return None
    confidence = numbers.confidence or CONFIDENCE
    told = [_about(question.name, each) for each in numbers.strata]
    strata = _strata_at(plan, query, structs.replace(numbers, strata=told), confidence) or told
    parts = [
        (part_name(plan.content, each.reports), each, own)
        for each in strata
        for own in each.questions
    ]
    came = [float(each.n) for each in strata]
    unweighted = put_together(part, strata, came, confidence)
    return OfStrata(parts, unweighted, weights_of(plan.content.stratum_sizes, strata))


def _about(name: str, stratum: StratumNumbers) -> StratumNumbers:
    own = [each for each in stratum.questions if each.name == name]
    return structs.replace(stratum, questions=own)


def strata_named(plan: Plan, numbers: Numbers) -> list[tuple[str, StratumNumbers]]:
    """Return the parts of a list by their names."""
    return [(part_name(plan.content, each.reports), each) for each in numbers.strata]


def _figures(question: QuestionNumbers) -> list[Figure]:
    means = [question.mean] if question.mean else []
    return [*question.choices, *means, *question.quartiles, *question.ranges]


def _widened(question: QuestionNumbers, wider: QuestionNumbers) -> QuestionNumbers:
    intervals = [
        [min(one.low, other.low), max(one.high, other.high)]
        for one, other in zip(_figures(question), _figures(wider), strict=True)
    ]

    def take(figures: Sequence[FigureType]) -> list[FigureType]:
        return [structs.replace(figure, interval=intervals.pop(0)) for figure in figures]

    choices, means = take(question.choices), take([question.mean] if question.mean else [])
    return structs.replace(
        question,
        choices=choices,
        mean=means[0] if means else None,
        quartiles=take(question.quartiles),
        ranges=take(question.ranges),
    )
