"""Analyse answers collected elsewhere: a CSV file, the column of the outcome, and the design that
it was asked with.

Reads the file, leaves out rows with blanks and says so, and hands columns to `dpengine.inference`:

    one channel, yes and no     shares.binary_share          with covariates  logistic
    one channel, more choices   shares.category_shares       with covariates  multinomial
    constants of each row       shares.binary_share          with covariates  logistic
    two-parameter designs       designs, anchor, lists       (without covariates)
    an open outcome             predictors.py: regression on an answer that was randomised

A column besides the outcome, through its own channel: the table of both (crossing.py). Weights
may be raked to a population's margins (weighting.py).

By a column  every group alone, and a test that they share one value: G² = 2(Σ ln L_group − ln
             L_all), chi-square with (groups − 1)(choices − 1) df; with survey weights, and for π of
             a two-parameter design, Wald's Σ (estimate − mean)²/error² on groups − 1. Each group
             against the first: difference, ratio and odds ratio of likeliest shares (contrasts.py).
             Four groups or more drawn towards their mean, beside (towards_mean.py).
Together     m intervals that are all to hold have a confidence of 1 − (1 − confidence)/m each:
             Bonferroni's, since groups and whole, choices and coefficients depend on one another.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from dpengine.checks import require
from dpengine.cli import two_parameters
from dpengine.cli.channels import constants_of, design_columns, epsilons_of, reports_of
from dpengine.cli.crossing import cross_table_of
from dpengine.cli.expressions import columns_of, design_matrix, read_covariates
from dpengine.cli.files import Reading, Sheet, read_csv
from dpengine.cli.predictors import regression_of
from dpengine.cli.results import GroupContrast, Results, terms_of
from dpengine.cli.specs import AnyDesign, Asked, Imported
from dpengine.cli.towards_mean import drawn
from dpengine.cli.weighting import Weighting, weighting_of
from dpengine.designs import Design
from dpengine.estimates import Floats
from dpengine.inference.coefficients import Regression
from dpengine.inference.contrasts import Limits, contrast
from dpengine.inference.fit import Fit
from dpengine.inference.logistic import logistic
from dpengine.inference.multinomial import multinomial
from dpengine.inference.shares import binary_share, category_shares

MAX_GROUPS = 100
OPEN = "direct"
PER_ROW = "epsilon is that of the row that gives away most"
NO_PROTECTION = "epsilon is infinite: some reports prove or rule out an answer"
TOGETHER = (
    "all {} intervals hold together with {:g} % (Bonferroni): each has a confidence of {:.6g} %"
)
UNKNOWN = "epsilon of this design is infinite, or depends on what people do: it is shown as null"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a file."""

    outcome: str
    design: AnyDesign
    covariates: str = ""
    by: str = ""
    weights: str = ""
    cross: Asked | None = None
    predictor: Asked | None = None
    population: tuple[tuple[str, str], ...] = ()  # columns, and files of their margins
    confidence: float = 0.95
    reading: Reading = field(default_factory=Reading)  # what cells mean
    simultaneous: bool = False  # whether the confidence is that all intervals hold at once


def analyse(path: str, request: Request) -> Results:
    """Return what a file says, as a whole and, if asked, by the values of a column."""
    require(
        0 < request.confidence < 1, "confidence must be between 0 and 1, got {}", request.confidence
    )
    sheet = read_csv(path, partial(_places, request), request.reading)
    sheet, notes = _complete(sheet, request)
    notes += _strange(sheet, request)
    weighting, more = weighting_of(sheet, request.weights, request.population)
    notes += more
    whole = _analysed(sheet, request, weighting)
    if request.simultaneous and (count := whole.intervals) > 1:
        each = 1 - (1 - request.confidence) / count
        whole = _analysed(sheet, replace(request, confidence=each), weighting)
        notes = [*notes, TOGETHER.format(count, 100 * request.confidence, 100 * each)]
    return replace(whole, warnings=_sentences((*notes, *whole.warnings), whole))


def _strange(sheet: Sheet, request: Request) -> list[str]:
    """Return a hint for each covariate with a number that may stand for a missing answer."""
    names = columns_of(request.covariates, sheet) if request.covariates else []
    return [
        f"{name} has {code} far from its other values: if that stands for no answer, say "
        f"--missing {name}={code}"
        for name in dict.fromkeys(names)
        if (code := sheet.strange_code(name))
    ]


def _analysed(sheet: Sheet, request: Request, weighting: Weighting) -> Results:
    """Return what complete rows say, as a whole and, if asked, by the values of a column."""
    whole = results_of(sheet, request, weighting)
    if not request.by:
        return whole
    groups = _by(sheet, request, weighting)
    test, more = _same_value(whole, groups, weighted=weighting.weights is not None)
    against = tuple(each for group in groups[1:] for each in _contrasts(group, groups[0]))
    beside: tuple[str, ...] = ()
    if not request.simultaneous:  # its intervals hold on average over the groups
        groups, beside = drawn(groups, request.design)
    notes = (*more, *beside, *whole.warnings)
    return replace(whole, groups=groups, groups_test=test, contrasts=against, warnings=notes)


def _used(request: Request, sheet: Sheet) -> dict[str, list[str]]:
    """Return the columns that every option uses, none of which may be the outcome."""
    second, other = request.cross, request.predictor
    used = {
        "--covariates": columns_of(request.covariates, sheet) if request.covariates else [],
        "--design": design_columns(request.design, sheet),
        "--by": [request.by] if request.by else [],
        "--weights": [request.weights] if request.weights else [],
        "--predictor": [other.column, *design_columns(other.design, sheet)] if other else [],
        "--cross": [second.column, *design_columns(second.design, sheet)] if second else [],
        "--poststratify": [column for column, _ in request.population],
    }
    for option, columns in used.items():
        require(
            request.outcome not in columns,
            "{}: expected other columns than the outcome, got column {!r}",
            option,
            request.outcome,
        )
    return used


def _places(request: Request, sheet: Sheet) -> list[int]:
    """Return where the columns stand that are to be read."""
    names = [name for names in _used(request, sheet).values() for name in names]
    return [sheet.place(name) for name in [request.outcome, *names]]


def _complete(sheet: Sheet, request: Request) -> tuple[Sheet, list[str]]:
    """Return the rows without blanks in any column that is used, and without weights of 0."""
    if request.covariates:
        read_covariates(request.covariates, sheet)  # words and numbers in one column are refused
    names = [name for names in _used(request, sheet).values() for name in names]
    sheet, notes = sheet.complete([request.outcome, *names])
    if not request.weights:
        return sheet, notes
    weights = sheet.numbers(request.weights)
    require(
        not np.any(weights < 0),
        "column {!r}, line {}: weights must be 0 or more",
        request.weights,
        sheet.lines[int(np.argmax(weights < 0))],
    )
    zeros = int(np.sum(weights == 0))
    require(zeros != len(sheet), "n = 0: every weight in column {!r} is 0", request.weights)
    if zeros:
        notes.append(f"{zeros} row{'s were' if zeros > 1 else ' was'} left out: weight 0")
    return sheet.only(weights > 0), notes


def results_of(sheet: Sheet, request: Request, weighting: Weighting) -> Results:
    """Return what complete rows say."""
    design, weights = request.design, weighting.weights
    if request.predictor:
        return _predicted(sheet, request, request.predictor, weighting)
    if isinstance(design, Imported) and design.kind != "affine":
        return _imported(sheet, design, request, weights)
    if isinstance(design, Design) and not design.is_binary:
        results = _categories(sheet, design, request, weighting)
    else:
        results = _yes_or_no(sheet, design, request, weighting)
    if results.epsilon is None:
        results = replace(results, warnings=(NO_PROTECTION, *results.warnings))
    results = replace(results, effective_n=weighting.effective_n)
    if request.cross:
        pair = (request.outcome, design), request.cross
        cross, notes = cross_table_of(sheet, *pair, weighting, request.confidence)
        results = replace(results, cross=cross, warnings=(*results.warnings, *notes))
    if not request.covariates:
        return results
    fitted = _regression(sheet, design, request, weights)
    return _with_regression(results, fitted, weighted=weights is not None)


def _predicted(sheet: Sheet, request: Request, asked: Asked, weighting: Weighting) -> Results:
    require(
        request.design.spec.strip().lower() == OPEN,
        "--predictor: expected an outcome that was given openly, --design direct, got {}",
        request.design.spec,
    )
    require(not request.cross, "--cross has no meaning with --predictor: leave one out")
    columns = request.outcome, asked, request.covariates
    results = regression_of(sheet, *columns, weighting, request.confidence)
    return replace(results, effective_n=weighting.effective_n)


def _yes_or_no(sheet: Sheet, design: AnyDesign, request: Request, weighting: Weighting) -> Results:
    yes = reports_of(sheet, request.outcome, design).astype(np.int8)
    c0, c1 = constants_of(design, sheet)
    if isinstance(design, Design):
        least = epsilon = design.epsilon
    else:
        least, epsilon = epsilons_of(c0, c1)
    weights = weighting.weights
    share = binary_share(yes, c0, c1, weights, request.confidence, weighting.margins)
    return Results(
        n=share.n,
        estimate=share.moment,
        maximum_likelihood=share.maximum_likelihood,
        standard_error=share.standard_error,
        interval=share.interval,
        is_exact=share.is_exact,
        profile=share.profile,
        epsilon=epsilon,
        log_likelihood=share.log_likelihood,
        fit=share.fit,
        warnings=share.warnings if least == epsilon else (PER_ROW, *share.warnings),
        confidence=request.confidence,
    )


def _categories(sheet: Sheet, design: Design, request: Request, weighting: Weighting) -> Results:
    chances, weights = np.array(design.chances, dtype=np.float64), weighting.weights
    reports = reports_of(sheet, request.outcome, design)
    choices = tuple(range(design.first, design.first + len(chances)))
    names = [str(choice) for choice in choices]
    shares = category_shares(
        reports, [chances], None, weights, request.confidence, names, weighting.margins
    )
    return Results(
        n=shares.n,
        estimate=shares.moments,
        maximum_likelihood=shares.maximum_likelihood,
        standard_error=shares.standard_errors,
        interval=shares.intervals,
        simultaneous=shares.simultaneous,
        epsilon=design.epsilon,
        log_likelihood=shares.log_likelihood,
        fit=shares.fit,
        warnings=shares.warnings,
        choices=choices,
        confidence=request.confidence,
    )


def _regression(
    sheet: Sheet, design: AnyDesign, request: Request, weights: Floats | None
) -> Regression:
    """Return the regression on covariates. Rows with the same cells are looked at once."""
    terms = read_covariates(request.covariates, sheet)
    alike = replace(request, by="", cross=None)  # what a regression reads, and weights come from
    used = [name for names in _used(alike, sheet).values() for name in names]
    repeats, rows = sheet.repeats([request.outcome, *used]), sheet
    if repeats is not None:
        keep = np.zeros(len(sheet), dtype=np.bool_)
        keep[repeats.first] = True
        rows, weights = sheet.only(keep), None if weights is None else weights[keep]
    try:
        matrix, names = design_matrix(terms, rows)
    except ValueError:
        design_matrix(terms, sheet)  # its error counts all lines
        raise
    reports = reports_of(rows, request.outcome, design)
    if isinstance(design, Design) and not design.is_binary:
        chances = [np.array(design.chances, dtype=np.float64)]
        arms, first = (chances, None, weights), design.first
        return multinomial(reports, matrix, names, *arms, first, repeats)
    c0, c1 = constants_of(design, rows)
    return logistic(reports, matrix, names, c0, c1, weights, repeats)


def _imported(sheet: Sheet, design: Imported, request: Request, weights: Floats | None) -> Results:
    require(
        not request.covariates,
        "covariates: a regression through {} is not possible; leave them out",
        design.kind,
    )
    require(
        not request.cross,
        "--cross: a table through {} is not possible: its chances are not known",
        design.kind,
    )
    result = two_parameters.estimate(sheet, request.outcome, design, weights, request.confidence)
    pi = result.parameters[0]
    notes = [] if design.epsilon is not None else [UNKNOWN if design.one is None else NO_PROTECTION]
    return Results(
        n=result.n,
        estimate=pi.moment,
        maximum_likelihood=pi.maximum_likelihood,
        standard_error=pi.standard_error,
        interval=pi.interval,
        epsilon=design.epsilon,
        log_likelihood=result.log_likelihood,
        fit=result.fit,
        warnings=(*notes, *result.warnings),
        parameters=result.parameters,
        confidence=request.confidence,
    )


def _with_regression(results: Results, fitted: Regression, weighted: bool) -> Results:
    """Return the results with a regression's likelihood and fit in place of the shares'."""
    logits = 1 if results.choices is None else len(results.choices) - 1
    added = len(fitted.coefficients) - logits
    gain = 2 * (fitted.log_likelihood - results.log_likelihood)
    return replace(
        results,
        coefficients=terms_of(fitted.coefficients, results.confidence),
        log_likelihood=fitted.log_likelihood,
        fit=fitted.fit,
        null_log_likelihood=results.log_likelihood,
        covariates_test=Fit(max(gain, 0.0), added) if added and not weighted else None,
        warnings=(*results.warnings, *fitted.warnings),
    )


def _by(sheet: Sheet, request: Request, weighting: Weighting) -> tuple[Results, ...]:
    """Return the results of every value of a column. Where a group is too small for the
    regression, a warning says so.
    """
    places, levels = sheet.factor(request.by)
    require(
        2 <= len(levels) <= MAX_GROUPS,
        "column {!r} must have 2 to {} different values, got {}",
        request.by,
        MAX_GROUPS,
        len(levels),
    )
    return tuple(
        _group(sheet.only(places == place), request, weighting.only(places == place), level)
        for place, level in enumerate(levels)
    )


def _group(sheet: Sheet, request: Request, weighting: Weighting, level: str) -> Results:
    notes: list[str] = []
    try:
        try:
            results = results_of(sheet, request, weighting)
        except (ValueError, ArithmeticError) as error:
            if not request.covariates:
                raise
            results = results_of(sheet, replace(request, covariates=""), weighting)
            notes = [f"no regression of this group: {error}"]
    except ValueError as error:
        raise ValueError(f"{request.by} = {level}: {error}") from None
    return replace(results, value=level, warnings=_sentences((*notes, *results.warnings), results))


def _contrasts(group: Results, base: Results) -> list[GroupContrast]:
    """Return a group's likeliest shares against those of the first group."""
    names = str(group.value), str(base.value)
    if group.is_mean or group.maximum_likelihood is None or base.maximum_likelihood is None:
        return []
    if group.choices is None:
        return [GroupContrast(*names, None, contrast(_limits(group), _limits(base)))]
    return [
        GroupContrast(*names, choice, contrast(_limits(group, place), _limits(base, place)))
        for place, choice in enumerate(group.choices)
    ]


def _limits(results: Results, place: int | None = None) -> Limits:
    """Return a likeliest share and the ends of its interval; of a choice, if there is a list."""
    share, ends = results.maximum_likelihood, results.interval
    return (share, *ends) if place is None else (share[place], *ends[place])


def _same_value(
    whole: Results, groups: tuple[Results, ...], weighted: bool
) -> tuple[Fit | None, list[str]]:
    """Return the test that the groups share one value."""
    if weighted and whole.choices is not None:
        return None, [
            "no test that the groups share one value: likelihood ratios need answers without "
            "survey weights"
        ]
    if not weighted and whole.parameters is None and not whole.is_mean:
        gain = sum(group.share_log_likelihood for group in groups) - whole.share_log_likelihood
        free = 1 if whole.choices is None else len(whole.choices) - 1
        return Fit(g2=max(2 * gain, 0.0), df=(len(groups) - 1) * free), []
    values = np.array([group.estimate for group in groups], dtype=np.float64)
    errors = np.array([group.standard_error for group in groups], dtype=np.float64)
    if not np.isfinite([values, errors]).all():
        return None, ["no test that the groups share one value: one of them has no estimate"]
    mean = np.average(values, weights=errors**-2)
    return Fit(g2=float((((values - mean) / errors) ** 2).sum()), df=len(groups) - 1), []


def _sentences(notes: Iterable[str], results: Results) -> tuple[str, ...]:
    """Return each note once, as a sentence. One that begins with a name begins as the name does."""
    names = [each.name for each in results.coefficients]
    names += [each.name for each in results.parameters or ()]
    sentences = []
    for note in dict.fromkeys(notes):
        is_named = any(re.match(rf"{re.escape(name)}(?!\w)", note) for name in names)
        sentence = note if is_named else note[0].upper() + note[1:]
        sentences.append(sentence.removesuffix(".") + ".")
    return tuple(dict.fromkeys(sentences))
