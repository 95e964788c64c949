"""Laws of right joins, against all permutations."""

from collections import Counter
from itertools import permutations, product

import pytest

from tests.linkage import chance


@pytest.mark.parametrize("sizes", [(1,), (2,), (5,), (3, 4), (1, 2, 4)])
def test_chances_are_those_of_all_permutations(sizes: tuple[int, ...]) -> None:
    right: Counter[int] = Counter()
    halves: Counter[int] = Counter()
    for joins in product(*(permutations(range(size)) for size in sizes)):
        right[sum(at == to for join in joins for at, to in enumerate(join))] += 1
        halves[
            sum(
                at < len(join) // 2 and to < len(join) // 2
                for join in joins
                for at, to in enumerate(join)
            )
        ] += 1
    every = right.total()
    for k in range(sum(sizes) + 1):
        more = sum(times for of, times in right.items() if of >= k) / every
        assert chance.of_right(k, sizes) == pytest.approx(more, abs=1e-12)
    for k in halves:
        more = sum(times for of, times in halves.items() if of >= k) / every
        less = sum(times for of, times in halves.items() if of <= k) / every
        assert chance.of_halves(k, sizes) == pytest.approx(min(2 * min(more, less), 1))


def test_large_sets_have_a_chance_too() -> None:
    assert chance.of_right(3, [2000]) == pytest.approx(0.0803, abs=1e-4)  # as Poisson's, mean 1
    assert 0 < chance.of_right(60, [2000, 300]) < 1e-50
    assert chance.of_right(2000, [2000]) == 0  # of which no float is left
    assert chance.of_halves(1000, [2000]) < 1e-300
