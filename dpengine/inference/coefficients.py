"""Coefficients of a regression with their errors, the likelihood, the fit, and what to beware of.

Error      From the observed information; a sandwich under survey weights. It is infinite, with a
           warning that names the coefficient, where the likelihood has no summit in its direction.
           It is never 0.
Test       z = estimate / error, p = P(|N(0, 1)| ≥ |z|) (Wald). No constant is left out of
           L = ln P(all reports | covariates).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy

from dpengine.estimates import Floats
from dpengine.inference.fit import Fit
from dpengine.inference.fitting import Summit

# a ridge is named by the covariates that move linear predictors by this share of its own way or
# more
NAMED = 0.1
TOUCHED = 1e-4  # and has errors infinite in all that move by this
RIVAL = 1.92  # half the chi-square point: a second summit no further below is as good as the first


@dataclass(frozen=True, slots=True)
class Coefficient:
    name: str
    estimate: float
    standard_error: float  # infinite where the likelihood has no summit

    @property
    def z(self) -> float:
        return self.estimate / self.standard_error

    @property
    def p(self) -> float:
        """Return the two-sided Wald probability that a true 0 looks at least like this."""
        return float(scipy.special.erfc(abs(self.z) / math.sqrt(2)))


@dataclass(frozen=True, slots=True)
class Regression:
    n: int
    coefficients: tuple[Coefficient, ...]
    log_likelihood: float  # of weights scaled to add up to n, when there are weights
    fit: Fit | None  # None where cells are too many or too small to judge by, or weighted
    warnings: tuple[str, ...]
    covariance: Floats = field(repr=False, compare=False)  # infinite on the diagonal only

    def __getitem__(self, name: str) -> Coefficient:
        return {coefficient.name: coefficient for coefficient in self.coefficients}[name]


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """How parameters that were climbed with are shown: back · parameters."""

    names: Sequence[str]
    back: Floats
    # of what each multiplies: coefficient times spread is comparable between coefficients
    spread: Floats
    constant: tuple[bool, ...]  # whether it multiplies a constant

    def read(self, summit: Summit, meat: Floats | None) -> tuple[tuple[Coefficient, ...], Floats]:
        """Return the coefficients and their covariance."""
        estimates = self.back @ summit.at
        covariance = self.back @ summit.covariance(meat) @ self.back.T
        lost = self._loads(summit) > TOUCHED
        covariance[lost, :] = covariance[:, lost] = 0.0
        covariance[lost, lost] = math.inf
        errors = np.sqrt(np.diag(covariance))
        rows = zip(self.names, estimates.tolist(), errors.tolist(), strict=True)
        return tuple(Coefficient(*row) for row in rows), covariance

    def warnings(self, summit: Summit, others: Sequence[Summit]) -> list[str]:
        notes = []
        if summit.weak.size:
            # the constant names a ridge only where nothing else moves
            moved = np.flatnonzero(self._loads(summit) > NAMED).tolist()
            named = [place for place in moved if not self.constant[place]] or moved
            notes.append(
                f"{', '.join(self.names[place] for place in named)}: no finite estimate, the "
                "likelihood has no summit there (perfect separation, reports beyond what the "
                "channel allows, or none that tell); the number shown is where the rise ends, and "
                "its standard error is infinite"
            )
        higher = max(other.height - summit.height for other in others)
        if higher > RIVAL / 100:
            notes.append(
                f"the likelihood is higher still, by {higher:.2f}, where it has no summit (some "
                "chances near 0 or 1): intervals say too little"
            )
        elif any(_rivals(summit, other) for other in others):
            notes.append(
                "the likelihood has a second summit almost as high: intervals say too little"
            )
        return notes

    def _loads(self, summit: Summit) -> Floats:
        """Return how far each coefficient moves linear predictors on the way along the ridges."""
        ways = np.abs(self.back @ summit.weak) * self.spread[:, np.newaxis]
        return np.asarray(ways.max(axis=1, initial=0.0), dtype=np.float64)


def _rivals(best: Summit, other: Summit) -> bool:
    apart = float(np.linalg.norm(best.at - other.at)) > NAMED
    return (
        apart and not best.weak.size and not other.weak.size and best.height - other.height < RIVAL
    )
