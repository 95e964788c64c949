"""Reached on the ask page: “Shares of each answer”. What it publishes of every kind of question:
tests/surveys/releases/test_kinds.py.
"""

import pytest

from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.shares import Shares
from tests.surveys.releases.queries.scored_plans import everything, stored

EXAMPLES = [
    {"questions": ["colour"]},
    {"questions": ["colour", "team", "side"]},
]  # on `scored_plans.everything`
PLAN = everything(rho=True)


def test_the_same_set_of_questions_is_the_same_request():
    one, other = (
        Shares.read(PLAN, {"questions": names, "epsilon": "1"})
        for names in (["team", "colour"], ["colour", "team"])
    )
    assert one.document() == other.document() == {"epsilon": "1", "questions": ["colour", "team"]}
    assert Shares.read(PLAN, stored(one)) == one


def test_a_plan_that_wrote_its_rho_pays_no_more_than_that():
    query = Shares.read(PLAN, {"questions": ["colour"], "epsilon": "1", "rho": "0.01"})
    assert query.document()["rho"] == "0.01"
    assert 0.0099 < query.cost.rho <= 0.01


@pytest.mark.parametrize("wrong", [[], ["hours"], "colour", None])
def test_a_number_sent_in_the_clear_has_no_shares(wrong):
    with pytest.raises(WrongParameter, match="questions: expected one or more of"):
        Shares.read(PLAN, {"questions": wrong, "epsilon": "1"})
