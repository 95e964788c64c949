"""Logistic regression of an open yes or no on covariates and on an answer that was seen through a
channel.

    P(y = 1 | x, a) = expit(x·β + γ_a),   γ_0 = 0

Estimate   Maximum likelihood of outcome and report together. The pair (a, y) is taken as the answer
           of one multinomial logit (`latent`) whose coefficients are tied,

               ln P(a, y | x) − ln P(0, 0 | x) = x·A_a + y·(x·β + γ_a),   A_0 = 0,

           which is the model above, with P(a | x, y = 0) a multinomial logit of the covariates. Its
           likelihood, gradient and second derivatives are `latent`'s through the linear map C from
           (A, β, γ) to the logit's coefficients: g(Cφ) has Cᵀg' and Cᵀg''C. A pair that is not the
           row's y has chance 0 of its report.
Error      Observed information; under survey weights the sandwich (see `logit`, `coefficients`).
Names      "drug=1" is γ_1: what the true answer 1 adds to the outcome's log odds against answer 0.
By hand    No covariates, two answers: e^γ is the odds ratio of the likeliest table of answer and
           outcome, the same whichever of the two is called the outcome (Cornfield 1951). Direct
           answers, 20 yes of 100 of answer 1 and 10 of 100 of answer 0: β = ln(10/90), γ = ln 2.25.
Sources    van den Hout and Kooiman 2006; Blair, Imai and Zhou 2015, § 4; Louis 1982.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.inference.coefficients import Regression, Scale
from dpengine.inference.fitting import highest
from dpengine.inference.inputs import aligned, arms_of, likelihoods_of
from dpengine.inference.latent import Latent
from dpengine.inference.logit import Rows


def logistic_predictor(
    yes: npt.ArrayLike,
    reports: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    matrices: Sequence[npt.ArrayLike],
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    label: str = "answer",
    first: int = 0,
) -> Regression:
    """Return the regression of an open yes or no on the design, its constant included, and on an
    answer that came through each arm's channel [answer, report].

    Reports are counted from 0; "drug=1" is γ of choice 1, choice 0 is called `first`.
    """
    codes, arms, channels = arms_of(reports, matrices, arm)
    rows = Rows(likelihoods_of(codes, arms, channels), design, names, weights)
    seen = aligned(yes, "outcome", len(codes))[rows.used]
    require(
        set(np.unique(seen).tolist()) == {0.0, 1.0},
        "outcome must be 0 or 1 in every row, and both must occur",
    )
    tied = _Tied(rows, seen)
    require(rows.n >= tied.size, "{} rows cannot bear {} coefficients", rows.n, tied.size)
    best, summits = highest(tied, tied.starts())
    scale = tied.scale(label, first)
    meat = tied.meat(best.at) * (rows.n / (rows.n - 1)) if rows.is_weighted else None
    every, covariance = scale.read(best, meat)
    own = slice(tied.answers_size, None)
    warnings = (*rows.warnings, *scale.warnings(best, summits))
    return Regression(rows.n, every[own], best.height, None, warnings, covariance[own, own])


class _Tied:
    """A log-likelihood to climb: of the pairs of answer and outcome, their coefficients tied."""

    def __init__(self, rows: Rows, yes: Floats) -> None:
        self.rows, self.yes, self.width = rows, yes, rows.basis.columns.shape[1]
        self.answers_size = (rows.answers - 1) * self.width
        self.size = self.answers_size + self.width + rows.answers - 1
        pairs = np.stack([1 - yes, yes], axis=1)[:, np.newaxis, :]
        likelihoods = (rows.likelihoods[:, :, np.newaxis] * pairs).reshape(rows.n, -1)
        self.hill = Latent(likelihoods, rows.basis.columns, rows.weights)
        self.back = self._back()

    def height(self, at: Floats) -> float:
        return self.hill.height(self.back @ at)

    def slopes(self, at: Floats) -> tuple[float, Floats, Floats]:
        height, gradient, hessian = self.hill.slopes(self.back @ at)
        return height, self.back.T @ gradient, self.back.T @ hessian @ self.back

    def meat(self, at: Floats) -> Floats:
        """Return Σ (weight · score)(weight · score)ᵀ: the middle of the sandwich."""
        return np.asarray(self.back.T @ self.hill.meat(self.back @ at) @ self.back)

    def starts(self) -> list[Floats]:
        """Return where to climb from: what reports and outcomes say alone, and no γ."""
        share = float(np.average(self.yes, weights=self.rows.weights))
        alone = scipy.special.logit(share) * self.rows.basis.nearest(np.ones(self.rows.n))
        shifts = np.zeros(self.rows.answers - 1)
        return [np.concatenate([start, alone, shifts]) for start in self.rows.starts()]

    def scale(self, label: str, first: int) -> Scale:
        """Return how the parameters are shown: A, then β, then γ."""
        kinds = [f"{label}={first + answer}" for answer in range(1, self.rows.answers)]
        shares = self.rows.scale([f"{kind}: {name}" for kind in kinds for name in self.rows.names])
        own = shares.constant[: self.width]
        back = scipy.linalg.block_diag(shares.back, self.rows.basis.back, np.eye(len(kinds)))
        return Scale(
            names=[*shares.names, *self.rows.names, *kinds],
            back=np.asarray(back, dtype=np.float64),
            spread=np.concatenate([shares.spread, self.rows.basis.spread, np.ones(len(kinds))]),
            constant=(*shares.constant, *own, *[False] * len(kinds)),
        )

    def _back(self) -> Floats:
        """Return C: a row for each coefficient of the pairs (0, 1), (1, 0), (1, 1), (2, 0), …"""
        constant = self.rows.basis.nearest(np.ones(self.rows.n))
        slopes = slice(self.answers_size, self.answers_size + self.width)
        back = np.zeros((2 * self.rows.answers, self.width, self.size))
        for answer in range(self.rows.answers):
            for outcome in range(2):
                block = back[2 * answer + outcome]
                if answer:
                    start = (answer - 1) * self.width
                    block[:, start : start + self.width] = np.eye(self.width)
                if outcome:
                    block[:, slopes] = np.eye(self.width)
                if answer and outcome:
                    block[:, self.answers_size + self.width + answer - 1] = constant
        return back[1:].reshape(-1, self.size)
