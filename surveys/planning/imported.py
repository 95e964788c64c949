"""The designs with parameters of their own, from a file's columns to `dpengine.inference`.

sld         stochastic lie detector: π and t, the share of carriers who tell the truth
cdm         cheating detection: π honest carriers, β honest others, γ cheaters
unrelated2  unrelated question of unknown prevalence: π and q
ecwm        extended crosswise: π and the share who always give one answer
anchored    crosswise with an anchor question: π and the share who attend
kuk         Kuk's cards, drawn several times
list        list experiment
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.inference import anchor, designs, lists
from dpengine.inference.fit import Fit
from dpengine.inference.mixture import Analysis
from surveys.planning.expressions import read_expression, values_of
from surveys.planning.files import Sheet
from surveys.planning.specs import Imported

ODDS = ("p", "no", "anchor_p")  # parts that are chances, in each row
DECIMALS = 12  # of them: 1 − .8 and .2 are one number
TWO_PARAMETERS: dict[str, Callable[..., Analysis]] = {
    "sld": designs.stochastic_lie_detector,
    "cdm": designs.cheating_detection,
    "unrelated2": designs.unrelated_unknown,
    "ecwm": designs.extended_crosswise,
}

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Named:
    """One parameter. Numbers are None where no one is left to have the share of."""

    name: str
    estimate: float | None
    maximum_likelihood: float | None
    standard_error: float | None
    interval: tuple[float, float]

    def document(self) -> dict[str, Any]:
        names = ("name", "estimate", "maximum_likelihood", "standard_error", "interval")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Result:
    n: int
    parameters: tuple[Named, ...]  # π first
    log_likelihood: float
    fit: Fit | None
    warnings: tuple[str, ...]


def estimate(sheet: Sheet, outcome: str, design: Imported, weights: Floats | None, confidence: float) -> Result:
    """Return the parameters of a design."""
    analysis = _analysis(sheet, outcome, design, weights, confidence)
    named = tuple(
        Named(each.name, each.moment, each.maximum_likelihood, each.standard_error, each.interval)
        for each in analysis.parameters
    )
    return Result(analysis.n, named, analysis.log_likelihood, analysis.fit, analysis.warnings)


def _analysis(sheet: Sheet, outcome: str, design: Imported, weights: Floats | None, confidence: float) -> Analysis:
    """Return what `dpengine` makes of the columns."""
    said: dict[str, Any] = {"weights": weights, "confidence": confidence}
    if design.kind == "kuk":
        cards, odds = design.whole["repeats"], {name: float(chance) for name, chance in design.odds.items()}
        return designs.kuk(sheet.codes(outcome, cards + 1), odds["p1"], odds["p2"], cards, **said)
    if design.kind == "list":
        items = design.whole["items"]
        counts, treated = sheet.codes(outcome, items + 2), sheet.answers(_column(sheet, design, "treated"))
        return lists.list_experiment(counts, treated, items, **said).analysis
    said |= {name: _odds(sheet, part) for name, part in design.parts.items() if name in ODDS}
    yes = sheet.answers(outcome)
    if design.kind == "anchored":
        return anchor.anchored_crosswise(yes, sheet.answers(_column(sheet, design, "anchor")), **said)
    group = sheet.column(_column(sheet, design, "group")) if "group" in design.parts else None
    return TWO_PARAMETERS[design.kind](yes, group=group, **said)


def _odds(sheet: Sheet, part: str) -> Floats:
    return np.round(values_of(read_expression(part, sheet), sheet), DECIMALS)


def _column(sheet: Sheet, design: Imported, part: str) -> str:
    """Return the column that a part must be."""
    name = read_expression(design.parts[part], sheet).column
    if name is None:
        raise ValueError(f"design {design.kind}: {part} must be a column, got {design.parts[part]!r}")
    return name
