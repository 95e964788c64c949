"""What is true of a study and of one set of its numbers, for methods texts and files: from the Plan and the ledger."""

import math
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from django.conf import settings

from dpengine.privacy import plain, round_up
from surveys.design.models import Plan
from surveys.ledger.models import Entry
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step

PLACES = 4  # of an ε that people compare


@cache
def version() -> str:
    """Return the release of this software."""
    return str(tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"])


def epsilon_of(loss: Any) -> float:
    """Return ln of a declared loss e^ε, given as numerator and denominator."""
    numerator, denominator = (int(part) for part in loss)
    return math.log(Fraction(numerator, denominator)) if numerator < denominator * 2**1000 else math.inf


def shown_epsilon(loss: Any) -> str:
    """Return an ε for people, rounded up."""
    return f"{math.ceil(1000 * epsilon_of(loss) - 1e-6) / 1000:g}"


@dataclass(frozen=True, slots=True)
class Facts:
    """One Plan, and the numbers that are described, if there are any yet."""

    plan: Plan
    made: Release | Step | None
    address: str  # of the registry's page, where all of it can be checked

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = self.plan.content
        return found

    @property
    def numbers(self) -> dict[str, Any]:
        return dict(self.made.numbers) if self.made else {}

    @property
    def entry(self) -> Entry | None:
        return self.made.entry if self.made else None

    @property
    def n(self) -> int:
        """Return how many answers the numbers count: a public quantity, since neighbours differ in one answer."""
        return int(self.numbers.get("n", 0)) if self.made else releases.answers_so_far(self.plan)

    @property
    def device(self) -> list[dict[str, Any]]:
        return [question for question in self.plan.spoken["questions"] if question["protection"] == "device"]

    @property
    def given(self) -> list[dict[str, Any]]:
        return [question for question in self.plan.spoken["questions"] if question["protection"] != "device"]

    @property
    def kinds_of_channel(self) -> set[str]:
        return {question["channel"]["kind"] for question in self.device}

    @property
    def total(self) -> str:
        return shown_epsilon(self.content["loss"])

    @property
    def epsilons(self) -> tuple[str, str]:
        """Return the least and the greatest ε of one answer."""
        found = sorted((epsilon_of(question["loss"]), question["loss"]) for question in self.device)
        return shown_epsilon(found[0][1]), shown_epsilon(found[-1][1])

    @property
    def cap(self) -> str:
        return str(self.content["caps"]["central_epsilon"])

    @property
    def delta(self) -> str:
        return str(self.content["caps"].get("central_delta", ""))

    @property
    def charged(self) -> str:
        """Return what these numbers cost, in the measure that is charged."""
        if self.entry is None:
            return ""
        if self.entry.epsilon is not None:
            return f"ε = {plain(round_up(Fraction(self.entry.epsilon), PLACES))}"
        return f"ρ = {plain(round_up(Fraction(self.entry.rho or 0), 6))}"

    @property
    def noises(self) -> set[str]:
        """Return the names of the laws whose chance was added."""
        return {question["mechanism"]["name"] for question in self.numbers.get("questions", ())}
