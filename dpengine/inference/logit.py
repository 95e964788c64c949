"""A logit regression of answers of which only likelihoods are known: Pr[report_i | answer], one row
per person, or per people who are alike (`repeats`).

All that `logistic` and `multinomial` share: checks, starts, the climb, errors, warnings.

Estimate   Maximum likelihood (see `latent`), climbed from two starts or more (see `fitting`); with
           survey weights, scaled to add up to n, maximum pseudo-likelihood (Binder 1983).
Error      Observed information J; with survey weights the sandwich J⁻¹ (n/(n − 1) · Σ s sᵀ) J⁻¹, s
           a row's score.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.inference.coefficients import Regression, Scale
from dpengine.inference.fit import Fit
from dpengine.inference.fitting import highest
from dpengine.inference.inputs import SLACK, left_out, weights_of
from dpengine.inference.latent import Basis, Latent
from dpengine.inference.repeats import Repeats

SHARE_ROUNDS = 20  # of EM for the shares to start from
LEAST = 0.01  # share of a choice to start from


class Rows:
    """What a logit is fitted to, checked: rows of weight 0 left out, columns made orthogonal."""

    def __init__(
        self,
        likelihoods: Floats,
        design: npt.ArrayLike,
        names: Sequence[str],
        weights: npt.ArrayLike | None,
        repeats: Repeats | None = None,
    ) -> None:
        self.names, rows = [str(name) for name in names], len(likelihoods)
        everybody = Repeats.of(repeats, rows)
        scaled = weights_of(weights, rows)
        self.used = scaled > 0
        self.repeats = everybody.only(self.used)
        self.n = self.repeats.people
        self.warnings = left_out(everybody.people - self.n)
        self.is_weighted = weights is not None
        weighted = scaled[self.used] * self.repeats.counts
        self.weights: Floats = weighted * (self.n / weighted.sum())  # of all people of a row
        self.design = _columns(design, self.names, rows)[self.used]
        self.likelihoods = likelihoods[self.used]
        self.answers: int = self.likelihoods.shape[1]
        self._check()
        self.basis = Basis.of(self.design, self.names, self.repeats.counts)

    def scale(self, labels: Sequence[str]) -> Scale:
        """Return how B, climbed with in orthogonal columns, is shown."""
        times = self.answers - 1
        back = np.asarray(np.kron(np.eye(times), self.basis.back), dtype=np.float64)
        constant = tuple(np.ptp(self.design, axis=0) == 0) * times
        return Scale(labels, back, np.tile(self.basis.spread, times), constant)

    def starts(self) -> list[Floats]:
        """Return where to climb from: the shares of all, and no preference.

        Direct answers have one summit, so that one start will do.
        """
        shares = np.full(self.answers, 1 / self.answers)
        for _ in range(SHARE_ROUNDS):
            joint = self.likelihoods * shares
            shares = self.weights @ (joint / joint.sum(axis=1, keepdims=True)) / self.n
        shares = np.maximum(shares, LEAST)
        shares = shares / shares.sum()
        constant = self.basis.nearest(np.ones(len(self.design)))
        starts = [(np.log(shares[1:] / shares[0])[:, np.newaxis] * constant).ravel()]
        if not ((self.likelihoods > 0).sum(axis=1) == 1).all():
            starts.append(np.zeros(len(starts[0])))
        return starts

    def _check(self) -> None:
        best = self.likelihoods.max(axis=1, keepdims=True)
        require(
            best.min() > 0,
            "{} reports are impossible: no answer can have led to them",
            int(self.repeats.counts[best[:, 0] <= 0].sum()),
        )
        require(
            np.ptp(self.likelihoods, axis=1).max() >= SLACK,
            "every report is as likely after one answer as after another: nothing can be learned",
        )
        require(
            not (self.likelihoods >= best).all(axis=0).any(),
            "all reports speak for one and the same answer: there is nothing to compare",
        )
        require(
            self.n >= (size := ((self.answers - 1) * len(self.names))),
            "{} rows cannot bear {} coefficients",
            self.n,
            size,
        )


def fitted(
    rows: Rows, labels: Sequence[str], judge: Callable[[Floats], Fit | None], channels: int
) -> Regression:
    """Return the regression of rows that came through so many channels.

    `judge` holds the fitted chances of the answers, [row, answer], against the reports.
    """
    hill = Latent(rows.likelihoods, rows.basis.columns, rows.weights)
    best, summits = highest(hill, rows.starts())
    scale = rows.scale(labels)
    counts = rows.repeats.counts
    meat = hill.meat(best.at, counts) * (rows.n / (rows.n - 1)) if rows.is_weighted else None
    coefficients, covariance = scale.read(best, meat)
    fit = None if rows.is_weighted else judge(np.exp(hill.log_chances(best.at)).T)
    warnings = [*rows.warnings, *scale.warnings(best, summits)]
    if fit is not None and fit.is_poor:
        reason = (
            "people asked in different ways do not agree; non-compliance may be at work"
            if channels > 1
            else "a term may be missing"
        )
        warnings.append(
            f"the model does not fit the reports (G2 = {fit.g2:.2f}, df = {fit.df}, "
            f"p = {fit.p:.2g}): {reason}"
        )
    return Regression(rows.n, coefficients, best.height, fit, tuple(warnings), covariance)


def _columns(design: npt.ArrayLike, names: Sequence[str], n: int) -> Floats:
    """Return the covariates [row, column], checked."""
    try:
        columns = np.asarray(design, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("design must be numbers") from error
    require(
        columns.ndim == 2 and columns.shape == (n, len(names)) and len(names),
        "design must have {} rows and a column for each of {} names, got shape {}",
        n,
        len(names),
        columns.shape,
    )
    wrong = ~np.isfinite(columns).all(axis=0)
    require(
        not wrong.any(),
        "column {} of the design must be finite, got NaN or infinity in some rows",
        names[int(np.argmax(wrong))],
    )
    return columns
