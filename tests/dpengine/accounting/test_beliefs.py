from fractions import Fraction

import pytest

from dpengine.accounting import beliefs
from dpengine.accounting.beliefs import Range

TENTHS = [Fraction(tenth, 10) for tenth in range(11)]


def test_the_coin_of_the_book_by_hand():
    assert beliefs.posterior(Fraction(1, 2), Fraction(3)) == Range(Fraction(1, 4), Fraction(3, 4))
    assert beliefs.expected_utility(Fraction(6), Fraction(3)) == Range(Fraction(2), Fraction(18))
    assert beliefs.at_risk(Fraction(1, 10**6), 10_000) == Fraction(1, 100)


@pytest.mark.parametrize("prior", TENTHS)
def test_no_report_of_the_coin_moves_a_belief_further(prior):
    """Bayes, by both reports: likelihoods 3/4 and 1/4. The bounds are attained."""
    after = [
        prior * yes / (prior * yes + (1 - prior) * (1 - yes))
        for yes in (Fraction(3, 4), Fraction(1, 4))
    ]
    assert Range(min(after), max(after)) == beliefs.posterior(prior, Fraction(3))


# Chances of “yes” for every pair of answers, None where the first is left out. No two pairs that
# differ in one answer are further apart than a factor of 3, nor are the chances of “no”.
TWINS = {
    (1, 1): Fraction(3, 100),
    (0, 0): Fraction(1, 300),
    **dict.fromkeys([(0, 1), (1, 0), (None, 0), (None, 1)], Fraction(1, 100)),
}


def test_the_twins_mechanism_is_private():
    for (mine, other), chance in TWINS.items():
        for (mine_too, other_too), next_to in TWINS.items():
            if (mine == mine_too) != (other == other_too):
                assert chance <= 3 * next_to
                assert 1 - chance <= 3 * (1 - next_to)


@pytest.mark.parametrize("prior", TENTHS)
def test_what_is_believed_of_a_twin_moves_by_the_square_and_no_further(prior):
    """Someone knows that two people answer alike. Left out, the first gives nothing away; put
    in, 9 times the odds.
    """
    left_out = prior * TWINS[None, 1] + (1 - prior) * TWINS[None, 0]
    assert prior * TWINS[None, 1] / left_out == prior if prior else True
    put_in = prior * TWINS[1, 1] / (prior * TWINS[1, 1] + (1 - prior) * TWINS[0, 0])
    assert put_in == beliefs.left_out(prior, Fraction(3)).most
    assert (
        beliefs.left_out(prior, Fraction(3)).least
        == 1 - beliefs.left_out(1 - prior, Fraction(3)).most
    )


def test_no_preference_moves_expected_utility_further():
    """The coin's two reports bring any two utilities: the mean with one answer is within 3 times
    that with another.
    """
    for first in TENTHS:
        for second in TENTHS:
            told, other = (3 * first + second) / 4, (first + 3 * second) / 4
            allowed = beliefs.expected_utility(other, Fraction(3))
            assert allowed.least <= told <= allowed.most


@pytest.mark.parametrize(
    ("people", "advice"), [(1, Fraction(1, 100)), (10_000, Fraction(1, 10**6))]
)
def test_the_advised_delta_lays_one_person_in_a_hundred_studies_bare(people, advice):
    assert beliefs.advised_delta(people) == advice
    assert beliefs.at_risk(advice, people) == Fraction(1, 100)


def test_a_delta_of_one_in_n_is_refused_and_any_smaller_one_is_not():
    assert beliefs.is_refused(Fraction(1, 1000), 1000)
    assert not beliefs.is_refused(Fraction(1, 1001), 1000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: beliefs.posterior(Fraction(-1), Fraction(3)), "prior must be from 0 to 1, got -1"),
        (lambda: beliefs.posterior(Fraction(1), Fraction(1, 2)), "loss must be 1 or more, got 1/2"),
        (lambda: beliefs.left_out(Fraction(2), Fraction(3)), "belief must be from 0 to 1, got 2"),
        (
            lambda: beliefs.expected_utility(Fraction(-1), Fraction(3)),
            "utility must be 0 or more, got -1",
        ),
        (lambda: beliefs.at_risk(Fraction(1, 9), 0), "people must be 1 or more, got 0"),
    ],
)
def test_what_is_no_belief_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
