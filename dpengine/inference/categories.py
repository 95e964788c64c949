"""Counts of reports from several arms, and the linear estimate of shares from them.

The reports of all arms stand side by side in one row of columns. For the share of a choice every
report is worth a fixed value, whatever the answers are,

    values = M⁻¹ P D⁻¹,  M = Σ over arms of n · P D⁻¹ Pᵀ

where D holds the chances of an arm's reports when all answers are equally likely, and the moment
estimate is the sum of the values of the reports that came. Unbiased, since Σ n · values · Pᵀ is the
identity; of least variance when all answers are equally likely (Aitken 1936); P⁻¹ for one arm and a
square P.

Variance  Σ over arms of Σ (value − the arm's mean)², weights squared when there are weights.
Interval  Of a mean of bounded values (intervals.py). Where one arm's reports have but two values
          for a choice, as in a square P with one chance on its diagonal and one beside it (k-ary
          response), the moment is an affine map of the choice's own count of reports, which is
          binomial: the interval is Clopper and Pearson's of that count, from a count of 0 on.
          Elsewhere the variance is the larger of the observed and the implied one.
Agreed    Weighted reports of which less than half an effective one (Kish) differs for a choice have
          variance 0, as if they all agreed: a few light ones cannot say how the heavy ones vary.
Thin      Weights whose effective n is below 2 leave no variance to see: errors are then those of
          answers that are all equally likely, times Kish's design effect.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats, Interval, Ints
from dpengine.inference.inputs import SLACK
from dpengine.inference.intervals import beyond_rounding, share_intervals, smallest, sums
from dpengine.inference.simplex import tangent_covariance
from dpengine.inference.weights import Margin, left_variances

THIN = 2.0  # effective reports below which weights leave no variance to see
SINGULAR = 1e-13  # smallest to largest eigenvalue of M: the square of what floats can tell apart


@dataclass(frozen=True)
class Arms:
    """All reports, by column: arm after arm, report after report."""

    n: int  # respondents
    counts: Floats  # of reports, weighted
    squares: Floats  # sums of squared weights
    chances: Floats  # [answer, column]
    owner: Ints  # arm of a column
    # values [choice, column] to the variances of their sums, given margins that the weights meet
    left: Callable[[Floats], Floats] | None = None

    @classmethod
    def of(
        cls,
        reports: Ints,
        channels: list[Floats],
        arm: Ints,
        weights: Floats,
        margins: Sequence[Margin] = (),
    ) -> "Arms":
        """Return the counts of every arm that somebody is in."""
        used = [index for index in range(len(channels)) if np.any(weights[arm == index] > 0)]
        kept = [channels[index] for index in used]
        starts = np.zeros(len(channels), dtype=np.int64)
        starts[used] = np.cumsum([0, *(channel.shape[1] for channel in kept[:-1])])
        columns = sum(channel.shape[1] for channel in kept)
        place, present = smallest(starts[arm] + reports, columns), weights > 0
        factor = present.sum() / weights.sum()
        if not present.all():
            place, weights = place[present], weights[present]
            margins = [margin.only(present) for margin in margins]
        if weights.strides == (0,):  # the same for all, in memory once
            weights = np.broadcast_to(weights[0] * factor, len(weights))
        else:
            weights = weights * factor
        return cls(
            n=len(place),
            counts=sums(place, weights, columns),
            squares=sums(place, weights, columns, power=2),
            chances=np.hstack(kept),
            owner=np.repeat(np.arange(len(kept)), [channel.shape[1] for channel in kept]),
            left=(lambda values: left_variances((row[place] for row in values), weights, margins))
            if margins
            else None,
        )

    def check(self) -> None:
        """Refuse what nothing can be learned from."""
        require(
            not np.any((self.counts > 0) & (self.chances.max(axis=0) <= 0)),
            "a report is impossible: its column of the matrix is 0 for every answer",
        )
        require(
            float(np.ptp(self.chances, axis=0).max()) >= SLACK,
            "matrices have equal rows: a report is as likely after every answer, nothing "
            "can be learned",
        )
        sizes = scipy.linalg.eigvalsh(self._design)
        require(
            sizes[0] >= SINGULAR * sizes[-1],
            "matrices have {} independent rows, expected {}: some shares cannot be told apart",
            int(np.sum(sizes > SINGULAR * sizes[-1])),
            len(sizes),
        )

    def by_arm(self, values: Floats) -> Floats:
        """Return sums over each arm's columns, repeated at each of its columns."""
        sums_of = np.add.reduceat(values, self._starts, axis=-1)
        return np.asarray(sums_of[..., self.owner], dtype=np.float64)

    @property
    def _starts(self) -> npt.NDArray[np.intp]:
        """Return each arm's first column."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    @cached_property
    def sizes(self) -> Floats:
        """Return the number of reports of each column's arm."""
        return self.by_arm(self.counts)

    @cached_property
    def _even(self) -> Floats:
        """Return P D⁻¹; 0 for a report that no answer makes."""
        even = self.chances.mean(axis=0)
        scaled = np.divide(self.chances, even, out=np.zeros_like(self.chances), where=even > 0)
        return np.asarray(scaled, dtype=np.float64)

    @cached_property
    def _design(self) -> Floats:
        return np.asarray((self._even * self.sizes) @ self.chances.T, dtype=np.float64)

    @cached_property
    def values(self) -> Floats:
        """Return what each report is worth for the share of each choice: [choice, column]."""
        return np.asarray(
            scipy.linalg.solve(self._design, self._even, assume_a="sym"), dtype=np.float64
        )

    @cached_property
    def moments(self) -> Floats:
        return np.asarray(self.values @ self.counts, dtype=np.float64)

    @cached_property
    def _centred(self) -> Floats:
        return np.asarray(
            self.values - self.by_arm(self.values * self.counts) / self.sizes, dtype=np.float64
        )

    @cached_property
    def plain_variances(self) -> Floats:
        """Return the variances of the moments without their weights' doubt."""
        return beyond_rounding(self._centred**2 @ self.counts, self.spans, self.n)

    @cached_property
    def variances(self) -> Floats:
        """Return the variances of the moments, linearised when there are weights."""
        if not self.is_weighted:
            return self.plain_variances
        spread = (
            self._centred**2 @ self.squares * self.n / max(self.n - 1, 1)
            if self.left is None
            else self.left(self._centred)
        )
        share = (self.moments - self._bounds[0]) / self.spans
        agreed = np.minimum(share, 1 - share) * self.n < self.kish / 2
        return np.where(agreed, 0.0, beyond_rounding(spread, self.spans, self.n))

    @property
    def is_weighted(self) -> bool:
        return not np.allclose(self.squares, self.counts, rtol=1e-12, atol=0)

    @property
    def effect(self) -> float:
        """Return the design effect of the weights: variance over that without them."""
        plain = float(self.plain_variances.sum())
        seen = 0.0 if self.is_thin else float(self.variances.sum())
        return max(seen / plain if seen > 0 else self.kish, 1.0)

    @property
    def kish(self) -> float:
        """Return the design effect of the weights on what does not depend on them (Kish 1965)."""
        return float(self.squares.sum() / self.counts.sum())

    @property
    def is_thin(self) -> bool:
        """Tell whether weights leave no variance to see."""
        return self.is_weighted and self.n / self.kish < THIN

    @property
    def several(self) -> bool:
        """Tell whether reports came through more than one arm."""
        return bool(self.owner[-1] > 0)

    @property
    def freedom(self) -> int:
        """Return df of G²: cells free less shares free."""
        possible = int(np.sum(self.chances.max(axis=0) > 0))
        return possible - int(self.owner[-1] + 1) - (len(self.chances) - 1)

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest estimate of each share that these arms can give."""
        sized, possible = self.values * self.sizes, self.chances.max(axis=0) > 0
        lows = np.minimum.reduceat(np.where(possible, sized, np.inf), self._starts, axis=1)
        highs = np.maximum.reduceat(np.where(possible, sized, -np.inf), self._starts, axis=1)
        return lows.sum(axis=1), highs.sum(axis=1)

    @property
    def spans(self) -> Floats:
        return np.asarray(self._bounds[1] - self._bounds[0], dtype=np.float64)

    def intervals(self, shares: Floats, confidence: float) -> tuple[Interval, ...]:
        """Return an interval for each share, within 0 and 1, given the likeliest shares."""
        plain = np.where(self.variances > 0, self.plain_variances, 0.0)
        # so that n* ≤ n of two values
        least = np.where(self._two_valued, plain, self._implied(shares))
        variances = np.zeros_like(least) if self.is_thin else np.maximum(self.variances, least)
        low, high = share_intervals(
            self.moments, variances, self.n / self.effect, *self._bounds, confidence
        )
        return tuple(zip(low.tolist(), high.tolist(), strict=True))

    @property
    def _two_valued(self) -> npt.NDArray[np.bool_]:
        """Tell for which choices the moment is a binomial share in disguise."""
        possible = self.values[:, self.chances.max(axis=0) > 0]
        low, high = possible.min(axis=1, keepdims=True), possible.max(axis=1, keepdims=True)
        near = (high - low) * 1e-9
        two = np.all((possible <= low + near) | (possible >= high - near), axis=1)
        return np.asarray(two & (not self.several))

    def _implied(self, shares: Floats) -> Floats:
        """Return the variances of the moments if these were the true shares."""
        expected = self.sizes * (shares @ self.chances)
        centred = self.values - self.by_arm(self.values * expected) / self.sizes
        return np.asarray(centred**2 @ expected * self.effect, dtype=np.float64)

    def even_errors(self) -> Floats:
        """Return standard errors of the moments if all answers were equally likely."""
        k = len(self.chances)
        return np.asarray(np.sqrt(self._implied(np.full(k, 1 / k))), dtype=np.float64)

    def information_errors(self, shares: Floats) -> Floats | None:
        """Return standard errors of likeliest shares in the simplex, from the information.

        None where the reports that came leave other shares as likely.
        """
        expected = shares @ self.chances
        rates = np.divide(self.counts, expected**2, out=np.zeros_like(expected), where=expected > 0)
        covariance = tangent_covariance((self.chances * rates) @ self.chances.T, self.n)
        return (
            None
            if covariance is None
            else np.asarray(np.sqrt(np.diag(covariance)), dtype=np.float64)
        )
