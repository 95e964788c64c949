"""What the registry knows of a study: its Plans, and what the ledger says was spent. All of it public."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpengine.privacy import epsilon_above, exponential_below, guess_at_most, loss_of_all, round_up
from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan, Study
from surveys.design.queries import Odds, of_hundred
from surveys.ledger import queries as ledger
from surveys.ledger.queries import Account, Statement

STATES = {"collecting": "Collecting", "closed": "Closed", "spent": "All spent"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what one answer to it loses."""

    number: int
    question: dict[str, Any]
    odds: list[Odds]
    loss: Fraction

    @property
    def epsilon(self) -> Decimal:
        return epsilon_above(self.loss, 2)

    @property
    def times(self) -> str:
        return times(self.loss)

    @property
    def choices(self) -> list[str]:
        """Return the choices in the order in which people see them."""
        return [self.question["choices"][index] for index in design.shown_order(self.question)]

    @property
    def shown(self) -> Odds:
        """Return the odds of the choice that people see first."""
        return self.odds[design.shown_order(self.question)[0]]


@dataclass(frozen=True)
class Record:
    """One study, in all its waves. The newest comes first and gives it its words."""

    study: Study
    plans: list[Plan]
    account: Account

    @property
    def plan(self) -> Plan:
        return self.plans[0]

    @property
    def content(self) -> dict[str, Any]:
        return self.plan.content

    @property
    def state(self) -> str:
        if self.plan.is_open:
            return "collecting"
        return "spent" if self.account.left <= 0 else "closed"

    @property
    def state_name(self) -> str:
        return STATES[self.state]

    @cached_property
    def asked(self) -> list[Asked]:
        """Return the questions of the newest wave."""
        return questions_of(self.plan)

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of one person who answers every question of every wave."""
        return loss_of_all(documents.loss_of_plan(plan.content) for plan in self.plans)

    @property
    def epsilon(self) -> Decimal:
        return epsilon_above(self.loss, 2)

    @property
    def household(self) -> Decimal:
        """Return the ε of what two people have in common."""
        return epsilon_above(self.loss**2, 2)

    @property
    def guess(self) -> int:
        """Return how often of 100 a guess between two, even before, is right at most, for who reads the reports."""
        return of_hundred(guess_at_most(self.loss))

    @property
    def reader_epsilon(self) -> Decimal:
        """Return what readers of the results, all together and forever, can learn about one person at most."""
        return min(epsilon_above(self.loss), self.account.cap)

    @property
    def reader_epsilon_shown(self) -> Decimal:
        return round_up(Fraction(self.reader_epsilon), 2)

    @property
    def _reader_loss(self) -> Fraction:
        return min(self.loss, exponential_below(self.account.cap))

    @property
    def reader_guess(self) -> int:
        return of_hundred(guess_at_most(self._reader_loss))

    @property
    def reader_times(self) -> str:
        return times(self._reader_loss)

    @property
    def times(self) -> str:
        return times(self.loss)

    @property
    def statement(self) -> Statement:
        return Statement(self.account)


def questions_of(plan: Plan) -> list[Asked]:
    return [
        Asked(number, question, design.odds_of(question), documents.loss_of_question(question))
        for number, question in enumerate(plan.content["questions"], start=1)
    ]


def records() -> list[Record]:
    """Return every study that has opened, smallest ε of one person first."""
    waves: dict[int, list[Plan]] = {}
    for plan in design.plans().order_by("-wave"):
        waves.setdefault(plan.study_id, []).append(plan)
    accounts = ledger.accounts()
    found = [_record(plans, accounts) for plans in waves.values()]
    return sorted(found, key=lambda record: (record.loss, record.content["title"]))


def record_of(study: Study) -> Record:
    return _record(list(design.plans().filter(study=study).order_by("-wave")), ledger.accounts())


def _record(plans: list[Plan], accounts: dict[int, Account]) -> Record:
    budget_id = plans[0].study.budget_id
    if budget_id is None:
        raise RuntimeError(f"{plans[0]} has no budget")
    return Record(study=plans[0].study, plans=plans, account=accounts[budget_id])


def matching(found: Iterable[Record], *, words: str, state: str) -> list[Record]:
    """Return the records whose title or organisation holds all the words, in the state if one is named."""
    wanted = words.casefold().split()
    return [
        record
        for record in found
        if all(word in f"{record.content['title']} {record.content['organisation']}".casefold() for word in wanted)
        and state in ("", record.state)
    ]


def times(loss: Fraction) -> str:
    """Return a loss for people: how many times likelier, rounded up to three digits or more."""
    places = 2 if loss < 100 else 0
    return f"{round_up(loss, places):,f}"
