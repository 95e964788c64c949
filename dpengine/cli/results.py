"""What an analysis came to, and its JSON."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from dpengine.cli.crossing import Cell, Cross
from dpengine.estimates import Interval, normal_quantile
from dpengine.inference.coefficients import Coefficient
from dpengine.inference.contrasts import Contrast
from dpengine.inference.cross_tables import OddsRatio
from dpengine.inference.fit import Fit
from dpengine.inference.mixture import Parameter
from dpengine.inference.shrinkage import Shrunk


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
class GroupContrast:
    """A group's share, of one choice where there are more than two, against the first group's."""

    value: str
    base: str
    choice: int | None
    contrast: Contrast


@dataclass(frozen=True, slots=True)
class Results:
    """What the reports say. Over the choices of a question with more than two, what is one
    number here is a list.
    """

    n: int
    estimate: Any
    maximum_likelihood: Any
    standard_error: Any
    interval: Any
    epsilon: float | None
    log_likelihood: float
    fit: Fit | None
    coefficients: tuple[Term, ...] = ()
    likeliest: tuple[Term, ...] | None = None  # beside a corrected score, under normal errors
    warnings: tuple[str, ...] = ()
    choices: tuple[int, ...] | None = None
    is_exact: bool = False  # of the interval of one share
    profile: Interval | None = None
    simultaneous: tuple[Interval, ...] | None = None
    parameters: tuple[Parameter, ...] | None = None
    null_log_likelihood: float | None = None  # of the same share for everyone, beside a regression
    covariates_test: Fit | None = None
    value: str | None = None  # of the column that groups are made by
    towards_mean: Any = None  # of all groups: a group's number or numbers drawn there
    groups: "tuple[Results, ...] | None" = None
    groups_test: Fit | None = None
    contrasts: tuple[GroupContrast, ...] | None = None  # of the groups, each against the first
    cross: Cross | None = None
    effective_n: float | None = None  # of weighted reports: Kish's
    is_mean: bool = False  # of an open number; else a share
    confidence: float = 0.95

    @property
    def intervals(self) -> int:
        """Return how many intervals there are: of shares, parameters, coefficients, groups, their
        contrasts (three each), and a table's cells and odds ratio.
        """
        shares = self.choices or self.parameters or (self,)
        groups = sum(group.intervals for group in self.groups or ())
        terms = len(self.coefficients) + len(self.likeliest or ())
        cross = self.cross
        table = 0 if cross is None else len(cross.cells) + (cross.odds_ratio is not None)
        return len(shares) + terms + groups + 3 * len(self.contrasts or ()) + table

    @property
    def deviance(self) -> float:
        return -2 * self.log_likelihood

    @property
    def share_log_likelihood(self) -> float:
        """Return the log likelihood of the same share for everyone."""
        alone = self.null_log_likelihood
        return self.log_likelihood if alone is None else alone


def terms_of(coefficients: Sequence[Coefficient], confidence: float) -> tuple[Term, ...]:
    """Return coefficients with Wald's test, which says nothing where the error is infinite."""
    terms = []
    for each in coefficients:
        reach = normal_quantile(confidence) * each.standard_error
        z, p = (each.z, each.p) if math.isfinite(each.standard_error) else (None, None)
        ends = (each.estimate - reach, each.estimate + reach)
        terms.append(Term(each.name, each.estimate, each.standard_error, z, p, ends))
    return tuple(terms)


ALWAYS = (
    "n",
    "estimate",
    "maximum_likelihood",
    "standard_error",
    "interval",
    "confidence",
    "epsilon",
    "coefficients",
    "log_likelihood",
    "deviance",
    "fit",
    "warnings",
)
RENAMED = {"moment": "estimate"}
SOMETIMES = (  # left out where there is none
    "value",
    "towards_mean",
    "choices",
    "likeliest",
    "profile",
    "simultaneous",
    "parameters",
    "null_log_likelihood",
    "covariates_test",
    "groups",
    "groups_test",
    "contrasts",
    "cross",
    "effective_n",
)


def document(results: Results) -> dict[str, object]:
    """Return the results as JSON has them: no NaN and no infinity, but null."""
    names = (*ALWAYS, *(name for name in SOMETIMES if getattr(results, name) is not None))
    return {name: _plain(getattr(results, name)) for name in names}


def _plain(value: Any) -> Any:
    match value:
        case Results():
            return document(value)
        case Fit():
            return _plain({"G2": value.g2, "df": value.df, "p": value.p})
        case GroupContrast():
            choice = {} if value.choice is None else {"choice": value.choice}
            named = {"value": value.value, "base": value.base, **choice}
            return _plain(named | asdict(value.contrast))
        case Shrunk():
            ends = value.low, value.high
            drawn = {"estimate": value.value, "standard_error": value.standard_error}
            return _plain(drawn | {"interval": ends})
        case Parameter() | Cross() | Term() | Cell() | OddsRatio():
            return _plain({each.name: getattr(value, each.name) for each in fields(value)})
        case dict():
            return {RENAMED.get(name, name): _plain(part) for name, part in value.items()}
        case str():
            return value
        case Iterable():
            return [_plain(each) for each in value]
        case float() | np.floating():
            return float(value) + 0.0 if math.isfinite(value) else None
    return value
