"""The likeliest shares when a channel stands between the answers and their reports.

    ln L(π) = Σ counts · ln λ,   λ[report] = Σ π[answer] · P[report | answer],   π ≥ 0, Σπ = 1

is concave, so that every start leads to the one maximum. With D[answer] = Σ counts · P / λ (which
is n wherever π > 0, at the maximum) the distance to it is known at every step:

    ln L(best) − ln L(π) ≤ max D − n.

Parabolas  ln L's quadratic approximation has its summit over π ≥ 0 where non-negative least squares
           finds it (Wang 2007, Dax 1990); halfway, a quarter … there where that is no higher; with
           a small price on the way where rounding hides it. Some ten steps, exact zeros.
EM         π ← π·D/n never falls. Slow near the edge; Varadhan and Roland's (2008) extrapolation of
           two steps helps, and is taken only when ln L does not fall. For where parabolas get
           stuck: channels that hardly tell answers apart.
By hand    52 yes of 350 under forced response, P(yes) = 1/6 + 2/3·π: the likeliest shares are 1 and
           0.
"""

import numpy as np
import scipy

from dpengine.estimates import Floats

ROUNDS = 200  # of parabolas; ten are usual
GAP = 1e-11  # per report: how far below its maximum ln L may be left
# roots of what a step costs per squared share, where parabolas are flat
DAMPINGS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4)
STEPS = 20_000  # of EM
CLOSE = 1e-5  # of ln L: where EM ends
STUCK = 1e-3  # of ln L: more than so much below its maximum is none
# shares below the first are 0, when ln L is no more than the second lower without
SMALLEST, NOTHING = (1e-5, 1e-6)
FLAT = 1e-12  # of n: a curvature of ln L that is rounding


def likeliest_shares(counts: Floats, chances: Floats) -> Floats:
    """Return the likeliest shares of answers, for counts of reports and chances[answer, report].

    Several arms: their reports side by side, P(report | answer) each. A maximum that just touches
    the edge is at it.
    """
    shares, height = most_likely(counts, chances)
    emptied = np.where(shares < SMALLEST, 0.0, shares)
    emptied /= emptied.sum()
    lost = height - float(scipy.special.xlogy(counts, emptied @ chances).sum())
    return np.asarray(emptied if lost <= NOTHING else shares, dtype=np.float64)


def most_likely(counts: Floats, chances: Floats) -> tuple[Floats, float]:
    """Return the shares of largest likelihood, and ln L there; −∞ if none can have made these."""
    seen = counts > 0
    weight, chance = counts[seen] / counts.sum(), chances[:, seen]
    shares = np.full(len(chances), 1 / len(chances))
    if not chance.max(axis=0).all():
        return shares, -np.inf
    for _ in range(ROUNDS):
        scores = chance / (shares @ chance)
        gradient = scores @ weight - 1
        if gradient.max() <= GAP:
            break
        goals = (_summit_of_parabola(scores, weight, shares, damping) for damping in DAMPINGS)
        goal = next(
            (goal for goal in goals if goal is not None and gradient @ (goal - shares) > 0), None
        )
        if goal is None:
            shares = _by_steps(shares, counts[seen], chance)
            break
        shares = _part_of_the_way(shares, goal, gradient, chance, weight)
    else:
        shares = _by_steps(shares, counts[seen], chance)
    return shares, float(scipy.special.xlogy(counts[seen], shares @ chance).sum())


def _summit_of_parabola(
    scores: Floats, weight: Floats, start: Floats, damping: float
) -> Floats | None:
    """Return the shares that maximise ln L's quadratic approximation.

    None where rounding hides them.
    """
    rows = np.sqrt(weight)[:, np.newaxis] * (scores.T - 2)
    system, aims = np.vstack([rows, np.ones(len(scores))]), np.append(np.zeros(len(rows)), 1.0)
    if damping:
        system, aims = (
            np.vstack([system, damping * np.eye(len(start))]),
            np.concatenate([aims, damping * start]),
        )
    try:
        shares = scipy.optimize.nnls(system, aims)[0]
    except RuntimeError:
        return None
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _part_of_the_way(
    start: Floats, goal: Floats, gradient: Floats, chance: Floats, weight: Floats
) -> Floats:
    """Return the first of goal, halfway, a quarter … that is higher by a fair part of the slope."""
    rise = float(gradient @ (goal - start))
    height = float(scipy.special.xlogy(weight, start @ chance).sum())
    step = 1.0
    while (
        scipy.special.xlogy(weight, (start + step * (goal - start)) @ chance).sum()
        < height + 1e-4 * step * rise - 1e-15
    ):
        step /= 2
    return np.asarray(start + step * (goal - start), dtype=np.float64)


def _by_steps(start: Floats, counts: Floats, chances: Floats) -> Floats:
    """Return the likeliest shares by accelerated EM.

    It begins near a start, for it cannot leave an edge by itself.
    """
    shares, n, left = 0.99 * start + 0.01 / len(start), float(counts.sum()), np.inf

    def slope_at(at: Floats) -> Floats:
        return chances @ (counts / np.maximum(at @ chances, 1e-300))

    def height(at: Floats) -> float:
        return float(scipy.special.xlogy(counts, at @ chances).sum())

    for _ in range(STEPS // 3):
        slope = slope_at(shares)
        left = float(slope.max()) - n
        if left <= CLOSE:
            return shares
        one = shares * slope / n
        two = one * slope_at(one) / n
        further = _extrapolated(shares, one, two)
        shares = further if height(further) >= height(two) else two
    if left > STUCK:
        raise ArithmeticError(
            f"the likelihood was not maximised: its logarithm may be {left:.2g} below the maximum"
        )
    return shares


def tangent_covariance(curvature: Floats, n: float) -> Floats | None:
    """Return the covariance of n reports' shares inside the simplex.

    H are the second derivatives of −ln L.

    Z(ZᵀHZ)⁻¹Zᵀ, Z a basis of changes that add up to 0: H⁻¹ − H⁻¹11ᵀH⁻¹ / 1ᵀH⁻¹1 where H can be
    inverted. None where some change would leave ln L as it is: other shares are as likely.
    """
    changes = scipy.linalg.null_space(np.ones((1, len(curvature))))
    inside = changes.T @ curvature @ changes
    if scipy.linalg.eigvalsh(inside)[0] <= FLAT * n:
        return None
    return np.asarray(
        changes @ scipy.linalg.solve(inside, changes.T, assume_a="pos"), dtype=np.float64
    )


def _extrapolated(start: Floats, one: Floats, two: Floats) -> Floats:
    """Return Varadhan and Roland's SqS3 point, inside the simplex."""
    first, second = one - start, two - 2 * one + start
    bend = float(np.sqrt((second**2).sum()))
    length = max(1.0, float(np.sqrt((first**2).sum())) / bend) if bend > 0 else 1.0
    moved = np.maximum(start + 2 * length * first + length**2 * second, two * 1e-3)
    return np.asarray(moved / moved.sum(), dtype=np.float64)
