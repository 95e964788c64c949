from decimal import Decimal

import pytest

from dpengine.accounting.filters import PureFilter

CAP = PureFilter(Decimal("1.8"))


def test_a_charge_up_to_the_cap_is_admitted_and_not_a_hair_more():
    spent = [Decimal("0.9"), Decimal("0.45")]
    assert CAP.left(spent) == Decimal("0.45")
    assert CAP.admits(Decimal("0.45"), spent)
    assert not CAP.admits(Decimal("0.450000001"), spent)


def test_ten_tenths_are_one_which_floats_would_not_make():
    tenth = Decimal("0.1")
    assert PureFilter(Decimal(1)).admits(tenth, [tenth] * 9)
    assert not PureFilter(Decimal(1)).admits(tenth, [tenth] * 10)


@pytest.mark.parametrize("charge", ["0", "-0.1", "NaN", "Infinity"])
def test_a_charge_that_is_none_is_refused_by_name(charge):
    with pytest.raises(ValueError, match="charge must be above 0"):
        CAP.admits(Decimal(charge), [])


@pytest.mark.parametrize("cap", ["0", "-1", "NaN", "Infinity"])
def test_a_cap_that_is_none_is_refused_by_name(cap):
    with pytest.raises(ValueError, match="cap must be above 0"):
        PureFilter(Decimal(cap))
