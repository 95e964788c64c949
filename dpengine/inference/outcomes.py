"""An open number that depends on a true answer seen through a channel only: its likelihood, under
normal errors.

    L = Σ_i weight_i · ln Σ_a π_ia · Pr[report_i | a] · φ((y_i − η_ia)/σ)/σ,   η_ia = z_i·β + γ_a

φ the normal density, γ_0 = 0, π the logit of `latent`. Parameters: those of π, then β, γ_1, …,
γ_(k−1), ln σ.

With S_a and H_a the derivatives of one answer's ln(π_a · φ/σ), w_a = P(a | report, y, z), s̄ = Σ_a
w_a·S_a (Louis 1982):

    gradient = Σ weight · s̄
    hessian  = Σ weight · [Σ_a w_a·(H_a + S_a·S_aᵀ) − s̄·s̄ᵀ]

Exact: tests compare both with finite differences. Arrays over answers are [answer, row].
"""

import math
from collections.abc import Iterator

import numpy as np

from dpengine.estimates import Floats
from dpengine.inference.latent import Latent, log_sum

LOG_ROOT_TAU = 0.9189385332046727  # ln √(2π)


class Outcome:
    """A log-likelihood to climb."""

    def __init__(self, answers: Latent, values: Floats) -> None:
        """Take what the reports alone say, on orthogonal columns z, and the outcome y."""
        self.answers, self.values = answers, values
        self.columns, self.weights = answers.columns, answers.weights
        self.dummies = np.eye(answers.answers)[:, 1:]  # [answer, γ]
        self.logits = self.dummies.shape[1] * answers.width

    def height(self, at: Floats) -> float:
        return float(self.weights @ log_sum(self._terms(at)[2]))

    def slopes(self, at: Floats) -> tuple[float, Floats, Floats]:
        log_chances, errors, terms = self._terms(at)
        total, sd = log_sum(terms), math.exp(at[-1])
        posteriors, own = np.exp(terms - total), slice(self.logits, -1)
        mean, hessian = np.zeros((len(self.values), len(at))), np.zeros((len(at), len(at)))
        for scores, dummy, off, chance in zip(
            self._scores(log_chances, errors, sd), self.dummies, errors, posteriors, strict=True
        ):
            weight = chance * self.weights
            mean += scores * chance[:, np.newaxis]
            hessian += (scores.T * weight) @ scores
            seen = self._seen(dummy)
            by_both = seen.T @ (2 * weight * off / sd)
            hessian[own, own] -= (seen.T * (weight / sd**2)) @ seen
            hessian[own, -1] -= by_both
            hessian[-1, own] -= by_both
            hessian[-1, -1] -= 2 * float(weight @ off**2)
        hessian -= (mean.T * self.weights) @ mean
        hessian[: self.logits, : self.logits] -= self._information(np.exp(log_chances[1:]))
        return float(self.weights @ total), self.weights @ mean, hessian

    def meat(self, at: Floats) -> Floats:
        """Return Σ (weight · score)(weight · score)ᵀ: the middle of the sandwich."""
        log_chances, errors, terms = self._terms(at)
        posteriors = np.exp(terms - log_sum(terms))
        every = zip(self._scores(log_chances, errors, math.exp(at[-1])), posteriors, strict=True)
        mean = sum(scores * (chance * self.weights)[:, np.newaxis] for scores, chance in every)
        return np.asarray(np.transpose(mean) @ mean, dtype=np.float64)

    def _terms(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        """Return ln π, errors in σ, and the logarithms of what each answer adds to a row."""
        slopes, shifts = np.split(at[self.logits : -1], [self.answers.width])
        means = self.columns @ slopes + (self.dummies @ shifts)[:, np.newaxis]
        errors = (self.values - means) * math.exp(-at[-1])
        log_chances = self.answers.log_chances(at[: self.logits])
        density = -(errors**2) / 2 - at[-1] - LOG_ROOT_TAU
        return log_chances, errors, log_chances + self.answers.logs + density

    def _scores(self, log_chances: Floats, errors: Floats, sd: float) -> Iterator[Floats]:
        """Yield S_a of every row, [row, parameter], for one answer after the other."""
        chances = np.exp(log_chances[1:])
        for dummy, off in zip(self.dummies, errors, strict=True):
            surprise = [row[:, np.newaxis] * self.columns for row in dummy[:, np.newaxis] - chances]
            by_mean = self._seen(dummy) * (off / sd)[:, np.newaxis]
            yield np.column_stack([*surprise, by_mean, off**2 - 1])

    def _seen(self, dummy: Floats) -> Floats:
        """Return what β and γ multiply if this were everybody's answer."""
        return np.column_stack([self.columns, np.tile(dummy, (len(self.columns), 1))])

    def _information(self, chances: Floats) -> Floats:
        """Return Σ weight · (diag π − ππᵀ) ⊗ zzᵀ."""
        blocks = [
            [
                (self.columns.T * (self.weights * one * ((i == j) - other))) @ self.columns
                for j, other in enumerate(chances)
            ]
            for i, one in enumerate(chances)
        ]
        return np.asarray(np.block(blocks), dtype=np.float64)
