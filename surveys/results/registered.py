"""What the registry knows of a study: its Plans, and what the ledger says was spent: all public."""

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from operator import attrgetter

from django.db.models import F
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpengine.accounting import beliefs, comparison
from dpengine.accounting.comparison import Comparison
from dpengine.bounds import exp_above
from dpengine.privacy import Cost, epsilon_above, plain, round_up
from surveys.charts.scales import chance_text
from surveys.design import selectors as design
from surveys.design.launch import OPENED_WAVE, WAVE_BEGINS, needs_reason
from surveys.design.models import Plan, Study, Unit
from surveys.design.selectors import Odds, odds_of
from surveys.design.summaries import Changed, changed_in, loss_of
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Account, Burn, Statement
from surveys.plan.content import ANSWERS, FRESH, PlanContent, PlanQuestion
from surveys.releases import selectors as releases
from surveys.releases.selectors import Publication
from surveys.results import chart, privacy_loss
from surveys.results.privacy_loss import USUAL_DELTA, Household, Loss, Shuffled

STATES = {
    "collecting": _("Open"),
    "closed": _("Closed"),
    "spent": _("All spent"),
    "retired": _("Ended"),
}
UNITS = {
    Unit.RESPONDENT_IN_STUDY.value: _("One person, one study"),
    Unit.RESPONDENT_IN_WAVE.value: _("One person, one wave"),
    Unit.ANSWER_IN_STUDY.value: _("One answer, one study"),
    Unit.HOUSEHOLD_OF_2.value: _("A household of at most 2, one study"),
    Unit.HOUSEHOLD_OF_3.value: _("A household of at most 3, one study"),
    Unit.HOUSEHOLD_OF_4.value: _("A household of at most 4, one study"),
    Unit.HOUSEHOLD_OF_5.value: _("A household of at most 5, one study"),
}


# Where answers are changed. ε of different models, or units, cannot be compared.
MODELS = dict(Changed.choices)


@dataclass(frozen=True)
class RegisteredQuestion:
    """A question of a Plan, and what one answer to it loses on its way."""

    number: int
    question: PlanQuestion
    spoken: PlanQuestion  # the same in the reader's language

    @classmethod
    def all_of(cls, plan: Plan) -> "list[RegisteredQuestion]":
        both = zip(plan.content.questions, plan.spoken.questions, strict=True)
        return [
            cls(number, question, spoken) for number, (question, spoken) in enumerate(both, start=1)
        ]

    @cached_property
    def odds(self) -> list[Odds]:
        return [] if self.question.is_cleartext else odds_of(self.question)

    @property
    def epsilon(self) -> str:
        return "∞" if self.question.loss is None else f"{epsilon_above(self.question.loss, 2)}"

    @property
    def choices(self) -> list[str]:
        """Return the choices in the order in which people see them; none of a number."""
        return [self.spoken.choices[index] for index in self.question.shown_order]

    @property
    def first_odds(self) -> Odds | None:
        """Return the odds of the choice that people see first."""
        return self.odds[self.question.shown_order[0]] if self.odds else None

    @property
    def messages(self) -> int:
        """Return how many messages there are to a number changed on the device; 0 of choices."""
        return 0 if self.question.is_cleartext or self.odds else self.question.channel.cells


@dataclass(frozen=True)
class RegisteredStudy:
    """One study, in all its waves. The newest comes first and gives it its words."""

    study: Study
    plans: list[Plan]
    account: Account
    now: datetime.datetime

    @property
    def plan(self) -> Plan:
        return self.plans[0]

    @property
    def content(self) -> PlanContent:
        return self.plan.content

    @property
    def state(self) -> str:
        state = design.Standing(self.study, self.plan).state
        # Of fixed parts each wave has its own.
        is_spent = self.account.amount_left <= 0 and not self.account.budget.fixed_parts
        return "spent" if is_spent and state == design.State.CLOSED else state

    @property
    def ends_at_cap(self) -> bool:
        """Tell whether the cap can be reached for good: not where it holds all that devices give
        away in the waves that are planned, for then what was published so costs nothing again.
        """
        content = self.content
        counts, loss = content.publication.counts == ANSWERS, content.loss_of_record
        if not counts or loss is None:
            return True
        return epsilon_above(loss ** max(content.waves, 1)) > self.cap.epsilon

    @property
    def state_name(self) -> str | Promise:
        return STATES[self.state]

    @property
    def model(self) -> Changed:
        """Return where answers are changed, which decides with what an ε may be compared."""
        return changed_in([plan.content for plan in self.plans])

    @property
    def kind_name(self) -> tuple[str | Promise, str | Promise]:
        """Return what must be equal before two ε are compared: what one record is, and where
        answers are changed.
        """
        return UNITS.get(self.content.unit, self.content.unit), MODELS[self.model.value]

    @cached_property
    def questions(self) -> list[RegisteredQuestion]:
        """Return the questions of the newest wave."""
        return RegisteredQuestion.all_of(self.plan)

    @property
    def first(self) -> RegisteredQuestion:
        """Return the question whose odds are shown: the first that has any, or is changed."""
        changed = [question for question in self.questions if not question.question.is_cleartext]
        with_odds = (question for question in changed if question.odds)
        return next(with_odds, [*changed, *self.questions][0])

    # One person, to who sees every report

    @cached_property
    def cleartext(self) -> list[str]:
        """Return the questions, of any wave, whose answers are sent as given."""
        return sorted({name for plan in self.plans for name in plan.content.cleartext})

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of one record whose answers are all changed on the device, as far as they
        are.
        """
        return loss_of([plan.content for plan in self.plans])

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """Return waves, newest first, that needed a reason to give away so much, and the reason."""
        said = {OPENED_WAVE(wave=plan.wave): plan for plan in self.plans}
        whys = ledger.whys(self.account.budget.pk, said)
        opened = [(plan, whys.get(what, "")) for what, plan in said.items()]
        return [
            (plan.wave, why)
            for plan, why in opened
            if needs_reason(plan.content) and why and why != WAVE_BEGINS(wave=plan.wave)
        ]

    @property
    def waves(self) -> int:
        """Return how many waves one record is in: 0 where it is one of several waves, each a
        record of its own.
        """
        return 0 if self.content.unit == Unit.RESPONDENT_IN_WAVE else len(self.plans)

    @property
    def changes_answers(self) -> bool:
        """Tell whether any answer is changed on the device."""
        return self.loss > 1

    @property
    def may_repeat(self) -> bool:
        """Tell whether a device that kept its key can have sent an answer again, drawn as before:
        not where draws are fresh, say all of its Plans.

        Then reports that differ tell that the answer changed, whatever the ε (intake/waves.js).
        """
        is_fresh = all(plan.content.draws == FRESH for plan in self.plans)
        return self.changes_answers and len(self.plans) > 1 and not is_fresh

    @property
    def device_epsilon(self) -> str:
        return f"{epsilon_above(self.loss, 2)}"

    # One person, to who reads what is published

    @property
    def delta(self) -> Fraction:
        """Return the δ of the Plan's cap, or the usual one where it has none."""
        return Fraction(self.content.caps.central_delta or USUAL_DELTA)

    @cached_property
    def cap(self) -> Loss:
        """Return what all publications may ever lose, as the cap stands now."""
        budget = self.account.budget
        if budget.is_pure:
            return Loss(budget.cap)
        own = Fraction(budget.delta)
        loss = Loss.of_rho(Fraction(budget.cap_in("ρ")), self.delta / 2 + own, own)
        return replace(loss, epsilon=max(loss.epsilon, budget.pure_epsilon or Decimal(0)))

    @cached_property
    def spent(self) -> Loss:
        """Return what all publications so far have lost."""
        spent = self.account.spent
        if spent is None or self.account.budget.is_pure:
            return Loss(self.account.amount_spent)
        # At most half of δ is spent.
        loss = Loss.of_rho(spent.rho, self.delta, spent.delta)
        pure = Loss(round_up(spent.epsilon)) if spent.is_pure and spent.epsilon else loss
        return min(pure, loss, key=attrgetter("epsilon"))

    @cached_property
    def readers(self) -> Loss:
        """Return what readers of the results, all together and for ever, can learn about one person
        at most.

        What is published is computed from reports, so that it tells no more than they do: of what
        was answered in one wave, and in all of them where draws are fresh. Others of several waves
        have no bound of their own, since a kept key repeats its draws. Where whether somebody took
        part is protected too, it is that; of a household it is all together. Where one answer is
        protected, it is about that.
        """
        content = self.content
        if not content.n_is_public or content.people > 1:
            return self.cap
        known = [loss for plan in self.plans if (loss := plan.content.loss_of_record) is not None]
        if self.cleartext or self.may_repeat or len(known) < len(self.plans):
            return self.cap
        together = math.prod(known, start=Fraction(1)) if self.waves else max(known)
        return min(self.cap, Loss(epsilon_above(together)), key=attrgetter("epsilon"))

    @property
    def of_person(self) -> Loss | None:
        """Return what readers can learn of all answers of one person together, where one of them is
        what is protected.
        """
        if self.content.unit != Unit.ANSWER_IN_STUDY:
            return None
        together = self.readers.for_group(self.answers_of_people(1))
        if self.cleartext or self.may_repeat:
            return together
        return min(together, Loss(epsilon_above(self.loss)), key=attrgetter("epsilon"))

    def answers_of_people(self, people: int) -> int:
        """Return how many records so many people are, at most."""
        if self.content.unit == Unit.ANSWER_IN_STUDY:
            return people * max(plan.content.answers for plan in self.plans)
        return -(-people // self.content.people)

    @property
    def release_epsilon(self) -> str:
        """Return the most that one publication costs: no more than devices give away, where that
        is what is charged.
        """
        terms = self.content.publication
        loss = self.content.loss_of_record
        if terms.counts != ANSWERS or loss is None:
            return terms.epsilon
        return f"{plain(min(Decimal(terms.epsilon), epsilon_above(loss, 2))):f}"

    @property
    def reader_times(self) -> str:
        """Return how many times likelier; with a δ, odds pass twice that with a chance of 2δ at
        most.

        δ bounds E[max(0, 1 − e^(ε − loss))], which is at least ½ wherever the loss is above ε + ln
        2.
        """
        return privacy_loss.times(exp_above(Fraction(self.readers.epsilon)))

    @property
    def reader_failure(self) -> str:
        """Return 2δ."""
        return chance_text(2 * self.readers.delta)

    @cached_property
    def compared(self) -> Comparison:
        """Return what all publications so far have lost, by every accountant at one δ.

        Where rows say what answers lost, each is what it added: they are one loss, and only that.
        """
        budget = self.account.budget
        if budget.counts_answers:
            spent = self.account.spent
            meetings: list[tuple[Cost, ...]] = [(spent,)] if spent and spent.epsilon else []
        else:
            meetings = budget.filter.meetings(ledger.charges_of(budget.pk))
        return comparison.compare_worst(meetings, self.delta)

    @cached_property
    def accountants(self) -> list[tuple[str, str]]:
        """Return what was spent by every theorem, for people."""
        compared = self.compared
        named = {
            _("basic: ε added up"): compared.basic,
            _("advanced composition"): compared.advanced,
            _("optimal composition"): compared.optimal,
            _("zCDP: ρ added up, then converted"): compared.concentrated,
            _("Rényi, the best order"): compared.renyi,
        }
        none = _("none finite")
        return [
            (str(name), str(none) if epsilon is None else privacy_loss.shown(epsilon))
            for name, epsilon in named.items()
        ]

    @cached_property
    def households(self) -> list[Household]:
        local = None if self.cleartext else self.loss
        published = self.spent, self.cap, self.readers
        return privacy_loss.households(local, *published, self.answers_of_people)

    @cached_property
    def published(self) -> list[Publication]:
        """Return what was published, newest first, without the numbers."""
        return releases.publications_of(self.study, numbers=False)

    # Counts, which are public

    @cached_property
    def answers(self) -> int | None:
        """Return how many answers came, in all waves, as far as it is told; None if nothing is."""
        told = [releases.answers_so_far(plan) for plan in self.plans]
        known = [answers for answers in told if answers is not None]
        return sum(known) if known else None

    @property
    def at_risk(self) -> Fraction:
        """Return δ·n of the cap: records that publications may lay bare, on average."""
        return beliefs.at_risk(self.cap.delta, self.answers) if self.answers else Fraction(0)

    @property
    def advised_delta(self) -> Fraction | None:
        """Return 1/(100n)."""
        return beliefs.advised_delta(self.answers) if self.answers else None

    @cached_property
    def shuffled(self) -> list[Shuffled]:
        """Return the smallest and the largest sealed batch of the newest wave that has any.

        Nothing where some answers are sent as given: a row that holds an age or an income stands
        out of any crowd; nor where devices draw what they ask, for only reports of the same set
        hide each other.
        """
        for plan in self.plans:
            sizes = releases.batch_sizes(plan)
            if sizes and not plan.content.cleartext and not plan.content.drawn:
                return [
                    privacy_loss.shuffled(plan.content, size)
                    for size in sorted({min(sizes), max(sizes)})
                ]
        return []

    # The ledger

    @property
    def statement(self) -> Statement:
        return Statement(self.account)

    @cached_property
    def burn(self) -> Burn:
        return self.account.burn(self.now)

    @property
    def per_week(self) -> str:
        return privacy_loss.shown(round_up(self.burn.per_week, 9))

    @property
    def days_left(self) -> int | None:
        """Return how long the rest lasts at this rate; None where nothing is spent by itself: of a
        closed study only what is asked for.
        """
        return self.account.days_left(self.now) if self.state == "collecting" else None

    @cached_property
    def chart(self) -> chart.Chart:
        return chart.of(
            self.account,
            opened_on=self.plans[-1].opened_on,
            now=self.now,
            goes_on=self.state == "collecting",
        )

    @cached_property
    def spark(self) -> str:
        """Return the spending of the last weeks as a line."""
        return chart.spark(self.account, self.now)


def registered_all(ids: Iterable[int], now: datetime.datetime) -> list[RegisteredStudy]:
    """Return the studies of these newest Plans, in their order, with all their waves."""
    newest = design.plans_in_order(ids)
    waves: dict[int, list[Plan]] = {plan.study_id: [plan] for plan in newest}
    again = design.plans().filter(study__in=waves, study__plans__wave__gt=F("wave")).distinct()
    for plan in again.order_by("-wave"):
        waves[plan.study_id].append(plan)
    accounts = ledger.accounts(plan.study.budget_id for plan in newest)
    return [
        RegisteredStudy(plans[0].study, plans, accounts[plans[0].study.budget_id or 0], now)
        for plans in waves.values()
    ]


def registered(study: Study, now: datetime.datetime) -> RegisteredStudy:
    plans = list(design.plans().filter(study=study).order_by("-wave"))
    return RegisteredStudy(
        plans[0].study, plans, ledger.account(plans[0].study.budget_id or 0), now
    )
