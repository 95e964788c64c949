"""Studies in which what can be chosen meets, walked to their ends: a sample that the commit draws,
or with CANDOR_WALK=all every one.
"""

from itertools import combinations, product

import pytest

from tests.walk.studies import FACTORS, Wanted, array, pairs
from tests.walk.walking import WALKS, summary, walk_whole

ARRAY = array()  # of which conftest.py lets those be walked whom the commit draws


def test_every_two_choices_meet() -> None:
    chosen = [{name: getattr(each, name) for name in FACTORS} for each in ARRAY]
    met = {pair for each in chosen for pair in pairs(each)}
    for one, other in combinations(FACTORS, 2):
        for a, b in product(FACTORS[one], FACTORS[other]):
            assert frozenset({(one, a), (other, b)}) in met


@pytest.mark.parametrize("wanted", ARRAY, ids=lambda wanted: wanted.name)
def test_what_can_be_chosen_can_be_walked_to_its_end(site: None, wanted: Wanted) -> None:
    walk_whole(wanted)


def test_most_of_them_are_taken_by_the_site(db: None) -> None:
    walked = [each for each in WALKS if each.wanted in ARRAY]
    if not walked:
        pytest.skip("none of the array was walked in this process")
    opened = [each for each in walked if each.waves]
    print(summary())
    assert 2 * len(opened) >= len(walked), [str(each.wanted) for each in walked if not each.waves]
