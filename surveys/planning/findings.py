"""What an analysis found, and its JSON."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpengine.inference.fit import Fit
from surveys.planning.imported import Named

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Term:
    """One coefficient of a regression, with Wald's test and interval."""

    name: str
    estimate: float
    standard_error: float
    z: float | None  # None where the error is infinite
    p_value: float | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class Findings:
    """What the reports say. Over the choices of a question with more than two, what is one number here is a list."""

    n: int
    estimate: Any
    maximum_likelihood: Any
    standard_error: Any
    interval: Any
    epsilon: float | None
    log_likelihood: float
    fit: Fit | None
    coefficients: tuple[Term, ...] = ()
    warnings: tuple[str, ...] = ()
    choices: tuple[int, ...] | None = None
    profile: Interval | None = None
    simultaneous: tuple[Interval, ...] | None = None
    parameters: tuple[Named, ...] | None = None
    null_log_likelihood: float | None = None  # of the same share for everyone, beside a regression
    covariates_test: Fit | None = None
    free: int = 1  # parameters of the shares
    value: str | None = None  # of the column that groups are made by
    groups: "tuple[Findings, ...] | None" = None
    by_test: Fit | None = None
    confidence: float = 0.95

    @property
    def deviance(self) -> float:
        return -2 * self.log_likelihood


def document(found: Findings) -> dict[str, Any]:
    """Return the findings as JSON has them: no NaN and no infinity, but null."""
    always: dict[str, Any] = {
        "n": found.n, "estimate": found.estimate, "maximum_likelihood": found.maximum_likelihood,
        "standard_error": found.standard_error, "interval": found.interval, "confidence": found.confidence,
        "epsilon": found.epsilon, "coefficients": [_term_document(term) for term in found.coefficients],
        "log_likelihood": found.log_likelihood, "deviance": found.deviance, "fit": _fit_document(found.fit),
        "warnings": list(found.warnings),
    }  # fmt: skip
    some = {
        "value": found.value, "choices": found.choices, "profile": found.profile, "simultaneous": found.simultaneous,
        "parameters": None if found.parameters is None else [each.document() for each in found.parameters],
        "null_log_likelihood": found.null_log_likelihood, "covariates_test": _fit_document(found.covariates_test),
        "groups": None if found.groups is None else [document(group) for group in found.groups],
        "groups_test": _fit_document(found.by_test),
    }  # fmt: skip
    return {key: _plain(value) for key, value in always.items()} | {
        key: _plain(value) for key, value in some.items() if value is not None
    }


def _fit_document(fit: Fit | None) -> dict[str, Any] | None:
    return None if fit is None else {"G2": fit.g2, "df": fit.df, "p": fit.p}


def _term_document(term: Term) -> dict[str, Any]:
    return {name: getattr(term, name) for name in ("name", "estimate", "standard_error", "z", "p_value", "interval")}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    if isinstance(value, float | np.floating):
        return float(value) + 0.0 if math.isfinite(value) else None
    return value
