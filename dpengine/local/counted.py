"""What counted reports must be before a number is estimated from them."""

import operator
from collections.abc import Sequence
from fractions import Fraction

from dpengine.checks import require
from dpengine.estimates import Noise

MAX_PEOPLE = 10**9


def check_counted(counts: Sequence[int], n: int, reports: int, noise: Noise | None) -> None:
    """Refuse counts that are not those of n reports.

    With noise they may be negative and need not add up.
    """
    require(len(counts) == reports, "expected {} counts, got {}", reports, len(counts))
    require(
        not isinstance(n, bool) and hasattr(n, "__index__"),
        "n must be a whole number, got a {}",
        type(n).__name__,
    )
    require(n >= 1, "n must be 1 or more, got {}", n)
    require(n <= MAX_PEOPLE, "n must be at most {}, got {}", MAX_PEOPLE, n)
    require(all(hasattr(count, "__index__") for count in counts), "counts must be whole numbers")
    whole = [operator.index(count) for count in counts]
    require(
        noise is not None or (min(whole) >= 0 and sum(whole) == n),
        "counts without noise must be 0 or more and add up to n = {}, got {} in all",
        n,
        sum(whole),
    )


def rounded(expected: Sequence[Fraction]) -> list[int]:
    """Return whole counts next to the expected ones with their sum: largest remainders first."""
    whole = [int(count) for count in expected]
    left = int(sum(expected)) - sum(whole)
    by_remainder = sorted(range(len(whole)), key=lambda place: whole[place] - expected[place])
    for place in by_remainder[:left]:
        whole[place] += 1
    return whole
