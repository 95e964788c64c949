"""Regression of an open outcome on covariates and on an answer that was seen through a channel.

    linear     y = x·β + γ_a + e,  e normal with standard deviation σ
    logistic   P(y = 1) = expit(x·β + γ_a)                            γ_0 = 0: answer 0 is the base
    shares     P(answer a | x) multinomial logit, of the same covariates or of none

Estimate   Maximum likelihood of outcome and report together: a mixture over the true answers (see `outcomes`), at the
           summit above regression calibration (y regressed on the chances of each true answer given report and
           covariates), which is consistent, so that this summit is (Lehmann 1983). Only where that one is not steep
           others are looked for, and the highest taken. Errors, weights, ridges as in `logit` and `fitting`.
Names      "drug=1" is γ_1. Kept apart as `others`: "drug=1: age", of the logit of shares, and "ln sd", ln σ.
Beware     The linear model takes what is not normal in y for a sign of hidden answers. Regression calibration does not:
           it needs the mean alone to be right. A γ more than DOUBT of its errors away from it, or an error a third of
           its own or less, raises a warning: then it is the shape of y that speaks, not the reports.
By hand    Direct answers: ordinary regression on the dummies of the answers (σ² by maximum likelihood: / n).
Sources    van den Hout and Kooiman 2006; Blair, Imai and Zhou 2015, § 4; Carroll et al. 2006 (calibration); Louis 1982.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from dpengine.inference.coefficients import Regression, Scale
from dpengine.inference.fitting import Summit, highest
from dpengine.inference.inputs import Floats, aligned
from dpengine.inference.latent import Latent
from dpengine.inference.logit import Rows
from dpengine.inference.multinomial import arrived, likelihoods_of
from dpengine.inference.outcomes import LatentPredictor, Linear, Logistic, Outcome

DOUBT = 3.3  # standard errors: one false alarm in a thousand
SHAPELY = 3.0  # times smaller than calibration makes it, an error is owed to the shape of y
EXACT = 1e-6  # of the outcome's standard deviation: less is no error left to estimate


def linear_predictor(
    outcome: npt.ArrayLike,
    reports: npt.ArrayLike,
    matrix: npt.NDArray[np.float64] | Sequence[npt.ArrayLike],
    design: npt.ArrayLike,
    names: Sequence[str],
    label: str = "answer",
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    by_covariates: bool = True,
) -> Regression:
    """Return the linear regression of a number on the design and a randomised answer.

    Matrix is the channel [answer, report], or one for each arm. Without `by_covariates` the answer is taken to be
    independent of the covariates: a little more precise if true, biased if not.
    """
    likelihoods = _likelihoods(reports, matrix, arm)
    return linear_predictor_from(outcome, likelihoods, design, names, label, weights, by_covariates)


def logistic_predictor(
    outcome: npt.ArrayLike,
    reports: npt.ArrayLike,
    matrix: npt.NDArray[np.float64] | Sequence[npt.ArrayLike],
    design: npt.ArrayLike,
    names: Sequence[str],
    label: str = "answer",
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    by_covariates: bool = True,
) -> Regression:
    """Return the logistic regression of an open yes or no (1, 0) on the design and a randomised answer."""
    likelihoods = _likelihoods(reports, matrix, arm)
    return logistic_predictor_from(outcome, likelihoods, design, names, label, weights, by_covariates)


def linear_predictor_from(
    outcome: npt.ArrayLike,
    likelihoods: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    label: str = "answer",
    weights: npt.ArrayLike | None = None,
    by_covariates: bool = True,
) -> Regression:
    """Return `linear_predictor` from Pr[report_i | answer], [row, answer], whatever a report is."""
    mixture = _Mixture(likelihoods, design, names, weights, by_covariates)
    values = mixture.seen(outcome)
    spread = float(values.std())
    mixture.check_errors(values, spread)
    model = Linear(values / spread)
    best, found = mixture.climb(model, values / spread)
    doubts = mixture.doubts(values / spread, best, label)
    return mixture.told(model, best, found, label, spread, doubts)


def logistic_predictor_from(
    outcome: npt.ArrayLike,
    likelihoods: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    label: str = "answer",
    weights: npt.ArrayLike | None = None,
    by_covariates: bool = True,
) -> Regression:
    """Return `logistic_predictor` from Pr[report_i | answer], [row, answer], whatever a report is."""
    mixture = _Mixture(likelihoods, design, names, weights, by_covariates)
    yes = mixture.seen(outcome)
    if set(np.unique(yes).tolist()) != {0.0, 1.0}:
        raise ValueError("outcome must be 0 or 1 in every row, and both must occur")
    model = Logistic(yes)
    share = float(np.average(yes, weights=mixture.rows.weights))
    one_step = special.logit(share) + (yes - share) / (share * (1 - share))  # of reweighted least squares
    best, found = mixture.climb(model, np.asarray(one_step, dtype=np.float64))
    return mixture.told(model, best, found, label)


class _Mixture:
    """What the two models share: rows, the logit of the answers' shares, starts, the climb and its report."""

    def __init__(
        self,
        likelihoods: npt.ArrayLike,
        design: npt.ArrayLike,
        names: Sequence[str],
        weights: npt.ArrayLike | None,
        by_covariates: bool,
    ) -> None:
        given = np.asarray(likelihoods, dtype=np.float64)
        self.rows = Rows(given, design, names, weights)
        self.shares = self.rows if by_covariates else Rows(given, np.ones((len(given), 1)), ["Intercept"], weights)
        self.columns, self.answers = self.rows.basis.columns, self.rows.answers
        self.hill = Latent(self.rows.likelihoods, self.shares.basis.columns, self.rows.weights)
        found, _ = highest(self.hill, self.shares.starts(None))  # the shares' logit, from reports alone
        self.alone = found.at
        self.regressors = np.column_stack([self.columns, self.hill.posteriors(self.alone)[1:].T])

    def seen(self, outcome: npt.ArrayLike) -> Floats:
        """Return the outcome in the rows that are used."""
        return aligned(outcome, "outcome", len(self.rows.used))[self.rows.used]

    def check_errors(self, values: Floats, spread: float) -> None:
        """Refuse an outcome that has no errors: their spread would run to 0 and the likelihood to infinity."""
        left = values - self.columns @ self._slopes(values, self.columns)
        if len(np.unique(values)) <= self.answers or float(left.std()) <= EXACT * spread:
            raise ValueError("outcome has no errors to estimate: too few values, or one that covariates give exactly; "
                             "for a yes or no use logistic_predictor")  # fmt: skip

    def climb(self, model: Outcome, worked: Floats) -> tuple[Summit, list[Summit]]:
        """Return the summit above regression calibration; where it is flat, the highest to be found around."""
        start = np.append(self.alone, self._start(model, worked))
        if self.rows.n < len(start):
            raise ValueError(f"{self.rows.n} rows cannot bear {len(start)} coefficients")
        return highest(self._hill(model), [start])

    def doubts(self, values: Floats, best: Summit, label: str) -> list[str]:
        """Return a warning for every γ that regression calibration, with errors robust to any law, denies."""
        slopes = self._slopes(values, self.regressors)
        weighted = self.regressors * self.rows.weights[:, np.newaxis]
        inverse = np.linalg.pinv(self.regressors.T @ weighted)
        scores = weighted * (values - self.regressors @ slopes)[:, np.newaxis]
        own = slice(self.columns.shape[1], None)
        errors = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))[own]
        claimed = np.sqrt(np.diag(best.covariance()))[len(self.alone) : -1][own]  # 0 where it is infinite
        larger = np.divide(errors, claimed, out=np.zeros_like(errors), where=claimed > 0)
        apart = np.abs(slopes - best.at[len(self.alone) : -1])[own] / errors
        return [
            f"{label}={answer}: rests on normal errors of the outcome more than on the reports; without them (by "
            f"regression calibration) the estimate is {each:.1f} standard errors away, its error {times:.1f} times as "
            "large: transform the outcome if its errors may not be normal"
            for answer, each, times in zip(range(1, self.answers), apart, larger, strict=True)
            if each > DOUBT or times > SHAPELY
        ]

    def told(
        self,
        model: Outcome,
        best: Summit,
        found: Sequence[Summit],
        label: str,
        spread: float = 1.0,
        doubts: Sequence[str] = (),
    ) -> Regression:
        """Return the regression in the outcome's own units."""
        scale = self._scale(model, label, spread)
        meat = self._hill(model).meat(best.at) * (self.rows.n / (self.rows.n - 1)) if self.rows.is_weighted else None
        every, covariance = scale.read(best, meat)
        own = range(len(self.alone), len(self.alone) + len(self.rows.names) + self.answers - 1)
        order = [*own, *(place for place in range(len(every)) if place not in own)]
        log_likelihood = best.height - self.rows.n * math.log(spread)
        return Regression(
            n=self.rows.n,
            coefficients=tuple(every[place] for place in order[: len(own)]),
            log_likelihood=log_likelihood,
            deviance=-2 * log_likelihood,
            fit=None,
            warnings=(*self.rows.warnings, *scale.warnings(best, found), *doubts),
            covariance=covariance[np.ix_(order, order)],
            others=tuple(every[place] for place in order[len(own) :]),
            is_weighted=self.rows.is_weighted,
        )

    def _scale(self, model: Outcome, label: str, spread: float) -> Scale:
        kinds = [f"{label}={answer}" for answer in range(1, self.answers)]
        shares = self.shares.scale([f"{kind}: {name}" for kind in kinds for name in self.shares.names])
        extra = model.rests  # 1 where there is a σ
        back = linalg.block_diag(shares.back, self.rows.basis.back * spread, np.eye(len(kinds)) * spread, np.eye(extra))
        shift = np.append(np.zeros(len(back) - 1), math.log(spread) * extra)
        sizes = [shares.spread, self.rows.basis.spread / spread, np.full(len(kinds), 1 / spread), np.ones(extra)]
        fixed = (np.ptp(self.rows.design, axis=0) == 0).tolist()
        return Scale(
            names=[*shares.names, *self.rows.names, *kinds, *["ln sd"] * extra],
            back=np.asarray(back, dtype=np.float64),
            shift=shift,
            spread=np.concatenate(sizes),
            constant=(*shares.constant, *fixed, *[False] * (len(kinds) + extra)),
        )

    def _hill(self, model: Outcome) -> LatentPredictor:
        return LatentPredictor(
            self.rows.likelihoods, self.shares.basis.columns, self.rows.weights, model, regressors=self.columns
        )

    def _start(self, model: Outcome, worked: Floats) -> Floats:
        """Return φ from regression calibration by least squares."""
        slopes = self._slopes(worked, self.regressors)
        own = np.zeros(self.columns.shape[1] + self.answers - 1 + model.rests)
        own[: len(slopes)] = slopes
        if model.rests:
            own[-1] = math.log(np.average((worked - self.regressors @ slopes) ** 2, weights=self.rows.weights)) / 2
        return own

    def _slopes(self, values: Floats, regressors: Floats) -> Floats:
        """Return weighted least squares; the shortest solution where columns are collinear."""
        root = np.sqrt(self.rows.weights)
        solution = np.linalg.lstsq(regressors * root[:, np.newaxis], values * root, rcond=None)[0]
        return np.asarray(solution, dtype=np.float64)


def _likelihoods(
    reports: npt.ArrayLike, matrix: npt.NDArray[np.float64] | Sequence[npt.ArrayLike], arm: npt.ArrayLike | None
) -> Floats:
    matrices = [np.asarray(matrix)] if arm is None else list(matrix)
    return likelihoods_of(*arrived(reports, matrices, arm))
