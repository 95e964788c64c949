"""A posted price: answers to a question about money, read as bids, and the price that would earn
most.

The mechanism is dpengine.central.selection, on the revenue of every price of a list that is fixed
before the answers are seen. Prices so chosen are stable (McSherry and Talwar 2007): no bidder can
move the chance of any price by more than a factor e^ε by bidding otherwise, so that saying less
than the thing is worth gains next to nothing.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Self

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.selection import Law, Selection
from surveys.messages import message
from surveys.releases.numbers import Numbers, Row, Table
from surveys.releases.queries.base import Counts, Query, digits, plain_scale
from surveys.releases.queries.parameters import (
    AnyQuestion,
    Paid,
    Question,
    Whole,
    WrongParameter,
)

MAX_PRICES = 1000
CHANCE = 0.95

MECHANISM = message("%(law)s, scale %(scale)s, %(count)s prices")
SENSITIVITY = message("revenues up to %(count)s further apart")
LESS = message(
    "The price earns at most %(amount)s %(unit_word)s less than the best of the %(count)s "
    "prices, all buyers together, in %(n)s of 100 draws."
)
STABLE = message(
    "Nobody can make any price more than %(times)s times as likely by answering otherwise."
)
ALL_CHANCE = message("That is all they could pay: what is named will be little more than chance.")
CAPTION = message("%(label)s: the price that earns most")
PRICE = message("Price")
METHOD = message(
    "Chosen by the %(law)s from a list fixed before the answers were seen: a price that earns "
    "more is likelier to be named. How much it earns is not published."
)


@dataclass(frozen=True)
class Price(Query):
    question: AnyQuestion
    lowest: Annotated[int, Whole(label=gettext_lazy("Lowest price"))]
    highest: Annotated[
        int,
        Whole(
            label=gettext_lazy("Highest price"),
            help=gettext_lazy("The higher it is, the more chance is added."),
        ),
    ]
    step: Annotated[int, Whole(label=gettext_lazy("Step between prices"), initial=1)]
    epsilon: Paid

    kind = "price"
    title = message("Price that earns most", fills="title")
    sentence = gettext_lazy(
        "Names the price that would earn most, if each answer is the highest price a person would "
        "pay."
    )
    needs = gettext_lazy("It needs a number that is not randomised: what people would pay.")

    @staticmethod
    def fits(question: Question) -> bool:
        return question.kind == "number" and question.is_cleartext and question.most >= 2

    def settled(self) -> Self:
        most = self.question.most
        if not self.lowest < self.highest <= most:
            raise WrongParameter(
                "highest", _("expected a price above the lowest and at most %(most)s"), most=most
            )
        span = self.highest - self.lowest
        if span // self.step >= MAX_PRICES:
            raise WrongParameter(
                "step", _("expected a step that makes at most %(most)s prices"), most=MAX_PRICES
            )
        return replace(self, highest=self.highest - span % self.step)  # the last of the list

    @property
    def prices(self) -> range:
        return range(self.lowest, self.highest + 1, self.step)

    @cached_property
    def engine(self) -> Selection:
        """Return the selection of a price; its spread is the highest, for both kinds of neighbours.

        One bid raised, lowered, added or taken away moves revenues all one way, each by its price
        at most.
        """
        if rho := self.rho_for(self.epsilon):
            return Selection.for_rho(rho, self.highest)
        return Selection.for_epsilon(self.strength(self.epsilon), self.highest, Law.NOISY_MAX)

    @property
    def mechanism(self) -> str:
        scale = plain_scale(self.engine.scale)
        return MECHANISM(law=self.engine.law, scale=scale, count=len(self.prices))

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=f"{self.engine.spread:,}")

    def covers(self, n: int) -> float:
        return min(1.0, self._less / (max(n, 1) * self.highest))

    @property
    def _less(self) -> int:
        return math.ceil(self.engine.largest_loss(len(self.prices), CHANCE))

    def expected(self, n: int) -> list[str]:
        less = self._less
        texts: list[str] = [
            LESS(
                amount=f"{less:,}",
                unit_word=self.question.unit,
                count=f"{len(self.prices):,}",
                n=f"{100 * CHANCE:.0f}",
            ),
            STABLE(times=digits(math.exp(float(self.engine.epsilon)))),
        ]
        return [*texts, ALL_CHANCE()] if less >= n * self.highest else texts

    def draw(self, counts: Counts, n: int) -> Numbers:
        (chosen,) = self.engine.release(revenues(counts, self.prices))
        row = Row(PRICE(), self.prices[chosen], unit=self.question.unit)
        return Numbers(
            tables=[Table(CAPTION(label=self.question.label), [row])],
            method=METHOD(law=self.engine.law),
            notes=self.expected(n)[:2],
            derived=[],
            n=n,
        )


def revenues(counts: Counts, prices: range) -> list[int]:
    """Return what each price earns: the price times how many bid as much or more."""
    return [
        price * sum(count for (bid,), count in counts.items() if bid >= price) for price in prices
    ]
