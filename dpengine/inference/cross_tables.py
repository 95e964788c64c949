"""Two questions of the same people, each through a channel of its own: their joint shares.

Given the answers the two devices draw independently, so that the pair of reports came through the
Kronecker product of the channels, and the joint table is the shares of one question whose choices
are the pairs: estimates, errors and intervals are those of `shares.category_shares`. An open column
came through the identity. Where constants differ from row to row, the people of equal constants are
an arm.

    independence  2(ln L of the table − Σ ln L of each question alone), df = (k − 1)(m − 1):
                  independent answers make independent reports, whatever the channels; with survey
                  weights divided by the table's design effect (Rao and Scott 1984, first order)
    odds ratio    of two yes-or-no questions, θ = p₁₁p₀₀/(p₁₀p₀₁), of the likeliest table. Interval:
                  every θ whose best table has ln L within t²/2 of the maximum, t being Student's
                  quantile on n/4, the respondents a cell: χ²₁ itself held in 93.7 % of tables of
                  100 direct answers with θ = 16, this in 94.8 %. The table with shares p, q of yes
                  and ratio θ has (Plackett 1965)

                      p₁₁ = 2θpq / (S + √(S² − 4θ(θ − 1)pq)),  S = 1 + (p + q)(θ − 1)

                  It ends at 0 or ∞ where the reports cannot tell the ratio from that.

By hand    Two coins, all reports (yes, yes): a report of yes is worth 3/2 for yes and −1/2 for no,
           the moments are 9/4 for (yes, yes), −3/4 twice and 1/4; everybody is likeliest there.
           Direct answers, 20 yes and 80 no of one group, 10 and 90 of another: θ = 2.25.
Sources    Chaudhuri and Mukerjee 1988, ch. 3; van den Hout and van der Heijden 2002.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.estimates import CONFIDENCE, Floats, Interval, Ints
from dpengine.inference import inputs
from dpengine.inference.categories import Arms
from dpengine.inference.fit import Fit
from dpengine.inference.shares import Shares, category_shares
from dpengine.inference.simplex import likeliest_shares
from dpengine.inference.weights import Margin

MAX_ARMS = 1000  # pairs of arms
MAX_CELLS = 2**20  # of the product of two channels, over all pairs of arms
FARTHEST = 30.0  # of a ratio's logarithm: beyond lie 0 and ∞
HAIR = 1e-9  # that shares keep from 0 and 1 while a profile is climbed
CLOSE = 1e-8  # of shares, and of ln L
IMPOSSIBLE = 1e-300  # chance of a report that cannot be, while a profile is climbed


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One question's reports: codes from 0, and the channel [answer, report] of each row's arm."""

    reports: npt.ArrayLike
    matrices: Sequence[npt.ArrayLike]
    arm: npt.ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class OddsRatio:
    estimate: float | None  # None where the likeliest table does not say: a row of it is 0
    interval: Interval


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Joint shares, cell by cell: all of the second question's answers for the first's first."""

    cells: Shares
    shape: tuple[int, int]
    independence: Fit
    odds_ratio: OddsRatio | None  # of two questions with two answers each


def cross_table(
    first: Question,
    second: Question,
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    names: Sequence[str] = (),
    margins: Sequence[Margin] = (),
) -> CrossTable:
    """Return the joint shares of two questions' answers. Warnings call the cells by their names.

    `margins` are those of a population that the weights were raked to.
    """
    both, shape = _paired(first, second)
    cells, *alone = (
        category_shares(each.reports, each.matrices, each.arm, weights, confidence, called, margins)
        for each, called in ((both, names), (first, ()), (second, ()))
    )
    codes, which, channels = inputs.arms_of(both.reports, both.matrices, both.arm)
    arms = Arms.of(codes, channels, which, inputs.weights_of(weights, len(codes)), margins)
    gain = cells.log_likelihood - sum(shares.log_likelihood for shares in alone)
    return CrossTable(
        cells=cells,
        shape=shape,
        independence=Fit(max(2 * gain / arms.effect, 0.0), (shape[0] - 1) * (shape[1] - 1)),
        odds_ratio=_odds_ratio(arms, confidence) if shape == (2, 2) else None,
    )


def _paired(first: Question, second: Question) -> tuple[Question, tuple[int, int]]:
    """Return the pairs of answers as one question, an arm for each pair of arms."""
    left, right = (
        inputs.arms_of(each.reports, each.matrices, each.arm) for each in (first, second)
    )
    require(
        len(left[0]) == len(right[0]),
        "both questions must have one row a respondent, got {} and {}",
        len(left[0]),
        len(right[0]),
    )
    pairs, arm = [(0, 0)], None  # no column says that all are in one arm
    if len(left[2]) * len(right[2]) > 1:
        met, arm = np.unique(left[1] * len(right[2]) + right[1], return_inverse=True)
        pairs = [divmod(pair, len(right[2])) for pair in met.tolist()]
    require(
        len(pairs) <= MAX_ARMS,
        "a cross table may have at most {} different pairs of odds, got {}",
        MAX_ARMS,
        len(pairs),
    )
    size = sum(left[2][one].size * right[2][other].size for one, other in pairs)
    require(
        size <= MAX_CELLS,
        "a cross table must have at most {} chances, answers by reports of both questions in every "
        "arm, got {}",
        MAX_CELLS,
        size,
    )
    widths: Ints = np.array([right[2][other].shape[1] for _, other in pairs], dtype=np.int64)
    matrices = [np.kron(left[2][one], right[2][other]) for one, other in pairs]
    shape = len(left[2][0]), len(right[2][0])
    return Question(left[0] * widths[0 if arm is None else arm] + right[0], matrices, arm), shape


def _odds_ratio(arms: Arms, confidence: float) -> OddsRatio:
    counts = arms.counts / arms.effect
    best = likeliest_shares(arms.counts, arms.chances)
    (neither, second), (first, both) = best.reshape(2, 2).tolist()
    agreeing, differing = both * neither, first * second
    estimate = agreeing / differing if differing > 0 else math.inf if agreeing > 0 else None
    if estimate is None:
        return OddsRatio(None, (0.0, math.inf))
    top = _height(counts, best @ arms.chances)
    reach = float(scipy.special.stdtrit(counts.sum() / best.size, (1 + confidence) / 2))
    least = top - reach**2 / 2
    start = np.clip([first + both, second + both], 0.01, 0.99)

    def above(log_ratio: float) -> float:
        """Return how far the best table with this ratio is above the line."""

        def depth(shares: Floats) -> float:
            table = plackett(float(shares[0]), float(shares[1]), math.exp(log_ratio))
            return -_height(counts, table.ravel() @ arms.chances)

        # Nelder and Mead's steps: no threads are woken for two numbers
        found = scipy.optimize.minimize(
            depth, start, method="Nelder-Mead", bounds=[(HAIR, 1 - HAIR)] * 2, tol=CLOSE
        )
        return -float(found.fun) - least

    centre = min(max(math.log(estimate) if estimate > 0 else -FARTHEST, -FARTHEST), FARTHEST)
    low, high = (_crossing(above, centre, end) for end in (-FARTHEST, FARTHEST))
    return OddsRatio(estimate, (low, high))


def _crossing(above: Callable[[float], float], centre: float, end: float) -> float:
    """Return the ratio where a profile passes its line between the centre and an end."""
    if centre == end or above(end) >= 0:
        return 0.0 if end < 0 else math.inf
    if above(centre) <= 0:
        return math.exp(centre)
    low, high = sorted((centre, end))
    return math.exp(float(scipy.optimize.brentq(above, low, high, xtol=1e-7)))


def _height(counts: Floats, reported: Floats) -> float:
    return float(scipy.special.xlogy(counts, np.maximum(reported, IMPOSSIBLE)).sum())


def plackett(first: float, second: float, ratio: float) -> Floats:
    """Return the table with these shares of yes and this odds ratio (Plackett 1965)."""
    total = 1 + (first + second) * (ratio - 1)
    root = math.sqrt(max(total**2 - 4 * ratio * (ratio - 1) * first * second, 0.0))
    # of the two forms of the root, the one that subtracts nothing
    both = (
        2 * ratio * first * second / (total + root)
        if total > 0
        else (total - root) / (2 * (ratio - 1))
    )
    cells = np.array([[1 - first - second + both, second - both], [first - both, both]])
    return np.asarray(np.maximum(cells, 0.0), dtype=np.float64)
