"""Multinomial logistic regression on answers that were seen through a channel.

    P(answer a | x) = exp(x·B_a) / Σ_c exp(x·B_c),  B_0 = 0          P(report r | x) = Σ_a P(a | x) · P[a, r]

Estimate   Maximum likelihood from any start; errors from the observed information; survey weights: see `logit`.
Names      "1: age" is what a unit of age adds to the log odds of choice 1 against choice 0.
Fit        G² over groups with the same covariates and arm, if they are few and not small (see `goodness`).
By hand    Direct answers, no covariate: log odds of shares; of 50, 30, 20: ln .6 = −.511, error √(1/50 + 1/30) = .231.
Sources    van den Hout, van der Heijden and Gilchrist 2007; Louis 1982.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpengine.inference.coefficients import Regression
from dpengine.inference.fit import Fit
from dpengine.inference.goodness import fit_of_table
from dpengine.inference.inputs import Floats, Ints, arms_of, channel_of, check_codes, coded, same_answers
from dpengine.inference.logit import Rows, fitted

ALIKE = 1e-6  # smallest to largest singular value of a channel that tells the answers apart


def multinomial(
    reports: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    matrices: Sequence[npt.ArrayLike],
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    first: int = 0,
) -> Regression:
    """Return the regression of answers on covariates, from reports and the channel [answer, report] of each arm.

    Start, if any: the coefficients of choice 1, then those of choice 2, …; it cannot change where the climb ends.
    Reports are counted from 0; in names choice 0 is called `first`.
    """
    seen, which, channels = arrived(reports, matrices, arm)
    rows = Rows(likelihoods_of(seen, which, channels), design, names, weights)
    labels = [f"{first + choice}: {name}" for choice in range(1, rows.answers) for name in rows.names]

    def judge(chances: Floats) -> Fit | None:
        table = np.zeros((rows.n, max(channel.shape[1] for channel in channels)))
        for index, channel in enumerate(channels):
            here = which[rows.used] == index
            table[here, : channel.shape[1]] = chances[here] @ channel
        return fit_of_table(rows.design, which[rows.used], seen[rows.used], table, len(labels))

    return fitted(rows, labels, start, judge, channels=len(np.unique(which[rows.used])))


def multinomial_from(
    likelihoods: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    weights: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
) -> Regression:
    """Return the regression of answers on covariates, from Pr[report_i | answer], [row, answer]."""
    rows = Rows(np.atleast_2d(np.asarray(likelihoods, dtype=np.float64)), design, names, weights)
    labels = [f"{choice}: {name}" for choice in range(1, rows.answers) for name in rows.names]
    return fitted(rows, labels, start)


def arrived(
    reports: npt.ArrayLike, matrices: Sequence[npt.ArrayLike], arm: npt.ArrayLike | None
) -> tuple[Ints, Ints, list[Floats]]:
    """Return reports, each row's arm and the arms' matrices, checked."""
    if not len(matrices):
        raise ValueError("matrices must be one or more, got 0")
    channels = [channel_of(matrix, f"matrix {which}") for which, matrix in enumerate(matrices)]
    same_answers(channels)
    strengths = np.linalg.svd(np.hstack(channels), compute_uv=False)
    if strengths[len(channels[0]) - 1 :].sum() < ALIKE * strengths[0]:
        raise ValueError("the matrices do not tell all answers apart: leave out or join answers with equal rows")
    seen = coded(reports, max(channel.shape[1] for channel in channels))
    which = arms_of(arm, len(seen), len(channels))
    check_codes(seen, which, channels)
    return seen, which, channels


def likelihoods_of(reports: Ints, arm: Ints, channels: Sequence[Floats]) -> Floats:
    """Return Pr[report_i | answer], [row, answer]."""
    likelihoods = np.empty((len(reports), len(channels[0])))
    for index, channel in enumerate(channels):
        likelihoods[arm == index] = channel.T[reports[arm == index]]
    return likelihoods
