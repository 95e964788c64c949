"""A logit regression of answers of which only likelihoods are known: Pr[report_i | answer], one row per person.

Everything that `logistic` and `multinomial` share: checks, starts, the climb, errors, warnings.

Estimate   Maximum likelihood (see `latent`), climbed from two starts or more (see `fitting`); with survey weights,
           scaled to add up to n, maximum pseudo-likelihood (Binder 1983).
Error      Observed information J; with survey weights the sandwich J⁻¹ (n/(n − 1) · Σ s sᵀ) J⁻¹, s a row's score.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dpengine.inference import goodness
from dpengine.inference.coefficients import Regression, Scale
from dpengine.inference.fit import Fit
from dpengine.inference.fitting import highest
from dpengine.inference.inputs import SLACK, Floats, left_out, weights_of
from dpengine.inference.latent import Basis, Latent

MIDST = 6.0  # linear predictors of a start are at most this: beyond, a likelihood through a channel is flat
SHARE_ROUNDS = 20  # of EM for the shares to start from
LEAST = 0.01  # share of a choice to start from


class Rows:
    """What a logit is fitted to, checked: rows of weight 0 left out, columns made orthogonal."""

    def __init__(
        self, likelihoods: Floats, design: npt.ArrayLike, names: Sequence[str], weights: npt.ArrayLike | None
    ) -> None:
        self.names, n = [str(name) for name in names], len(likelihoods)
        every = weights_of(weights, n)
        self.used = every > 0
        self.left_out = n - int(self.used.sum())
        self.is_weighted = weights is not None
        self.weights: Floats = every[self.used] * (self.used.sum() / n)
        self.design = design_of(design, self.names, n)[self.used]
        self.likelihoods = likelihoods[self.used]
        self.answers: int = self.likelihoods.shape[1]
        self._check()
        self.basis = Basis.of(self.design, self.names)

    @property
    def size(self) -> int:
        """Return how many coefficients there are."""
        return (self.answers - 1) * len(self.names)

    @property
    def n(self) -> int:
        return len(self.weights)

    @property
    def warnings(self) -> list[str]:
        return left_out(self.left_out)

    def scale(self, names: Sequence[str]) -> Scale:
        """Return how B, climbed with in orthogonal columns, is shown."""
        times = self.answers - 1
        back = np.asarray(np.kron(np.eye(times), self.basis.back), dtype=np.float64)
        constant = tuple(np.ptp(self.design, axis=0) == 0) * times
        return Scale(names, back, np.zeros(len(back)), np.tile(self.basis.spread, times), constant)

    def starts(self, given: npt.ArrayLike | None) -> list[Floats]:
        """Return where to climb from: the shares of all, no preference, and what is given, drawn into the midst.

        Direct answers have one summit, so that one start will do.
        """
        shares = self._shares()
        constants = np.log(shares[1:] / shares[0])[:, np.newaxis] * self.basis.nearest(np.ones(self.n))
        starts = [constants.ravel()]
        if given is not None:
            starts.append(self._start_of(given))
        if not ((self.likelihoods > 0).sum(axis=1) == 1).all():
            starts.append(np.zeros(constants.size))
        return starts

    def _start_of(self, given: npt.ArrayLike) -> Floats:
        beta = np.asarray(given, dtype=np.float64).ravel()
        if len(beta) != (self.answers - 1) * len(self.names) or not np.isfinite(beta).all():
            raise ValueError(
                f"start must be {(self.answers - 1) * len(self.names)} finite numbers, got {len(beta)} numbers"
            )
        across = np.linalg.solve(self.basis.back, beta.reshape(-1, len(self.names)).T)
        farthest = float(np.abs(self.basis.columns @ across).max())
        return np.asarray(across.T.ravel() * (MIDST / max(farthest, MIDST)), dtype=np.float64)

    def _shares(self) -> Floats:
        shares = np.full(self.answers, 1 / self.answers)
        for _ in range(SHARE_ROUNDS):
            joint = self.likelihoods * shares
            shares = self.weights @ (joint / joint.sum(axis=1, keepdims=True)) / self.n
        shares = np.maximum(shares, LEAST)
        return np.asarray(shares / shares.sum(), dtype=np.float64)

    def _check(self) -> None:
        if not np.isfinite(self.likelihoods).all() or self.likelihoods.min() < 0 or self.likelihoods.max() > 1 + SLACK:
            raise ValueError("likelihoods must be chances between 0 and 1")
        best = self.likelihoods.max(axis=1, keepdims=True)
        if best.min() <= 0:
            raise ValueError(f"{int((best <= 0).sum())} reports are impossible: no answer can have led to them")
        if np.ptp(self.likelihoods, axis=1).max() < SLACK:
            raise ValueError("every report is as likely after one answer as after another: nothing can be learned")
        if (self.likelihoods >= best).all(axis=0).any():
            raise ValueError("all reports speak for one and the same answer: there is nothing to compare")
        if self.n < self.size:
            raise ValueError(f"{self.n} rows cannot bear {self.size} coefficients")


def unjudged(chances: Floats) -> Fit | None:
    """Return no fit: of likelihoods alone the reports that did not come are not known."""
    return None


def fitted(
    rows: Rows,
    labels: Sequence[str],
    start: npt.ArrayLike | None = None,
    judge: Callable[[Floats], Fit | None] = unjudged,
    channels: int = 1,
) -> Regression:
    """Return the regression. `judge` holds the fitted chances of the answers, [row, answer], against the reports."""
    hill = Latent(rows.likelihoods, rows.basis.columns, rows.weights)
    best, every = highest(hill, rows.starts(start))
    scale = rows.scale(labels)
    meat = hill.meat(best.at) * (rows.n / (rows.n - 1)) if rows.is_weighted else None
    coefficients, covariance = scale.read(best, meat)
    fit = None if rows.is_weighted else judge(np.exp(hill.log_chances(best.at)).T)
    return Regression(
        n=rows.n,
        coefficients=coefficients,
        log_likelihood=best.height,
        deviance=-2 * best.height,
        fit=fit,
        warnings=(*rows.warnings, *scale.warnings(best, every), *goodness.alarms(fit, channels)),
        covariance=covariance,
        is_weighted=rows.is_weighted,
    )


def design_of(design: npt.ArrayLike, names: Sequence[str], n: int) -> Floats:
    """Return the covariates [row, column], checked."""
    try:
        columns = np.asarray(design, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("design must be numbers") from error
    if columns.ndim != 2 or columns.shape != (n, len(names)) or not len(names):
        raise ValueError(
            f"design must have {n} rows and a column for each of {len(names)} names, got shape {columns.shape}"
        )
    wrong = ~np.isfinite(columns).all(axis=0)
    if wrong.any():
        name = names[int(np.argmax(wrong))]
        raise ValueError(f"column {name} of the design must be finite, got NaN or infinity in some rows")
    return columns
