"""From counts of reports back to people, by integers: the inverse of a table that is not its own.

A decoder has a row for every number wanted and a column for every report; each report is worth
row[report] / scale. It is right when its average after every answer is what that answer counts for:

    Σ_r weights[a][r]·rows[c][r] = scale·W·target[c][a]      exactly, for every c and a

with target[c][a] = 1 if c = a, else 0, for the shares of the choices; for a mean, one row whose target
is what each answer is worth. Any target will do.

Estimate   Σ_r rows[c][r]·(count of r) / scale: the sum of target[c][·] over the people who answered. Unbiased.
Variance   of the mean target per person, by where the doubt comes from, people answering a with chance π_a:
           (Σ_a π_a·target² − (Σ_a π_a·target)²) / n                       sampling
           Σ_a π_a·(Σ_r P[r | a]·(rows/scale)² − target²) / n              device
           Var Z·Σ_r (rows/scale)² / n²                                    publication
Inverse    A square table has one. With more reports than answers there are many; the one taken has the least
           variance when all answers are equally common: weighted least squares, T(PΩPᵀ)⁻¹PΩ with Ω inverse
           to how common a report is (Aitken 1935), in whole numbers. Any Ω is exact; at the best one the
           variance is level, so rounding it moves the variance by the square of the rounding only.
Errors     None: fraction-free elimination in integers (Bareiss 1968), every division exact.
By hand    The coin [[3, 1], [1, 3]]: rows [[3, −1], [−1, 3]], scale 2. 60 yes of 100: (3·60 − 40)/2 = 70 people.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpengine.estimates import Noise, NoNoise, Variance

Weights = Sequence[Sequence[int]]
Target = Sequence[Sequence[int | Fraction]]
Row = tuple[int, ...]

LARGEST_NUMBER = 2**53 - 1  # that every JSON reader keeps exactly; above it, a decimal string
MOST_DIGITS = 1000  # of a decoder's integers
FINE = 2**20  # resolution of Ω


@dataclass(frozen=True, slots=True)
class Decoder:
    rows: tuple[Row, ...]  # [number wanted][report]
    scale: int

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0] or any(len(row) != len(self.rows[0]) for row in self.rows):
            raise ValueError("decoder must have one row or more, all of the same length")
        numbers = [number for row in self.rows for number in row]
        if any(type(number) is not int for number in (*numbers, self.scale)):
            raise ValueError("decoder must hold integers")
        if self.scale < 1:
            raise ValueError("decoder's scale must be 1 or more")
        if max(map(abs, (*numbers, self.scale))) >= 10**MOST_DIGITS:
            raise ValueError(f"decoder's integers must have at most {MOST_DIGITS} digits")

    @property
    def reports(self) -> int:
        return len(self.rows[0])

    def values(self, row: int) -> list[Fraction]:
        """Return what each report is worth for one of the numbers wanted."""
        return [Fraction(number, self.scale) for number in self.rows[row]]

    def decode(self, counts: Sequence[int]) -> list[Fraction]:
        """Return the estimated sums over people, one for each row; divide by n for shares or means."""
        if len(counts) != self.reports:
            raise ValueError(f"counts must be {self.reports}, one for each report, got {len(counts)}")
        return [Fraction(_product(row, counts), self.scale) for row in self.rows]

    def target(self, weights: Weights) -> list[list[Fraction]]:
        """Return what it estimates behind this table: its exact average after every answer."""
        return [[Fraction(_product(row, answer), self.scale * sum(answer)) for answer in weights] for row in self.rows]

    def check(self, weights: Weights, target: Target) -> None:
        """Prove that it estimates the target behind this table, exactly. ValueError names where it does not."""
        if len(target) != len(self.rows) or any(len(row) != len(weights) for row in target):
            raise ValueError(f"target must have {len(self.rows)} rows of {len(weights)} answers")
        if len(weights[0]) != self.reports:
            raise ValueError(f"decoder must have {len(weights[0])} columns, one for each report, got {self.reports}")
        for number, (found, wanted) in enumerate(zip(self.target(weights), target, strict=True)):
            for answer, (average, expected) in enumerate(zip(found, wanted, strict=True)):
                if average != expected:
                    raise ValueError(f"row {number} must average to {expected} after answer {answer}, got {average}")

    def device_variances(self, weights: Weights) -> list[list[Fraction]]:
        """Return [row][answer]: the variance that chance gives one report's worth, for someone with that answer."""
        squares = [[Fraction(number, self.scale) ** 2 for number in row] for row in self.rows]
        return [
            [_mean(square, answer) - mean**2 for answer, mean in zip(weights, means, strict=True)]
            for square, means in zip(squares, self.target(weights), strict=True)
        ]

    def variances(
        self, weights: Weights, shares: Sequence[float], n: int, noise: Noise | None = None
    ) -> list[Variance]:
        """Return the variance of each mean target per person, by source, for people with these shares of answers."""
        published = (noise or NoNoise()).variance / n**2
        rows = zip(self.rows, self.target(weights), self.device_variances(weights), strict=True)
        return [
            Variance(
                sampling=(_average(shares, [t * t for t in target]) - _average(shares, target) ** 2) / n,
                device=_average(shares, device) / n,
                publication=published * float(Fraction(_product(row, row), self.scale**2)),
            )
            for row, target, device in rows
        ]

    def document(self) -> dict[str, Any]:
        return {"rows": [[written(number) for number in row] for row in self.rows], "scale": written(self.scale)}


def decoder_from(document: Any) -> Decoder:
    """Return the decoder that a Plan's JSON describes. ValueError names what is wrong with it."""
    rows = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError("decoder must have rows, a list of lists, and a scale")
    return Decoder(
        tuple(tuple(read_whole(number) for number in row) for row in rows), read_whole(document.get("scale"))
    )


def inverse(weights: Weights, target: Target | None = None) -> Decoder:
    """Return the decoder of least variance for a target, by default the share of every choice.

    ValueError if the rows depend on one another: then different answers of many people make the same reports.
    """
    solved = _inverted(weights) if len(weights) == len(weights[0]) else _least_squares(weights)
    if solved is None:
        raise ValueError(_dependence(weights))
    values, determinant = solved
    factor = Fraction(sum(weights[0]), determinant)
    wanted = _identity(len(weights)) if target is None else target
    return _reduced([[factor * _combined(row, column) for column in zip(*values, strict=True)] for row in wanted])


def _identity(size: int) -> list[list[int]]:
    return [[int(row == column) for column in range(size)] for row in range(size)]


def _inverted(weights: Weights) -> tuple[list[list[int]], int] | None:
    """Return V and d with Σ_r weights[a][r]·V[c][r] = d where c = a and 0 elsewhere, for a square table."""
    solved = _solved(weights, _identity(len(weights)))
    return solved and ([list(row) for row in zip(*solved[0], strict=True)], solved[1])


def _least_squares(weights: Weights) -> tuple[list[list[int]], int] | None:
    """Return the same for a table with more reports than answers, of least variance."""
    common = [sum(column) for column in zip(*weights, strict=True)]
    omega = [max(1, round(Fraction(FINE * min(common), size))) for size in common]
    weighted = [[weight * rarity for weight, rarity in zip(row, omega, strict=True)] for row in weights]
    return _solved([[_product(left, right) for right in weights] for left in weighted], weighted)


def _solved(matrix: Weights, right: Weights) -> tuple[list[list[int]], int] | None:
    """Return integers X and d with matrix·X = d·right, or None if there are none (Bareiss 1968, after Jordan)."""
    size = len(matrix)
    rows = [[*left, *rest] for left, rest in zip(matrix, right, strict=True)]
    previous = 1
    for step in range(size):
        found = next((row for row in range(step, size) if rows[row][step]), None)
        if found is None:
            return None
        rows[step], rows[found] = rows[found], rows[step]
        pivot = rows[step]
        for other in range(size):
            if other != step:
                rows[other] = _eliminated(rows[other], pivot, step, previous)
        previous = pivot[step]
    return [row[size:] for row in rows], previous


def _eliminated(row: list[int], pivot: list[int], step: int, previous: int) -> list[int]:
    factor, own = row[step], pivot[step]
    return [(own * number - factor * above) // previous for number, above in zip(row, pivot, strict=True)]


def _dependence(weights: Weights) -> str:
    """Say which row tells nothing new: with it, the Gram matrix of the rows so far has no inverse."""
    for number, row in enumerate(weights):
        if row in weights[:number]:
            return f"rows {weights.index(row)} and {number} are equal: these answers cannot be told apart"
        before = weights[: number + 1]
        if _solved([[_product(left, right) for right in before] for left in before], [[] for _ in before]) is None:
            return f"row {number} depends on the rows before it: the shares of the answers cannot be told apart"
    raise AssertionError("rows are independent")  # pragma: no cover


def _reduced(values: Sequence[Sequence[Fraction]]) -> Decoder:
    """Return the decoder with these values, in lowest terms."""
    scale = math.lcm(*(value.denominator for row in values for value in row))
    return Decoder(tuple(tuple(int(value * scale) for value in row) for row in values), scale)


def _combined(row: Sequence[int | Fraction], column: Sequence[int]) -> Fraction:
    return sum((Fraction(wanted) * value for wanted, value in zip(row, column, strict=True) if wanted), Fraction(0))


def _product(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _mean(values: Sequence[Fraction], weights: Sequence[int]) -> Fraction:
    return sum((value * weight for value, weight in zip(values, weights, strict=True)), Fraction(0)) / sum(weights)


def _average(shares: Sequence[float], values: Sequence[Fraction]) -> float:
    return sum(share * float(value) for share, value in zip(shares, values, strict=True))


def written(number: int) -> int | str:
    """Write an integer so that every JSON reader keeps it: above 2⁵³ − 1 as a decimal string."""
    return number if abs(number) <= LARGEST_NUMBER else str(number)


def read_whole(value: Any) -> int:
    """Read an integer, or above 2⁵³ − 1 a decimal string."""
    if type(value) is int and abs(value) <= LARGEST_NUMBER:
        return value
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS) or digits.startswith("0"):
        raise ValueError(
            f"decoder must hold integers, above 2**53 − 1 as decimal strings, got a {type(value).__name__}"
        )
    return int(value)
