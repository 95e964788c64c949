"""Whether a query would say next to nothing is told before it is drawn, for every kind."""

import pytest

from surveys.design.terms import WIDEST
from surveys.releases.queries import ALL
from tests.surveys.releases.queries import scored_plans
from tests.surveys.test_messages import examples_of


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.kind)
def test_a_query_of_one_person_tells_next_to_nothing_and_one_of_many_more(kind):
    plan = scored_plans.everything()
    for example in examples_of(kind):
        if "groups" in example:
            example = {
                **example,
                "groups": 100,
            }  # of ten, the interval is all that the result can be
        if example.get("method") not in ("smooth", "propose"):
            query = kind.read(plan, {**example, "epsilon": "2"})
            assert 100 * query.covers(1) > WIDEST, example
            assert 0 < 100 * query.covers(3000) <= WIDEST, example
            assert query.covers(0) == 1
