"""Crosswise answers of people who do not attend, corrected by an anchor question (Atsusaka and
Stevenson 2021).

Each person answers two crosswise questions: the sensitive one (the other statement holds with
chance p) and an anchor whose true answer is known to be no (its other statement holds with chance
p₀). A share γ attends; the rest give either report of each question with chance ½, and have the
trait as often as those who attend. Three classes, four cells:

    class                share        P(same)    P(same to the anchor)
    carriers             πγ           p          1 − p₀
    others               (1 − π)γ     1 − p      1 − p₀
    not attending        1 − γ        ½          ½

Attentive  γ̂ = (λ̂₀ − ½)/(½ − p₀), with λ̂₀ the share of same to the anchor.
Estimate   π̂ = ½ − ½·(λ̂ − ½)/(½ − p)/γ̂: the paper's moment estimator, unprojected.
Naive      (λ̂ + p − 1)/(2p − 1) estimates γπ + (1 − γ)/2, pulled towards ½. Kept beside as
           `uncorrected`.
Errors     Delta method with the covariance of the two reports; the R package cWise bootstraps 200
           times. Maximum likelihood uses all four cells, one more than there are parameters: G²
           tests whether it is the same people who do not attend to either question.
By hand    1427 and 1541 same of 2,000, p = p₀ = .15: naive .1950, γ̂ = .2705/.35 = .7729, π̂ =
           .1054 (cWise's example).
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.inference.inputs import coded, weights_of
from dpengine.inference.mixture import Analysis, Arm, analyse, target
from dpengine.inference.rows import arm_of, chances_of, groups_of

GUESS = 0.5  # chance of either report from who does not attend
HALF = 0.5  # of the people: fewer who attend are said
NEAR = 0.05  # a p this near to ½ says next to nothing
# 1, same, same to the anchor
MARGINS = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=np.float64)
TARGETS = (
    target("pi", [1, 0, 0], among=[1, 1, 0]),
    target("attentive", [1, 1, 0]),
    target("uncorrected", [1, 0, 0.5]),
)


def anchored_crosswise(
    same: npt.ArrayLike,
    anchor: npt.ArrayLike,
    p: npt.ArrayLike,
    anchor_p: npt.ArrayLike,
    prevalence: float = 0.0,
    weights: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π (`pi`), γ (`attentive`) and the `uncorrected` share.

    `prevalence` is the anchor's known share of yes.

    p and anchor_p may differ from row to row: rows with the same two are one arm.
    """
    sensitive, known_no = coded(same, 2, "same"), coded(anchor, 2, "anchor")
    rows = len(sensitive)
    require(
        len(known_no) == rows,
        "anchor must be one for each of {} rows, got {}",
        rows,
        len(known_no),
    )
    reports = 2 * sensitive + known_no
    chances = {
        name: chances_of(values, rows, name) for name, values in (("p", p), ("anchor_p", anchor_p))
    }
    known = float(chances_of(prevalence, 1, "prevalence", closed=True)[0])
    odds, index = groups_of(rows, chances)
    _tell(odds, known)
    weight = weights_of(weights, rows, positive=True)
    arms = [
        _arm(reports[index == g], weight[index == g], each, known) for g, each in enumerate(odds)
    ]
    analysis = analyse(arms, TARGETS, [MARGINS] * len(arms), rows, confidence)
    return replace(analysis, warnings=analysis.warnings + _warnings(analysis, odds))


def _tell(odds: list[Floats], known: float) -> None:
    for name, values in (
        ("p", [each[0] for each in odds]),
        ("anchor_p", [each[1] for each in odds]),
    ):
        require(
            any(abs(value - GUESS) >= 1e-9 for value in values),
            "{} must not be 1/2: attentive people would report as if they guessed",
            name,
        )
    require(
        abs(known - GUESS) >= 1e-9,
        "prevalence must not be 1/2: attentive people would answer the anchor as if they guessed",
    )


def _arm(reports: npt.NDArray[np.int64], weight: Floats, odds: Floats, known: float) -> Arm:
    """Return one arm's cells: neither same, only to the anchor, only to the question, both."""
    p, anchor_p = odds
    steady = known * anchor_p + (1 - known) * (1 - anchor_p)
    classes = [(p, steady), (1 - p, steady), (GUESS, GUESS)]
    return arm_of(reports, weight, [np.outer([1 - a, a], [1 - b, b]).ravel() for a, b in classes])


def _warnings(analysis: Analysis, odds: list[Floats]) -> tuple[str, ...]:
    low, high = analysis["attentive"].interval
    notes = []
    if low <= 0:
        notes.append(
            "the anchor does not show that anyone attends: pi is not told by these reports"
        )
    elif high < HALF:
        notes.append(
            f"fewer than half attend (at most {high:.2f}): pi rests on the few and on the "
            f"correction's model"
        )
    for name, chances in zip(("p", "anchor_p"), np.transpose(odds), strict=True):
        if np.abs(chances - GUESS).min() < NEAR:
            notes.append(f"{name} is near 1/2, where reports say next to nothing")
    return tuple(notes)
