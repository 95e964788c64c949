"""One question's reports, and unbiased indicators of its answers.

    u[choice], of mean 1 for the true answer and 0 for the others, is linear in the `features` of a report:
    first[choice, feature] gives u, second its square.

Coded  A report is one of m codes, drawn with chances P[answer, report]: its features are m zeros and ones, u is its
       column of P's left inverse (P⁻¹ when square, else of least variance where answers are equally likely).
Held   A report is a set that holds a choice with chance a when it is the answer, b when not: its features are
       what it holds and a constant 1, u = (held − b)/(a − b). Of sets that all have w of k choices, with
       w = a + (k − 1)b, the likelihood is known too: a/C(k − 1, w − 1) after a held choice, else (1 − a)/C(k − 1, w).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from dpengine.inference import inputs
from dpengine.inference.categories import SINGULAR
from dpengine.inference.inputs import SLACK, Floats, Ints
from dpengine.inference.intervals import sums

MOST_CELLS = 2**24


@dataclass(frozen=True, slots=True)
class Margins:
    """A channel whose reports are sets: the chance that one holds a choice that is true, and one that is not."""

    truth: float  # a
    lie: float  # b


Channel = npt.ArrayLike | Margins


@dataclass(frozen=True, slots=True, eq=False)
class Indicators:
    """Maps from features to u and u², and the least and the greatest u of every choice."""

    first: Floats
    second: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Reports that are codes."""

    codes: Ints
    chances: Floats  # [answer, report]
    u: Indicators

    @property
    def n(self) -> int:
        return len(self.codes)

    def of(self, rows: npt.NDArray[np.bool_]) -> "Coded":
        return replace(self, codes=self.codes[rows])

    def features(self, rows: slice) -> Floats:
        """Return what the reports of these respondents say: [respondent, feature]."""
        return np.eye(self.chances.shape[1])[self.codes[rows]]

    def likelihood(self) -> Floats | None:
        """Return P(report | answer) of every report: [answer, respondent]."""
        return np.asarray(self.chances[:, self.codes], dtype=np.float64)

    def alone(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return counts of reports, and their chances [answer, report]."""
        return sums(self.codes, weights, self.chances.shape[1]), self.chances


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Reports that are sets: a row of 0 and 1 each."""

    sets: npt.NDArray[np.int8]
    margins: Margins
    u: Indicators

    @property
    def n(self) -> int:
        return len(self.sets)

    def of(self, rows: npt.NDArray[np.bool_]) -> "Held":
        return replace(self, sets=self.sets[rows])

    def features(self, rows: slice) -> Floats:
        """Return what the reports of these respondents say: [respondent, feature]."""
        held = self.sets[rows].astype(np.float64)
        return np.hstack([held, np.ones((len(held), 1))])

    def likelihood(self) -> Floats | None:
        """Return P(report | answer) of every report: [answer, respondent]; None where margins do not say."""
        sizes = np.unique(self.sets.sum(axis=1))
        k, a, b = self.sets.shape[1], self.margins.truth, self.margins.lie
        if len(sizes) > 1 or abs(a + (k - 1) * b - sizes[0]) > 1e-6 * k or not 0 < a < 1:
            return None
        return self._of_one_size(float(sizes[0]))

    def alone(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return a count of 1 for every report, and their chances [answer, report], for sets of one size."""
        return weights, self._of_one_size(float(self.sets[0].sum()))

    def _of_one_size(self, size: float) -> Floats:
        k, a = self.sets.shape[1], self.margins.truth
        with_it = math.log(a) - _log_ways(k - 1, size - 1)
        without = math.log1p(-a) - _log_ways(k - 1, size)
        return np.asarray(np.exp(np.where(self.sets.T > 0, with_it, without)), dtype=np.float64)


Question = Coded | Held


def _log_ways(n: float, k: float) -> float:
    return float(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def questions_of(reports: Sequence[npt.ArrayLike], channels: Sequence[Channel]) -> list[Question]:
    """Return checked questions, all with the same respondents."""
    if len(reports) not in (2, 3) or len(reports) != len(channels):
        raise ValueError(
            f"reports must be of two or three questions with a channel each, got {len(reports)} and {len(channels)}"
        )
    questions = [
        _question(held, channel, f"reports[{q}]")
        for q, (held, channel) in enumerate(zip(reports, channels, strict=True))
    ]
    sizes = [question.n for question in questions]
    if len(set(sizes)) > 1:
        raise ValueError(f"reports must have one row a respondent in every question, got {sizes} rows")
    cells = math.prod(len(question.u.first) for question in questions)
    if cells > MOST_CELLS:
        raise ValueError(f"a table must have at most {MOST_CELLS} cells, got {cells}")
    return questions


def _question(held: npt.ArrayLike, channel: Channel, name: str) -> Question:
    if isinstance(channel, Margins):
        return _of_sets(held, channel, name)
    chances = inputs.channel_of(channel, f"the matrix of {name}")
    codes = inputs.coded(held, chances.shape[1], name)
    inverse = left_inverse(chances)
    possible = chances.max(axis=0) > 0
    if not np.all(possible[codes]):
        raise ValueError(f"{name}: a report is impossible, its column of the matrix is 0 for every answer")
    low, high = inverse[:, possible].min(axis=1), inverse[:, possible].max(axis=1)
    return Coded(codes, chances, Indicators(inverse, inverse**2, low, high))


def left_inverse(chances: Floats) -> Floats:
    """Return [answer, report] whose product with the transposed chances is the identity."""
    even = chances.mean(axis=0)
    scaled = np.divide(chances, even, out=np.zeros_like(chances), where=even > 0)
    design = scaled @ chances.T
    sizes = linalg.eigvalsh(design)
    if sizes[0] < SINGULAR * sizes[-1]:
        raise ValueError("a matrix has rows that are equal, or sums of others: nothing, or not all, can be learned")
    return np.asarray(linalg.solve(design, scaled, assume_a="sym"), dtype=np.float64)


def _of_sets(held: npt.ArrayLike, margins: Margins, name: str) -> Question:
    a, b = margins.truth, margins.lie
    if not (0 <= a <= 1 and 0 <= b <= 1):  # NaN fails too
        raise ValueError(f"margins must be between 0 and 1, got {a:g} and {b:g}")
    if abs(a - b) < SLACK:
        raise ValueError(f"margins must differ: a choice is held as often when it is not true, got {a:g} and {b:g}")
    sets = np.asarray(held)
    if sets.ndim != 2 or sets.shape[1] < 2 or not len(sets):
        raise ValueError(f"{name} must have a row a respondent and a column a choice, got shape {sets.shape}")
    if not np.all((sets == 0) | (sets == 1)):
        raise ValueError(f"{name} must hold 0 and 1 only")
    k, with_it, without = sets.shape[1], (1 - b) / (a - b), -b / (a - b)
    first, second = (_affine(k, held, absent) for held, absent in ((with_it, without), (with_it**2, without**2)))
    low, high = np.full(k, min(with_it, without)), np.full(k, max(with_it, without))
    return Held(sets.astype(np.int8), margins, Indicators(first, second, low, high))


def _affine(k: int, held: float, absent: float) -> Floats:
    """Return the map from features of sets to a value that a choice has when held, and one when absent."""
    return np.hstack([np.eye(k) * (held - absent), np.full((k, 1), absent)])
