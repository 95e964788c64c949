"""Multinomial logistic regression on answers that were seen through a channel.

    P(answer a | x) = exp(x·B_a) / Σ_c exp(x·B_c),  B_0 = 0
    P(report r | x) = Σ_a P(a | x) · P[a, r]

Estimate   Maximum likelihood; errors from the observed information; survey weights: see `logit`.
Names      "1: age" is what a unit of age adds to the log odds of choice 1 against choice 0.
Fit        G² over groups with the same covariates and arm, if few and not small (see `fit`).
By hand    Direct answers, no covariate: log odds of shares; of 50, 30, 20: ln .6 = −.511, error
           √(1/50 + 1/30) = .231.
Sources    van den Hout, van der Heijden and Gilchrist 2007; Louis 1982.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.inference.coefficients import Regression
from dpengine.inference.fit import Fit, fit_of_table
from dpengine.inference.inputs import arms_of, likelihoods_of
from dpengine.inference.logit import Rows, fitted
from dpengine.inference.repeats import Repeats

ALIKE = 1e-6  # smallest to largest singular value of a channel that tells the answers apart


def multinomial(
    reports: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    matrices: Sequence[npt.ArrayLike],
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    first: int = 0,
    repeats: Repeats | None = None,
) -> Regression:
    """Return the regression of answers on covariates, through each arm's channel [answer, report].

    Reports are counted from 0; in names choice 0 is called `first`. Rows that are alike may be said
    once, with their `repeats`.
    """
    codes, arms, channels = arms_of(reports, matrices, arm)
    strengths = np.linalg.svd(np.hstack(channels), compute_uv=False)
    require(
        strengths[len(channels[0]) - 1 :].sum() >= ALIKE * strengths[0],
        "the matrices do not tell all answers apart: leave out or join answers with equal rows",
    )
    rows = Rows(likelihoods_of(codes, arms, channels), design, names, weights, repeats)
    codes, arms = codes[rows.used], arms[rows.used]
    labels = [f"{first + choice}: {name}" for choice in range(1, rows.answers) for name in names]

    def judge(chances: Floats) -> Fit | None:
        table = np.zeros((len(codes), max(channel.shape[1] for channel in channels)))
        for index, channel in enumerate(channels):
            table[arms == index, : channel.shape[1]] = chances[arms == index] @ channel
        return fit_of_table(rows.design, arms, codes, table, len(labels), rows.repeats)

    return fitted(rows, labels, judge, channels=len(np.unique(arms)))
