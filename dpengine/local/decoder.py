"""From counts of reports back to people: the exact inverse of a table.

A decoder has a row for every choice and a column for every report, what the report is worth for the
choice's share. It is right when its average is 1 after the choice's own answer and 0 after others:

    Σ_r weights[a][r]·decoder[c][r] = W·[a = c]      exactly, for every c and a

Estimate   Σ_r decoder[c][r]·(count of r): how many people answered c. Unbiased.
Inverse    A square table has one. With more reports than answers there are many; the one taken has
           the least variance when all answers are equally common: weighted least squares,
           (PΩPᵀ)⁻¹PΩ with Ω inverse to how common a report is (Aitken 1935), in whole numbers. Any
           Ω is exact; at the best one the variance is level, so rounding it moves the variance by
           the square of the rounding only.
Errors     None: fraction-free elimination in integers (Bareiss 1968), every division exact.
By hand    The coin [[3, 1], [1, 3]]: [[3/2, −1/2], [−1/2, 3/2]]. 60 yes of 100: (3·60 − 40)/2 = 70
           people.
"""

from collections.abc import Sequence
from fractions import Fraction

Weights = Sequence[Sequence[int]]

FINE = 2**20  # resolution of Ω


def inverse(weights: Weights) -> list[list[Fraction]]:
    """Return [choice][report]: what each report is worth for each share, with the least variance.

    ValueError if the rows depend on one another: then different answers of many people make the
    same reports.
    """
    size = len(weights)
    if size == len(weights[0]):
        matrix = weights
        right = [[int(row == column) for column in range(size)] for row in range(size)]
    else:
        common = [sum(column) for column in zip(*weights, strict=True)]
        omega = [max(1, round(Fraction(FINE * min(common), each))) for each in common]
        right = [[w * rarity for w, rarity in zip(row, omega, strict=True)] for row in weights]
        matrix = _products(right, weights)
    solved = _solved(matrix, right)
    if solved is None:
        raise ValueError(_dependence(weights))
    values, determinant = solved
    if matrix is weights:  # X of weights·X = d·1 has a row for every report
        values = [list(row) for row in zip(*values, strict=True)]
    factor = Fraction(sum(weights[0]), determinant)
    return [[factor * value for value in row] for row in values]


def _solved(matrix: Weights, right: Weights) -> tuple[list[list[int]], int] | None:
    """Return integers X and d with matrix·X = d·right, or None (Bareiss 1968, after Jordan)."""
    size = len(matrix)
    rows = [[*left, *rest] for left, rest in zip(matrix, right, strict=True)]
    previous = 1
    for step in range(size):
        place = next((row for row in range(step, size) if rows[row][step]), None)
        if place is None:
            return None
        rows[step], rows[place] = rows[place], rows[step]
        pivot = rows[step]
        for other in range(size):
            if other != step:
                rows[other] = [
                    (pivot[step] * number - rows[other][step] * above) // previous
                    for number, above in zip(rows[other], pivot, strict=True)
                ]
        previous = pivot[step]
    return [row[size:] for row in rows], previous


def _dependence(weights: Weights) -> str:
    """Say which row tells nothing new: with it, the Gram matrix has no inverse."""
    upto = (weights[: number + 1] for number in range(len(weights)))
    rows = next(rows for rows in upto if _solved(_products(rows, rows), [[] for _ in rows]) is None)
    number = len(rows) - 1
    if rows[-1] in rows[:-1]:
        return (
            f"rows {rows.index(rows[-1])} and {number} are equal: these answers cannot be told "
            "apart"
        )
    return (
        f"row {number} depends on the rows before it: the shares of the answers cannot be told "
        "apart"
    )


def _products(lefts: Weights, rights: Weights) -> list[list[int]]:
    return [
        [sum(a * b for a, b in zip(left, right, strict=True)) for right in rights] for left in lefts
    ]
