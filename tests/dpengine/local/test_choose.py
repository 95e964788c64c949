from decimal import Decimal

import pytest

from dpengine.local import choose
from dpengine.local.channels import channel_for


def ways(choices, epsilon):
    return choose.ways(channel_for(choices, epsilon))


@pytest.mark.parametrize("choices", [2, 3, 10, 100])
@pytest.mark.parametrize("epsilon", ["0.25", "1", "1.0986", "4"])
def test_no_other_way_is_better(choices, epsilon):
    own, *others = ways(choices, Decimal(epsilon))
    assert own.variance < 1.01 * min(way.variance for way in others)


@pytest.mark.parametrize(
    ("choices", "epsilon", "variance"),
    [(2, "1.0986", 0.75), (2, "1", 0.92), (10, "1", 2.82), (100, "1", 3.59)],
)
def test_a_channel_costs_what_its_limit_says(choices, epsilon, variance):
    """The limits of DESIGN § 9."""
    assert ways(choices, Decimal(epsilon))[0].variance == pytest.approx(variance, rel=0.004)


def test_each_way_is_named_with_its_figures():
    assert [way.name for way in ways(2, Decimal(1))] == ["keep", "bits", "uneven bits", "forced"]
    assert ways(2, Decimal(1))[0].figures == {"own": 73}
    assert [way.name for way in ways(10, Decimal(1))] == [
        "several",
        "bits",
        "uneven bits",
        "one of",
    ]
    assert ways(10, Decimal(1))[0].figures == {"size": 2, "all": 10}
    assert ways(3, Decimal(3))[0].name == "one"


def test_no_way_says_that_an_answer_is_always_kept():
    assert ways(2, Decimal(8))[0].figures == {"own": 99}


def test_the_alternatives_to_k_ary_questions_have_the_variances_of_their_papers():
    """k = 10, ε = 1: bits turned evenly 3.92 (basic RAPPOR), unevenly 3.68 (pure-ldp's best), one
    named 3.63.
    """
    _, *others = ways(10, Decimal(1))
    assert [way.variance for way in others] == pytest.approx([3.918, 3.683, 3.63], abs=0.002)
