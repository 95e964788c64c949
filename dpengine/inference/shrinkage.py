"""Estimates of many small groups, drawn towards the mean of all groups (empirical Bayes).

Model      y = θ + e with Cov e = D known; θ_g independent, Normal(μ, A). Shares, or means. With D
           diagonal it is Fay and Herriot's without covariates; groups that share noise, or whose
           members are told by reports, have a D with covariances.
Given A    Σ = A·I + D. μ̂ = 1'Σ⁻¹y / 1'Σ⁻¹1, and the best linear unbiased predictor of θ is
           μ̂·1 + AΣ⁻¹(y − μ̂·1): each group is drawn towards the mean, the more the less is known of
           it. Its errors have the covariance AD·Σ⁻¹ + (DΣ⁻¹1)(DΣ⁻¹1)' / 1'Σ⁻¹1, the last term
           being that of μ̂.
A          A point estimate is 0 in many studies, and would promise that all groups are the same.
           So predictor and errors are averaged over A, by the restricted likelihood

               L(A) = −½ log det Σ − ½ log 1'Σ⁻¹1 − ½ (y − μ̂·1)'Σ⁻¹(y − μ̂·1),

           every A ≥ 0 alike (Morris 1983): Var θ = E Var(θ | A) + Var E(θ | A). For k groups L
           falls like A^(−(k−1)/2): it can be averaged from k = 4 on. Numerically over t in (0, 1),
           A = s(1 − t²)/t², where the integrand is bounded (t^(k−4) towards 0). In the basis in
           which D is diagonal every Σ is.
Interval   mean ± z standard errors of θ, confidence counted on average over the groups: a single
           group that really differs is drawn towards the others, and its interval misses it more
           often than that. Nothing of this looks at an answer: it is post-processing.
By hand    k equal variances V, S = Σ(y − ȳ)²: B = V/(V + A) is Gamma((k − 3)/2, rate S/2V) below
           1. Where S is large, E B = (k − 3)·V/S: James and Stein's factor. k = 5, V = 1,
           y = −20, −10, 0, 10, 20: S = 1,000, E B = .002, so that 20 is drawn to 19.96.
Sources    James and Stein 1961; Efron and Morris 1973, 1975; Fay and Herriot 1979; Morris 1983
           (JASA 78:47); Morris and Tang 2011 (Statist. Sci. 26:271), why every A alike.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.estimates import CONFIDENCE, Floats, Interval

FEWEST = 4  # groups
NODES = 400
ROUNDING = 1e-9  # of a covariance, relative


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A group's estimate drawn towards the mean of all groups."""

    value: float
    low: float
    high: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """What is known of all groups together."""

    mean: float  # μ
    groups: tuple[Shrunk, ...]


def shrink(
    estimates: npt.ArrayLike,
    covariance: npt.ArrayLike,
    confidence: float = CONFIDENCE,
    possible: Interval = (-np.inf, np.inf),
) -> Shrinkage:
    """Return the estimates of k groups drawn towards their mean, within what is possible.

    `covariance` is k × k, or k variances of independent estimates; of their errors as they would
    be if all groups were alike, for the errors of a share depend on it.
    """
    y, own = np.asarray(estimates, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    k = y.size
    require(y.ndim == 1 and k >= FEWEST, "groups must be {} or more, got {}", FEWEST, k)
    own = np.diag(own) if own.ndim == 1 else own
    require(own.shape == (k, k), "covariance must be of {} groups, got {}", k, own.shape)
    require(np.isfinite(y).all() and np.isfinite(own).all(), "estimates must be finite")
    require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
    variances, basis = np.linalg.eigh((own + own.T) / 2)
    require(variances[0] > ROUNDING * variances[-1], "covariance must be positive definite")

    turned, ones = y @ basis, basis.sum(axis=0)
    nodes, shares = _rule()
    t = (nodes + 1) / 2
    size = float(np.median(variances))
    between = (size * (1 - t**2) / t**2)[:, None]  # A at every node
    precision = 1 / (between + variances)
    of_mean = precision @ ones**2
    mean = precision @ (ones * turned) / of_mean
    apart = turned - mean[:, None] * ones
    log = np.log(precision).sum(axis=1) - np.log(of_mean) - (precision * apart**2).sum(axis=1)
    weight = shares * np.exp((log - log.max()) / 2) / t**3  # dA = 2s·dt/t³
    weight /= weight.sum()

    values = (turned - variances * precision * apart) @ basis.T  # by node and group
    left = (variances * precision * ones) @ basis.T  # of the mean's error
    inside = (between * variances * precision) @ (basis**2).T + left**2 / of_mean[:, None]
    value = weight @ values
    error = np.sqrt(weight @ (inside + (values - value) ** 2))
    return Shrinkage(float(weight @ mean), _groups(value, error, confidence, possible))


@cache
def _rule() -> tuple[Floats, Floats]:
    """Return Gauss and Legendre's rule: a quarter of a second, once, where something is drawn."""
    return np.polynomial.legendre.leggauss(NODES)


def _groups(
    value: Floats, error: Floats, confidence: float, possible: Interval
) -> tuple[Shrunk, ...]:
    reach = float(scipy.special.ndtri((1 + confidence) / 2)) * error
    ends = np.clip([value, value - reach, value + reach], *possible)
    return tuple(Shrunk(*map(float, each)) for each in np.vstack([ends, error]).T)
