import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from dpengine.accounting import composition
from dpengine.bounds import exp_above, exp_below
from dpengine.privacy import Cost
from tests.dpengine.accounting import exact
from tests.dpengine.accounting.divergences import hockey_stick

DELTA = Fraction(1, 10**6)
SMALL = Fraction("0.05")


def test_a_thousand_small_releases_by_every_theorem():
    """The figures of the literature: 50, 10.87, 9.56, 8.28."""
    total = composition.basic([Cost.pure(SMALL)] * 1000)
    assert total is not None
    assert total.epsilon == 50
    assert math.isclose(composition.advanced([SMALL] * 1000, DELTA), 10.8748, abs_tol=1e-4)
    assert math.isclose(composition.closed_form([SMALL] * 1000, DELTA), 9.5610, abs_tol=1e-4)
    assert math.isclose(composition.optimal(SMALL, 1000, DELTA), 8.2836, abs_tol=1e-4)


def test_ten_thousand_data_bases_of_a_lifetime():
    """The book's 1/801 each does not make 1; 1/813 does."""
    delta = exp_below(Fraction(-32))
    assert math.isclose(
        composition.advanced([Fraction(1, 801)] * 10_000, delta), 1.0143, abs_tol=1e-4
    )
    assert composition.advanced([Fraction(1, 813)] * 10_000, delta) < 1
    assert composition.advanced([Fraction(1, 812)] * 10_000, delta) > 1


def coins(odds: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Chances of every sequence of truths and lies, when the answer is yes and when it is no;
    exactly.
    """
    yes, no = [], []
    for kept in product([True, False], repeat=len(odds)):
        true = [
            loss / (1 + loss) if keeps else 1 / (1 + loss)
            for loss, keeps in zip(odds, kept, strict=True)
        ]
        yes.append(math.prod(true, start=Fraction(1)))
        no.append(math.prod((1 - chance for chance in true), start=Fraction(1)))
    return yes, no


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 5)])
@pytest.mark.parametrize(
    "epsilons", [["1"], ["0.3"] * 5, ["0.5", "0.25", "1"], ["0.1", "0.23", "0.71", "0.1"]]
)
def test_optimal_is_what_enumerating_all_outcomes_gives(epsilons, delta):
    """At the ε it names the exact hockey stick is at most δ, and a hair below it is more."""
    sizes = [Fraction(epsilon) for epsilon in epsilons]
    found = Fraction(composition.optimal_mixed(sizes, delta))
    yes, no = coins([exp_above(size) for size in sizes])
    assert hockey_stick(yes, no, exp_below(found)) <= delta + Fraction(1, 10**30)
    assert hockey_stick(yes, no, exp_below(found - Fraction(1, 10**7))) > delta


def test_one_coin_has_the_total_variation_of_a_coin():
    """(3 − 1)/(3 + 1) = ½ at ε = ln 3 = 1.09861…"""
    assert composition.optimal(Fraction("1.0986"), 1, Fraction(1, 2)) == 0
    assert composition.optimal(Fraction("1.0987"), 1, Fraction(1, 2)) > 0


def test_a_delta_below_all_precision_forgives_nothing():
    assert composition.optimal(Fraction(1), 3, Fraction(1, 10**50)) == 3


@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**3)])
@pytest.mark.parametrize("count", [1, 3, 40, 1000])
@pytest.mark.parametrize("epsilon", ["0.001", "0.05", "0.7", "3"])
def test_optimal_is_never_above_the_other_theorems(epsilon, count, delta):
    each = Fraction(epsilon)
    optimal = composition.optimal(each, count, delta)
    assert optimal <= composition.closed_form([each] * count, delta)
    assert optimal <= composition.advanced([each] * count, delta)
    assert optimal <= count * each


def test_different_releases_off_a_common_lattice_lie_between_their_neighbours():
    """A thousand releases of 0.05 and one of an awkward ε: a coarse lattice, yet a bound from
    above.
    """
    odd = Fraction(1, 19) + Fraction(1, 10**9)
    exact = composition.optimal(SMALL, 1001, DELTA)
    found = composition.optimal_mixed([SMALL] * 1000 + [odd], DELTA)
    assert exact < found < composition.closed_form([SMALL] * 1000 + [odd], DELTA) + Decimal("1e-9")


@pytest.mark.parametrize(
    ("epsilon", "count", "delta", "message"),
    [
        ("0", 1, "0.1", "epsilon must be above 0, got 0"),
        ("-1", 1, "0.1", "epsilon must be above 0, got -1"),
        ("1", 0, "0.1", "count must be 1 or more, got 0"),
        ("1", 1, "0", "delta must be above 0 and below 1, got 0"),
        ("1", 1, "1", "delta must be above 0 and below 1, got 1"),
    ],
)
def test_what_is_no_epsilon_count_or_delta_is_refused_by_name(epsilon, count, delta, message):
    with pytest.raises(ValueError, match=message):
        composition.optimal(Fraction(epsilon), count, Fraction(delta))


@pytest.mark.parametrize("theorem", [composition.advanced, composition.closed_form])
def test_different_epsilons_are_each_above_0(theorem):
    with pytest.raises(ValueError, match="epsilon must be above 0, got 0"):
        theorem([Fraction(1), Fraction(0)], DELTA)


def test_nothing_spent_has_no_cost():
    assert composition.basic([]) is None


@pytest.mark.parametrize("steps", [[6] * 1000, [6] * 50 + [38] * 7, [1, 2, 3, 40, 90]], ids=len)
def test_optimal_agrees_with_an_accountant_that_is_not_ours(steps):
    """dp-accounting composes the distributions of the losses: the same ε to a ten-millionth."""
    sizes = [step * exact.GRID for step in steps]
    theirs = exact.exact_epsilon([("coin", Cost.pure(size)) for size in sizes])
    assert math.isclose(composition.optimal_mixed(sizes, exact.DELTA), theirs, abs_tol=1e-7)


def test_the_sums_of_all_coins_are_all_there_is():
    epsilon = Fraction(1, 3)
    for sums in (composition._coins(epsilon, 7), composition._lattice([1, 2], epsilon)):
        (_, true, false) = (sum(each) for each in zip(*sums, strict=True))
        assert float(true) == pytest.approx(1)
        assert float(false) == pytest.approx(1)


def test_losses_that_all_are_passed_end_where_the_last_is():
    """Of p = .1 and q = .05, δ(ε) = .1 − .05·e^ε is .02 at ln 1.6."""
    atoms = [(Decimal(1), Decimal("0.1"), Decimal("0.05"))]
    assert float(composition._solve(iter(atoms), Fraction(1, 50))) == pytest.approx(
        math.log(1.6), abs=1e-8
    )
