"""Whoever knows all answers but one is right at most as often as the form says, on a new draft's
own terms.
"""

import pytest
from scipy.stats import binom

from surveys.design import services as design
from surveys.design.refusals import CannotOpen
from tests.bench import n_minus_one
from tests.surveys.design.test_given import BY, drafted


def test_all_answers_but_one_give_the_last_one_away_as_often_as_the_form_says_at_most(
    client, researcher
):
    """400 tries at .732: right more often than 0.85 by chance once in 80 million runs; at ε = 8,
    always.
    """
    client.force_login(researcher)
    right, cap = n_minus_one.attack(400, client, whole=2)
    assert cap == "1"
    found = n_minus_one.row(400, right, n_minus_one.said(cap))
    assert found["chance of as many"] > 1e-7
    assert binom.sf(0.85 * 400 - 1, 400, 0.732) < 1e-7
    assert binom.sf(0.85 * 400 - 1, 400, 0.9996) > 0.999


def test_the_terms_with_which_it_was_right_3999_times_of_4000_are_refused(db):
    with pytest.raises(CannotOpen, match="the cap must be ε 1 at most; it is 8"):
        design.open_study(
            why="A test.",
            study_id=drafted(cap=8, release_epsilon=8, smallest_batch=10).pk,
            **BY,
        )
