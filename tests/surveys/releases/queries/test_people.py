"""Drawn by the rule of a study that protects who took part; as a journey in ../test_units.py."""

from fractions import Fraction

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from surveys.releases.losses import loss_of
from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.people import People
from tests.surveys.releases.queries.scored_plans import AGE, plan_with, rows_of

PLAN = plan_with(AGE, neighbours="add-remove")


def test_nobody_asks_for_it():
    assert isinstance(People.of(PLAN), Query)
    assert People.form(PLAN) is None
    with pytest.raises(WrongParameter, match="protects who took part"):
        People.of(plan_with(AGE))


def test_it_costs_what_its_picture_says():
    query = People.of(PLAN)
    assert query.cost.epsilon == Fraction(PLAN.content.of_people.epsilon)
    assert loss_of(query).greatest == pytest.approx(float(query.cost.epsilon))


def test_the_number_has_its_interval_and_is_one_at_least():
    query = People.of(PLAN)
    drawn = [query.draw(40, 0) for _ in range(400)]
    (rows,) = zip(*(rows_of(numbers) for numbers in drawn), strict=True)
    assert np.mean([row.low <= 40 <= row.high for row in rows]) >= 0.9
    assert len({numbers.n for numbers in drawn}) > 5
    assert min(query.draw(0, 0).n for _ in range(50)) == 1


def test_a_number_that_noise_took_below_nobody_has_an_interval(monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "release", lambda _noise, counts: [-500])
    (row,) = rows_of(People.of(PLAN).draw(40, 0))
    assert row.low == 0
    assert row.high >= 1
