"""Every central mechanism, asked what it gives away: bounds on ε from draws on neighbouring
data, and its exact law.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy import special

from tests.central_cases import all_cases
from tests.dpengine.central.audit import ALARM, Outputs, audited, claim_of

TIGHT = 0.6
CASES = all_cases()


@cache
def drawn(name: str, beside: bool) -> Outputs:
    case = next(case for case in CASES if case.name == name)
    return case.draws(beside, case.many)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_neighbours_can_be_told_apart_by_no_more_than_was_claimed(case):
    epsilon, delta = claim_of(case)
    proved = audited(drawn(case.name, False), drawn(case.name, True), delta)
    assert proved <= epsilon
    assert not case.tight or proved >= TIGHT * epsilon


@pytest.mark.parametrize("case", [case for case in CASES if case.law], ids=lambda case: case.name)
@pytest.mark.parametrize("beside", [False, True], ids=["data", "neighbour"])
def test_what_is_drawn_follows_the_exact_law(case, beside):
    """Chi-square over the likelier outputs, the others together; a false alarm once in a million
    runs.
    """
    law, outputs = case.law(beside), drawn(case.name, beside)
    assert sum(law.values()) == pytest.approx(1, abs=1e-9)
    likely = [output for output, chance in law.items() if chance * len(outputs) >= 10]
    expected = [law[output] * len(outputs) for output in likely]
    seen = [int(np.sum(outputs == output)) for output in likely]
    expected.append(max(len(outputs) - sum(expected), 1.0))
    seen.append(len(outputs) - sum(seen))
    statistic = sum(
        (count - wanted) ** 2 / wanted for count, wanted in zip(seen, expected, strict=True)
    )
    assert special.chdtrc(len(expected) - 1, statistic) > ALARM


def test_a_mechanism_that_gives_away_more_than_it_says_is_caught():
    """Noise for ε = 1 that claims 0.5."""
    # of people, so to say: the audit needs no operating system's chance
    noisy = np.random.default_rng(1)
    p = math.exp(-1)
    one, other = (
        noisy.geometric(1 - p, 40_000) - noisy.geometric(1 - p, 40_000) + step for step in (0, 1)
    )
    assert 0.6 < audited(one, other, 0.0) < 1


def test_names_of_cases_are_their_own():
    assert len({case.name for case in CASES}) == len(CASES)
