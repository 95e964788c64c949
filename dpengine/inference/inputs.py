"""What analyses are given, checked: an error names the column and what was expected, never an answer."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SLACK = 1e-9  # by which probabilities may miss 0, 1 or their sum


def binary(yes: npt.ArrayLike) -> Floats:
    """Return answers as 0 and 1."""
    answers = column(yes, "yes")
    if not len(answers):
        raise ValueError("n must be 1 or more, got 0: there are no reports")
    if not np.all((answers == 0) | (answers == 1)):
        raise ValueError("yes must be 0 or 1 in every row")
    return answers


def column(values: npt.ArrayLike, name: str) -> Floats:
    """Return a column of finite numbers."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers") from error
    if found.ndim != 1:
        raise ValueError(f"{name} must be one column, got {found.ndim} dimensions")
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be finite, got NaN or infinity in {int(np.sum(~np.isfinite(found)))} rows")
    return found


def constants(values: npt.ArrayLike, name: str, n: int) -> Floats:
    """Return a constant of every row, from a column or one number."""
    return aligned(np.full(n, values) if np.ndim(values) == 0 else values, name, n)


def aligned(values: npt.ArrayLike, name: str, n: int) -> Floats:
    found = column(values, name)
    if len(found) != n:
        raise ValueError(f"{name} must have as many rows as there are reports, {n}, got {len(found)}")
    return found


def weights_of(weights: npt.ArrayLike | None, n: int, positive: bool = False) -> Floats:
    """Return weights scaled to add up to n; ones when there are none.

    A row of weight 0 is not asked about: shares and regressions leave it out and say so. Designs whose rows make groups
    or strata, which could end up empty, and calibration, whose weights go back to the rows, want `positive` ones.
    """
    if weights is None:
        return np.ones(n)
    found = aligned(weights, "weights", n)
    if positive and np.any(found <= 0):
        raise ValueError(f"weights must be above 0, got {found.min():g}: leave out rows of weight 0")
    if np.any(found < 0) or found.sum() <= 0:
        raise ValueError("weights must be 0 or more, and not all 0")
    return np.asarray(found * (n / found.sum()), dtype=np.float64)


def left_out(rows: int) -> list[str]:
    return [f"{rows} rows of weight 0 are left out"] if rows else []


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")


def check_affine(c0: Floats, c1: Floats, answers: Floats) -> None:
    """Refuse constants that are no chances, that teach nothing, or that cannot have made a report."""
    for name, chances in (("c0", c0), ("c0 + c1", c0 + c1)):
        if np.any(chances < -SLACK) or np.any(chances > 1 + SLACK):
            raise ValueError(f"{name} must be between 0 and 1, got {chances.min():g} to {chances.max():g}")
    if np.all(np.abs(c1) < SLACK):
        raise ValueError("c1 must not be 0 in every row: a yes is as likely after both answers, nothing can be learned")
    dumb = np.abs(c1) < SLACK
    if np.any(dumb & (np.abs(answers - c0) > 1 - SLACK)):
        raise ValueError("a report is impossible: its row has c1 = 0 and c0 = 0 or 1, and says the contrary")


def channel_of(matrix: npt.ArrayLike, name: str = "matrix") -> Floats:
    """Return chances [answer, report], every row adding up to 1."""
    chances = np.asarray(matrix, dtype=np.float64)
    if chances.ndim != 2 or len(chances) < 2:
        raise ValueError(f"{name} must have a row for each of two answers or more, got shape {chances.shape}")
    if not np.all((chances >= -SLACK) & (chances <= 1 + SLACK)):  # NaN fails too
        raise ValueError(f"{name} must hold chances between 0 and 1")
    sums = chances.sum(axis=1)
    if np.any(np.abs(sums - 1) > SLACK):
        raise ValueError(f"{name} must have rows that add up to 1, got {sums[np.argmax(np.abs(sums - 1))]:g}")
    return np.clip(chances, 0.0, 1.0)


def coded(reports: npt.ArrayLike, codes: int, name: str = "reports") -> Ints:
    """Return reports as whole numbers from 0, fewer than `codes`."""
    found = column(reports, name)
    if not len(found):
        raise ValueError("n must be 1 or more, got 0: there are no reports")
    if not np.all((found == np.floor(found)) & (found >= 0) & (found < codes)):
        raise ValueError(f"{name} must be whole numbers from 0 to {codes - 1}")
    return found.astype(np.int64)


def arms_of(arm: npt.ArrayLike | None, n: int, arms: int) -> Ints:
    if arms < 1:
        raise ValueError("matrices must be one or more, got 0")
    if arm is None and arms > 1:
        raise ValueError(f"arm must say which of the {arms} matrices each report came through")
    return np.zeros(n, dtype=np.int64) if arm is None else coded(aligned(arm, "arm", n), arms, "arm")


def same_answers(channels: Sequence[Floats]) -> None:
    answers = sorted({len(channel) for channel in channels})
    if len(answers) > 1:
        raise ValueError(f"matrices must have the same number of rows, the answers, got {answers}")


def check_codes(reports: Ints, arm: Ints, channels: Sequence[Floats]) -> None:
    """Refuse a report that its own arm's matrix has no column for."""
    for index, channel in enumerate(channels):
        if np.any(reports[arm == index] >= channel.shape[1]):
            raise ValueError(f"reports of arm {index} must be whole numbers from 0 to {channel.shape[1] - 1}")
