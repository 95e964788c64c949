"""What the registry knows of a study: its Plans, and what the ledger says was spent. All of it public."""

import datetime
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpengine.accounting import beliefs
from dpengine.accounting.bounds import exp_above
from dpengine.accounting.comparison import Comparison
from dpengine.privacy import epsilon_above, guess_at_most, loss_of_all, round_up
from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan, Study, Unit
from surveys.design.queries import Odds, at_most_of_hundred
from surveys.ledger import queries as ledger
from surveys.ledger.models import Entry, Kind
from surveys.ledger.queries import Account, Burn, Line, Statement
from surveys.registry import chart, losses
from surveys.registry.losses import Household, Loss, Shuffled
from surveys.releases import queries as releases

SHOWN_ROWS = 8  # of the ledger; the older ones are folded
STATES = {"collecting": _("Collecting"), "closed": _("Closed"), "spent": _("All spent"), "retired": _("Retired")}
UNITS = {
    Unit.RESPONDENT_IN_STUDY.value: _("One person, one study"),
    Unit.RESPONDENT_IN_WAVE.value: _("One person, one wave"),
}


class Model(StrEnum):
    """Where answers are changed. ε of different models, or units, cannot be compared."""

    DEVICE = "device"
    BOTH = "both"
    GIVEN = "given"


MODELS = {
    Model.DEVICE.value: _("all answers changed on the device"),
    Model.BOTH.value: _("some answers sent as given"),
    Model.GIVEN.value: _("all answers sent as given"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what one answer to it loses on its way: None where it is sent as given, and all is lost."""

    number: int
    question: dict[str, Any]
    said: dict[str, Any]  # the same in the reader's language
    odds: list[Odds]
    loss: Fraction | None

    @property
    def is_given(self) -> bool:
        return self.loss is None

    @property
    def epsilon(self) -> str:
        return "∞" if self.loss is None else f"{epsilon_above(self.loss, 2)}"

    @property
    def times(self) -> str:
        """Return how many times likelier one answer makes a message than another, at most."""
        return "∞" if self.loss is None else times(self.loss)

    @property
    def choices(self) -> list[str]:
        """Return the choices in the order in which people see them; none of a number."""
        return [self.said["choices"][index] for index in design.shown_order(self.question)]

    @property
    def shown(self) -> Odds | None:
        """Return the odds of the choice that people see first."""
        return self.odds[design.shown_order(self.question)[0]] if self.odds else None

    @property
    def is_of_options(self) -> bool:
        """Tell whether a message is about one of several options that people tick."""
        return bool(self.question["kind"] == documents.MULTIPLE)

    @property
    def values(self) -> int:
        """Return how many different messages there are to a number that is changed on the device; else 0."""
        if self.loss is None or self.odds:
            return 0
        return len(self.question["channel"]["weights"][0])


@dataclass(frozen=True)
class Record:
    """One study, in all its waves. The newest comes first and gives it its words."""

    study: Study
    plans: list[Plan]
    account: Account
    now: datetime.datetime

    @property
    def plan(self) -> Plan:
        return self.plans[0]

    @property
    def content(self) -> dict[str, Any]:
        return self.plan.content

    @property
    def state(self) -> str:
        if self.study.is_retired:
            return "retired"
        if self.plan.is_open:
            return "collecting"
        is_spent = self.account.amount_left <= 0 and not self.account.budget.fixed_parts  # else each wave has its own
        return "spent" if is_spent else "closed"

    @property
    def is_collecting(self) -> bool:
        """Tell whether spending goes on by itself: of a closed study nothing is charged but what is asked for."""
        return self.state == "collecting"

    @property
    def state_name(self) -> str | Promise:
        return STATES[self.state]

    @property
    def model(self) -> Model:
        """Return where answers are changed, which decides with what an ε may be compared."""
        if not self.given:
            return Model.DEVICE
        return Model.BOTH if self.changes_answers else Model.GIVEN

    @property
    def kind(self) -> tuple[str, str]:
        """Return what must be equal before two ε are compared: what one record is, and where answers are changed."""
        return self.content["unit"], self.model.value

    @cached_property
    def asked(self) -> list[Asked]:
        """Return the questions of the newest wave."""
        return questions_of(self.plan)

    @property
    def first(self) -> Asked:
        """Return the question whose odds are shown: the first that has any, else the first that is changed."""
        changed = [asked for asked in self.asked if not asked.is_given]
        return next((asked for asked in changed if asked.odds), [*changed, *self.asked][0])

    # One person, to who sees every report

    @cached_property
    def given(self) -> list[str]:
        """Return the questions, of any wave, whose answers are sent as given."""
        return sorted({name for plan in self.plans for name in documents.given(plan.content)})

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of one record whose answers are all changed on the device, as far as they are."""
        each = [documents.loss_of_plan(plan.content) for plan in self.plans]
        return max(each) if self.content["unit"] == Unit.RESPONDENT_IN_WAVE else loss_of_all(each)

    @property
    def waves(self) -> int:
        """Return how many waves one record is in: 0 where it is one of several waves, each a record of its own."""
        return 0 if self.content["unit"] == Unit.RESPONDENT_IN_WAVE else len(self.plans)

    @property
    def panel(self) -> str:
        """Return the panel whose caps hold too, if there is one."""
        return str(self.content["caps"].get("panel", ""))

    @property
    def local_loss(self) -> Fraction | None:
        """Return e^ε of all that one record sends; None where some of it is sent as given."""
        return None if self.given else self.loss

    @property
    def changes_answers(self) -> bool:
        """Tell whether any answer is changed on the device."""
        return self.loss > 1

    @property
    def epsilon(self) -> str:
        return "∞" if self.given else self.device_epsilon

    @property
    def device_epsilon(self) -> str:
        return f"{epsilon_above(self.loss, 2)}"

    @property
    def guess(self) -> str:
        """Return how often of 100 a guess between two, even before, is right at most, for who reads the reports."""
        return at_most_of_hundred(guess_at_most(self.loss))

    @property
    def times(self) -> str:
        return times(self.loss)

    # One person, to who reads what is published

    @cached_property
    def cap(self) -> Loss:
        return losses.cap_of(self.account, self.content)

    @cached_property
    def spent(self) -> Loss:
        return losses.spent_of(self.account, self.content)

    @cached_property
    def readers(self) -> Loss:
        """Return what readers of the results, all together and for ever, can learn about one person at most.

        What is published is computed from reports, so that it tells no more than they do.
        """
        if self.given or epsilon_above(self.loss) >= self.cap.epsilon:
            return self.cap
        return Loss(epsilon_above(self.loss))

    @property
    def reader_times(self) -> str:
        """Return how many times likelier; with a δ, odds pass twice that with a chance of 2δ at most.

        δ bounds E[max(0, 1 − e^(ε − loss))], which is at least ½ wherever the loss is above ε + ln 2.
        """
        return times(exp_above(Fraction(self.readers.epsilon)))

    @property
    def reader_failure(self) -> str:
        """Return 2δ."""
        return losses.small(2 * self.readers.delta)

    @cached_property
    def compared(self) -> Comparison:
        return losses.compared(self.account, self.content)

    @cached_property
    def accountants(self) -> list[tuple[str, str]]:
        """Return what was spent by every theorem, for people."""
        found = self.compared
        named = {
            _("basic: ε added up"): found.basic,
            _("advanced composition"): found.advanced,
            _("optimal composition"): found.optimal,
            _("zCDP: ρ added up, then converted"): found.concentrated,
            _("Rényi, the best order"): found.renyi,
        }
        none = _("none finite")
        return [(str(name), str(none) if epsilon is None else losses.shown(epsilon)) for name, epsilon in named.items()]

    @property
    def compared_delta(self) -> str:
        return losses.small(self.compared.delta)

    @cached_property
    def households(self) -> list[Household]:
        return losses.households(self.local_loss, self.spent, self.cap)

    # Counts, which are public

    @cached_property
    def answers(self) -> int:
        """Return how many answers came, in all waves."""
        return sum(releases.answers_so_far(plan) for plan in self.plans)

    @property
    def at_risk(self) -> Fraction:
        """Return δ·n of the cap: records that publications may lay bare, on average."""
        return losses.at_risk(self.cap, self.answers)

    @property
    def at_risk_shown(self) -> str:
        return losses.small(self.at_risk)

    @property
    def advised_delta(self) -> Fraction | None:
        """Return 1/(100n)."""
        return beliefs.advised_delta(self.answers) if self.answers else None

    @property
    def advised_shown(self) -> str:
        return losses.small_below(self.advised_delta) if self.advised_delta else ""

    @cached_property
    def shuffled(self) -> list[Shuffled]:
        """Return the smallest and the largest sealed batch of the newest wave that has any.

        Nothing where some answers are sent as given: a row that holds an age or an income stands out of any crowd.
        """
        for plan in self.plans:
            sizes = releases.batch_sizes(plan)
            if sizes and not documents.given(plan.content):
                return [losses.shuffled(plan.content, size) for size in sorted({min(sizes), max(sizes)})]
        return []

    # The ledger

    @property
    def statement(self) -> Statement:
        return Statement(self.account)

    @cached_property
    def rows(self) -> list[Line]:
        """Return the charges with the total after each, newest first."""
        return self.statement.rows

    @property
    def newest_rows(self) -> list[Line]:
        return self.rows[:SHOWN_ROWS]

    @property
    def older_rows(self) -> list[Line]:
        return self.rows[SHOWN_ROWS:]

    @cached_property
    def burn(self) -> Burn:
        return self.account.burn(self.now)

    @property
    def per_week(self) -> str:
        return losses.shown(round_up(self.burn.per_week, 9))

    @property
    def days_left(self) -> int | None:
        """Return how long the rest lasts at this rate; None where nothing is, or can be, spent."""
        return self.account.days_left(self.now) if self.is_collecting else None

    @cached_property
    def chart(self) -> chart.Chart:
        return chart.of(
            self.account, self.rows, opened_on=self.plans[-1].opened_on, now=self.now, goes_on=self.is_collecting
        )

    @cached_property
    def spark(self) -> str:
        """Return the spending of the last weeks as a line."""
        return chart.spark(self.account, self.rows, self.now)

    @cached_property
    def acts(self) -> list[Entry]:
        """Return the rows that are not charges, newest first: who set or changed what may be lost."""
        return [entry for entry in self._written if not entry.published]

    @cached_property
    def vouching(self) -> list[Entry]:
        """Return the rows that vouch for a step of a series, or for what was there before rows did, newest first."""
        return [entry for entry in self._written if entry.published]

    @cached_property
    def _written(self) -> list[Entry]:
        return [entry for entry in ledger.rows(self.account.budget.pk) if entry.kind == Kind.ACT][::-1]


def questions_of(plan: Plan) -> list[Asked]:
    return [
        Asked(number, question, said, [], None)
        if question["protection"] == documents.PUBLICATION
        else Asked(number, question, said, design.odds_of(question), documents.loss_of_question(question))
        for number, (question, said) in enumerate(
            zip(plan.content["questions"], plan.spoken["questions"], strict=True), start=1
        )
    ]


def records(now: datetime.datetime) -> list[Record]:
    """Return every study that has opened, smallest ε of one person first."""
    waves: dict[int, list[Plan]] = {}
    for plan in design.plans().order_by("-wave"):
        waves.setdefault(plan.study_id, []).append(plan)
    accounts = ledger.accounts()
    found = [Record(plans[0].study, plans, accounts[_budget(plans)], now) for plans in waves.values()]
    return sorted(found, key=_place)


def _place(record: Record) -> tuple[Any, ...]:
    """Return where a study stands: beside those that its ε may be compared with, smallest first."""
    unit, model = record.kind
    return unit, list(MODELS).index(model), record.loss, record.content["title"]


def record_of(study: Study, now: datetime.datetime) -> Record:
    plans = list(design.plans().filter(study=study).order_by("-wave"))
    return Record(study=plans[0].study, plans=plans, account=ledger.account(_budget(plans)), now=now)


def _budget(plans: list[Plan]) -> int:
    budget_id = plans[0].study.budget_id
    if budget_id is None:
        raise RuntimeError(f"{plans[0]} has no budget")
    return budget_id


def times(loss: Fraction) -> str:
    """Return a loss for people: how many times likelier, rounded up to three digits or more."""
    places = 2 if loss < 100 else 0
    return f"{round_up(loss, places):,f}"
