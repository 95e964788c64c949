import math
from fractions import Fraction
from itertools import permutations

import pytest

from dpengine.central.selection import Law, Selection, revenue, spread_of_counts
from dpengine.privacy import Neighbours, pure_within, rho_of_pure

SCORES = [50, 20, 30]
TENTH = Fraction(1, 10)
LAWS = list(Law)


def test_the_scores_of_the_book_have_the_chances_of_the_book():
    """50, 20 and 30 at ε = 0.1, sensitivity 1: the second is .140, where 003 misprints .124."""
    selection = Selection.for_epsilon(TENTH, 2, Law.EXPONENTIAL)
    assert selection.chances(SCORES) == pytest.approx([0.628, 0.140, 0.231], abs=6e-4)


def test_the_pumpkins_of_the_book_are_sold_at_the_price_that_earns_most():
    bids, prices = [100, 100, 100, 301], [100, 300, 301, 302]
    earned = revenue(bids, prices)
    assert earned == [400, 300, 301, 0]  # 003 misprints 300 at $1.00: all four buy
    selection = Selection.for_epsilon(Fraction(50), max(prices), Law.EXPONENTIAL)
    assert selection.chances(earned)[0] > 0.999
    weak = Selection.for_epsilon(Fraction(1), max(prices), Law.EXPONENTIAL).chances(earned)
    assert weak == pytest.approx(
        [math.exp(cents / 302) / sum(math.exp(c / 302) for c in earned) for cents in earned]
    )


def test_a_bid_moves_all_revenues_one_way_and_by_no_more_than_the_highest_price():
    prices = [1, 2, 5, 7]
    for old in range(9):
        for new in range(9):
            apart = [
                a - b
                for a, b in zip(
                    revenue([3, 6, new], prices), revenue([3, 6, old], prices), strict=True
                )
            ]
            assert max(*apart, 0) - min(*apart, 0) <= 7


def test_noisy_max_has_the_law_of_permute_and_flip():
    """By enumeration of all orders, for four candidates."""
    scores, scale = [5, 3, 3, 0], 2.0
    law = [0.0] * 4
    for order in permutations(range(4)):
        left = 1 / 24
        for place in order:
            taken = math.exp((scores[place] - 5) / scale)
            law[place] += left * taken
            left *= 1 - taken
    assert Selection(scale, 1, Law.NOISY_MAX).chances(scores) == pytest.approx(law)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_no_neighbour_makes_a_choice_likelier_than_the_loss(law, neighbours):
    selection = Selection.for_epsilon(Fraction(3, 2), spread_of_counts(neighbours), law)
    counts = [6, 4, 4, 1]
    change = neighbours is Neighbours.CHANGE_ONE
    moves = [(up, down) for up in range(4) for down in (range(4) if change else [None])]
    losses = []
    for up, down in moves:
        beside = [count + (place == up) - (place == down) for place, count in enumerate(counts)]
        pairs = zip(selection.chances(counts), selection.chances(beside), strict=True)
        losses += [abs(math.log(p / q)) for p, q in pairs]
    assert 0.6 * 1.5 < max(losses) <= 1.5 + 1e-9


def test_noisy_max_is_never_further_off_on_average_than_the_exponential_mechanism():
    for scores in ([5, 3, 0], [9, 9, 9, 8], [40, 1, 1, 1, 1]):
        means = [
            sum(
                p * score
                for p, score in zip(Selection(4.0, 1, law).chances(scores), scores, strict=True)
            )
            for law in (Law.NOISY_MAX, Law.EXPONENTIAL)
        ]
        assert means[0] >= means[1]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("best", [1, 3])
def test_it_never_costs_more_than_was_asked_for(law, best):
    for epsilon in (TENTH, Fraction(1, 3), Fraction(7)):
        selection = Selection.for_epsilon(epsilon, 2, law, best)
        assert epsilon * (1 - Fraction(1, 2**50)) < selection.epsilon <= epsilon
        each = selection.epsilon / best
        rho = best * each**2 / 8 if law is Law.EXPONENTIAL else rho_of_pure(selection.epsilon)
        assert selection.cost.rho == rho
        assert selection.cost.epsilon == selection.epsilon


@pytest.mark.parametrize("best", [1, 3])
@pytest.mark.parametrize(
    "rho", [Fraction(1, 8), Fraction(1, 3), Fraction(1, 10**6), Fraction(79, 10)]
)
def test_for_rho_it_is_the_exponential_mechanism_at_the_epsilon_whose_range_costs_that(rho, best):
    selection = Selection.for_rho(best * rho, 2, best)
    assert best * rho * (1 - Fraction(1, 2**50)) < selection.cost.rho <= best * rho
    assert selection.law is Law.EXPONENTIAL
    assert selection.cost.rho == selection.epsilon**2 / best / 8


@pytest.mark.parametrize("best", [1, 3])
def test_for_a_large_rho_it_is_the_law_that_is_better_at_the_same_epsilon(best):
    """From ρ = 7.989 a choice: then pure ε is what limits both, and noisy max has no less."""
    selection = Selection.for_rho(Fraction(8 * best), 2, best)
    assert selection.law is Law.NOISY_MAX
    assert 8 * best * (1 - 1e-9) < selection.cost.rho <= 8 * best
    assert selection.epsilon / best >= math.sqrt(8 * 8)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(2)])
def test_noisy_max_loses_what_it_pays_in_rho_and_not_as_little_as_the_exponential(epsilon):
    """Rényi divergences of neighbours by the exact law: of a tie, far over ε²/8."""
    selection = Selection.for_epsilon(epsilon, 1)
    worst = 0.0
    for apart in range(20):
        one, other = (selection.chances([apart + more, 0]) for more in (0, 1))
        for order in (1.001, 1.5, 2.0, 4.0, 16.0):
            for p, q in ((one, other), (other, one)):
                moment = sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))
                worst = max(worst, math.log(moment) / (order - 1) / order)
    assert 1.4 * float(epsilon) ** 2 / 8 < worst <= selection.cost.rho
    assert epsilon > Fraction(1, 10) or worst > 0.9 * selection.cost.rho


@pytest.mark.parametrize("candidates", [2, 5, 30])
@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(2)])
def test_where_rho_is_paid_the_worst_of_one_best_and_equals_is_better_by_the_exponential(
    rho, candidates
):
    """The expected loss of score at the gap that is worst for each law."""
    laws = [
        Selection.for_rho(rho, 1),
        Selection.for_epsilon(pure_within(rho), 1, Law.NOISY_MAX),
    ]
    worst = []
    for selection in laws:
        gaps = (max(1, round(selection.scale * part / 4)) for part in range(1, 40))
        worst.append(
            max(gap * (1 - selection.chances([gap] + [0] * (candidates - 1))[0]) for gap in gaps)
        )
    assert worst[0] < worst[1]


def test_the_loss_of_score_stays_within_its_bound_as_often_as_stated():
    """Thm 3.11, from the exact law: worst near a tie of many."""
    selection = Selection(3.0, 1, Law.EXPONENTIAL)
    scores = [60] + [48] * 9 + [55] * 10
    bound = selection.largest_loss(20)
    assert bound == pytest.approx(3 * (math.log(20) + math.log(20)))
    assert (
        sum(p for p, s in zip(selection.chances(scores), scores, strict=True) if 60 - s >= bound)
        <= 0.05
    )


def test_the_best_of_all_come_in_order_without_repeats():
    selection = Selection(0.001, 2, Law.EXPONENTIAL, best=3)
    assert selection.release([4, 9, 2, 7]) == [1, 3, 0]
    assert Selection(0.001, 2, Law.NOISY_MAX, best=2).release([4, 9, 2, 7]) == [1, 3]


def test_scores_that_64_bits_cannot_hold_are_no_error():
    assert Selection(1.0, 2, Law.NOISY_MAX).release([10**30, 0, -(10**30)]) == [0]


@pytest.mark.parametrize(
    ("scale", "spread", "best"),
    [(0.0, 1, 1), (math.nan, 1, 1), (2.0**51, 1, 1), (1.0, 0, 1), (1.0, 1, 0)],
)
def test_a_selection_without_protection_is_refused(scale, spread, best):
    with pytest.raises(ValueError, match="must be"):
        Selection(scale, spread, Law.NOISY_MAX, best)


def test_costs_and_candidates_that_are_none_are_refused():
    with pytest.raises(ValueError, match="epsilon must be above 0, got 0"):
        Selection.for_epsilon(Fraction(0), 1)
    with pytest.raises(ValueError, match="rho must be above 0, got 0"):
        Selection.for_rho(Fraction(0), 1)
    with pytest.raises(ValueError, match="expected 2 candidates or more, got 1"):
        Selection(1.0, 1, Law.NOISY_MAX, best=2).release([3])
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        Selection(1.0, 1, Law.NOISY_MAX).largest_loss(3, 1.0)
