"""What a loss does to a guess, and how it is said of a hundred."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from dpengine.accounting.beliefs import guess_within
from surveys.guesses import (
    Guess,
    at_most_of_hundred,
    even_guess,
    even_guess_within,
    guesses,
    of_hundred,
)


def test_the_coin_of_the_book_makes_three_of_four_of_an_even_guess():
    assert [guess.after for guess in guesses(Fraction(3))] == ["25", "75", "97"]
    assert Guess(25, Fraction(3)).chance == Fraction(1, 2)
    assert even_guess(Fraction(3)) == "75"
    assert Guess(50, Fraction(3)).x == "75.0%"


def test_a_guess_is_risky_once_it_may_be_right_more_than_ninety_times():
    assert [Guess(50, loss).is_risky for loss in (Fraction(9), Fraction(91, 10))] == [False, True]


@pytest.mark.parametrize(
    ("epsilon", "told"),
    [
        ("0", "50"),
        ("0.1", "53"),
        ("1", "74"),
        ("2", "89"),
        ("4", "99"),
        ("8", "99.97"),
        ("40", "100"),
    ],
)
def test_who_knows_every_other_answer_is_told_of_as_in_the_browser(epsilon, told):
    assert even_guess_within(Decimal(epsilon)) == told


def test_a_delta_can_only_help_a_guess():
    assert even_guess_within(Decimal(1), Fraction(1, 100)) == "74"
    assert even_guess_within(Decimal(1), Fraction(2)) == "100"


def test_an_epsilon_below_nothing_is_refused():
    with pytest.raises(ValueError, match="epsilon must be 0 or more, got -1"):
        even_guess_within(Decimal(-1))


def test_no_guess_passes_what_is_said_whatever_the_outcomes():
    """The worst (ε, δ) there is: an outcome of chance δ that gives all away, else two answers
    e^ε : 1.
    """
    delta = Decimal("0.01")
    bound = guess_within(Decimal(1), Fraction(delta))
    odds = Decimal(1).exp()
    worst = float(delta + (1 - delta) * odds / (1 + odds))
    assert worst == pytest.approx(float((odds + delta) / (1 + odds)), abs=1e-12)
    assert worst <= float(bound) <= worst + 1e-12


def test_at_most_rounds_up_and_odds_round_to_the_nearest():
    e = Decimal(1).exp()
    share = Fraction(e / (1 + e))
    assert (of_hundred(share), at_most_of_hundred(share)) == (73, "74")
    shares = ("0.75", "0.7500001", "0.99", "0.9901", "0.9951", "0.99991")
    found = [at_most_of_hundred(Fraction(each)) for each in shares]
    assert found == ["75", "76", "99", "99.1", "99.6", "99.991"]


def test_a_bound_is_the_same_number_in_the_browser():
    """Replayed there by device_ledger.test.js; none is less than the share that it bounds."""
    for case in json.loads((Path(__file__).parent.parent / "vectors/bounds.json").read_text()):
        loss = Fraction(*map(int, case["loss"]))
        assert even_guess(loss) == case["bound"]
        assert Fraction(case["bound"]) >= 100 * loss / (1 + loss)


def test_nobody_is_none_or_all_of_a_hundred_unless_exactly():
    shares = (Fraction(0), Fraction(1, 1000), Fraction(999, 1000), Fraction(1))
    assert [of_hundred(share) for share in shares] == [0, 1, 99, 100]
