"""What counted reports must be before a number is estimated from them."""

import operator
from collections.abc import Sequence

from dpengine.estimates import Noise

MOST_PEOPLE = 10**9


def check_counted(counts: Sequence[int], n: int, reports: int, noise: Noise | None) -> None:
    """Refuse counts that are not those of n reports. With noise they may be negative and need not add up."""
    if len(counts) != reports:
        raise ValueError(f"expected {reports} counts, got {len(counts)}")
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise ValueError(f"n must be a whole number, got a {type(n).__name__}")
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n}")
    if n > MOST_PEOPLE:
        raise ValueError(f"n must be at most {MOST_PEOPLE}, got {n}")
    if not all(hasattr(count, "__index__") for count in counts):
        raise ValueError("counts must be whole numbers")
    whole = [operator.index(count) for count in counts]
    if noise is None and (min(whole) < 0 or sum(whole) != n):
        raise ValueError(f"counts without noise must be 0 or more and add up to n = {n}, got {sum(whole)} in all")
