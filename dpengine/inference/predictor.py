"""Linear regression of a number on covariates and on an answer that was seen through a channel.

    y = x·β + γ_a + e,  γ_0 = 0;  E[e | x, a] = 0;  the report depends on the true answer a alone

Nothing is assumed of the law of e: not its shape, nor one spread. Without E[e | x, a] = 0 the least
squares line of y on x and the true answers is estimated.

Estimate   Corrected score. u_j(r), with Σ_r P[a, r]·u_j(r) = 1{a = j}, is unbiased for d_j = 1{a =
           j} given a, and so are x·u_j for x·d_j and y·u_j for y·d_j. u_j·u_l is not for d_j·d_l,
           but that is d_j where j = l, else 0: u_j and 0 stand for it. So E[Aθ − b] = 0 for
               A = Σ w·[[xxᵀ, xuᵀ], [uxᵀ, diag u]],   b = Σ w·y·[x, u],   θ̂ = A⁻¹b.
           More kinds of reports than answers have many such u: U = (PΛ⁻¹Pᵀ)⁻¹PΛ⁻¹ with Λ the shares
           of the reports has the least variance on average.
Error      Sandwich: A⁻¹ (n/(n − parameters) · Σ s sᵀ) A⁻¹, s a row's w·(b − Aθ̂). It holds whatever
           the spread of e does, and holds the noise of the channel.
Weak       The answers' variance given x divides: D = diag(ū) − ccᵀ, c the mean products of u with
           orthonormal covariates z. Its least eigenvalue g·D·g is to first order the mean of Σ
           g_j²·u_j − 2(cg·z)(u·g) + (cg·z)², to second less as many squares, of means of u·g −
           cg·z, as there are covariates: both make its error. Under HELD errors above 0 Fieller's
           set of θ is unbounded, and so are the errors here, with a warning; under STEADY a warning
           says that intervals may be too narrow.
Likeliest  Beside it the maximum of the likelihood of outcome and report together (see `outcomes`),
           climbed from the corrected score. It is the narrower where errors are normal, and wrong
           where not: skewed errors pass for hidden answers. Further away than chance allows, a
           warning says so (Hausman 1978: the variances differ by that of the difference).
By hand    Direct answers: ordinary least squares on dummies, White's errors times n/(n − p). Warner
           p = 3/4, no covariate: u = −½ and 1½; of y = 4, 6 | 2, 0 with reports 1, 1 | 0, 0: Σu =
           2, Σy = 12, Σuy = 14; 4β + 2γ = 12 and 2β + 2γ = 14: β = −1, γ = 8.
Sources    Nakamura 1990 (corrected score); Akazawa, Kinukawa and Nakamura 1998 (misclassified);
           van den Hout and Kooiman 2006; White 1980; Fieller 1954; Louis 1982.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.inference.coefficients import Coefficient, Scale
from dpengine.inference.fitting import highest
from dpengine.inference.inputs import aligned, arms_of, likelihoods_of
from dpengine.inference.latent import Latent
from dpengine.inference.logit import Rows
from dpengine.inference.outcomes import Outcome

ALIKE = 1e-6  # smallest to largest singular value of a channel that tells the answers apart
HELD, STEADY = 1.96, 4.0  # standard errors of the answers' variance given the covariates
DOUBT = 3.3  # standard errors: one false alarm in a thousand
EXACT = 1e-6  # of the outcome's standard deviation: less is no error left to estimate


@dataclass(frozen=True, slots=True)
class Corrected:
    """A regression on a randomised answer: the covariates' coefficients, then γ of each choice.

    `likeliest` are the same under normal errors, None where that cannot be climbed.
    """

    n: int
    coefficients: tuple[Coefficient, ...]  # corrected score, sandwich errors
    likeliest: tuple[Coefficient, ...] | None
    warnings: tuple[str, ...]
    covariance: Floats = field(repr=False, compare=False)  # infinite on the diagonal only

    def __getitem__(self, name: str) -> Coefficient:
        return {coefficient.name: coefficient for coefficient in self.coefficients}[name]


def linear_predictor(
    outcome: npt.ArrayLike,
    reports: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    matrices: Sequence[npt.ArrayLike],
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    label: str = "answer",
    first: int = 0,
) -> Corrected:
    """Return the regression of an open number on the design, its constant included, and on an
    answer that came through each arm's channel [answer, report].

    Reports are counted from 0; "drug=1" is γ of choice 1, choice 0 is called `first`.
    """
    codes, arms, channels = arms_of(reports, matrices, arm)
    rows = Rows(likelihoods_of(codes, arms, channels), design, names, weights)
    values = aligned(outcome, "outcome", len(codes))[rows.used]
    spread = float(values.std())
    require(spread > 0, "outcome must not be the same in every row")
    labels = [*rows.names, *(f"{label}={first + j}" for j in range(1, rows.answers))]
    unbiased = _unbiased(codes[rows.used], arms[rows.used], channels, rows.weights)
    score = _Score(rows, values / spread, unbiased)
    back = _diagonal(rows.basis.back, np.eye(rows.answers - 1)) * spread
    covariance = np.asarray(back @ score.covariance @ back.T, dtype=np.float64)
    warnings = [*rows.warnings]
    if score.held < STEADY:
        warnings.append(_weak(label, score.held))
    if score.held < HELD:
        covariance = np.diag(np.full(len(labels), math.inf))
    errors = np.sqrt(np.diag(covariance))
    found = zip(labels, (back @ score.estimate).tolist(), errors.tolist(), strict=True)
    coefficients = tuple(Coefficient(*each) for each in found)
    likeliest = None
    if score.held >= HELD:
        likeliest, more = _likeliest(rows, score, labels, spread)
        warnings += more
    if likeliest is not None:
        own = slice(1 - rows.answers, None)
        warnings += _doubts(coefficients[own], likeliest[own])
    return Corrected(rows.n, coefficients, likeliest, tuple(warnings), covariance)


def _unbiased(codes: Ints, arms: Ints, channels: Sequence[Floats], weights: Floats) -> Floats:
    """Return u of each row, [row, answer after the first]."""
    values = np.empty((len(codes), len(channels[0]) - 1))
    for index, channel in enumerate(channels):
        own = arms == index
        seen = channel[:, channel.max(axis=0) > 0]
        singular = np.linalg.svd(seen, compute_uv=False)
        require(
            len(singular) == len(channel) and singular[-1] >= ALIKE * singular[0],
            "matrices[{}] does not tell all answers apart: leave out its rows",
            index,
        )
        shares = np.bincount(codes[own], weights[own], channel.shape[1]) + 1 / channel.shape[1]
        scaled = channel / shares
        values[own] = np.linalg.solve(scaled @ channel.T, scaled)[1:, codes[own]].T
    return values


class _Score:
    """The corrected score in orthogonal columns z of the covariates."""

    def __init__(self, rows: Rows, values: Floats, unbiased: Floats) -> None:
        columns, width = rows.basis.columns, rows.basis.columns.shape[1]
        regressors = np.column_stack([columns, unbiased])
        weighted = regressors * rows.weights[:, np.newaxis]
        gram = weighted.T @ regressors
        gram[width:, width:] = np.diag(weighted[:, width:].sum(axis=0))
        self.values, self.regressors = values, regressors
        inverse = np.linalg.pinv(gram, hermitian=True)
        self.estimate: Floats = inverse @ (weighted.T @ values)
        residuals = values - regressors @ self.estimate
        scores = weighted * residuals[:, np.newaxis]
        # u·(u·γ) is no part of the score: u_j·γ_j stands for it
        own = unbiased * (unbiased @ self.estimate[width:])[:, np.newaxis]
        scores[:, width:] += (own - unbiased * self.estimate[width:]) * rows.weights[:, np.newaxis]
        n, size = rows.n, len(gram)
        meat = scores.T @ scores * (n / max(n - size, 1))
        self.covariance: Floats = inverse @ meat @ inverse
        self.held = self._held(rows, columns, unbiased)

    @staticmethod
    def _held(rows: Rows, columns: Floats, unbiased: Floats) -> float:
        """Return the least variance of the answers given covariates, in its standard errors."""
        weights = rows.weights[:, np.newaxis]
        within = np.linalg.inv((columns * weights).T @ columns / rows.n)
        products = (columns * weights).T @ unbiased / rows.n
        left = np.diag((unbiased * weights).mean(axis=0)) - products.T @ within @ products
        least, ways = np.linalg.eigh(left)
        way = ways[:, 0]
        along = columns @ (within @ (products @ way))
        moved = unbiased @ way**2 - 2 * along * (unbiased @ way) + along**2
        first = float(((rows.weights * (moved - least[0])) ** 2).sum()) / rows.n**2
        second = float(((rows.weights * (unbiased @ way - along)) ** 2).sum()) / rows.n**2
        return float(least[0]) / math.sqrt(first + 2 * columns.shape[1] * second**2)


def _likeliest(
    rows: Rows, score: _Score, labels: Sequence[str], spread: float
) -> tuple[tuple[Coefficient, ...] | None, list[str]]:
    """Return the coefficients under normal errors, and what to beware of."""
    values, width = score.values, rows.basis.columns.shape[1]
    left = values - score.regressors[:, :width] @ rows.basis.nearest(values)
    if len(np.unique(values)) <= rows.answers or float(left.std()) <= EXACT:
        return None, ["no maximum likelihood: the outcome takes too few values for normal errors"]
    reports = Latent(rows.likelihoods, rows.basis.columns, rows.weights)
    hill = Outcome(reports, values)
    try:
        alone, _ = highest(reports, rows.starts())
        start = np.concatenate([alone.at, score.estimate, [math.log(float(left.std()))]])
        best, summits = highest(hill, [start])
    except ArithmeticError as error:
        return None, [f"no maximum likelihood: {error}"]
    choices = labels[width:]
    shares = rows.scale([f"{choice}: {name}" for choice in choices for name in rows.names])
    scale = Scale(
        [*shares.names, *labels, "ln sd"],
        _diagonal(shares.back, rows.basis.back * spread, np.eye(len(choices)) * spread, np.eye(1)),
        np.concatenate([shares.spread, rows.basis.spread, np.ones(len(choices) + 1)]),
        (*shares.constant, *shares.constant[:width], *[False] * (len(choices) + 1)),
    )
    meat = hill.meat(best.at) * (rows.n / (rows.n - 1)) if rows.is_weighted else None
    coefficients, _ = scale.read(best, meat)
    return coefficients[hill.logits : -1], scale.warnings(best, summits)


def _doubts(score: Sequence[Coefficient], likeliest: Sequence[Coefficient]) -> list[str]:
    """Return a warning for every γ that normal errors put further away than chance allows."""
    notes = []
    for robust, normal in zip(score, likeliest, strict=True):
        apart = abs(robust.estimate - normal.estimate)
        claimed = normal.standard_error
        claimed = claimed if claimed < robust.standard_error else 0.0
        if apart > DOUBT * math.sqrt(robust.standard_error**2 - claimed**2):
            notes.append(
                f"{robust.name}: under normal errors it would be {normal.estimate:.4g}, further "
                "away than chance allows: the outcome's errors are not normal, and maximum "
                "likelihood takes their shape for hidden answers"
            )
    return notes


def _diagonal(*blocks: Floats) -> Floats:
    return np.asarray(scipy.linalg.block_diag(*blocks), dtype=np.float64)


def _weak(label: str, held: float) -> str:
    if held < HELD:
        return (
            f"{label}: the reports do not show that answers differ among people with the same "
            "covariates: no coefficient can be told, standard errors are infinite"
        )
    return (
        f"{label}: the reports hardly show that answers differ among people with the same "
        "covariates: intervals may be too narrow"
    )
