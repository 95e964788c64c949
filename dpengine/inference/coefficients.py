"""What a regression says: coefficients with their doubt, the likelihood, the fit, and what to beware of.

Error      From the observed information; a sandwich under survey weights. It is infinite, with a warning that names the
           coefficient, where the likelihood has no summit in its direction. It is never 0.
Test       z = estimate / error, p = P(|N(0, 1)| ≥ |z|) (Wald). Where errors are large or infinite the likelihood-ratio
           test is the better one: G² = 2(L_full − L_reduced) on as many degrees of freedom as parameters were left
           out (Wilks 1938).
Deviance   −2L, AIC = −2L + 2 · parameters (Akaike 1974). No constant is left out: L = ln P(all reports | covariates).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from dpengine.inference.fit import Fit
from dpengine.inference.fitting import Summit
from dpengine.inference.inputs import Floats

NORMAL_975 = 1.959963984540054  # P(N(0, 1) ≤ this) = .975
NAMED = 0.1  # a ridge is named by the covariates that move linear predictors by this share of its own way or more
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
        return float(special.erfc(abs(self.z) / math.sqrt(2)))

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % Wald interval."""
        reach = NORMAL_975 * self.standard_error
        return self.estimate - reach, self.estimate + reach


@dataclass(frozen=True, slots=True)
class Regression:
    n: int
    coefficients: tuple[Coefficient, ...]
    log_likelihood: float  # of weights scaled to add up to n, when there are weights
    deviance: float
    fit: Fit | None  # None where cells are too many or too small to judge by, or weighted
    warnings: tuple[str, ...]
    covariance: Floats = field(repr=False, compare=False)  # of coefficients, then others; infinite on the diagonal only
    others: tuple[Coefficient, ...] = ()  # estimated along the way: of a randomised predictor's shares, ln of a spread
    is_weighted: bool = False

    @property
    def parameters(self) -> int:
        return len(self.coefficients) + len(self.others)

    @property
    def aic(self) -> float:
        return self.deviance + 2 * self.parameters

    def __getitem__(self, name: str) -> Coefficient:
        for each in (*self.coefficients, *self.others):
            if each.name == name:
                return each
        raise KeyError(name)


def likelihood_ratio(full: Regression, reduced: Regression) -> Fit:
    """Return G² of what the full model says and the reduced one, nested in it, does not."""
    if full.is_weighted or reduced.is_weighted:
        raise ValueError("a likelihood-ratio test needs models without survey weights: use z of the coefficients")
    if full.n != reduced.n:
        raise ValueError(f"both models must be of the same rows, got {full.n} and {reduced.n}")
    df = full.parameters - reduced.parameters
    if df < 1:
        raise ValueError(f"the full model must have more parameters, got {full.parameters} and {reduced.parameters}")
    gain = full.log_likelihood - reduced.log_likelihood
    if gain < -1e-6:
        raise ValueError("the full model must hold the reduced one, but is less likely")
    return Fit(g2=2 * max(gain, 0.0), df=df)


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """How parameters that were climbed with are shown: shift + back · parameters."""

    names: Sequence[str]
    back: Floats
    shift: Floats
    spread: Floats  # of what each multiplies: coefficient times spread is comparable between coefficients
    constant: tuple[bool, ...]  # whether it multiplies a constant

    def read(self, summit: Summit, meat: Floats | None) -> tuple[tuple[Coefficient, ...], Floats]:
        """Return the coefficients and their covariance."""
        estimates = self.shift + self.back @ summit.at
        covariance = self.back @ summit.covariance(meat) @ self.back.T
        lost = self._loads(summit) > TOUCHED
        covariance[lost, :] = covariance[:, lost] = 0.0
        covariance[lost, lost] = math.inf
        errors = np.sqrt(np.diag(covariance))
        rows = zip(self.names, estimates.tolist(), errors.tolist(), strict=True)
        return tuple(Coefficient(name, estimate, error) for name, estimate, error in rows), covariance

    def warnings(self, summit: Summit, others: Sequence[Summit]) -> list[str]:
        notes = []
        if summit.weak.size:
            notes.append(
                f"{', '.join(self._lost(summit))}: no finite estimate, the likelihood has no summit there (perfect "
                "separation, reports beyond what the channel allows, or none that tell); the number shown is where "
                "the rise ends, and its standard error is infinite"
            )
        higher = max(other.height - summit.height for other in others)
        if higher > RIVAL / 100:
            notes.append(
                f"the likelihood is higher still, by {higher:.2f}, where it has no summit (some chances near 0 or 1): "
                "intervals say too little"
            )
        elif any(_rivals(summit, other) for other in others):
            notes.append("the likelihood has a second summit almost as high: intervals say too little")
        return notes

    def _lost(self, summit: Summit) -> list[str]:
        """Return the covariates that a ridge is named by; the constant only where nothing else moves."""
        moved = [
            (name, fixed)
            for name, load, fixed in zip(self.names, self._loads(summit), self.constant, strict=True)
            if load > NAMED
        ]
        return [name for name, fixed in moved if not fixed] or [name for name, fixed in moved]

    def _loads(self, summit: Summit) -> Floats:
        """Return how far each coefficient moves linear predictors on the way along the ridges."""
        ways = np.abs(self.back @ summit.weak) * self.spread[:, np.newaxis]
        return np.asarray(ways.max(axis=1, initial=0.0), dtype=np.float64)


def _rivals(best: Summit, other: Summit) -> bool:
    apart = float(np.linalg.norm(best.at - other.at)) > NAMED
    return apart and not best.weak.size and not other.weak.size and best.height - other.height < RIVAL
