"""The odds ratio of two yes/no questions, each through its own 2 × m matrix (the identity for an open one).

    θ = p₁₁p₀₀ / (p₁₀p₀₁)

Estimate   of the likeliest table; 0 or ∞ where one of its products is 0, None where both are.
S.e.       of ln θ, delta method: gradient ±1/p through the likeliest table's covariance H⁻¹ − H⁻¹11ᵀH⁻¹/1ᵀH⁻¹1,
           H the observed information, times the design effect of weights. None where a cell is 0 or other tables
           are as likely, and with it the Wald interval exp(ln θ ± z·s.e.).
Interval   profile likelihood: every θ whose best table has ln L within χ²₁/2 of the maximum. The table with shares
           p, q of yes and ratio θ has p₁₁ = 2θpq / (S + √(S² − 4θ(θ − 1)pq)), S = 1 + (p + q)(θ − 1) (Plackett
           1965). It reaches 0 or ∞ where the reports cannot tell the ratio from it.
By hand    Direct answers 20 yes, 80 no of one group and 10 yes, 90 no of another: θ = (20·90)/(80·10) = 2.25,
           s.e. of ln θ = sqrt(1/20 + 1/80 + 1/10 + 1/90) = .4167.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from dpengine.estimates import CONFIDENCE, Interval
from dpengine.inference import inputs
from dpengine.inference.fit import Fit
from dpengine.inference.inputs import Floats
from dpengine.inference.joint import Likeliest, Sample, along_axes
from dpengine.inference.questions import Channel, questions_of
from dpengine.inference.simplex import tangent_covariance

FARTHEST = 30.0  # of a ratio's logarithm: beyond lie 0 and ∞
LOWEST = -1e6  # of a height, where reports would be impossible
HAIR = 1e-9  # that shares keep from 0 and 1 while a profile is climbed


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """The odds of yes to one question where the other is yes, over those where it is no."""

    n: int
    estimate: float | None
    log_standard_error: float | None
    interval: Interval  # profile likelihood
    wald: Interval | None
    independence: Fit
    warnings: tuple[str, ...]


def odds_ratio(
    reports: Sequence[npt.ArrayLike],
    channels: Sequence[Channel],
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> OddsRatio:
    """Return the odds ratio of two yes/no questions; channels are matrices of two rows, answer 1 is yes."""
    questions = questions_of(reports, channels)
    if len(questions) != 2 or any(len(question.u.first) != 2 for question in questions):
        raise ValueError("an odds ratio is of two questions with two answers each")
    inputs.check_confidence(confidence)
    sampled = Sample.of(questions, weights)
    best = sampled.likeliest()
    if best is None or not sampled.coded:
        raise ValueError("an odds ratio needs a matrix of chances for each question, got margins of sets")
    estimate, error = ratio_of(best.shares), _log_error(sampled, best.shares)
    return OddsRatio(
        n=sampled.n,
        estimate=estimate,
        log_standard_error=error,
        interval=_table_interval(sampled, best, confidence),
        wald=None if estimate is None or error is None else _wald(estimate, error, confidence),
        independence=sampled.independence(best.log_likelihood),
        warnings=(*inputs.left_out(sampled.left_out), *_table_warnings(best.shares, error)),
    )


def ratio_of(table: Floats) -> float | None:
    """Return the odds ratio of a 2 × 2 table of shares."""
    agreeing, differing = float(table[0, 0] * table[1, 1]), float(table[0, 1] * table[1, 0])
    return quotient(agreeing, differing)


def quotient(above: float, below: float) -> float | None:
    if below > 0:
        return above / below
    return math.inf if above > 0 else None


def _log_error(sampled: Sample, table: Floats) -> float | None:
    if table.min() <= 0:
        return None
    first, second = (question.chances for question in sampled.coded)
    chances = np.kron(first, second)
    expected = table.ravel() @ chances
    rates = np.divide(sampled.counts.ravel(), expected**2, out=np.zeros_like(expected), where=expected > 0)
    covariance = tangent_covariance((chances * rates) @ chances.T, sampled.n)
    if covariance is None:
        return None
    gradient = np.array([1.0, -1.0, -1.0, 1.0]) / table.ravel()
    return math.sqrt(float(gradient @ covariance @ gradient) * sampled.effect)


def _wald(estimate: float, error: float, confidence: float) -> Interval:
    reach = min(float(special.ndtri((1 + confidence) / 2)) * error, FARTHEST)
    return estimate * math.exp(-reach), estimate * math.exp(reach)


def _table_interval(sampled: Sample, best: Likeliest, confidence: float) -> Interval:
    back = [question.chances.T for question in sampled.coded]
    counts = sampled.counts / sampled.effect

    def height(log_ratio: float) -> float:
        def depth(shares: Floats) -> float:
            reported = along_axes(back, plackett(float(shares[0]), float(shares[1]), math.exp(log_ratio)))
            return -float(special.xlogy(counts, np.maximum(reported, 1e-300)).sum())

        start = np.clip([best.shares[1].sum(), best.shares[:, 1].sum()], 0.01, 0.99)
        return -_lowest(depth, start)

    return log_limits(height, best.log_likelihood / sampled.effect, ratio_of(best.shares), confidence)


def plackett(first: float, second: float, ratio: float) -> Floats:
    """Return the table with these shares of yes and this odds ratio."""
    total = 1 + (first + second) * (ratio - 1)
    root = math.sqrt(max(total**2 - 4 * ratio * (ratio - 1) * first * second, 0.0))
    both = 2 * ratio * first * second / (total + root) if total > 0 else (total - root) / (2 * (ratio - 1))
    cells = np.array([[1 - first - second + both, second - both], [first - both, both]])
    return np.asarray(np.maximum(cells, 0.0), dtype=np.float64)


def _lowest(depth: Callable[[Floats], float], start: Floats) -> float:
    """Return the least of a function of shares, by bounded quasi-Newton steps from one start."""
    found = optimize.minimize(depth, start, method="L-BFGS-B", bounds=[(HAIR, 1 - HAIR)] * len(start))
    return float(found.fun)


def log_limits(height: Callable[[float], float], best: float, at: float | None, confidence: float) -> Interval:
    """Return the ratios whose height is within χ²₁/2 of the best; 0 and ∞ where it stays there."""
    least = best - float(special.chdtri(1, 1 - confidence)) / 2
    if at is None:
        return 0.0, math.inf
    centre = min(max(math.log(at) if at > 0 else -FARTHEST, -FARTHEST), FARTHEST)
    low = 0.0 if at == 0 or height(-FARTHEST) >= least else math.exp(_crossing(height, least, -FARTHEST, centre))
    high = (
        math.inf
        if at == math.inf or height(FARTHEST) >= least
        else math.exp(_crossing(height, least, FARTHEST, centre))
    )
    return low, high


def _crossing(height: Callable[[float], float], least: float, outside: float, inside: float) -> float:
    """Return where the height passes the least, on the way from outside to inside."""

    def above(at: float) -> float:
        return max(height(at) - least, LOWEST)

    return float(optimize.brentq(above, outside, inside, xtol=1e-7)) if above(inside) > 0 else inside


def _table_warnings(table: Floats, error: float | None) -> list[str]:
    if error is not None:
        return []
    if table.min() > 0:
        return ["other tables are as likely: the odds ratio has no standard error; see the interval"]
    estimate = ratio_of(table)
    said = "cannot be estimated" if estimate is None else "is infinite" if estimate else "is 0"
    return [f"a cell of the likeliest table is 0: the odds ratio {said}, and has no standard error; see the interval"]
