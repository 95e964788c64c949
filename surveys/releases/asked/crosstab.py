"""A table of two questions: how many people gave each pair of answers, and, free, the shares within each group.

Noise goes on the counts of pairs of reports (dpengine.central.counts chooses which, and says why); people are
estimated from the noisy counts by surveys.aggregation.crosstabs, through the odds of both questions' devices.
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

from dpengine.central import counts as tallies
from dpengine.central.counts import Choice, Tally
from dpengine.central.laplace import DiscreteLaplace
from dpengine.privacy import Cost, Neighbours
from surveys.aggregation.queries import crosstabs
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
MOST_CELLS = 400  # of the table that is shown
HALF_WIDTH = 1.96  # standard errors on each side of 95 of 100
METHOD = (
    "Chance was added once to the counts of pairs of reports. From them the shares of people were estimated through "
    "the odds of both questions' devices; estimates can fall below 0. Intervals hold in 95 of 100 studies, each cell "
    "on its own, and count sampling, devices and publication."
)
FREE = "Shares within each group follow from the same numbers and cost nothing more (Fieller's intervals)."


@dataclass(frozen=True)
class Crosstab:
    names: tuple[str, str]
    labels: tuple[str, str]
    sides: tuple[crosstabs.Side, crosstabs.Side]
    epsilon: str
    choice: Choice

    kind: ClassVar[str] = "crosstab"
    title: ClassVar[str | Promise] = gettext_lazy("Table of two questions")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "How many people gave each pair of answers to two questions, and so the share of an answer within a group: "
        "of those who said one thing, how many said the other."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = questions_of(plan, kinds=KINDS)
        if len(questions) < 2:
            return None

        class CrosstabForm(forms.Form):
            rows = question_field(questions, label=_("Question"))
            within = question_field(questions, label=_("Among those who answered"), initial=list(questions)[1])
            epsilon = EpsilonInput()

        return CrosstabForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions = questions_of(plan, kinds=KINDS)
        pair = [question_of(parameters, name, questions, plan) for name in ("rows", "within")]
        epsilon = epsilon_of(parameters)
        if pair[0]["name"] == pair[1]["name"]:
            raise Refused("within", _("expected another question than the first"))
        left, right = crosstabs.sides(plan.content, [question["name"] for question in pair])
        if len(left.labels) * len(right.labels) > MOST_CELLS:
            raise Refused(
                "within", _("expected two questions with at most %(most)s pairs of answers") % {"most": MOST_CELLS}
            )
        tally = Tally(left.features * right.features, neighbours_of(plan), left.held * right.held)
        one, other = pair
        return cls(
            names=(one["name"], other["name"]),
            labels=(one["label"], other["label"]),
            sides=(left, right),
            epsilon=epsilon_text(epsilon),
            choice=_noise(plan, tally, Fraction(epsilon)),
        )

    def document(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "rows": self.names[0], "within": self.names[1]}

    @property
    def questions(self) -> tuple[str, ...]:
        return self.names

    @property
    def tally(self) -> Tally:
        return self.choice.tallies[0]

    @property
    def cost(self) -> Cost:
        return self.choice.mechanism.cost

    @property
    def mechanism(self) -> str:
        noise = self.choice.mechanism
        name = "Laplace" if isinstance(noise, DiscreteLaplace) else "Gaussian"
        return f"discrete {name}, scale {noise.scale:.6g}, {self.tally.published} counts"

    @property
    def sensitivity(self) -> str:
        return f"{self.tally.moved} counts of pairs by 1 each"

    def expected(self, n: int) -> list[str]:
        nothing = [[0] * self.sides[1].features] * self.sides[0].features
        empty = crosstabs.Table.of(nothing, *self.sides, self.choice.mechanism, max(n, 1))
        wide = 100 * HALF_WIDTH * empty.even_error()
        plain = 50 * HALF_WIDTH / math.sqrt(max(n, 1))
        return [
            f"Each share of all people within ± {wide:.1f} points, in 95 of 100 such studies; in a plain survey of as "
            f"many people, ± {plain:.1f} at most.",
            f"{self.choice.why}.",
            *([] if wide < 50 else ["So few answers, or so small a cost, tell nothing: no table should be asked for."]),
        ]

    def draw(self, counts: Counts, n: int) -> Numbers:
        flat = [count for row in crosstabs.together(counts, *self.sides) for count in row]
        (noisy,) = self.choice.release([flat], n)
        width = self.sides[1].features
        rows = [noisy[start : start + width] for start in range(0, len(noisy), width)]
        public = max(n, 1) if self.tally.neighbours is Neighbours.CHANGE_ONE else None
        table = crosstabs.Table.of(rows, *self.sides, self.choice.mechanism, public)
        notes = [] if table.known else ["How many answered is not public here: n was estimated from the noisy counts."]
        return {
            "tables": [self._all(table), *(self._within(table, b) for b in range(len(self.sides[1].labels)))],
            "method": METHOD,
            "notes": notes,
            "derived": [FREE],
            "noisy_counts": table.noisy.astype(int).tolist(),
        }

    def _all(self, table: crosstabs.Table) -> dict[str, Any]:
        errors, intervals, shares = table.standard_errors, table.intervals(), table.shares
        rows = [
            {
                "label": f"{one}, {other}",
                "value": 100 * float(shares[a, b]),
                "low": 100 * intervals[a][b][0],
                "high": 100 * intervals[a][b][1],
                "standard_error": 100 * float(errors[a, b]),
                "unit": "percent",
            }
            for a, one in enumerate(self.sides[0].labels)
            for b, other in enumerate(self.sides[1].labels)
        ]
        return {"caption": f"{self.labels[0]} and {self.labels[1]}: shares of all people", "rows": rows}

    def _within(self, table: crosstabs.Table, b: int) -> dict[str, Any]:
        found = [table.within(a, b) for a in range(len(self.sides[0].labels))]
        rows = [
            {
                "label": label,
                "value": "too few to say" if share.value is None else 100 * share.value,
                "low": 100 * share.low,
                "high": 100 * share.high,
                "standard_error": None if share.standard_error is None else 100 * share.standard_error,
                "unit": "percent",
            }
            for label, share in zip(self.sides[0].labels, found, strict=True)
        ]
        group = self.sides[1].labels[b]
        return {"caption": f"{self.labels[0]}, among those with {self.labels[1]}: {group}", "rows": rows}


def _noise(plan: Plan, tally: Tally, epsilon: Fraction) -> Choice:
    """Return Laplace noise for ε; where the study pays in ρ, what is more precise at the same ρ = ε²/2."""
    if statistics.is_concentrated(plan):
        return tallies.for_rho([tally], epsilon**2 / 2)
    return tallies.for_epsilon([tally], epsilon)
