"""What draws on two neighbouring data sets prove about ε: a bound from below.

The event that tells the two data sets apart best is chosen on one half of the draws; its chances
are bounded on the other half by Clopper and Pearson (1934), each but for a chance of ALARM / 2. So
a sound mechanism fails a run of a case with chance ALARM at most; one that adds far too much noise
fails where its case says it is tight.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from tests.central_cases import Case

ALARM = 1e-6
EXTRA = 1e-3  # δ at which a loss in ρ is read as an ε
Outputs = npt.NDArray[Any]


def claim_of(case: Case) -> tuple[float, float]:
    """Return (ε, δ) as the case claims it; of ρ alone by Bun and Steinke 2016, Prop. 1.3."""
    if case.claim:
        return case.claim
    if case.cost.epsilon is not None:
        return float(case.cost.epsilon), float(case.cost.delta)
    rho = float(case.cost.rho)
    return rho + 2 * math.sqrt(rho * math.log(1 / EXTRA)), float(case.cost.delta) + EXTRA


def events(one: Outputs, other: Outputs) -> Iterator[tuple[str, Any]]:
    """Propose at most some hundred events: tails from quantiles of both, and single outputs if
    there are few.
    """
    both = np.unique(np.concatenate([one, other]))
    edges = (
        both
        if len(both) <= 50
        else np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, 50)))
    )
    yield from (("at least", edge) for edge in edges)
    yield from (("at most", edge) for edge in edges)
    if len(both) <= 50:
        yield from (("just", edge) for edge in edges)


def times(event: tuple[str, Any], outputs: Outputs) -> int:
    """Count how many outputs are in an event."""
    kind, edge = event
    return int(
        np.sum(
            outputs >= edge
            if kind == "at least"
            else outputs <= edge
            if kind == "at most"
            else outputs == edge
        )
    )


def bound(often: int, seldom: int, draws: int, delta: float, alarm: float) -> float:
    """Return an ε below the true one but for a chance of `alarm`: ln((least p − δ)/most q)."""
    least = float(special.betaincinv(often, draws - often + 1, alarm / 2)) if often else 0.0
    most = (
        float(special.betainccinv(seldom + 1, draws - seldom, alarm / 2)) if seldom < draws else 1.0
    )
    return math.log((least - delta) / most) if least > delta else -math.inf


def audited(one: Outputs, other: Outputs, delta: float) -> float:
    """Return the lower bound on ε that these draws prove, for the better of both directions."""
    half = len(one) // 2
    found = []
    for there, here in ((one, other), (other, one)):
        first = [
            (
                bound(times(event, there[:half]), times(event, here[:half]), half, delta, ALARM),
                event,
            )
            for event in events(there[:half], here[:half])
        ]
        found.append((*max(first, key=lambda pair: pair[0]), there, here))
    _, event, there, here = max(found, key=lambda row: row[0])
    return bound(
        times(event, there[half:]), times(event, here[half:]), len(one) - half, delta, ALARM
    )
