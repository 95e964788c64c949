"""Climb a log-likelihood that need not be concave, from any start, to a summit that has been
checked.

Step       s = V · (Vᵀg / |d|) with −H = V·diag(d)·Vᵀ: Newton's step with every curvature taken as
           positive, so it leads uphill from saddles and hollows too (Dauphin et al. 2014) and is
           Newton's own near a summit. At most REACH long (far out, half the way there: ridges are
           long), then halved until the height rises by a fair part of the slope (Armijo 1966): like
           EM it never descends, but it does not crawl.
End        Where a whole step promises less than DONE. Two more of Newton's steps square the
           remaining error twice.
Starts     A likelihood through a channel is nearly flat where all chances are near 0 or 1: who
           starts there stays there (R's `rr` does). So climbs are from several starts in the midst,
           and the highest summit counts. Where information is weak more climbs start around the
           best: of 145 samples of 60 to 500 people with something higher elsewhere these found 106;
           starts along single coefficients had found one in seven. Small samples may have a higher
           ridge (a threshold in the covariates that fits them by accident): it counts only if the
           likelihood ratio rejects the summit.
Errors     −H is the observed information. A direction with d < WEAK has a standard error above 100:
           the likelihood has no summit there, only a ridge that rises for ever (perfect separation;
           reports beyond what the channel allows). Such directions are left out of the inverse:
           elsewhere it holds at the ridge's end.
Units      Parameters are to be scaled so that a step of 1 changes linear predictors by 1 or so: see
           `latent.Basis`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy

from dpengine.estimates import Floats

ROUNDS = 300  # of one climb; ten are usual, a ridge takes forty
HALVINGS = 40
REACH = 3.0  # the longest step
# of log-likelihood that a step may still win: coefficients are within 5e-5 of their errors, then
# polished
DONE = 1e-9
DONE_ON_RIDGE = (
    1e-7  # the same along a ridge, where each step may win half of what the last one won
)
FLAT = 1e-10  # curvatures below count as this
WEAK = 1e-4  # curvatures below give standard errors above 100
SAME = 1e-6  # heights that differ by less are one height
# standard errors from the best summit in its weakest direction: where else climbs start
AROUND = (3, 8, 20)
LEAST = 0.04  # curvature taken for less: errors of 5
# where all curvatures are above this, errors below .32, one summit is all: others were seen below 3
STEEP = 10.0
# that a likelihood ratio in favour of a ridge is as large, when the truth is at the summit
CHANCE = 0.05


class Hill(Protocol):
    def height(self, at: Floats) -> float: ...

    def slopes(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Return height, gradient and the matrix of second derivatives."""
        ...


@dataclass(frozen=True, eq=False)
class Summit:
    """A point on a hill, and how the hill lies there. Axes are found when asked for."""

    at: Floats
    height: float
    gradient: Floats
    information: Floats  # −H

    @property
    def curvatures(self) -> Floats:
        """Return the eigenvalues of −H, ascending."""
        return self._axes[0]

    @property
    def weak(self) -> Floats:
        """Return the directions without a summit, as columns."""
        return self._axes[1][:, self.curvatures < WEAK]

    @cached_property
    def step(self) -> Floats:
        try:
            return np.asarray(
                scipy.linalg.cho_solve((np.linalg.cholesky(self.information), True), self.gradient)
            )
        except np.linalg.LinAlgError:  # not a hilltop
            return np.asarray(self._axes[1] @ (self._slopes / self._bends), dtype=np.float64)

    @property
    def gain(self) -> float:
        """Return what one more step promises."""
        return float(self.gradient @ self.step)

    @property
    def is_reached(self) -> bool:
        """Tell whether nothing is left to win."""
        if not DONE < self.gain <= DONE_ON_RIDGE:
            return self.gain <= DONE
        is_strong = self.curvatures >= WEAK
        return bool((self._slopes**2 / self._bends)[is_strong].sum() <= DONE)

    @cached_property
    def _axes(self) -> tuple[Floats, Floats]:
        """Return the curvatures and, as columns, their directions."""
        curvatures, directions = np.linalg.eigh(self.information)
        return curvatures, directions

    @property
    def _slopes(self) -> Floats:
        """Return the slope along each axis."""
        return np.asarray(self._axes[1].T @ self.gradient, dtype=np.float64)

    @property
    def _bends(self) -> Floats:
        """Return the curvature along each axis, as if it were a hilltop's."""
        return np.maximum(np.abs(self.curvatures), FLAT)

    def around(self) -> list[Floats]:
        """Return points to either side in the weakest direction, where other summits may be."""
        error = 1 / np.sqrt(max(float(self.curvatures[0]), LEAST))
        return [
            self.at + way * times * error * self._axes[1][:, 0]
            for times in AROUND
            for way in (-1, 1)
        ]

    def covariance(self, meat: Floats | None = None) -> Floats:
        """Return the inverse information, or the sandwich around `meat`.

        Directions without a summit are left out.
        """
        strong = self._axes[1][:, self.curvatures >= WEAK]
        inverse = (strong / self.curvatures[self.curvatures >= WEAK]) @ strong.T
        return inverse if meat is None else inverse @ meat @ inverse


def highest(hill: Hill, starts: Sequence[Floats]) -> tuple[Summit, list[Summit]]:
    """Return the highest summit, and all that were reached, also by climbs from around it."""
    summits = [climb(hill, start) for start in starts]
    best = _best(summits)
    if best.curvatures[0] < STEEP or any(best.height - other.height > SAME for other in summits):
        summits += [climb(hill, start) for start in best.around()]
        best = _best(summits)
    return best, summits


def climb(hill: Hill, start: Floats) -> Summit:
    """Return the summit above a start; one that is not `is_reached` is none."""
    here = _survey(hill, start)
    for _ in range(ROUNDS):
        if here.is_reached:
            return _polished(hill, here)
        there = _uphill(hill, here)
        if there is None:
            break
        here = _survey(hill, there)
    return here


def _best(climbed: Sequence[Summit]) -> Summit:
    """Return the highest summit, unless a ridge is higher by more than chance allows."""
    reached = [summit for summit in climbed if summit.is_reached]
    if not reached:
        promise = min(summit.gain for summit in climbed)
        raise ArithmeticError(
            f"the likelihood was not maximised in {ROUNDS} rounds: one more still promises "
            f"{promise:.2g}"
        )
    top = max(reached, key=lambda summit: summit.height)
    summits = [summit for summit in reached if not summit.weak.size]
    if not summits:
        return top
    best = max(summits, key=lambda summit: summit.height)
    allowed = float(scipy.special.chdtri(len(best.at), CHANCE)) / 2
    return best if top.height - best.height < allowed else top


def _survey(hill: Hill, at: Floats) -> Summit:
    height, gradient, hessian = hill.slopes(at)
    return Summit(at, height, gradient, -(hessian + hessian.T) / 2)


def _uphill(hill: Hill, here: Summit) -> Floats | None:
    """Return a higher point, or None where arithmetic finds none."""
    reach = max(REACH, float(np.linalg.norm(here.at)) / 2)
    step = here.step * min(1.0, reach / max(float(np.linalg.norm(here.step)), reach))
    slope = float(here.gradient @ step)
    rounding = 1e-14 * abs(here.height)
    for _ in range(HALVINGS):
        if hill.height(here.at + step) >= here.height + 1e-4 * slope - rounding:
            return here.at + step
        step, slope = step / 2, slope / 2
    return None


def _polished(hill: Hill, here: Summit) -> Summit:
    """Return the summit after two of Newton's steps, which would run on along a ridge."""
    for _ in range(0 if here.weak.size else 2):
        there = _survey(hill, here.at + here.step)
        here = there if there.gain <= here.gain else here
    return here
