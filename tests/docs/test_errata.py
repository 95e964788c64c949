"""What docs/errata.md calls a misprint is one: the printed statement fails where the corrected
one holds.
"""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.special import ndtr

from dpengine.accounting.beliefs import left_out
from tests.dpengine.accounting.divergences import hockey_stick, max_loss

HOUSE = Path(__file__).parent.parent.parent


def test_files_that_the_page_names_are_there():
    page = (HOUSE / "docs" / "errata.md").read_text()
    named = [part for part in page.split("`") if part.endswith((".py", ".md"))]
    assert named
    for name in named:
        assert (HOUSE / name).exists(), name


def test_the_gaussian_tail_bound_needs_its_1_over_t():
    sigma, t = 0.2, 0.3
    tail = 1 - ndtr(t / sigma)
    printed = sigma / math.sqrt(2 * math.pi) * math.exp(-(t**2) / (2 * sigma**2))
    assert printed < tail < printed / t


def test_the_square_in_the_proof_of_the_gaussian_mechanism():
    c, epsilon, moved = 2.0, 0.5, 3.0
    sigma = c * moved / epsilon
    right = (sigma**2 * epsilon / moved - moved / 2) ** 2 / (2 * sigma**2)
    assert right == pytest.approx((c**2 - epsilon + epsilon**2 / (4 * c**2)) / 2)
    assert (epsilon / moved / 2 - moved / 2) ** 2 != pytest.approx(right)


def test_approximate_privacy_does_not_bound_the_loss_with_chance_1_minus_delta():
    here, there = [Fraction(11, 20), Fraction(9, 20)], [Fraction(9, 20), Fraction(11, 20)]
    delta = hockey_stick(here, there, Fraction(1))
    assert delta == Fraction(1, 10)  # (0, 0.1)
    assert here[0] > delta  # and yet the loss is above 0 more often than that
    assert here[0] > there[0]


def test_the_theorem_on_composition_has_more_than_k_epsilon_squared():
    epsilon = 0.1
    assert epsilon * math.expm1(epsilon) > epsilon**2


def test_the_corollary_holds_all_the_same():
    for k in (10, 1000):
        for target in (0.1, 0.99):
            root = math.sqrt(2 * k * math.log(1e6))
            each = target / (2 * root)
            assert root * each + k * each * math.expm1(each) <= target


def test_an_exponential_mechanism_without_the_two_loses_nearly_twice_its_epsilon():
    many, scores = 1000, math.e  # e^(εu/Δu) at ε = 1
    here = scores / (scores + many)
    there = 1 / (1 + many * scores)
    assert 1.99 < math.log(here / there) <= 2


def test_delta_is_about_sets_and_not_about_single_outcomes():
    here = [Fraction(1, 2), *[Fraction(1, 20)] * 10]
    there = [Fraction(1), *[Fraction(0)] * 10]
    delta = Fraction(1, 10)
    likely = [(p, q) for p, q in zip(here, there, strict=True) if p >= delta]
    assert max_loss(*zip(*likely, strict=True)) == 1  # “no loss at all”
    assert hockey_stick(here, there, Fraction(1)) > delta  # but the sets tell them apart


def test_beliefs_with_and_without_an_answer_can_differ_by_the_square():
    """An outcome of chance 3p after (yes, yes), p/3 after (no, no) and p after all else, for two
    who answer alike.
    """
    prior, loss = Fraction(1, 10), 3
    after = prior * loss / (prior * loss + (1 - prior) / loss)  # with the first left out: the prior
    assert after > loss * prior
    assert after == Fraction(1, 2) == left_out(prior, Fraction(loss)).most


def test_one_standard_deviation_does_not_leave_delta_outside():
    c, epsilon, moved = 5.3, 0.5, 1.0  # δ = 10⁻⁶
    sigma = c * moved / epsilon
    assert 2 * (1 - ndtr(c * moved / epsilon / sigma)) > 0.3
    assert 2 * (1 - ndtr((c**2 * moved / epsilon - moved / 2) / sigma)) < 1e-6


def test_the_sign_in_many_dimensions():
    step, moved = 0.5, 1.0  # λ₁ and ‖v‖ = Δf
    longer = (step + moved) ** 2 - step**2
    assert longer == 2 * step * moved + moved**2
    assert longer > abs(2 * step * moved - moved**2)


def test_the_positive_part_of_a_difference_set_by_set_is_no_measure():
    here, there = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 2), Fraction(1, 2)]
    parts = [max(Fraction(0), p - q) for p, q in zip(here, there, strict=True)]
    assert sum(parts) == Fraction(1, 4) != max(Fraction(0), sum(here) - sum(there))


def test_a_share_and_not_a_number_is_doubled_to_estimate_a_share():
    """Tails, the truth; heads, a second coin: of 400 people of whom 120 have it, 160 send yes."""
    people, with_it = 400, 120
    yes = Fraction(3, 4) * with_it + Fraction(1, 4) * (people - with_it)
    assert 2 * yes / people - Fraction(1, 2) == Fraction(with_it, people)
    assert 2 * yes - Fraction(1, 2) != with_it


def test_gaussian_noise_is_by_the_length_of_a_change_and_not_by_its_parts():
    """One person changes d counts by 1 each. The losses of the counts add up to a normal one, whose
    exact δ must be below what Thm A.1 promises: by its length it is, by one count's Δ it is not, and
    by the sum of its parts the noise is √d times what is needed.
    """
    d, epsilon, delta = 9, 0.5, 1e-5
    change = [1.0] * d

    def exact(sensitivity):
        sigma = math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon
        shift = math.sqrt(sum((each / sigma) ** 2 for each in change))
        above = ndtr(shift / 2 - epsilon / shift)
        return above - math.exp(epsilon) * ndtr(-shift / 2 - epsilon / shift)

    assert exact(math.hypot(*change)) < delta < exact(1.0)
    assert sum(change) == pytest.approx(math.sqrt(d) * math.hypot(*change))
