"""What follows from numbers already published, by comparing them: free, for no answer is looked at
again.

The law of the noise and the channels come from the request that was drawn, never from what a page
guesses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.estimates import Estimate
from surveys.aggregation import contrasts, crosstabs
from surveys.design.models import Plan
from surveys.releases.numbers import Numbers, QuestionNumbers
from surveys.releases.queries.base import Query

Difference = contrasts.Difference
Within = crosstabs.Within


def group_differences(
    query: Query, numbers: Numbers, one: int, other: int
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


def changes(one: QuestionNumbers, other: QuestionNumbers) -> list[Change]:
    """Return how shares differ between releases of two waves, whose noise is separate."""
    estimates = {choice.choice: choice.as_estimate() for choice in other.choices}
    changes = []
    for choice in one.choices:
        if (right := estimates.get(choice.choice)) is not None:
            left = choice.as_estimate()
            changes.append(Change(choice.choice, *contrasts.between(left, right), left, right))
    return changes


def among_asked(plan: Plan, query: Query, numbers: Numbers, name: str) -> Sequence[Within] | None:
    """Return each answer's share among those who were asked; None where nothing sound can be said.

    The last choice is "Not asked". It needs one channel that every answer went through whole: a
    table or a subset.
    """
    question = next((one for one in numbers.questions if one.name == name), None)
    noise = query.noise_of(name, numbers)
    if question is None or noise is None or not numbers.n:
        return None
    try:
        side = plan.content.question(name).channel.features()
    except (ValueError, KeyError, AttributeError):
        return None
    counts = [choice.noisy_count for choice in question.choices]
    if len(counts) != side.features:
        return None
    return contrasts.among(counts, side, noise, numbers.n)
