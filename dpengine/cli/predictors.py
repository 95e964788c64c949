"""An outcome that was given openly, on covariates and on an answer that was randomised.

An outcome of 0 and 1, or of no and yes, gets a logistic regression, any other number a linear one:
by its corrected score, which assumes nothing about the errors, and beside it by maximum likelihood
under normal errors.
"""

import math
from typing import Any

import numpy as np
import scipy

from dpengine.cli.channels import question_of
from dpengine.cli.expressions import design_matrix, read_covariates
from dpengine.cli.files import Sheet
from dpengine.cli.results import Results, terms_of
from dpengine.cli.specs import Asked
from dpengine.cli.weighting import Weighting
from dpengine.estimates import Floats
from dpengine.inference.logistic_predictor import logistic_predictor
from dpengine.inference.predictor import linear_predictor
from dpengine.inference.shares import binary_share
from dpengine.inference.weights import left_variances


def regression_of(
    sheet: Sheet,
    outcome: str,
    asked: Asked,
    covariates: str,
    weighting: Weighting,
    confidence: float,
) -> Results:
    """Return the outcome's share or mean, and its regression, of complete rows."""
    question, choices, epsilon = question_of(sheet, asked)
    terms = read_covariates(covariates, sheet) if covariates else []
    columns = (
        question.reports,
        *design_matrix(terms, sheet),
        question.matrices,
        question.arm,
        weighting.weights,
        asked.column,
        int(choices[0]),
    )
    yes = _yes_or_no(sheet, outcome)
    if yes is None:
        return _linear(sheet.numbers(outcome), columns, epsilon, weighting, confidence)
    return _logistic(yes, columns, epsilon, weighting, confidence)


def _yes_or_no(sheet: Sheet, outcome: str) -> Floats | None:
    """Return an outcome of yes and no as 1 and 0, None where it is another number."""
    try:
        return sheet.answers(outcome).astype(np.float64)
    except ValueError:
        return None


def _logistic(
    yes: Floats, columns: Any, epsilon: float | None, weighting: Weighting, confidence: float
) -> Results:
    found = logistic_predictor(yes, *columns)
    share = binary_share(yes, 0, 1, weighting.weights, confidence, weighting.margins)
    return Results(
        n=share.n,
        estimate=share.moment,
        maximum_likelihood=share.maximum_likelihood,
        standard_error=share.standard_error,
        interval=share.interval,
        profile=share.profile,
        epsilon=epsilon,
        log_likelihood=found.log_likelihood,
        null_log_likelihood=share.log_likelihood,
        fit=None,
        coefficients=terms_of(found.coefficients, confidence),
        warnings=(*share.warnings, *found.warnings),
        confidence=confidence,
    )


def _linear(
    values: Floats, columns: Any, epsilon: float | None, weighting: Weighting, confidence: float
) -> Results:
    found = linear_predictor(values, *columns)
    mean, error = _mean(values, weighting)
    reach = float(scipy.special.stdtrit(len(values) - 1, (1 + confidence) / 2)) * error
    likeliest = found.likeliest
    return Results(
        n=found.n,
        estimate=mean,
        maximum_likelihood=mean,
        standard_error=error,
        interval=(mean - reach, mean + reach),
        epsilon=epsilon,
        log_likelihood=math.nan,  # a corrected score has none
        fit=None,
        coefficients=terms_of(found.coefficients, confidence),
        likeliest=None if likeliest is None else terms_of(likeliest, confidence),
        warnings=found.warnings,
        is_mean=True,
        confidence=confidence,
    )


def _mean(values: Floats, weighting: Weighting) -> tuple[float, float]:
    """Return the weighted mean and its standard error."""
    weights = np.ones(len(values)) if weighting.weights is None else weighting.weights
    share = weights / weights.sum()
    mean, n = float(share @ values), len(values)
    if weighting.margins:
        variance = float(left_variances([values.copy()], share, weighting.margins)[0])
    else:
        variance = float(share**2 @ (values - mean) ** 2) * n / max(n - 1, 1)
    return mean, math.sqrt(variance)
