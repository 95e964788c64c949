"""Regressions through a channel, in one place: outcomes randomised (logistic, multinomial), predictors randomised."""

from dpengine.inference.coefficients import Coefficient, Regression, likelihood_ratio
from dpengine.inference.logistic import logistic
from dpengine.inference.multinomial import multinomial, multinomial_from
from dpengine.inference.predictor import (
    linear_predictor,
    linear_predictor_from,
    logistic_predictor,
    logistic_predictor_from,
)

__all__ = [
    "Coefficient",
    "Regression",
    "likelihood_ratio",
    "linear_predictor",
    "linear_predictor_from",
    "logistic",
    "logistic_predictor",
    "logistic_predictor_from",
    "multinomial",
    "multinomial_from",
]
