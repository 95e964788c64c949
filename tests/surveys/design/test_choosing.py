"""Why a channel was chosen is said in the reader's language."""

from decimal import Decimal

import pytest
from django.utils import translation

from dpengine.local.choose import Asked, Kind, cheapest
from surveys.design import choosing


@pytest.mark.parametrize("choices", [2, 3, 5, 12, 50])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "8"])
def test_every_reason_is_known_with_both_ways_and_the_price(choices, epsilon):
    why = cheapest(Asked(Kind.SINGLE, choices=choices), Decimal(epsilon)).why
    found = choosing.SENTENCES.found(why)
    assert found is not None
    _, parts = found
    assert set(parts) == {"way", "other_way", "epsilon", "price"}
    assert all(choosing.SENTENCES.is_known(parts[name]) for name in ("way", "other_way", "price"))


def test_it_is_said_in_chinese_and_in_english_as_the_engine_says_it():
    why = cheapest(Asked(Kind.SINGLE, choices=5), Decimal(1)).why
    assert choosing.told(why) == why
    with translation.override("zh-hans"):
        assert "ε = 1" in choosing.told(why)
        assert "device" not in choosing.told(why)
