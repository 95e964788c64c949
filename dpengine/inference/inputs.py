"""Checks of the columns of an analysis: an error names a column and what was expected of it,
never an answer.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats, Ints

SLACK = 1e-9  # by which probabilities may miss 0, 1 or their sum


def binary(yes: npt.ArrayLike) -> Floats:
    """Return answers as 0 and 1."""
    answers = column(yes, "yes")
    require(len(answers), "n must be 1 or more, got 0: there are no reports")
    require(np.all((answers == 0) | (answers == 1)), "yes must be 0 or 1 in every row")
    return answers


def column(values: npt.ArrayLike, name: str) -> Floats:
    """Return a column of finite numbers."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers") from error
    require(numbers.ndim == 1, "{} must be one column, got {} dimensions", name, numbers.ndim)
    require(
        (finite := np.isfinite(numbers)).all(),
        "{} must be finite, got NaN or infinity in {} rows",
        name,
        int(np.sum(~finite)),
    )
    return numbers


def constants(values: npt.ArrayLike, name: str, n: int) -> Floats:
    """Return a constant of every row, from a column or one number, which is in memory once."""
    return aligned(np.broadcast_to(values, n) if np.ndim(values) == 0 else values, name, n)


def aligned(values: npt.ArrayLike, name: str, n: int) -> Floats:
    """Return a column with a number for each of n reports."""
    numbers = column(values, name)
    require(
        len(numbers) == n,
        "{} must have as many rows as there are reports, {}, got {}",
        name,
        n,
        len(numbers),
    )
    return numbers


def weights_of(weights: npt.ArrayLike | None, n: int, positive: bool = False) -> Floats:
    """Return weights scaled to add up to n; ones when there are none.

    Shares and regressions leave rows of weight 0 out and warn of it. Designs whose rows make
    groups, which could end up empty, want `positive` ones.
    """
    if weights is None:
        return np.broadcast_to(1.0, n)
    raw = aligned(weights, "weights", n)
    if positive and np.any(raw <= 0):
        raise ValueError(f"weights must be above 0, got {raw.min():g}: leave out rows of weight 0")
    require(not np.any(raw < 0) and raw.sum() > 0, "weights must be 0 or more, and not all 0")
    return np.asarray(raw * (n / raw.sum()), dtype=np.float64)


def left_out(rows: int) -> list[str]:
    """Return the warning that so many rows had no weight."""
    return [f"{rows} rows of weight 0 are left out"] if rows else []


def check_confidence(confidence: float) -> None:
    require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)


def check_affine(c0: Floats, c1: Floats, answers: Floats | npt.NDArray[np.int8]) -> None:
    """Refuse constants that are no chances, teach nothing, or cannot have made a report."""
    for name, chances in (("c0", c0), ("c0 + c1", c0 + c1)):
        if np.any(chances < -SLACK) or np.any(chances > 1 + SLACK):
            raise ValueError(
                f"{name} must be between 0 and 1, got {chances.min():g} to {chances.max():g}"
            )
    dumb = np.abs(c1) < SLACK
    require(
        not np.all(dumb),
        "c1 must not be 0 in every row: a yes is as likely after both answers, nothing can "
        "be learned",
    )
    require(
        not np.any(np.abs(answers[dumb] - c0[dumb]) > 1 - SLACK),
        "a report is impossible: its row has c1 = 0 and c0 = 0 or 1, and says the contrary",
    )


def channel_of(matrix: npt.ArrayLike, name: str = "matrix") -> Floats:
    """Return chances [answer, report], every row adding up to 1."""
    chances = np.asarray(matrix, dtype=np.float64)
    require(
        chances.ndim == 2 and len(chances) >= 2,
        "{} must have a row for each of two answers or more, got shape {}",
        name,
        chances.shape,
    )
    require(
        np.all((chances >= -SLACK) & (chances <= 1 + SLACK)),
        "{} must hold chances between 0 and 1",
        name,
    )
    sums = chances.sum(axis=1)
    require(
        not np.any(np.abs(sums - 1) > SLACK),
        "{} must have rows that add up to 1, got {:g}",
        name,
        sums[np.argmax(np.abs(sums - 1))],
    )
    return np.clip(chances, 0.0, 1.0)


def coded(reports: npt.ArrayLike, codes: int, name: str = "reports") -> Ints:
    """Return reports as whole numbers from 0, fewer than `codes`."""
    numbers = np.asarray(reports)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        numbers = column(reports, name)
    require(len(numbers), "n must be 1 or more, got 0: there are no reports")
    require(
        np.all((numbers == np.floor(numbers)) & (numbers >= 0) & (numbers < codes)),
        "{} must be whole numbers from 0 to {}",
        name,
        codes - 1,
    )
    return numbers.astype(np.int64, copy=False)


def arms_of(
    reports: npt.ArrayLike, matrices: Sequence[npt.ArrayLike], arm: npt.ArrayLike | None
) -> tuple[Ints, Ints, list[Floats]]:
    """Return reports, the arm of each, and each arm's matrix [answer, report]."""
    require(len(matrices), "matrices must be one or more, got 0")
    channels = [channel_of(matrix, f"matrices[{i}]") for i, matrix in enumerate(matrices)]
    n = np.size(reports)
    require(
        arm is not None or len(channels) <= 1,
        "arm must say which of the {} matrices each report came through",
        len(channels),
    )
    own = np.broadcast_to(0, n) if arm is None else aligned(arm, "arm", n)
    answers = sorted({len(channel) for channel in channels})
    require(
        len(answers) <= 1,
        "matrices must have the same number of rows, the answers, got {}",
        answers,
    )
    codes = coded(reports, max(channel.shape[1] for channel in channels))
    arms = coded(own, len(channels), "arm")
    for index, channel in enumerate(channels):
        require(
            not np.any(codes[arms == index] >= channel.shape[1]),
            "reports of arm {} must be whole numbers from 0 to {}",
            index,
            channel.shape[1] - 1,
        )
    return codes, arms, channels


def likelihoods_of(codes: Ints, arms: Ints, channels: Sequence[Floats]) -> Floats:
    """Return the chance of each row's report after each answer, through its own arm's channel."""
    likelihoods = np.empty((len(codes), len(channels[0])))
    for index, channel in enumerate(channels):
        likelihoods[arms == index] = channel.T[codes[arms == index]]
    return likelihoods
