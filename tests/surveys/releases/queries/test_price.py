"""Reached on the ask page of a study with a number that is sent as given: “Price that earns
most”.
"""

import json
from collections import Counter

import pytest

from surveys.releases.queries.base import Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.price import Price, revenues
from tests.surveys.releases.queries.browsers import given, number, plan_with

EXAMPLES = [
    {"question": "cost", "lowest": 10, "highest": 90, "step": 10},
]  # on `scored_plans.everything`
PLAN = plan_with(number("bid", 0, 1000), given("team", ["A", "B"]))
PUMPKINS = Counter({(100,): 3, (301,): 1})
ALL = {"question": "bid", "lowest": 100, "highest": 400, "step": 100, "epsilon": "2"}


def asked(plan=PLAN, **changes):
    return Price.read(plan, ALL | changes)


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_what_a_form_takes_is_what_is_stored_and_read_again():
    form = Price.form(PLAN)({**ALL, "step": "7"})
    assert form.is_valid()
    first = Price.read(PLAN, form.cleaned_data)
    assert Price.read(PLAN, json.loads(json.dumps(first.document()))) == first


def test_the_pumpkins_of_the_book():
    assert revenues(PUMPKINS, range(100, 303))[::200] == [400, 300]
    assert revenues(PUMPKINS, range(301, 303)) == [301, 0]


def test_the_price_that_earns_most_is_named():
    """A thousand times the pumpkins: 100,000 less at any other price, of scale 200: a chance
    below e^−400.
    """
    many = Counter({bid: 1000 * count for bid, count in PUMPKINS.items()})
    (table,) = asked().draw(many, 4000).tables
    assert (table.rows[0].value, table.rows[0].unit) == (100, "cents")


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_the_spread_is_the_highest_price_of_the_list(neighbours):
    plan = plan_with(*PLAN.content.questions, neighbours=neighbours)
    assert asked(plan, highest=450).engine.spread == 400
    assert asked(plan).cost.epsilon <= 2


def test_a_study_that_pays_in_rho_pays_no_more_than_was_asked():
    cost = asked(plan_with(*PLAN.content.questions, rho=True)).cost
    assert cost.rho <= 2 < cost.rho * 1.001


def test_what_is_expected_says_how_little_one_bidder_can_do():
    less, stable, *_ = asked().expected(4000)
    assert "cents less than the best of the 4 prices" in less
    assert "7.39 times" in stable
    assert "little more than chance" in asked(epsilon="0.01").expected(3)[-1]


def test_a_study_without_bids_offers_nothing():
    assert Price.form(plan_with(given("team", ["A", "B"]))) is None


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("highest", 100),
        ("highest", 1001),
        ("lowest", 0),
        ("lowest", "three"),
        ("step", 0),
        ("question", "team"),
    ],
)
def test_parameters_that_cannot_be_are_refused_by_name(field, wrong):
    with pytest.raises(WrongParameter) as refusal:
        asked(**{field: wrong})
    assert refusal.value.field == field


def test_so_many_prices_that_a_page_could_not_say_them_are_refused():
    with pytest.raises(WrongParameter, match="at most 1000 prices"):
        asked(plan_with(number("bid", 0, 10**6)), lowest=1, highest=10**6, step=1)
