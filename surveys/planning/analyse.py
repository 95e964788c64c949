"""Analyse answers collected elsewhere: a CSV file, the column of the outcome, and the design that it was asked with.

Reads the file, leaves out rows with blanks and says so, and hands columns to `dpengine.inference`:

    one channel, yes and no     shares.binary_share          with covariates  logistic.logistic
    one channel, more choices   shares.category_shares       with covariates  multinomial.multinomial
    constants of each row       shares.binary_share          with covariates  logistic.logistic
    two-parameter designs       designs, anchor, lists       (without covariates)

By a column  every group alone, and a test that they share one value: G² = 2(Σ ln L_group − ln L_all), chi-square with
             (groups − 1)(choices − 1) df; with survey weights, and for π of a two-parameter design,
             Wald's Σ (estimate − mean)²/error² on groups − 1.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.inference.coefficients import Coefficient, Regression
from dpengine.inference.fit import Fit
from dpengine.inference.logistic import logistic
from dpengine.inference.multinomial import multinomial
from dpengine.inference.shares import binary_share, category_shares
from surveys.planning import imported
from surveys.planning.covariates import design_matrix, read_covariates
from surveys.planning.expressions import read_expression, values_of
from surveys.planning.files import Sheet, read_csv
from surveys.planning.findings import Findings, Term
from surveys.planning.specs import Affine, Channel, Design, Imported, parse

MOST_GROUPS = 100
DECIMALS = 12  # of c0 and c1: 1 − .8 and .2 are one number
PER_ROW = "epsilon is that of the row that gives away most"
NO_PROTECTION = "epsilon is infinite: some reports prove or rule out an answer"
UNKNOWN = "epsilon of this design is infinite, or depends on what people do: it is shown as null"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a file."""

    outcome: str
    design: Design
    covariates: str = ""
    by: str = ""
    weights: str = ""
    confidence: float = 0.95


def analyse(path: str, request: Request) -> Findings:
    """Return what a file says, as a whole and, if asked, by the values of a column."""
    if not 0 < request.confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {request.confidence}")
    sheet, notes = _complete(read_csv(path), request)
    whole = findings(sheet, request)
    groups = _by(sheet, request) if request.by else None
    if groups is not None:
        test, said = _same_value(whole, groups, weighted=bool(request.weights))
        whole, notes = replace(whole, groups=groups, by_test=test), notes + said
    return replace(whole, warnings=_sentences((*notes, *whole.warnings), whole))


def request_for(
    outcome: str, design: str, covariates: str = "", by: str = "", weights: str = "", confidence: float = 0.95
) -> Request:
    """Return the request that a command line spells."""
    return Request(outcome, parse(design), covariates, by, weights, confidence)


def _complete(sheet: Sheet, request: Request) -> tuple[Sheet, list[str]]:
    """Return the rows without blanks in any column that is used, and without weights of 0."""
    terms = read_covariates(request.covariates, sheet) if request.covariates else []
    used = {
        "--covariates": [name for term in terms for name in term.columns],
        "--design": _columns(request.design, sheet),
        "--by": [request.by],
        "--weights": [request.weights],
    }
    for option, columns in used.items():
        if request.outcome in columns:
            raise ValueError(f"{option}: expected other columns than the outcome, got column {request.outcome!r}")
    sheet, notes = sheet.complete(filter(None, [request.outcome, *(name for names in used.values() for name in names)]))
    if not request.weights:
        return sheet, notes
    weights = sheet.numbers(request.weights)
    if wrong := [line for line, weight in zip(sheet.lines, weights, strict=True) if weight < 0]:
        raise ValueError(f"column {request.weights!r}, line {wrong[0]}: weights must be 0 or more")
    zeros = weights.count(0)
    if zeros == len(sheet):
        raise ValueError(f"n = 0: every weight in column {request.weights!r} is 0")
    said = [f"{zeros} row{'s were' if zeros > 1 else ' was'} left out: weight 0"] if zeros else []
    return sheet.only([weight > 0 for weight in weights]), notes + said


def _columns(design: Design, sheet: Sheet) -> list[str]:
    """Return the columns that a design's own parts read."""
    if isinstance(design, Channel):
        return []
    parts = (design.c0, design.c1) if isinstance(design, Affine) else design.parts.values()
    return [name for part in parts for name in read_expression(part, sheet).columns.values()]


def findings(sheet: Sheet, request: Request) -> Findings:
    """Return what complete rows say."""
    design = request.design
    weights = np.array(sheet.numbers(request.weights)) if request.weights else None
    if isinstance(design, Imported):
        return _imported(sheet, design, request, weights)
    if isinstance(design, Channel) and not design.is_binary:
        return _categories(sheet, design, request, weights)
    return _yes_or_no(sheet, design, request, weights)


def _yes_or_no(sheet: Sheet, design: Channel | Affine, request: Request, weights: Floats | None) -> Findings:
    first = design.first if isinstance(design, Channel) else 0
    yes = np.array(sheet.codes(request.outcome, 2, 1) if first else sheet.answers(request.outcome), dtype=np.float64)
    c0, c1 = _constants(design, sheet)
    losses = (design.epsilon, design.epsilon) if isinstance(design, Channel) else _epsilons(c0, c1)
    epsilon, notes = losses[1], _on_epsilon(losses[1]) + [PER_ROW] * (losses[0] != losses[1])
    share = binary_share(yes, c0, c1, weights, request.confidence)
    found = Findings(
        n=share.n, estimate=share.moment, maximum_likelihood=share.maximum_likelihood,
        standard_error=share.standard_error, interval=share.interval, profile=share.profile, epsilon=epsilon,
        log_likelihood=share.log_likelihood, fit=share.fit, warnings=(*notes, *share.warnings),
        confidence=request.confidence,
    )  # fmt: skip
    if not request.covariates:
        return found
    matrix, names = design_matrix(read_covariates(request.covariates, sheet), sheet)
    return _with_regression(found, logistic(yes, matrix, names, c0, c1, weights), names, weights is not None)


def _categories(sheet: Sheet, design: Channel, request: Request, weights: Floats | None) -> Findings:
    matrix = np.array(design.chances, dtype=np.float64)
    reports = np.array(sheet.codes(request.outcome, matrix.shape[1], design.first), dtype=np.int64)
    shares = category_shares(reports, [matrix], None, weights, request.confidence, design.first)
    found = Findings(
        n=shares.n, estimate=shares.moments, maximum_likelihood=shares.maximum_likelihood,
        standard_error=shares.standard_errors, interval=shares.intervals, simultaneous=shares.simultaneous,
        epsilon=design.epsilon, log_likelihood=shares.log_likelihood, fit=shares.fit,
        warnings=(*_on_epsilon(design.epsilon), *shares.warnings), free=len(matrix) - 1,
        choices=tuple(range(design.first, design.first + len(matrix))), confidence=request.confidence,
    )  # fmt: skip
    if not request.covariates:
        return found
    columns, names = design_matrix(read_covariates(request.covariates, sheet), sheet)
    fitted = multinomial(reports, columns, names, [matrix], weights=weights, first=design.first)
    return _with_regression(found, fitted, names, weights is not None)


def _imported(sheet: Sheet, design: Imported, request: Request, weights: Floats | None) -> Findings:
    if request.covariates:
        raise ValueError(f"covariates: a regression through {design.kind} is not possible; leave them out")
    result = imported.estimate(sheet, request.outcome, design, weights, request.confidence)
    pi = result.parameters[0]
    notes = _on_epsilon(design.epsilon) if design.kind == "kuk" else [UNKNOWN]
    return Findings(
        n=result.n, estimate=pi.estimate, maximum_likelihood=pi.maximum_likelihood, standard_error=pi.standard_error,
        interval=pi.interval, epsilon=design.epsilon, log_likelihood=result.log_likelihood, fit=result.fit,
        warnings=(*notes, *result.warnings), parameters=result.parameters,
        confidence=request.confidence,
    )  # fmt: skip


def _constants(design: Channel | Affine, sheet: Sheet) -> tuple[Floats, Floats]:
    """Return c0 and c1 of every row."""
    if isinstance(design, Channel):
        return tuple(np.full(len(sheet), float(constant)) for constant in design.affine)  # type: ignore[return-value]
    c0, c1 = (np.round(values_of(read_expression(part, sheet), sheet), DECIMALS) for part in (design.c0, design.c1))
    for name, chances in (("c0", c0), ("c0 + c1", np.round(c0 + c1, DECIMALS))):
        wrong = np.nonzero((chances < 0) | (chances > 1))[0]
        if wrong.size:
            line, came = sheet.lines[int(wrong[0])], chances[wrong[0]]
            raise ValueError(f"design affine, line {line}: {name} must be a chance, from 0 to 1, got {came:g}")
    return c0, c1


def _epsilons(c0: Floats, c1: Floats) -> tuple[float | None, float | None]:
    """Return the smallest and the largest ε of any row, None where it is infinite."""
    ends = np.unique(np.round(np.column_stack([c0, c0 + c1]), DECIMALS), axis=0)
    reports = np.stack([ends, 1 - ends])  # [report, row, answer]
    most, least = reports.max(axis=2), reports.min(axis=2)
    losses = np.divide(most, least, out=np.where(most > 0, np.inf, 1.0), where=least > 0).max(axis=0)
    low, high = (round(float(np.log(loss)), DECIMALS) for loss in (losses.min(), losses.max()))
    return (low if math.isfinite(low) else None), (high if math.isfinite(high) else None)


def _on_epsilon(epsilon: float | None) -> list[str]:
    return [NO_PROTECTION] if epsilon is None else []


def _with_regression(found: Findings, fitted: Regression, names: list[str], weighted: bool) -> Findings:
    """Return the findings with a regression's coefficients, likelihood and fit in the place of the shares'."""
    added = len(fitted.coefficients) - len(fitted.coefficients) // len(names)
    gain = 2 * (fitted.log_likelihood - found.log_likelihood)
    return replace(
        found,
        coefficients=tuple(_term(each, found.confidence) for each in fitted.coefficients),
        log_likelihood=fitted.log_likelihood,
        fit=fitted.fit,
        null_log_likelihood=found.log_likelihood,
        covariates_test=None if weighted or not added else Fit(g2=max(gain, 0.0), df=added),
        warnings=(*found.warnings, *fitted.warnings),
    )


def _term(each: Coefficient, confidence: float) -> Term:
    """Return a coefficient with Wald's test, which says nothing where the error is infinite."""
    reach = float(special.ndtri((1 + confidence) / 2)) * each.standard_error
    ends = (each.estimate - reach, each.estimate + reach)
    if not math.isfinite(each.standard_error):
        return Term(each.name, each.estimate, each.standard_error, None, None, ends)
    return Term(each.name, each.estimate, each.standard_error, each.z, each.p, ends)


def _by(sheet: Sheet, request: Request) -> tuple[Findings, ...]:
    """Return the findings of every value of a column. A regression that a group is too small for is said to be."""
    values = [value.strip() for value in sheet.column(request.by)]
    levels = sorted(set(values), key=_order)
    if not 2 <= len(levels) <= MOST_GROUPS:
        raise ValueError(f"column {request.by!r} must have 2 to {MOST_GROUPS} different values, got {len(levels)}")
    return tuple(_group(sheet.only([value == level for value in values]), request, level) for level in levels)


def _group(sheet: Sheet, request: Request, level: str) -> Findings:
    notes: list[str] = []
    try:
        try:
            found = findings(sheet, request)
        except (ValueError, ArithmeticError) as error:
            if not request.covariates:
                raise
            found = findings(sheet, replace(request, covariates=""))
            notes = [f"no regression of this group: {error}"]
    except ValueError as error:
        raise ValueError(f"{request.by} = {level}: {error}") from None
    return replace(found, value=level, warnings=_sentences((*notes, *found.warnings), found))


def _order(level: str) -> tuple[float, str]:
    try:
        return float(level), level
    except ValueError:
        return math.inf, level


def _same_value(whole: Findings, groups: tuple[Findings, ...], weighted: bool) -> tuple[Fit | None, list[str]]:
    """Return the test that the groups share one value."""
    if weighted and whole.choices is not None:
        return None, ["no test that the groups share one value: likelihood ratios need answers without survey weights"]
    if not weighted and whole.parameters is None:
        gain = sum(map(_share_likelihood, groups)) - _share_likelihood(whole)
        return Fit(g2=max(2 * gain, 0.0), df=(len(groups) - 1) * whole.free), []
    values = np.array([group.estimate for group in groups], dtype=np.float64)
    errors = np.array([group.standard_error for group in groups], dtype=np.float64)
    if not np.isfinite([values, errors]).all():
        return None, ["no test that the groups share one value: one of them has no estimate"]
    mean = np.average(values, weights=errors**-2)
    return Fit(g2=float((((values - mean) / errors) ** 2).sum()), df=len(groups) - 1), []


def _share_likelihood(found: Findings) -> float:
    return found.log_likelihood if found.null_log_likelihood is None else found.null_log_likelihood


def _sentences(notes: Iterable[str], found: Findings) -> tuple[str, ...]:
    """Return each note once, as a sentence. One that begins with a name begins as the name does."""
    names = [term.name for term in found.coefficients] + [each.name for each in found.parameters or ()]
    return tuple(dict.fromkeys(_sentence(note, names) for note in notes))


def _sentence(words: str, names: Sequence[str]) -> str:
    is_named = any(re.match(rf"{re.escape(name)}(?!\w)", words) for name in names)
    return (words if is_named else words[0].upper() + words[1:]) + "." * (not words.endswith("."))
