"""The door to raw data for trusted analysts: a statistic of their choice, computed on small random groups of people.

The mechanism is dpengine.central.subsample. What is computed on a group sees the answers as they are; what leaves is
the private median over the groups. The privacy does not depend on what is computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central import subsample
from dpengine.central.numeric import Bounds
from dpengine.central.subsample import FEWEST, Statistic, Subsample
from dpengine.privacy import Cost
from surveys.design.models import Plan
from surveys.releases import words
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    neighbours_of,
    question_choices,
    question_field,
    question_of,
)
from surveys.releases.asked.scored import bounds_of, given_numbers, row, rows_of, unit_of

STATISTICS: dict[str, tuple[str, Statistic]] = {
    "trimmed_mean": ("Mean without the lowest and highest tenth", subsample.trimmed_mean),
    "mean": ("Mean", subsample.mean),
    "mode": ("Most common value", subsample.mode),
    "standard_deviation": ("Standard deviation", subsample.standard_deviation),
    "correlation": ("Correlation with a second number", subsample.correlation),
}
MOST = 10_000  # groups
LIKELY = 0.05


@dataclass(frozen=True)
class Trusted:
    asked: tuple[dict[str, Any], ...]  # one question, or two for a correlation
    statistic: str
    epsilon: str
    groups: Subsample

    kind: ClassVar[str] = "trusted"
    title: ClassVar[str | Promise] = gettext_lazy("A statistic of raw answers, group by group")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "People are dealt into random groups, the statistic is computed on each group’s answers as they are, and "
        "what is published is the typical result of a group, with chance."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = given_numbers(plan)
        if not questions:
            return None

        class TrustedForm(forms.Form):
            question = question_field(questions, label=_("Question"))
            statistic = forms.ChoiceField(
                choices=[(name, words.told(label)) for name, (label, _statistic) in STATISTICS.items()],
                label=_("Statistic"),
            )
            second = forms.ChoiceField(
                choices=[("", "—"), *question_choices(questions)],
                required=False,
                help_text=_("For a correlation only."),
                label=_("Second"),
            )
            groups = forms.IntegerField(
                min_value=FEWEST,
                max_value=MOST,
                initial=100,
                help_text=_("More groups: less chance in the result, but fewer people in each."),
                label=_("Groups"),
            )
            epsilon = EpsilonInput()

        return TrustedForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions = given_numbers(plan)
        asked = [question_of(parameters, "question", questions)]
        statistic, groups = parameters.get("statistic"), parameters.get("groups")
        if not isinstance(statistic, str) or statistic not in STATISTICS:
            raise Refused("statistic", _("expected one of %(names)s") % {"names": ", ".join(STATISTICS)})
        if statistic == "correlation":
            others = {name: question for name, question in questions.items() if name != asked[0]["name"]}
            second = question_of(parameters, "second", others)
            asked = [question for question in questions.values() if question in (*asked, second)]  # either way round
        if type(groups) is not int or not FEWEST <= groups <= MOST:
            raise Refused(
                "groups", _("expected a whole number from %(least)s to %(most)s") % {"least": FEWEST, "most": MOST}
            )
        epsilon = epsilon_of(parameters)
        bounds = _result_bounds(statistic, asked[0])
        mechanism = Subsample.for_epsilon(Fraction(epsilon), groups, bounds.least, bounds.most, neighbours_of(plan))
        return cls(tuple(asked), statistic, epsilon_text(epsilon), mechanism)

    def document(self) -> dict[str, Any]:
        second = {"second": self.asked[1]["name"]} if len(self.asked) == 2 else {}
        return {
            "epsilon": self.epsilon,
            "groups": self.groups.blocks,
            "question": self.asked[0]["name"],
            "statistic": self.statistic,
            **second,
        }

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(question["name"] for question in self.asked)

    @property
    def cost(self) -> Cost:
        return self.groups.cost

    @property
    def mechanism(self) -> str:
        return f"subsample and aggregate, {self.groups.blocks:,} groups, private median by report noisy max"

    @property
    def sensitivity(self) -> str:
        return "the result of 1 group; ranks by 1 group"

    def expected(self, n: int) -> list[str]:
        blocks, aggregate = self.groups.blocks, self.groups.aggregate
        low, high = aggregate.limits.ranks(blocks)
        said = [
            f"About {n / blocks:,.0f} people in each group. The result named is off by at most "
            f"{min(aggregate.point.off_by(LIKELY), blocks):,.0f} of {blocks:,} groups in rank, in 95 of 100 draws."
        ]
        if low < 0 or high > blocks:
            said.append("With so few groups at this ε the interval will be all that the result can be.")
        else:
            said.append(f"The interval will reach from about rank {low:,.0f} to rank {high:,.0f} of {blocks:,}.")
        return said

    def draw(self, counts: Counts, n: int) -> Numbers:
        label, statistic = STATISTICS[self.statistic]
        found = self.groups.release(rows_of(list(self.asked), counts), statistic)
        unit = "" if self.statistic == "correlation" else unit_of(self.asked[0])
        caption = " and ".join(question["label"] for question in self.asked)
        return {
            "tables": [{"caption": caption, "rows": [row(f"{label}, of a group", found, unit)]}],
            "method": f"People were dealt by chance into {self.groups.blocks:,} groups; the statistic was computed on "
            "each, "
            "and the median of the results was chosen with chance added to ranks. The interval is for the typical "
            "result "
            "of a group of this size, in 95 of 100 such studies.",
            "notes": [
                "A group in which the statistic could not be computed counts as the middle of what is possible.",
                "A statistic that is biased in small groups is as biased here.",
            ],
            "derived": ["The standard error is read off the interval."],
        }


def _result_bounds(statistic: str, question: Mapping[str, Any]) -> Bounds:
    """Return what the statistic can be at least and at most: public."""
    bounds = bounds_of(question)
    if statistic == "correlation":
        return Bounds(-1, 1)
    if statistic == "standard_deviation":
        return Bounds(0, bounds.width // 2 + 1)
    return bounds
