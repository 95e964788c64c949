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
from typing import Any

import numpy as np

from dpengine.cli.channels import DECIMALS
from dpengine.cli.expressions import read_expression, values_of
from dpengine.cli.files import Sheet
from dpengine.cli.specs import Imported
from dpengine.estimates import Floats
from dpengine.inference import anchor, designs, lists
from dpengine.inference.mixture import Analysis

CHANCES = ("p", "no", "anchor_p")  # parts that are chances, in each row
BY_GROUPS: dict[str, Callable[..., Analysis]] = {
    "sld": designs.stochastic_lie_detector,
    "cdm": designs.cheating_detection,
    "unrelated2": designs.unrelated_unknown,
    "ecwm": designs.extended_crosswise,
}


def estimate(
    sheet: Sheet, outcome: str, design: Imported, weights: Floats | None, confidence: float
) -> Analysis:
    """Return the parameters of a design, π first."""
    options: dict[str, Any] = {"weights": weights, "confidence": confidence}
    if design.one is not None:
        (_, no), (_, yes) = design.one.chances
        red = sheet.codes(outcome, design.repeats + 1)
        return designs.kuk(red, float(yes), float(no), design.repeats, **options)
    if design.kind == "list":
        counts = sheet.codes(outcome, design.items + 2)
        treated = sheet.answers(_column(sheet, design, "treated"))
        return lists.list_experiment(counts, treated, design.items, **options)
    for name, part in design.parts.items():
        if name in CHANCES:
            values = values_of(read_expression(part, sheet), sheet)
            options[name] = np.round(values, DECIMALS)
    reports = sheet.answers(outcome)
    if design.kind == "anchored":
        anchors = sheet.answers(_column(sheet, design, "anchor"))
        return anchor.anchored_crosswise(reports, anchors, **options)
    group = sheet.column(_column(sheet, design, "group")) if "group" in design.parts else None
    return BY_GROUPS[design.kind](reports, group=group, **options)


def _column(sheet: Sheet, design: Imported, part: str) -> str:
    """Return the column that a part must be."""
    name = read_expression(design.parts[part], sheet).column
    if name is None:
        raise ValueError(
            f"design {design.kind}: {part} must be a column, got {design.parts[part]!r}"
        )
    return name
