"""Results and plans in words and columns, for a terminal; and the JSON of both."""

import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from dpengine.cli.plan_size import Plan
from dpengine.cli.results import Results, Term, document
from dpengine.estimates import Interval
from dpengine.inference.fit import Fit
from dpengine.inference.shrinkage import Shrunk

WIDTH = 100  # signs of a line
SMALLEST = 0.0001  # of chances that are printed


def results_json(results: Results) -> str:
    return json.dumps(document(results), allow_nan=False)


def plan_json(plan: Plan) -> str:
    """Return a plan as JSON, with null for what one person less cannot have."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in plan.document().items()
    }
    return json.dumps(finite, allow_nan=False)


def results_text(results: Results, outcome: str, design: str) -> str:
    """Return the results as a methodologist reads them."""
    epsilon = (
        "ε is infinite or unknown"
        if results.epsilon is None
        else f"ε = {results.epsilon:.4g} a report"
    )
    worth = "" if results.effective_n is None else f" worth {results.effective_n:.0f} unweighted"
    parts = [f"{outcome} by {design}: {results.n} reports{worth}, {epsilon}", _shares(results)]
    if results.coefficients:
        parts.append(_regression(results))
    fit = "" if results.fit is None or results.fit.df < 1 else f"; fit {_fit(results.fit)}"
    has_likelihood = math.isfinite(results.log_likelihood)
    parts += has_likelihood * [
        f"log likelihood {_number(results.log_likelihood, 3)}, deviance "
        f"{_number(results.deviance, 3)}{fit}"
    ]
    parts += [*_groups(results), _contrasts(results), _cross(results, outcome)]
    if results.warnings:
        parts.append("Warnings\n" + "\n".join(_item(warning) for warning in results.warnings))
    return "\n\n".join(part for part in parts if part)


def _shares(results: Results) -> str:
    if results.choices is not None:
        rows = [
            [str(choice), *map(_number, numbers), _interval(interval), _interval(together)]
            for choice, *numbers, interval, together in zip(
                results.choices,
                results.estimate,
                results.maximum_likelihood,
                results.standard_error,
                results.interval,
                results.simultaneous or (),
                strict=True,
            )
        ]
        return columns(
            ["choice", "moment", "likeliest", "std. error", _percent(results), "simultaneous"], rows
        )
    if results.parameters is not None:
        rows = [
            [
                each.name,
                _number(each.moment),
                _number(each.maximum_likelihood),
                _number(each.standard_error),
                _interval(each.interval),
            ]
            for each in results.parameters
        ]
        return columns(["parameter", "moment", "likeliest", "std. error", _percent(results)], rows)
    if results.is_mean:
        lines = [
            ("mean", _number(results.estimate), "of the outcome"),
            ("standard error", _number(results.standard_error), "of sampling"),
            (_percent(results), _interval(results.interval), "Student's"),
        ]
        return "\n".join(f"{name:<20}{value:<20}{words}" for name, value, words in lines)
    lines = [
        (
            "moment estimate",
            _number(results.estimate),
            "share of yes; unbiased, so it may leave 0 to 1",
        ),
        (
            "maximum likelihood",
            _number(results.maximum_likelihood),
            "the likeliest share from 0 to 1",
        ),
        (
            "standard error",
            _number(results.standard_error),
            "of sampling and of the design's chance together",
        ),
        (
            _percent(results),
            _interval(results.interval),
            "exact, through the design" if results.is_exact else "approximate, through the design",
        ),
        ("profile likelihood", _interval(results.profile), "the same confidence"),
    ]
    return "\n".join(f"{name:<20}{value:<20}{words}" for name, value, words in lines)


def _regression(results: Results) -> str:
    score = _terms(results, results.coefficients)
    if results.likeliest is not None:
        score += "\n\nlikeliest, if errors were normal\n" + _terms(results, results.likeliest)
    if results.covariates_test is None:
        return score
    return f"{score}\nall covariates together: {_fit(results.covariates_test)}"


def _terms(results: Results, terms: Sequence[Term]) -> str:
    rows = [
        [
            term.name,
            *map(_number, (term.estimate, term.standard_error)),
            _number(term.z, 2),
            _chance(term.p_value),
            _interval(term.interval),
        ]
        for term in terms
    ]
    unit = "units" if results.is_mean else "log odds"
    return columns(["coefficient", unit, "std. error", "z", "p", _percent(results)], rows)


def _groups(results: Results) -> list[str]:
    if results.groups is None:
        return []
    rows = [
        [str(group.value), str(group.n), *row]
        for group in results.groups
        for row in _group_rows(group)
    ]
    heads = [
        "group",
        "n",
        *(["choice"] if results.choices is not None else []),
        "moment",
        "std. error",
        _percent(results),
        *(["drawn", _percent(results)] if results.groups[0].towards_mean is not None else []),
    ]
    test = (
        []
        if results.groups_test is None
        else [f"one value for all groups: {_fit(results.groups_test)}"]
    )
    notes = [
        _item(f"{group.value}: {warning}")
        for group in results.groups
        for warning in group.warnings
        if warning not in results.warnings
    ]
    return [
        "\n".join([columns(heads, rows), *test]),
        "\n".join(["Warnings of groups", *notes]) if notes else "",
    ]


def _contrasts(results: Results) -> str:
    """Return each group against the first."""
    if not results.contrasts:
        return ""
    percent = _percent(results)
    rows = [
        [
            f"{each.value} : {each.base}",
            *([] if each.choice is None else [str(each.choice)]),
            _number(each.contrast.difference),
            _interval(each.contrast.difference_interval),
            _number(each.contrast.ratio),
            _interval(each.contrast.ratio_interval),
            _number(each.contrast.odds_ratio),
            _interval(each.contrast.odds_ratio_interval),
        ]
        for each in results.contrasts
    ]
    choice = ["choice"] if results.choices is not None else []
    heads = ["difference", percent, "ratio", percent, "odds ratio", percent]
    return columns(["groups", *choice, *heads], rows)


def _cross(results: Results, outcome: str) -> str:
    """Return the table of the outcome and a second column."""
    cross = results.cross
    if cross is None:
        return ""
    rows = [
        [
            each.outcome,
            each.column,
            *map(_number, (each.estimate, each.maximum_likelihood, each.standard_error)),
            _interval(each.interval),
            _interval(each.simultaneous),
        ]
        for each in cross.cells
    ]
    heads = ["moment", "likeliest", "std. error", _percent(results), "simultaneous"]
    lines = [columns([outcome, cross.column, *heads], rows)]
    if cross.odds_ratio is not None:
        ratio, ends = _number(cross.odds_ratio.estimate), _interval(cross.odds_ratio.interval)
        lines.append(f"odds ratio {ratio}, {_percent(results)} {ends}")
    epsilon = "infinite" if cross.epsilon is None else f"{cross.epsilon:.4g}"
    lines.append(f"answers independent of one another: {_fit(cross.independence)}")
    lines.append(f"ε of both reports together: {epsilon}")
    return "\n".join(lines)


def _group_rows(group: Results) -> list[list[str]]:
    beside = group.towards_mean
    if group.choices is None:
        own = [_number(group.estimate), _number(group.standard_error), _interval(group.interval)]
        return [own + _drawn(beside)]
    every = beside or [None] * len(group.choices)
    numbers = zip(
        group.choices, group.estimate, group.standard_error, group.interval, every, strict=True
    )
    return [
        [str(choice), _number(value), _number(error), _interval(ends), *_drawn(drawn)]
        for choice, value, error, ends, drawn in numbers
    ]


def _drawn(beside: Shrunk | None) -> list[str]:
    return [] if beside is None else [_number(beside.value), _interval((beside.low, beside.high))]


def plan_text(plan: Plan) -> str:
    """Return a plan in a few lines."""
    names = {key: key.replace("_", " ") for key in plan.result}
    width = max(map(len, names.values())) + 2
    lines = [f"{names[key]:<{width}}{_value(value)}" for key, value in plan.result.items()]
    notes = [_item(warning) for warning in plan.warnings]
    return "\n".join(
        [f"{plan.design}: {plan.method}", "", *lines, *([""] if notes else []), *notes]
    )


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(
            f"{each['n']} by {each['design']}" if isinstance(each, dict) else str(each)
            for each in value
        )
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else "none"
    return "worst" if value is None else str(value)


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in [heads, *rows]
    )


def _item(words: str) -> str:
    return textwrap.fill(
        words, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )


def _percent(results: Results) -> str:
    return f"{100 * results.confidence:g} % interval"


def _interval(ends: Interval | None) -> str:
    return "none" if ends is None else f"{_number(ends[0])} to {_number(ends[1])}"


def _number(value: float | None, decimals: int = 4) -> str:
    if value is None:
        return "none"
    return f"{value + 0.0:.{decimals}f}".replace("-", "−") if math.isfinite(value) else "infinite"


def _chance(p: float | None) -> str:
    if p is None:
        return "none"
    return f"{p:.4f}" if p >= SMALLEST else f"<{SMALLEST}"


def _fit(fit: Fit) -> str:
    chance = (
        "" if fit.p is None else f", p = {fit.p:.4f}" if fit.p >= SMALLEST else f", p < {SMALLEST}"
    )
    return f"G² = {fit.g2:.2f} on {fit.df} df{chance}"
