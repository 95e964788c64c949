"""True answers that follow a logit and are seen through a channel only.

    P(answer a | x) = π_a = exp(x·B_a) / Σ_c exp(x·B_c),   B_0 = 0
    L = Σ_i weight_i · ln Σ_a π_ia · Pr[report_i | a]

With w_ia = P(a | report_i, x_i) = π_ia · Pr[report_i | a] / Σ_c π_ic · Pr[report_i | c] (Louis
1982):

    gradient = Σ weight · (w − π) ⊗ x
    hessian  = Σ weight · [(diag w − wwᵀ) − (diag π − ππᵀ)] ⊗ xxᵀ

the second term being what complete answers would tell, the first what the channel hides of it.
Exact: tests compare both with finite differences. Arrays over answers are [answer, row].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats

COLLINEAR = 1e-8  # of a column's length: what must be left when the columns before it are taken out


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """A design's columns as orthogonal ones of mean square 1.

    X = Z·R, so that θ = R·β for Z·θ = X·β.
    """

    columns: Floats  # Z
    back: Floats  # R⁻¹: β = back·θ
    spread: Floats  # of each column of X: its standard deviation, of a constant its size
    share: Floats  # of all people, who have each row

    @classmethod
    def of(cls, design: Floats, names: Sequence[str], counts: npt.ArrayLike = 1) -> "Basis":
        """Return a basis by Gram and Schmidt, twice over: exact enough (Giraud et al. 2005).

        Means are of people: each row counts so often.
        """
        people = np.broadcast_to(np.asarray(counts, dtype=np.float64), len(design))
        share = people / people.sum()
        length = np.sqrt(share @ design**2)
        columns = np.empty_like(design)
        for place, name in enumerate(names):
            require(length[place], "column {} of the design is 0 in every row", name)
            left = design[:, place] / length[place]
            for _ in range(2):
                left = left - columns[:, :place] @ (columns[:, :place].T @ (share * left))
            size = np.sqrt(share @ left**2)
            require(
                size >= COLLINEAR,
                "column {} of the design follows from the columns before it: leave one out",
                name,
            )
            columns[:, place] = left / size
        back = (
            np.linalg.inv(np.triu((columns.T * share) @ (design / length))) / length[:, np.newaxis]
        )
        deviation = np.sqrt(share @ (design - share @ design) ** 2)
        spread = np.where(deviation > COLLINEAR * length, deviation, length)
        return cls(columns, back, spread, share)

    def nearest(self, values: Floats) -> Floats:
        """Return θ whose linear predictor is nearest to these values, by least squares."""
        return np.asarray(self.columns.T @ (self.share * values), dtype=np.float64)


class Latent:
    """A log-likelihood to climb. Parameters: B_1, …, B_(k−1), one after the other."""

    def __init__(self, likelihoods: Floats, columns: Floats, weights: Floats) -> None:
        """Take Pr[report | answer] as [row, answer], orthogonal columns and a weight a row."""
        with np.errstate(divide="ignore"):  # ln 0 = −∞ is what it should be
            self.logs: Floats = np.log(likelihoods.T.copy())
        self.columns, self.weights = columns, weights
        self.answers, self.width = len(self.logs), columns.shape[1]

    def log_chances(self, at: Floats) -> Floats:
        """Return ln π."""
        predictors = np.zeros_like(self.logs)
        predictors[1:] = at.reshape(self.answers - 1, -1) @ self.columns.T
        return predictors - log_sum(predictors)

    def height(self, at: Floats) -> float:
        return float(self.weights @ log_sum(self.log_chances(at) + self.logs))

    def slopes(self, at: Floats) -> tuple[float, Floats, Floats]:
        log_chances = self.log_chances(at)
        total = log_sum(log_chances + self.logs)
        chances, posteriors = np.exp(log_chances), np.exp(log_chances + self.logs - total)
        gradient = self.weights @ self._scores(chances, posteriors)
        return float(self.weights @ total), gradient, self._hessian(chances, posteriors)

    def meat(self, at: Floats, counts: npt.ArrayLike = 1) -> Floats:
        """Return Σ (weight · score)(weight · score)ᵀ over people, so many a row: the middle of the
        sandwich.
        """
        log_chances = self.log_chances(at)
        joint = log_chances + self.logs
        scores = self._scores(np.exp(log_chances), np.exp(joint - log_sum(joint)))
        weighted = scores * (self.weights / np.sqrt(counts))[:, np.newaxis]
        return np.asarray(weighted.T @ weighted, dtype=np.float64)

    def _scores(self, chances: Floats, posteriors: Floats) -> Floats:
        """Return each row's gradient, [row, parameter]."""
        surprise = (posteriors - chances)[1:]
        return np.hstack([answer[:, np.newaxis] * self.columns for answer in surprise])

    def _hessian(self, chances: Floats, posteriors: Floats) -> Floats:
        """Return the second derivatives, two answers of the logit at a time."""
        block = np.empty((self.answers - 1, self.width, self.answers - 1, self.width))
        for a in range(1, self.answers):
            for b in range(1, a + 1):
                hidden = (
                    (a == b) * (posteriors[a] - chances[a])
                    - posteriors[a] * posteriors[b]
                    + chances[a] * chances[b]
                )
                block[a - 1, :, b - 1] = (self.columns.T * (self.weights * hidden)) @ self.columns
                block[b - 1, :, a - 1] = block[a - 1, :, b - 1]
        return block.reshape((self.answers - 1) * self.width, -1)


def log_sum(logs: Floats) -> Floats:
    """Return ln Σ exp over the answers."""
    top = logs.max(axis=0)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)), dtype=np.float64)
