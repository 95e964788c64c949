"""A posted price: answers to a question about money, read as bids, and the price that would earn most.

The mechanism is dpengine.central.selection, on the revenue of every price of a list that is fixed before the answers
are seen. Prices so chosen are stable (McSherry and Talwar 2007): no bidder can move the chance of any price by more
than a factor e^ε by bidding otherwise, so that saying less than the thing is worth gains next to nothing.
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

from dpengine.central.selection import Law, Selection
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
    question_field,
    question_of,
    questions_of,
)

MOST_PRICES = 1000
CHANCE = 0.95


@dataclass(frozen=True)
class Price:
    question: dict[str, Any]
    lowest: int
    highest: int
    step: int
    epsilon: str
    selection: Selection

    kind: ClassVar[str] = "price"
    title: ClassVar[str | Promise] = gettext_lazy("Price that earns most")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "Reads the answers as what each person would pay at most, and names the price that would earn most if all "
        "who would pay it do."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = _bids(plan)
        if not questions:
            return None

        class PriceForm(forms.Form):
            question = question_field(questions, label=_("Question"))
            lowest = forms.IntegerField(label=_("Lowest price"), min_value=1)
            highest = forms.IntegerField(
                label=_("Highest price"), min_value=1, help_text=_("The higher it is, the more chance is added.")
            )
            step = forms.IntegerField(label=_("Step between prices"), min_value=1, initial=1)
            epsilon = EpsilonInput()

        return PriceForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        question = question_of(parameters, "question", _bids(plan), plan)
        lowest, highest, step = (_whole(parameters, name) for name in ("lowest", "highest", "step"))
        if not lowest < highest <= question["most"]:
            raise Refused(
                "highest", _("expected a price above the lowest and at most %(most)s") % {"most": question["most"]}
            )
        if (highest - lowest) // step >= MOST_PRICES:
            raise Refused("step", _("expected a step that makes at most %(most)s prices") % {"most": MOST_PRICES})
        epsilon = epsilon_of(parameters)
        top = highest - (highest - lowest) % step  # the highest of the list
        return cls(question, lowest, top, step, epsilon_text(epsilon), _selection(plan, Fraction(epsilon), top))

    @property
    def prices(self) -> range:
        return range(self.lowest, self.highest + 1, self.step)

    def document(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "highest": self.highest,
            "lowest": self.lowest,
            "question": self.question["name"],
            "step": self.step,
        }

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question["name"],)

    @property
    def cost(self) -> Cost:
        return self.selection.cost

    @property
    def mechanism(self) -> str:
        return f"{self.selection.law}, scale {self.selection.scale:.6g}, {len(self.prices)} prices"

    @property
    def sensitivity(self) -> str:
        return f"revenues up to {self.selection.spread:,} further apart"

    def expected(self, n: int) -> list[str]:
        less = math.ceil(self.selection.largest_loss(len(self.prices), CHANCE))
        said = [
            f"The price earns at most {less:,} {self.question['unit']} less than the best of the {len(self.prices):,} "
            f"prices, all buyers together, in {100 * CHANCE:.0f} of 100 draws.",
            f"Nobody can make any price more than {math.exp(float(self.selection.epsilon)):.3g} times as likely by "
            "answering otherwise.",
        ]
        if less >= n * self.highest:
            said.append("That is all they could pay: what is named will be little more than chance.")
        return said

    def draw(self, counts: Counts, n: int) -> Numbers:
        (chosen,) = self.selection.release(revenues(counts, self.prices))
        row = {
            "label": "Price",
            "value": self.prices[chosen],
            "low": None,
            "high": None,
            "standard_error": None,
            "unit": self.question["unit"],
        }
        return {
            "tables": [{"caption": f"{self.question['label']}: the price that earns most", "rows": [row]}],
            "method": f"Chosen by the {self.selection.law} from a list fixed before the answers were seen: a price "
            "that earns more is likelier to be named. How much it earns is not published.",
            "notes": self.expected(n)[:2],
            "derived": [],
        }


def revenues(counts: Counts, prices: range) -> list[int]:
    """Return what each price earns: the price times how many bid as much or more."""
    return [price * sum(count for (bid,), count in counts.items() if bid >= price) for price in prices]


def _bids(plan: Plan) -> dict[str, dict[str, Any]]:
    found = questions_of(plan, protection="publication", kinds=("number",))
    return {name: question for name, question in found.items() if question["most"] >= 2}


def _whole(parameters: Mapping[str, Any], name: str) -> int:
    value = parameters.get(name)
    if type(value) is not int or value < 1:
        raise Refused(name, _("expected a whole number of 1 or more"))
    return value


def _selection(plan: Plan, epsilon: Fraction, spread: int) -> Selection:
    """Return noisy max for ε; where the study pays in ρ, the exponential mechanism at the same ρ = ε²/2.

    One bid raised, lowered, added or taken away moves revenues all one way, each by its price at most: the spread is
    the highest price for both neighbour relations.
    """
    if statistics.is_concentrated(plan):
        return Selection.for_rho(epsilon**2 / 2, spread)
    return Selection.for_epsilon(epsilon, spread, Law.NOISY_MAX)
