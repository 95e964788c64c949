"""What a publication of shares consists of: mechanisms, their cost, and the estimates derived from their draw.

The statistic of a study is the tally of every question. One respondent's report is in all
of them, so the ε of one publication is split over the questions, and their losses add up
(basic composition).
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import CONFIDENCE, Estimate, plain_answers, simplex
from dpengine.privacy import plain, round_up
from surveys.aggregation import queries as aggregation
from surveys.aggregation.queries import PublicTally, Totals
from surveys.design.models import Plan


@dataclass(frozen=True, slots=True)
class Part:
    """The tally of one question, and the mechanism that publishes it."""

    tally: PublicTally
    mechanism: DiscreteLaplace

    @property
    def name(self) -> str:
        return self.tally.name

    def draw(self, counts: list[int], n: int) -> list[int]:
        """Return the noisy counts. Each call is a new draw, and must be paid for."""
        return self.tally.counts(self.mechanism.release(self.tally.vector(counts)), n)

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "epsilon": str(plain(round_up(self.mechanism.epsilon))),
            "name": "discrete Laplace",
            "scale": self.mechanism.scale,  # JSON keeps a binary float exactly
            "sensitivity": self.mechanism.sensitivity,
        }


def parts_of(plan: Plan) -> list[Part]:
    """Return what one publication of a Plan draws: every question's tally, with an equal part of its ε."""
    tallies = aggregation.public_tallies(plan)
    epsilon = Fraction(plan.content["publication"]["epsilon"]) / len(tallies)
    return [Part(tally, DiscreteLaplace.for_epsilon(epsilon, tally.sensitivity)) for tally in tallies]


def cost(parts: list[Part]) -> Decimal:
    """Return what drawing all of them once costs, rounded up."""
    return round_up(sum((part.mechanism.epsilon for part in parts), start=Fraction(0)))


def statistic(plan: Plan, parts: list[Part], batches: int) -> dict[str, Any]:
    """Return the canonical request: the same one again is the same release."""
    return {
        "batches": batches,  # the first so many; sealed, so the number names their content
        "mechanisms": {part.name: part.parameters for part in parts},
        "plan": plan.digest,
        "statistic": "tallies of all questions",
    }


def digest(statistic: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(statistic, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def draw(plan: Plan, parts: list[Part], totals: Totals) -> dict[str, Any]:
    """Draw once, and return the published numbers with everything derived from them."""
    return {
        "confidence": CONFIDENCE,
        "n": totals.reports,
        "questions": list(_published(plan, parts, totals)),
    }


def _published(plan: Plan, parts: list[Part], totals: Totals) -> Iterator[dict[str, Any]]:
    n = totals.reports
    for question, part in zip(plan.content["questions"], parts, strict=True):
        noisy = part.draw(totals.counts[part.name], n)
        estimates = part.tally.estimates(noisy, n, part.mechanism)
        projected = simplex([estimate.value for estimate in estimates])
        yield {
            "as_precise_as": plain_answers(estimates)
            or None,  # nothing to compare with when all is said to be one answer
            "choices": [
                _choice(index, text, *derived)
                for index, (text, derived) in enumerate(
                    zip(question["choices"], zip(noisy, estimates, projected, strict=True), strict=True)
                )
            ],
            "mechanism": part.parameters,
            "name": part.name,
        }


def _choice(index: int, text: str, noisy: int, estimate: Estimate, projected: float) -> dict[str, Any]:
    return {
        "choice": text,
        "estimate": estimate.value,
        "index": index,
        "interval": [estimate.low, estimate.high],
        "noisy_count": noisy,
        "projected": projected,
        "standard_error": estimate.standard_error,
        "variance": {
            "sampling": estimate.variance.sampling,
            "device": estimate.variance.device,
            "publication": estimate.variance.publication,
        },
    }
