"""What a publication of shares consists of: mechanisms, their cost, and the estimates derived from their draw.

One respondent's report is in the tally of every question, so that what one publication may cost is split over its
questions equally, and their losses add up (basic composition; for ρ too). Laplace noise in a pure study; in a
concentrated one whichever of Laplace and Gaussian has the smaller error at its part of ρ (dpengine.central.counts).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from dpengine.central import counts
from dpengine.central.counts import Mechanism
from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import CONFIDENCE
from dpengine.privacy import Cost, plain, round_up
from surveys.aggregation import queries as aggregation
from surveys.aggregation.queries import PublicTally
from surveys.aggregation.queries import derived as derived_from
from surveys.design.models import Plan

RHO_PLACES = 12


@dataclass(frozen=True, slots=True)
class Part:
    """The tally of one question, and the mechanism that publishes it."""

    question: dict[str, Any]
    tally: PublicTally
    mechanism: Mechanism

    @property
    def name(self) -> str:
        return self.tally.name

    def draw(self, counts: list[int], n: int) -> list[int]:
        """Return the noisy counts. Each call is a new draw, and must be paid for."""
        return self.tally.counts(self.mechanism.release(self.tally.vector(counts)), n)

    @property
    def parameters(self) -> dict[str, Any]:
        scale = self.mechanism.scale  # JSON keeps a binary float exactly
        if isinstance(self.mechanism, DiscreteLaplace):
            return {
                "epsilon": str(plain(round_up(self.mechanism.epsilon))),
                "name": "discrete Laplace",
                "scale": scale,
                "sensitivity": self.mechanism.sensitivity,
            }
        return {
            "name": "discrete Gaussian",
            "rho": str(plain(round_up(self.mechanism.rho, RHO_PLACES))),
            "scale": scale,
            "sensitivity_squared": self.mechanism.sensitivity_squared,
        }


def is_concentrated(plan: Plan) -> bool:
    """Tell whether the study's cap counts ρ and δ, so that Gaussian noise can be paid."""
    return "central_rho" in plan.content["caps"]


def public_names(plan: Plan) -> list[str]:
    """Return the questions that a rule publishes, in the Plan's order: all but numbers sent as given."""
    return [tally.name for tally in aggregation.public_tallies(plan)]


def parts_for(plan: Plan, names: Sequence[str], *, epsilon: Fraction, rho: Fraction | None = None) -> list[Part]:
    """Return what draws these questions' tallies within ε, or within ρ where that is given."""
    found = [tally for tally in aggregation.public_tallies(plan) if tally.name in names]
    questions = {question["name"]: question for question in plan.content["questions"]}
    return [Part(questions[tally.name], tally, _mechanism(tally, len(found), epsilon, rho)) for tally in found]


def _mechanism(tally: PublicTally, parts: int, epsilon: Fraction, rho: Fraction | None) -> Mechanism:
    """Return one part's noise: Laplace for ε, or whichever of Laplace and Gaussian is the smaller for ρ."""
    if rho is None:
        return DiscreteLaplace.for_epsilon(epsilon / parts, tally.sensitivity)
    return counts.lesser(tally.sensitivity, tally.sensitivity_squared, rho / parts)


def cost(parts: Sequence[Part]) -> Cost:
    """Return what drawing all of them once costs."""
    return reduce(add, (part.mechanism.cost for part in parts))


def marginal(joint: Counter[tuple[Any, ...]], position: int, part: Part) -> list[int]:
    """Return one question's tally from joint counts. A report is an index, or the indices that it holds."""
    found = [0] * part.tally.cells
    for values, people in joint.items():
        held = values[position]
        for index in held if isinstance(held, tuple) else (held,):
            found[index] += people
    return found


def digest(statistic: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(statistic, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def draw(parts: Sequence[Part], exact: dict[str, list[int]], n: int) -> dict[str, Any]:
    """Draw once, and return the published numbers with everything derived from them."""
    noisy = {part.name: part.draw(exact[part.name], n) for part in parts}
    return derived(parts, noisy, n)


def derived(parts: Sequence[Part], noisy: dict[str, list[int]], n: int) -> dict[str, Any]:
    """Return the estimates that follow from published counts: post-processing, free of charge."""
    return {"confidence": CONFIDENCE, "n": n, "questions": list(_published(parts, noisy, n))}


def _published(parts: Sequence[Part], noisy: dict[str, list[int]], n: int) -> Iterator[dict[str, Any]]:
    for part in parts:
        numbers = derived_from.found(part.question, part.tally, noisy[part.name], n, part.mechanism)
        yield {**numbers, "mechanism": part.parameters, "name": part.name}
