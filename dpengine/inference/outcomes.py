"""An open outcome that depends on a true answer seen through a channel only.

    L = Σ_i weight_i · ln Σ_a π_ia · Pr[report_i | a] · f(y_i | η_ia; κ),    η_ia = x_i·β + γ_a,  π as in `latent`

Linear     f normal, mean η, standard deviation e^κ.
Logistic   f = μ^y (1 − μ)^(1 − y), μ = expit(η); no κ.
Parameters Those of π, then β, γ_1, …, γ_(k−1) (γ_0 = 0), κ.
Hessian    Louis 1982: Σ weight · (Σ_a w_a H_a + Σ_a w_a g_a g_aᵀ − ḡ ḡᵀ), with g_a and H_a the derivatives of
           ln(π_a f_a), w_a = P(a | report, y, x), ḡ = Σ_a w_a g_a. Those of ln f are numbers (of η and κ) times
           regressors, so that nothing is larger than the rows. Exact: tests compare it with finite differences.
"""

from typing import Protocol

import numpy as np
from scipy import special

from dpengine.inference.inputs import Floats
from dpengine.inference.latent import Latent

LOG_ROOT_TAU = 0.9189385332046727  # ln √(2π)


class Outcome(Protocol):
    """ln f and its derivatives by (η, κ). Arrays over η are [answer, row]; `rest` is κ, a vector of `rests` numbers."""

    rests: int

    def log_densities(self, predictors: Floats, rest: Floats) -> Floats: ...

    def firsts(self, predictors: Floats, rest: Floats) -> Floats:
        """Return first derivatives, [by, answer, row]."""
        ...

    def seconds(self, predictors: Floats, rest: Floats) -> Floats:
        """Return second derivatives, [by, by, answer, row]."""
        ...


class Logistic:
    """A yes or no, openly given."""

    rests = 0

    def __init__(self, yes: Floats) -> None:
        self.yes = yes

    def log_densities(self, predictors: Floats, rest: Floats) -> Floats:
        return np.asarray(special.log_expit(np.where(self.yes == 1, predictors, -predictors)), dtype=np.float64)

    def firsts(self, predictors: Floats, rest: Floats) -> Floats:
        return np.asarray((self.yes - special.expit(predictors))[np.newaxis], dtype=np.float64)

    def seconds(self, predictors: Floats, rest: Floats) -> Floats:
        return np.asarray(-(special.expit(predictors) * special.expit(-predictors))[np.newaxis, np.newaxis])


class Linear:
    """A number, openly given, with normal errors of standard deviation e^κ."""

    rests = 1

    def __init__(self, values: Floats) -> None:
        self.values = values

    def log_densities(self, predictors: Floats, rest: Floats) -> Floats:
        return np.asarray(-LOG_ROOT_TAU - rest[0] - self._errors(predictors, rest) ** 2 / 2, dtype=np.float64)

    def firsts(self, predictors: Floats, rest: Floats) -> Floats:
        errors = self._errors(predictors, rest)
        return np.stack([errors / np.exp(rest[0]), errors**2 - 1])

    def seconds(self, predictors: Floats, rest: Floats) -> Floats:
        errors, spread = self._errors(predictors, rest), np.exp(rest[0])
        by_both = -2 * errors / spread
        return np.stack([np.stack([np.full_like(errors, -(spread**-2)), by_both]), np.stack([by_both, -2 * errors**2])])

    def _errors(self, predictors: Floats, rest: Floats) -> Floats:
        """Return errors in standard deviations."""
        return np.asarray((self.values - predictors) / np.exp(rest[0]), dtype=np.float64)


class LatentPredictor(Latent):
    """A log-likelihood to climb, of reports and outcome together. x has columns of its own."""

    def __init__(
        self, likelihoods: Floats, columns: Floats, weights: Floats, outcome: Outcome, regressors: Floats
    ) -> None:
        super().__init__(likelihoods, columns, weights)
        self.outcome, self.regressors = outcome, regressors
        self.slopes_size = regressors.shape[1]
        self.own_size = self.slopes_size + self.answers - 1 + outcome.rests

    def evidence(self, at: Floats) -> Floats:
        return self.logs + self.outcome.log_densities(*self._predictors(at))

    def scores(self, at: Floats, chances: Floats, posteriors: Floats) -> Floats:
        firsts = posteriors * self.outcome.firsts(*self._predictors(at))
        by_slopes = firsts[0].sum(axis=0)[:, np.newaxis] * self.regressors
        return np.hstack(
            [super().scores(at, chances, posteriors), by_slopes, firsts[0, 1:].T, firsts[1:].sum(axis=1).T]
        )

    def hessian(self, at: Floats, chances: Floats, posteriors: Floats, scores: Floats) -> Floats:
        size = self.shares_size
        mean, firsts = scores[:, size:], self.outcome.firsts(*self._predictors(at))
        products = firsts[:, np.newaxis] * firsts + self.outcome.seconds(*self._predictors(at))
        whole = np.empty((len(at), len(at)))
        whole[:size, :size] = super().hessian(at, chances, posteriors, scores)
        whole[size:, size:] = self._gram(products * posteriors * self.weights) - (mean.T * self.weights) @ mean
        for answer in range(1, self.answers):
            weight = (posteriors[answer] * self.weights)[:, np.newaxis]
            place = slice((answer - 1) * self.width, answer * self.width)
            whole[size:, place] = (self._score_if(answer, firsts) - mean).T @ (self.columns * weight)
        whole[:size, size:] = whole[size:, :size].T
        return whole

    def _predictors(self, at: Floats) -> tuple[Floats, Floats]:
        """Return η, [answer, row], and κ."""
        slopes, shifts, rest = np.split(at[self.shares_size :], [self.slopes_size, self.slopes_size + self.answers - 1])
        return self.regressors @ slopes + np.append(0.0, shifts)[:, np.newaxis], rest

    def _score_if(self, answer: int, firsts: Floats) -> Floats:
        """Return d ln f by β, γ and κ, [row, parameter], if this were everybody's answer."""
        scores = np.zeros((len(self.regressors), self.own_size))
        scores[:, : self.slopes_size] = firsts[0, answer][:, np.newaxis] * self.regressors
        scores[:, self.slopes_size + answer - 1] = firsts[0, answer]
        scores[:, self.own_size - self.outcome.rests :] = firsts[1:, answer].T
        return scores

    def _gram(self, weights: Floats) -> Floats:
        """Return Σ over answers and rows of weights[by, by] times products of what η and κ multiply."""
        last = self.own_size - self.outcome.rests
        shifts, rest = slice(self.slopes_size, last), slice(last, None)
        gram = np.zeros((self.own_size, self.own_size))
        gram[: self.slopes_size, : self.slopes_size] = (self.regressors.T * weights[0, 0].sum(axis=0)) @ self.regressors
        gram[: self.slopes_size, shifts] = self.regressors.T @ weights[0, 0, 1:].T
        gram[: self.slopes_size, rest] = self.regressors.T @ weights[0, 1:].sum(axis=1).T
        gram[shifts, shifts] = np.diag(weights[0, 0, 1:].sum(axis=1))
        gram[shifts, rest] = weights[0, 1:, 1:].sum(axis=2).T
        gram[rest, rest] = weights[1:, 1:].sum(axis=(2, 3))
        return np.asarray(np.triu(gram) + np.triu(gram, 1).T, dtype=np.float64)
