"""What a study's losses come to: its cap and its spending as (ε, δ), by every accountant, for
households, in a batch.

A cap without a δ is a promise (ε, 0). A cap with one is kept as (ρ, δ/2) and promised as (ε, δ):
the other half of δ is what converting ρ to ε takes (design/terms.py). Only the ledger's filter
decides what may still be spent; the other theorems are said beside it. ε is rounded up wherever it
is shown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from dpengine.accounting import concentrated, groups, shuffling
from dpengine.bounds import ln_above
from dpengine.privacy import round_up
from surveys.guesses import even_guess_within
from surveys.plan.content import PlanContent, PlanQuestion

# At which accountants are compared where a study has no δ of its own.
USUAL_DELTA = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Loss:
    """What may be lost: (ε, δ); where it is converted from ρ, that and the δ of mechanisms."""

    epsilon: Decimal
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    of_mechanisms: Fraction = Fraction(0)  # of δ; the rest converts ρ

    @classmethod
    def of_rho(cls, rho: Fraction, delta: Fraction, of_mechanisms: Fraction) -> "Loss":
        """Return what is lost by ρ and the δ of mechanisms, at δ in all."""
        epsilon = concentrated.epsilon_of(rho, delta - of_mechanisms)
        return cls(epsilon, delta, rho, of_mechanisms)

    @property
    def guess(self) -> str:
        return even_guess_within(self.epsilon, self.delta)

    def for_group(self, size: int) -> "Loss":
        """Return what people with something in common may lose of it together."""
        epsilon = groups.group_epsilon(Fraction(self.epsilon), size)
        if self.rho is not None:
            rest = self.delta - self.of_mechanisms
            converted = concentrated.epsilon_of(groups.group_rho(self.rho, size), rest)
            own = groups.group_delta_of_mechanisms(self.rho, self.of_mechanisms, size)
            return Loss(max(converted, round_up(epsilon)), min(Fraction(1), rest + Fraction(own)))
        delta = groups.group_delta(Fraction(self.epsilon), self.delta, size)
        return Loss(round_up(epsilon), Fraction(delta))


@dataclass(frozen=True, slots=True)
class Household:
    """So many people who have something in common: as one message each gives it away, and as
    publications do.
    """

    people: int
    local: Loss | None  # None: everything
    spent: Loss
    cap: Loss
    readers: Loss  # the cap, or what devices give away where that is less


@dataclass(frozen=True, slots=True)
class Shuffled:
    """One sealed batch, seen by someone who does not know the order in which its reports came."""

    wave: int
    reports: int
    questions: list[tuple[str, Decimal]]  # name, ε at USUAL_DELTA
    together: Decimal


def households(
    local: Fraction | None,
    spent: Loss,
    cap: Loss,
    readers: Loss,
    records: Callable[[int], int] = int,
) -> list[Household]:
    """Return what one to five people face; `local` is e^ε of one, None where answers are sent as
    given. What is spent, and the cap, hold for one record; so many people are so many of `records`.
    """
    one = None if local is None else Loss(round_up(ln_above(local)) if local > 1 else Decimal(0))
    sizes = range(1, groups.LARGEST_SHOWN + 1)
    return [
        Household(
            size,
            one and one.for_group(size),
            *(loss.for_group(records(size)) for loss in (spent, cap, readers)),
        )
        for size in sizes
    ]


def shuffled(content: PlanContent, reports: int) -> Shuffled:
    """Return what one report of a batch of so many gives away, if nobody kept the order."""
    questions = [
        (question.name, _shuffled_question(question, reports))
        for question in content.questions
        if not question.is_cleartext
    ]
    together = questions[0][1] if len(questions) == 1 else _amplified(content.loss, reports, None)
    return Shuffled(content.wave, reports, questions, together)


def _shuffled_question(question: PlanQuestion, reports: int) -> Decimal:
    """Return the ε of one answer in a shuffled batch: less where reports are choices."""
    if question.loss is None:
        raise ValueError(f"{question.name} is sent as given: no ε protects it on its way")
    channel = question.channel_document or {}
    if channel["kind"] == "subset":
        return _amplified(question.loss, reports, (channel["choices"], channel["size"]))
    weights = channel.get("weights", [])
    is_coin = channel["kind"] == "table" and len(weights) == 2 and weights[0] == weights[1][::-1]
    return _amplified(question.loss, reports, (2, 1) if is_coin else None)


@lru_cache(maxsize=1024)
def _amplified(loss: Fraction, reports: int, subset: tuple[int, int] | None) -> Decimal:
    if loss == 1:
        return Decimal(0)
    local = ln_above(loss)
    if subset is None:
        return shuffling.shuffled_epsilon(local, reports, USUAL_DELTA)
    choices, size = subset
    return shuffling.shuffled_epsilon_of_choices(
        local, reports, USUAL_DELTA, choices=choices, size=size
    )


def shown(epsilon: Decimal) -> str:
    """Return an ε for people: rounded up to two places, to two digits where it is smaller."""
    places = 2 if epsilon == 0 or epsilon >= Decimal("0.1") else 1 - epsilon.adjusted()
    return f"{round_up(Fraction(epsilon), places):f}"


def times(loss: Fraction | None) -> str:
    """Return a loss for people: how many times likelier, rounded up to three digits or more."""
    return "∞" if loss is None else f"{round_up(loss, 2 if loss < 100 else 0):,f}"
