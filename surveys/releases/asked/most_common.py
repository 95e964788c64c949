"""The most common answers of a question, by name and in order, without their counts.

The mechanism is dpengine.central.selection: report noisy max, or the exponential mechanism where the study pays in ρ.
Where a device changed the answers, the reports that hold a choice order the choices as people do on average, if every
choice has the same odds: the estimate is (reports − n·b)/(a − b), the same rising line for all.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.selection import Law, Selection, spread_of_counts
from dpengine.privacy import Cost
from surveys.design import documents
from surveys.design.models import Plan
from surveys.releases import statistics
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

KINDS = ("yes_no", "single", "likert")
MOST = 10  # answers of one request
CHANCE = 0.95


@dataclass(frozen=True)
class MostCommon:
    question: dict[str, Any]
    best: int
    epsilon: str
    selection: Selection

    kind: ClassVar[str] = "most_common"
    title: ClassVar[str | Promise] = gettext_lazy("Most common answers")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "Which answers were given most, in order, but not how often. Far cheaper than counts of every answer."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = _orderable(plan)
        if not questions:
            return None

        class MostCommonForm(forms.Form):
            question = question_field(questions, label=_("Question"))
            best = forms.IntegerField(label=_("How many"), min_value=1, max_value=MOST, initial=1)
            epsilon = EpsilonInput()

        return MostCommonForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        question = question_of(parameters, "question", _orderable(plan), plan)
        best = parameters.get("best", 1)
        most = min(MOST, len(candidates(question)) - 1)
        if type(best) is not int or not 1 <= best <= most:
            raise Refused("best", _("expected a whole number from 1 to %(most)s for this question") % {"most": most})
        epsilon = epsilon_of(parameters)
        return cls(question, best, epsilon_text(epsilon), _selection(plan, Fraction(epsilon), best))

    def document(self) -> dict[str, Any]:
        return {"best": self.best, "epsilon": self.epsilon, "question": self.question["name"]}

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question["name"],)

    @property
    def cost(self) -> Cost:
        return self.selection.cost

    @property
    def mechanism(self) -> str:
        many = len(candidates(self.question))
        return f"{self.selection.law}, scale {self.selection.scale:.6g}, best {self.best} of {many}"

    @property
    def sensitivity(self) -> str:
        return f"scores of two answers {self.selection.spread} further apart"

    def expected(self, n: int) -> list[str]:
        behind = math.ceil(self.selection.largest_loss(len(candidates(self.question)), CHANCE) / self._contrast)
        said = [f"Each answer named is at most {behind:,} people behind the most common of those left, "
                f"in {100 * CHANCE:.0f} of 100 draws."]  # fmt: skip
        if behind >= n:
            said.append("That is as many as answered: what is named will be little more than chance.")
        if self._contrast < 1:
            apart = math.ceil(1.96 * math.sqrt(max(n, 1) / 2) / self._contrast)
            said.append(
                f"Devices changed the answers: answers within {apart:,} people of each other can change places."
            )
        return said

    def draw(self, counts: Counts, n: int) -> Numbers:
        names = candidates(self.question)
        chosen = self.selection.release(scores(counts, len(names)))
        rows = [
            {"label": f"{place}.", "value": names[index], "low": None, "high": None, "standard_error": None, "unit": ""}
            for place, index in enumerate(chosen, start=1)
        ]
        return {
            "tables": [{"caption": f"{self.question['label']}: most common answers", "rows": rows}],
            "method": f"Chosen by the {self.selection.law}: a more common answer is likelier to be named, and chance "
            "decides between answers that are close.",
            "notes": self.expected(n)[:1],
            "derived": [],
        }

    @property
    def _contrast(self) -> float:
        """Return how many reports one person's answer is worth."""
        if self.question["protection"] == "publication":
            return 1.0
        return documents.choice_channel(self.question).margins()[0].contrast


def candidates(question: Mapping[str, Any]) -> list[str]:
    """Return the answers that can be named: not to decline, nor not to be asked."""
    choices: list[str] = question["choices"]
    return choices[: len(choices) - documents.beside(question)]


def scores(counts: Counts, many: int) -> list[int]:
    """Return how many reports hold each choice."""
    found = [0] * many
    for (value,), count in counts.items():
        for index in value if isinstance(value, tuple | list) else (value,):
            if index < many:
                found[index] += count
    return found


def _orderable(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the questions whose reports order the choices as people do: all choices have the same odds."""
    questions = questions_of(plan, kinds=KINDS)
    return {
        name: question
        for name, question in questions.items()
        if question["protection"] == "publication" or len(set(documents.choice_channel(question).margins())) == 1
    }


def _selection(plan: Plan, epsilon: Fraction, best: int) -> Selection:
    """Return noisy max for ε; where the study pays in ρ, the exponential mechanism at the same ρ = ε²/2."""
    spread = spread_of_counts(neighbours_of(plan))
    if statistics.is_concentrated(plan):
        return Selection.for_rho(epsilon**2 / 2, spread, best)
    return Selection.for_epsilon(epsilon, spread, Law.NOISY_MAX, best)
