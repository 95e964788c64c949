"""What follows from numbers already published, by comparing them: free, for no answer is looked at again.

The law of the noise and the channels come from the request that was drawn, never from what a page guesses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpengine.estimates import Estimate, Variance
from dpengine.privacy import Neighbours
from surveys.aggregation.queries import contrasts, crosstabs
from surveys.design.models import Plan
from surveys.releases.asked.base import Asked
from surveys.releases.asked.crosstab import Crosstab
from surveys.releases.asked.shares import Shares
from surveys.releases.continual import Continual

Difference = contrasts.Difference
Within = crosstabs.Within


def group_differences(asked: Asked, numbers: Mapping[str, Any], one: int, other: int) -> list[Difference] | None:
    """Return, for every answer of a released cross-table, its share in one group less that in another."""
    if not isinstance(asked, Crosstab) or "noisy_counts" not in numbers:
        return None
    table = table_of(asked, numbers)
    return [contrasts.difference(table, answer, (one, other)) for answer in range(len(table.left.labels))]


def table_of(asked: Crosstab, numbers: Mapping[str, Any]) -> crosstabs.Table:
    """Return the table that was published, from its noisy counts."""
    public = max(int(numbers["n"]), 1) if asked.tally.neighbours is Neighbours.CHANGE_ONE else None
    return crosstabs.Table.of(numbers["noisy_counts"], *asked.sides, asked.choice.mechanism, public)


@dataclass(frozen=True, slots=True)
class Change:
    """A share in one wave less that in another."""

    choice: str
    value: float
    low: float
    high: float
    one: Estimate
    other: Estimate


def changes(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Change]:
    """Return how every answer's share differs between two releases of different waves, whose noise is separate."""
    found = {choice["choice"]: estimate_of(choice) for choice in other["choices"]}
    pairs = [
        (choice["choice"], estimate_of(choice), found[choice["choice"]])
        for choice in one["choices"]
        if choice["choice"] in found
    ]
    return [Change(text, *contrasts.between(left, right), left, right) for text, left, right in pairs]


def estimate_of(choice: Mapping[str, Any]) -> Estimate:
    low, high = choice["interval"]
    return Estimate(choice["estimate"], low, high, Variance.read(choice["variance"]))


def among_asked(plan: Plan, asked: Asked, numbers: Mapping[str, Any], name: str) -> Sequence[Within] | None:
    """Return each answer's share among those who were asked; None where the numbers cannot tell it soundly.

    The last choice is "Not asked". It needs one channel that every answer went through whole: a table or a subset.
    """
    found = next((each for each in numbers.get("questions", ()) if each["name"] == name), None)
    noise = _noise(asked, numbers, name)
    if found is None or noise is None or not numbers["n"]:
        return None
    try:
        (side,) = crosstabs.sides(plan.content, [name])
    except (ValueError, KeyError, AttributeError):
        return None
    counts = [choice["noisy_count"] for choice in found["choices"]]
    return contrasts.among(counts, side, noise, numbers["n"]) if len(counts) == side.features else None


def _noise(asked: Asked, numbers: Mapping[str, Any], name: str) -> Any:
    """Return the law of the noise in one question's counts."""
    if isinstance(asked, Shares):
        return next((part.mechanism for part in asked.parts if part.name == name), None)
    if isinstance(asked, Continual):
        step = int(numbers["refresh"])
        return next((kept.at(step).mechanism for kept in asked.kept if kept.name == name), None)
    return None
