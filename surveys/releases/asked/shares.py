"""Shares of chosen questions: what the rule of a study publishes of all of them, asked for by name.

The mechanisms and their proof are in dpengine.central.counts; what is estimated from a noisy count, in
dpengine.estimates. The budget is split over the questions equally.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms

from dpengine.estimates import share
from dpengine.privacy import Cost
from surveys.design.models import Plan
from surveys.releases import statistics
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    question_choices,
    questions_of,
)
from surveys.releases.statistics import Part

WORST = Fraction(1, 2)  # the share whose estimate is the least certain
HALF_WIDTH = 1.96  # standard errors on each side of 95 of 100


@dataclass(frozen=True)
class Shares:
    names: tuple[str, ...]
    epsilon: str
    rho: str  # "" where noise is chosen for ε alone
    parts: tuple[Part, ...]

    kind: ClassVar[str] = "shares"
    title: ClassVar[str] = "Shares of each answer"
    sentence: ClassVar[str] = "How many of all people give each answer to a question, with its interval."

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        choices = question_choices(_countable(plan))
        if not choices:
            return None

        class SharesForm(forms.Form):
            questions = forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple)
            epsilon = EpsilonInput(help_text="Shared equally by the questions you choose.")

        return SharesForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions = _countable(plan)
        wanted = parameters.get("questions")
        if not isinstance(wanted, list) or not wanted or any(name not in questions for name in wanted):
            raise Refused("questions", f"expected one or more of {', '.join(questions)}")
        names = tuple(
            name for name in questions if name in wanted
        )  # in the Plan's order: the same set, the same request
        epsilon = epsilon_of(parameters)
        rho = str(parameters.get("rho", ""))
        parts = statistics.parts_for(plan, names, epsilon=Fraction(epsilon), rho=_rho(plan, rho, epsilon, len(names)))
        return cls(names, epsilon_text(epsilon), rho, tuple(parts))

    def document(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "questions": list(self.names), **({"rho": self.rho} if self.rho else {})}

    @property
    def questions(self) -> tuple[str, ...]:
        return self.names

    @property
    def cost(self) -> Cost:
        return statistics.cost(self.parts)

    @property
    def mechanism(self) -> str:
        names = sorted({part.parameters["name"] for part in self.parts})
        return f"{' and '.join(names)}, {len(self.parts)} tall{'y' if len(self.parts) == 1 else 'ies'}"

    @property
    def sensitivity(self) -> str:
        most = max(part.tally.sensitivity for part in self.parts)
        return f"{most} count{'s' * (most > 1)} by 1 in each tally"

    def expected(self, n: int) -> list[str]:
        return [
            f"{part.question['label']}: each share within ± {100 * HALF_WIDTH * _standard_error(part, n):.1f} points, "
            f"in 95 of 100 such studies, of which chance added to the count is "
            f"± {100 * HALF_WIDTH * _added(part, n):.1f}."
            for part in self.parts
        ]

    def draw(self, counts: Counts, n: int) -> Numbers:
        exact = {part.name: statistics.marginal(counts, at, part) for at, part in enumerate(self.parts)}
        return self.publish(exact, n)

    def publish(self, exact: Mapping[str, list[int]], n: int) -> Numbers:
        """Draw once from the tallies themselves: for all questions together, joint counts would be all the reports."""
        numbers = statistics.draw(self.parts, dict(exact), n)
        return {**numbers, **tables_of(numbers, self.parts)}


def tables_of(numbers: Numbers, parts: tuple[Part, ...]) -> Numbers:
    """Return the same shares as tables: what every kind has."""
    labels = {part.name: part.question["label"] for part in parts}
    return {
        "tables": [
            {"caption": labels[question["name"]], "rows": [_row(choice) for choice in question["choices"]]}
            for question in numbers["questions"]
        ],
        "method": "Chance was added to the counts of reports, once. From each noisy count the share of people was "
        "estimated through the odds of the devices; the intervals count sampling, devices and publication.",
        "notes": [],
        "derived": ["Shares, intervals and standard errors follow from the noisy counts."],
    }


def _row(choice: dict[str, Any]) -> dict[str, Any]:
    low, high = choice["interval"]
    return {
        "label": choice["choice"],
        "value": 100 * choice["estimate"],
        "low": 100 * low,
        "high": 100 * high,
        "standard_error": 100 * choice["standard_error"],
        "unit": "percent",
    }


def _countable(plan: Plan) -> dict[str, dict[str, Any]]:
    return questions_of(plan, kinds=("yes_no", "single", "likert"))


def _rho(plan: Plan, written: str, epsilon: Any, parts: int) -> Fraction | None:
    """Return ρ where the study can pay in it: as the Plan wrote it, or what Laplace noise at this ε would cost."""
    if not statistics.is_concentrated(plan):
        return None
    return Fraction(written) if written else Fraction(epsilon) ** 2 / (2 * parts)


def _standard_error(part: Part, n: int) -> float:
    margin = part.tally.channel.margins()[0]
    counted = round(n * (margin.lie + WORST * (margin.truth - margin.lie)))
    return share(counted, n, margin, part.mechanism).standard_error


def _added(part: Part, n: int) -> float:
    return float(part.mechanism.variance**0.5) / (n * part.tally.channel.margins()[0].contrast)
