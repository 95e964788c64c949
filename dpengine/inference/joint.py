"""Cross-tabs of two or three questions whose reports are random: each through its own channel, or open.

Every question turns a report into unbiased indicators of its answer, u[choice] with mean 1 for the true
one and 0 for the others, linear in what the report says:

    a matrix P[answer, report]  u = column `report` of P's left inverse (P⁻¹ when square)
    margins (a, b)              u[choice] = (held − b)/(a − b), the report being a set that holds a choice with
                                chance a when it is the answer, b when not (subsets of up to 1,024 choices)
    open                        P is the identity

Given the answers, the questions' channels draw independently, so that products of the questions' u are unbiased for
the joint indicator:

    moments     mean over reports of Πu: the Kronecker product of the inverses, applied to the counts of joint
                reports axis by axis. Sets need only how often two choices are held together, and margins.
    variance    (mean of Πu² − moment²)/n, the same with squared entries; covariances from mean of Πu·Πu'
    interval    of a mean of bounded values (intervals.py), clipped to 0 to 1; `simultaneous` for all cells at once
    likelihood  simplex.py: parabolas where the product matrix is small, EM axis by axis where it is not;
                for sets of one size w from P(set) ∝ 1 + (odds − 1)·held, odds = a(k − w)/((1 − a)w)
    G²          of the table of joint reports; 0 and no df left where all matrices are square and the maximum inside
    independence  2(ln L − Σ ln L of each question alone), df = Πk − Σ(k − 1) − 1: independent answers make
                independent reports, whatever the channels

By hand    Two coins, all reports (yes, yes): u is 3/2 for yes and −1/2 for no, the moments are 9/4 for (yes, yes),
           −3/4 twice and 1/4 for (no, no); the likeliest table has everybody at (yes, yes).
Sources    Chaudhuri and Mukerjee 1988, ch. 3; van den Hout and van der Heijden 2002 (through matrices).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.estimates import CONFIDENCE
from dpengine.inference import inputs
from dpengine.inference.fit import Fit
from dpengine.inference.goodness import judged
from dpengine.inference.inputs import Floats
from dpengine.inference.intervals import agreed_error, beyond_rounding, share_intervals, sums
from dpengine.inference.questions import MOST_CELLS, Channel, Coded, Question, questions_of
from dpengine.inference.simplex import climb, likeliest_shares

BLOCK = 4096  # respondents taken at a time
WRITTEN_OUT = 1024  # cells up to which the product matrix is written out, with as many reports
COVARIANCE = 64  # cells up to which covariances are computed
NEAR = 1e-3  # of ln L, that may be left to the maximum without a word


@dataclass(frozen=True)
class Joint:
    """A table of shares over the answers to two or three questions: an axis for each question."""

    n: int
    moments: Floats
    standard_errors: Floats
    intervals: Floats  # [..., low and high]
    simultaneous: Floats
    maximum_likelihood: Floats | None
    log_likelihood: float | None
    fit: Fit | None
    independence: Fit | None
    covariance: Floats | None  # of the moments, cells in row order; None beyond COVARIANCE cells
    warnings: tuple[str, ...]

    def margin(self, question: int) -> Floats:
        """Return the moment estimates of one question's shares: sums over the others."""
        others = tuple(axis for axis in range(self.moments.ndim) if axis != question)
        return np.asarray(self.moments.sum(axis=others), dtype=np.float64)


def cross_table(
    reports: Sequence[npt.ArrayLike],
    channels: Sequence[Channel],
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> Joint:
    """Return the joint table of two or three questions.

    reports[q] has a whole number for each respondent where channels[q] is a matrix of chances [answer, report], and a
    row of 0 and 1 for each respondent, one column a choice, where it is margins.
    """
    inputs.check_confidence(confidence)
    sampled = Sample.of(questions_of(reports, channels), weights)
    best = sampled.likeliest()
    overall = 1 - (1 - confidence) / sampled.moments.size
    fit = None if best is None else sampled.fit(best.shares)
    independence = None if best is None else sampled.independence(best.log_likelihood)
    return Joint(
        n=sampled.n,
        moments=sampled.moments,
        standard_errors=sampled.standard_errors,
        intervals=sampled.intervals(best, confidence),
        simultaneous=sampled.intervals(best, overall),
        maximum_likelihood=None if best is None else best.shares,
        log_likelihood=None if best is None else best.log_likelihood,
        fit=fit,
        independence=independence,
        covariance=sampled.covariance() if sampled.moments.size <= COVARIANCE else None,
        warnings=tuple(_warnings(sampled, best, fit)),
    )


@dataclass(frozen=True)
class Likeliest:
    shares: Floats
    log_likelihood: float
    left: float  # of ln L, at most, to the maximum


@dataclass(frozen=True)
class Sample:
    """Respondents' reports to all questions, with weights that add up to their number."""

    questions: list[Question]
    weights: Floats
    left_out: int  # rows of weight 0

    @classmethod
    def of(cls, questions: list[Question], weights: npt.ArrayLike | None) -> "Sample":
        scaled = inputs.weights_of(weights, questions[0].n)
        used = scaled > 0
        kept = scaled[used] * (used.sum() / len(used))
        return cls([question.of(used) for question in questions], kept, int((~used).sum()))

    @property
    def n(self) -> int:
        return len(self.weights)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(question.u.first) for question in self.questions)

    @cached_property
    def coded(self) -> list[Coded]:
        """Return the questions, when all of them have codes for reports; else none."""
        coded = [question for question in self.questions if isinstance(question, Coded)]
        return coded if len(coded) == len(self.questions) else []

    @cached_property
    def counts(self) -> Floats:
        return self._count(self.weights)

    def _count(self, weights: Floats) -> Floats:
        """Return how often features come together, an axis a question."""
        widths = [question.u.first.shape[1] for question in self.questions]
        if self.coded:
            place = np.ravel_multi_index(tuple(question.codes for question in self.coded), tuple(widths))
            return sums(place, weights, math.prod(widths)).reshape(widths)
        total = np.zeros((math.prod(widths[:-1]), widths[-1]))
        for start in range(0, self.n, BLOCK):
            rows = slice(start, start + BLOCK)
            *before, last = (question.features(rows) for question in self.questions)
            total += (reduce(_crossed, before) * weights[rows, None]).T @ last
        return total.reshape(widths)

    @cached_property
    def moments(self) -> Floats:
        return along_axes([question.u.first for question in self.questions], self.counts) / self.n

    @cached_property
    def plain_variances(self) -> Floats:
        squares = along_axes([question.u.second for question in self.questions], self.counts) / self.n
        return np.maximum(squares - self.moments**2, 0.0) / self.n

    @cached_property
    def variances(self) -> Floats:
        """Return the variances of the moments, linearised when there are weights."""
        if not self.weighted:
            return self.plain_variances
        firsts, seconds = zip(*((question.u.first, question.u.second) for question in self.questions), strict=True)
        squared = self._count(self.weights**2)
        around = -2 * self.moments * along_axes(firsts, squared) + self.moments**2 * np.sum(self.weights**2)
        spread = along_axes(seconds, squared) + around
        return np.maximum(spread, 0.0) / self.n**2 * (self.n / max(self.n - 1, 1))

    @property
    def standard_errors(self) -> Floats:
        """Return standard errors, never 0: where all values agree, as if of four more two were at either end."""
        lows, highs = self._bounds
        span = highs - lows
        variances = beyond_rounding(self.variances, span, self.n)
        return np.where(variances > 0, np.sqrt(variances), agreed_error(self.n / self.effect) * span)

    @property
    def weighted(self) -> bool:
        return not np.allclose(self.weights, 1.0, rtol=1e-12, atol=0)

    @cached_property
    def effect(self) -> float:
        """Return the design effect of the weights: variance over that without them."""
        plain = float(self.plain_variances.sum())
        kish = float(np.mean(self.weights**2))
        return max(float(self.variances.sum()) / plain if plain > 0 else kish, 1.0)

    def intervals(self, best: Likeliest | None, confidence: float) -> Floats:
        """Return [..., low and high]: of means of products of bounded values."""
        lows, highs = self._bounds
        variances = beyond_rounding(self.variances, highs - lows, self.n)
        if best is not None and self.coded:
            variances = np.maximum(variances, self._implied(best.shares))
        limits = share_intervals(self.moments, variances, self.n / self.effect, lows, highs, confidence)
        return np.stack(limits, axis=-1)

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest product of values in each cell."""
        ends = [(question.u.low, question.u.high) for question in self.questions]
        corners = [reduce(np.multiply.outer, corner) for corner in product(*ends)]
        return np.minimum.reduce(corners), np.maximum.reduce(corners)

    def _implied(self, shares: Floats) -> Floats:
        """Return the variances of the moments if these were the true shares."""
        expected = along_axes([question.chances.T for question in self.coded], shares)
        squares = along_axes([question.u.second for question in self.questions], expected)
        return np.asarray(np.maximum(squares - shares**2, 0.0) / self.n * self.effect, dtype=np.float64)

    def covariance(self) -> Floats:
        """Return covariances of the moments of all cells, in row order."""
        cells = math.prod(self.shape)
        total = np.zeros((cells, cells))
        for start in range(0, self.n, BLOCK):
            rows = slice(start, start + BLOCK)
            values = reduce(_crossed, (question.features(rows) @ question.u.first.T for question in self.questions))
            centred = (values - self.moments.ravel()) * self.weights[rows, None]
            total += centred.T @ centred
        return np.asarray(total / self.n**2 * (self.n / max(self.n - 1, 1) if self.weighted else 1.0), dtype=np.float64)

    def likeliest(self) -> Likeliest | None:
        """Return the likeliest table; None where margins of sets give no likelihood, or it would be too large."""
        if not self.coded:
            return self._likeliest_of_sets()
        known = [question.chances for question in self.coded]
        turned = [matrix.T for matrix in known]
        if math.prod(self.shape) <= WRITTEN_OUT and math.prod(matrix.size for matrix in known) <= WRITTEN_OUT**2:
            shares, left = likeliest_shares(self.counts.ravel(), reduce(_kronecker, known)).reshape(self.shape), 0.0
        else:
            shares, left = climb(
                np.full(self.shape, 1 / math.prod(self.shape)),
                self.counts,
                forward=lambda at: along_axes(turned, at),
                back=lambda rates: along_axes(known, rates),
            )
        return Likeliest(shares, _log_likelihood(self.counts, along_axes(turned, shares)), left)

    def _likeliest_of_sets(self) -> Likeliest | None:
        cells = math.prod(self.shape)
        found = [question.likelihood() for question in self.questions] if cells * self.n <= MOST_CELLS else []
        known = [likelihood.T for likelihood in found if likelihood is not None]
        if len(known) < len(self.questions):
            return None
        chances, left = reduce(_crossed, known).T, 0.0
        if cells <= WRITTEN_OUT:
            shares = likeliest_shares(self.weights, chances)
        else:
            even = np.full(cells, 1 / cells)
            shares, left = climb(even, self.weights, lambda at: at @ chances, lambda rates: chances @ rates)
        return Likeliest(shares.reshape(self.shape), _log_likelihood(self.weights, shares @ chances), left)

    def fit(self, shares: Floats) -> Fit | None:
        """Return G² of the table of joint reports; None for sets, too many to count, and small cells."""
        if not self.coded:
            return None
        known = [question.chances for question in self.coded]
        expected = along_axes([matrix.T for matrix in known], shares) * self.n / self.effect
        cells = math.prod(int(np.sum(matrix.max(axis=0) > 0)) for matrix in known)
        return judged(self.counts / self.effect, expected, df=cells - math.prod(self.shape))

    def independence(self, log_likelihood: float) -> Fit:
        """Return G² of independent answers against the likeliest table, through the channels."""
        alone = 0.0
        for question in self.questions:
            counts, chances = question.alone(self.weights)
            alone += _log_likelihood(counts, likeliest_shares(counts, chances) @ chances)
        df = math.prod(self.shape) - 1 - sum(choices - 1 for choices in self.shape)
        return Fit(g2=max(2 * (log_likelihood - alone) / self.effect, 0.0), df=df)


def _kronecker(left: Floats, right: Floats) -> Floats:
    return np.asarray(np.kron(left, right), dtype=np.float64)


def along_axes(maps: Sequence[Floats], table: Floats) -> Floats:
    """Return the Kronecker product of maps [out, in] applied to a table, one axis after the other."""
    for axis, matrix in enumerate(maps):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return np.asarray(table, dtype=np.float64)


def _crossed(left: Floats, right: Floats) -> Floats:
    """Return products of all columns of two tables, row by row."""
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1), dtype=np.float64)


def _log_likelihood(counts: Floats, reported: Floats) -> float:
    return float(special.xlogy(counts, np.where(counts > 0, reported, 1.0)).sum())


def _warnings(sampled: Sample, best: Likeliest | None, fit: Fit | None) -> list[str]:
    said = inputs.left_out(sampled.left_out)
    outside = int(np.sum((sampled.moments < -inputs.SLACK) | (sampled.moments > 1 + inputs.SLACK)))
    if outside:
        said.append(
            f"moment estimates of {outside} of {sampled.moments.size} cells lie outside 0 to 1: chance can do that, "
            "and so can non-compliance"
        )
    if best is None:
        said.append("no likelihood: margins of sets give one for sets of one size, in tables of few cells and reports")
    elif best.left > NEAR:
        said.append(f"EM ended early: the likelihood's logarithm may be {best.left:.2g} below its maximum")
    if fit is not None and fit.p is not None and fit.p < 0.05:
        said.append(f"the table does not explain the reports: G2 = {fit.g2:.2f}, df = {fit.df}, p = {fit.p:.2g}; "
                    "non-compliance may be at work")  # fmt: skip
    return said
