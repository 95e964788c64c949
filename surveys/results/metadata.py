"""What is true of a study and of one set of its numbers, from the Plan and the ledger."""

import math
from dataclasses import dataclass
from fractions import Fraction

from dpengine.privacy import plain, round_up
from surveys.design.models import Plan
from surveys.plan.content import PlanQuestion
from surveys.releases import selectors as releases
from surveys.releases.models import Release, Step
from surveys.releases.selectors import Publication

PLACES = 4  # of an ε that people compare


def epsilon_of(loss: Fraction) -> float:
    """Return ln of a declared loss e^ε."""
    return math.log(loss) if loss < 2**1000 else math.inf


def shown_epsilon(loss: Fraction) -> str:
    """Return an ε for people, rounded up."""
    return f"{math.ceil(1000 * epsilon_of(loss) - 1e-6) / 1000:g}"


@dataclass(frozen=True, slots=True)
class Metadata:
    """One Plan, and the numbers that are described, if there are any yet."""

    plan: Plan
    release: Release | Step | None
    address: str  # of the registry's page, where all of it can be checked
    asked: Publication | None = None  # what somebody asked for, where that is described

    @property
    def n(self) -> int | None:
        """Return how many answers are counted, as far as it is told: where whether somebody took
        part is protected, with noise, and None before they were counted.
        """
        told = self.release or (self.asked.drawn[-1] if self.asked and self.asked.drawn else None)
        return told.content.n if told else releases.answers_so_far(self.plan)

    @property
    def device(self) -> list[PlanQuestion]:
        """Return the questions whose answers were changed on the device."""
        return [q for q in self.plan.spoken.questions if not q.is_cleartext]

    @property
    def cleartext(self) -> list[PlanQuestion]:
        """Return the questions whose answers were sent as given."""
        return [q for q in self.plan.spoken.questions if q.is_cleartext]

    @property
    def is_noisy(self) -> bool:
        """Tell whether noise was added to any of the numbers."""
        questions = self.release.content.questions if self.release else ()
        return any(question.mechanism.scale for question in questions)

    @property
    def total(self) -> str:
        return shown_epsilon(self.plan.content.loss)

    @property
    def charged(self) -> str:
        """Return what these numbers cost, in the measure that is charged."""
        described = self.release or self.asked
        if described is None:
            return ""
        entry = described.entry
        if entry.epsilon is not None:
            return f"ε = {plain(round_up(Fraction(entry.epsilon), PLACES))}"
        return f"ρ = {plain(round_up(Fraction(entry.rho or 0), 6))}"
