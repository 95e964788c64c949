"""Logistic regression on a yes-or-no answer that was seen through a channel.

    P(yes_i | x_i) = c0_i + c1_i · expit(x_i·β)

c0 is the chance that a person whose true answer is no reports a yes, c0 + c1 that one whose true
answer is yes does; each row may have its own.

    direct     c0 = 0            c1 = 1              ordinary logistic regression
    coin       c0 = 1/4          c1 = 1/2            Warner: c0 = 1 − p, c1 = 2p − 1
    forced     c0 = P(forced yes), c1 = p            crosswise: c0 = 1 − q, c1 = 2q − 1, yes: "same"
    unrelated  c0 = (1 − p)·q    c1 = p

Estimate   Maximum likelihood; errors from the observed information; survey weights: see `logit`.
Fit        G² over groups with the same covariates, c0 and c1, if they are few and not small (see
           `fit`).
By hand    No covariate, 30 of 100 direct yes: ln(.3/.7) = −.847, error 1/√(100 · .3 · .7) = .218.
           Coin, 40 of 100 yes: the share is (.40 − .25)/.5 = .30 again, the error √(.4 · .6/100) /
           (.5 · .3 · .7) = .467.
Sources    Maddala 1983; Scheers and Dayton 1988; van den Hout et al. 2007; Blair, Imai and Zhou
           2015.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpengine.estimates import Floats
from dpengine.inference.coefficients import Regression
from dpengine.inference.fit import Fit, fit_of_table
from dpengine.inference.inputs import binary, check_affine, constants
from dpengine.inference.logit import Rows, fitted
from dpengine.inference.repeats import Repeats


def logistic(
    yes: npt.ArrayLike,
    design: npt.ArrayLike,
    names: Sequence[str],
    c0: npt.ArrayLike,
    c1: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    repeats: Repeats | None = None,
) -> Regression:
    """Return the regression of the true answer's log odds on a design that includes its constant.

    c0 and c1 are numbers, or columns with a constant for each row. Rows that are alike may be said
    once, with their `repeats`.
    """
    reported = binary(yes)
    low, slope = constants(c0, "c0", len(reported)), constants(c1, "c1", len(reported))
    check_affine(low, slope, reported)
    says_yes = np.clip(np.column_stack([low, low + slope]), 0, 1)
    likelihoods = np.where(reported[:, np.newaxis] == 1, says_yes, 1 - says_yes)
    rows = Rows(likelihoods, design, names, weights, repeats)
    low, slope, reported = low[rows.used], slope[rows.used], reported[rows.used]
    channels, channel = np.unique(np.column_stack([low, slope]), axis=0, return_inverse=True)

    def judge(chances: Floats) -> Fit | None:
        said_yes = low + slope * chances[:, 1]
        table = np.clip(np.column_stack([1 - said_yes, said_yes]), 0, 1)
        return fit_of_table(
            rows.design, channel, reported.astype(np.int64), table, len(names), rows.repeats
        )

    return fitted(rows, rows.names, judge, channels=len(channels))
