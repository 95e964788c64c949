"""What a study's losses come to: its cap and its spending as (ε, δ), by every accountant, for households, in a batch.

A cap without a δ is a promise (ε, 0). A cap with one is kept as (ρ, δ/2) and promised as (ε, δ): the other half of δ is
what converting ρ to ε takes (design/terms.py). Only the ledger's filter decides what may still be spent; the other
theorems are said beside it. ε is rounded up wherever it is shown.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.accounting import beliefs, comparison, concentrated, groups, shuffling
from dpengine.accounting.bounds import exp_above, ln_above
from dpengine.accounting.comparison import Comparison
from dpengine.privacy import round_down, round_up
from surveys.design import documents
from surveys.design.queries import at_most_of_hundred
from surveys.ledger.queries import Account

USUAL_DELTA = Fraction(1, 10**6)  # at which accountants are compared where a study has no δ of its own
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Loss:
    """What may be lost: (ε, δ)."""

    epsilon: Decimal
    delta: Fraction = Fraction(0)

    @property
    def shown(self) -> str:
        return shown(self.epsilon)

    @property
    def delta_shown(self) -> str:
        return small(self.delta)

    @property
    def guess(self) -> str:
        return in_hundred(self)

    def for_group(self, size: int) -> "Loss":
        """Return what people with something in common may lose of it together."""
        epsilon = groups.group_epsilon(Fraction(self.epsilon), size)
        delta = groups.group_delta(Fraction(self.epsilon), self.delta, size)
        return Loss(round_up(epsilon), Fraction(delta))


@dataclass(frozen=True, slots=True)
class Household:
    """So many people who have something in common: as one message each gives it away, and as publications do."""

    people: int
    local: Loss | None  # None: everything
    spent: Loss
    cap: Loss


@dataclass(frozen=True, slots=True)
class Shuffled:
    """One sealed batch, seen by someone who does not know the order in which its reports came."""

    wave: int
    reports: int
    questions: list[tuple[str, Decimal]]  # name, ε at USUAL_DELTA
    together: Decimal

    @property
    def together_shown(self) -> str:
        return shown(self.together)

    @property
    def questions_shown(self) -> list[tuple[str, str]]:
        return [(name, shown(epsilon)) for name, epsilon in self.questions]


def delta_of(content: dict[str, Any]) -> Fraction:
    """Return the δ of a Plan's cap, or the usual one where it has none."""
    return Fraction(content["caps"].get("central_delta", USUAL_DELTA))


def cap_of(account: Account, content: dict[str, Any]) -> Loss:
    """Return what all publications may ever lose, as the cap stands now."""
    budget = account.budget
    if budget.is_pure:
        return Loss(account.cap)
    half = delta_of(content) / 2
    return Loss(concentrated.epsilon_of(Fraction(account.cap), half), half + Fraction(budget.delta))


def spent_of(account: Account, content: dict[str, Any]) -> Loss:
    """Return what all publications so far have lost."""
    spent = account.spent
    if spent is None:
        return Loss(Decimal(0))
    if account.budget.is_pure:
        return Loss(account.amount_spent)
    delta = delta_of(content)  # at most half of it is spent
    return Loss(concentrated.epsilon_of(spent.rho, delta - spent.delta), delta)


def compared(account: Account, content: dict[str, Any]) -> Comparison:
    """Return what all publications so far have lost, by every accountant at one δ."""
    meetings = account.budget.filter.composition.meetings(entry.charge for entry in account.entries)
    return comparison.compare_worst(meetings, delta_of(content))


def households(local: Fraction | None, spent: Loss, cap: Loss) -> list[Household]:
    """Return what one to five people face; `local` is e^ε of one, None where answers are sent as given."""
    one = None if local is None else Loss(round_up(ln_above(local)) if local > 1 else Decimal(0))
    sizes = range(1, groups.LARGEST_SHOWN + 1)
    return [Household(size, one and one.for_group(size), spent.for_group(size), cap.for_group(size)) for size in sizes]


def at_risk(loss: Loss, people: int) -> Fraction:
    """Return how many of so many people a mechanism with this δ may lay bare, on average."""
    return beliefs.at_risk(loss.delta, people) if people else Fraction(0)


def shuffled(content: dict[str, Any], reports: int) -> Shuffled:
    """Return what one report of a batch of so many gives away, if nobody kept the order."""
    changed = [question for question in content["questions"] if question["protection"] == documents.DEVICE]
    questions = [(question["name"], _shuffled_question(question, reports)) for question in changed]
    together = questions[0][1] if len(questions) == 1 else _amplified(documents.loss_of_plan(content), reports, None)
    return Shuffled(content["wave"], reports, questions, together)


def _shuffled_question(question: dict[str, Any], reports: int) -> Decimal:
    channel, loss = question["channel"], documents.loss_of_question(question)
    if channel["kind"] == "subset":
        return _amplified(loss, reports, (channel["choices"], channel["size"]))
    is_coin = channel["kind"] == "table" and channel["weights"] == [row[::-1] for row in channel["weights"][::-1]]
    return _amplified(loss, reports, (2, 1) if is_coin and len(channel["weights"]) == 2 else None)


@lru_cache(maxsize=1024)
def _amplified(loss: Fraction, reports: int, subset: tuple[int, int] | None) -> Decimal:
    if loss == 1:
        return Decimal(0)
    local = ln_above(loss)
    if subset is None:
        return shuffling.shuffled_epsilon(local, reports, USUAL_DELTA)
    choices, size = subset
    return shuffling.shuffled_epsilon_of_choices(local, reports, USUAL_DELTA, choices=choices, size=size)


def in_hundred(loss: Loss) -> str:
    """Return how often of 100 a guess between two, even before, is right at most, rounded up.

    (e^ε + δ)/(e^ε + 1), as `dpengine.privacy.guess_within` proves, for households and their larger ε too.
    """
    odds = exp_above(Fraction(loss.epsilon)) if loss.epsilon else Fraction(1)
    return at_most_of_hundred((odds + loss.delta) / (odds + 1))


def shown(epsilon: Decimal) -> str:
    """Return an ε for people: rounded up to two places, to two digits where it is smaller."""
    places = 2 if epsilon == 0 or epsilon >= Decimal("0.1") else 1 - epsilon.adjusted()
    return f"{round_up(Fraction(epsilon), places):f}"


def small(amount: Fraction) -> str:
    """Return a chance for people, rounded up to two digits: 5.1·10⁻⁷."""
    return _small(amount, ROUND_CEILING)


def small_below(amount: Fraction) -> str:
    """Return the same rounded down: for what should not be passed."""
    return _small(amount, ROUND_FLOOR)


def _small(amount: Fraction, rounding: str) -> str:
    if amount == 0:
        return "0"
    if amount >= Fraction(1, 100):
        rounded = round_up(amount, 3) if rounding == ROUND_CEILING else round_down(amount, 3)
        return f"{rounded.normalize():f}"
    digits = Context(prec=2, rounding=rounding).divide(Decimal(amount.numerator), Decimal(amount.denominator))
    exponent = digits.adjusted()
    lead = digits.scaleb(-exponent)
    power = f"10{str(exponent).translate(SUPERSCRIPTS)}"
    return power if lead == 1 else f"{lead.normalize():f}·{power}"
