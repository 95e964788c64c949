"""Shares of chosen questions: what the rule of a study publishes of all of them, asked for by name.

The mechanisms and their proof are in dpengine.central.counts; what is estimated from a noisy count, in
dpengine.estimates. The budget is split over the questions equally.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.privacy import Cost
from surveys.aggregation.queries import derived
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

NOTES = {
    "multiple": "Of a question with several ticks each report is about one option, drawn by chance. The count of an "
    "option is how many more reports say yes to it than no. Shares of options do not add up to 100.",
    "mean": "The mean of a number follows from the counts of its reports through the Plan’s decoder. Its interval is "
    "all means that the reports, summed with their chance, do not reject.",
    "distribution": "How a number is spread is what makes its reports likeliest, smoothed. Its limits hold for each "
    "share and quartile by itself, whatever the answers are; they are wider than the estimate’s own errors.",
}


@dataclass(frozen=True)
class Shares:
    names: tuple[str, ...]
    epsilon: str
    rho: str  # "" where noise is chosen for ε alone
    parts: tuple[Part, ...]

    kind: ClassVar[str] = "shares"
    title: ClassVar[str | Promise] = gettext_lazy("Shares of each answer")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "How many of all people give each answer to a question, with its interval; of a number that was changed on "
        "the device, its mean or how it is spread."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        choices = question_choices(_countable(plan))
        if not choices:
            return None

        class SharesForm(forms.Form):
            questions = forms.MultipleChoiceField(
                choices=choices, widget=forms.CheckboxSelectMultiple, label=_("Questions")
            )
            epsilon = EpsilonInput(help_text=_("Shared equally by the questions you choose."))

        return SharesForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions = _countable(plan)
        wanted = parameters.get("questions")
        if not isinstance(wanted, list) or not wanted or any(name not in questions for name in wanted):
            raise Refused("questions", _("expected one or more of %(names)s") % {"names": ", ".join(questions)})
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
        return [_expected(part, n) for part in self.parts]

    def draw(self, counts: Counts, n: int) -> Numbers:
        exact = {part.name: statistics.marginal(counts, at, part) for at, part in enumerate(self.parts)}
        return self.publish(exact, n)

    def publish(self, exact: Mapping[str, list[int]], n: int) -> Numbers:
        """Draw once from the tallies themselves: for all questions together, joint counts would be all the reports."""
        numbers = statistics.draw(self.parts, dict(exact), n)
        return {**numbers, **tables_of(numbers, self.parts)}


def tables_of(numbers: Numbers, parts: tuple[Part, ...]) -> Numbers:
    """Return the same numbers as tables: what every kind has."""
    questions = {part.name: part.question for part in parts}
    found = [derived.tables(questions[each["name"]], each) for each in numbers["questions"]]
    return {
        "tables": [table for tables in found for table in tables],
        "method": "Chance was added to the counts of reports, once. From each noisy count the share of people was "
        "estimated through the odds of the devices; the intervals count sampling, devices and publication.",
        "notes": [NOTES[kind] for kind in NOTES if any(each.get("kind") == kind for each in numbers["questions"])],
        "derived": ["Shares, intervals and standard errors follow from the noisy counts."],
    }


def _countable(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return what has a tally that can be published: all but numbers that are sent as given."""
    names = statistics.public_names(plan)
    return {name: question for name, question in questions_of(plan).items() if name in names}


def _expected(part: Part, n: int) -> str:
    wide, added, unit = derived.expected(part.question, part.tally, max(n, 1), part.mechanism)
    kind = part.question["kind"] if "wanted" not in part.question else part.question["wanted"]
    what = {"mean": "the mean", "distribution": "the share of people below the middle"}.get(kind, "each share")
    return (
        f"{part.question['label']}: {what} within ± {wide:.1f} {unit or 'points'}, in 95 of 100 such studies, of which "
        f"chance added to the count is ± {added:.1f}."
    )


def _rho(plan: Plan, written: str, epsilon: Any, parts: int) -> Fraction | None:
    """Return ρ where the study can pay in it: as the Plan wrote it, or what Laplace noise at this ε would cost."""
    if not statistics.is_concentrated(plan):
        return None
    return Fraction(written) if written else Fraction(epsilon) ** 2 / (2 * parts)
