"""What other rooms are told of a study's precision is what the planner shows."""

from decimal import Decimal

import pytest

from surveys.planning import selectors
from surveys.planning.questions import HALF
from surveys.planning.scenarios import PlannedStudy


@pytest.mark.django_db
def test_precisions_are_the_planners(draft):
    planned = PlannedStudy(draft)
    scenarios = [planned.scenario(question, HALF) for question in planned.questions]
    contents = [scenario.question.at(Decimal(1)).content for scenario in scenarios]
    found = selectors.precisions(draft, contents, 1500)
    for scenario in scenarios:
        precision = found[scenario.question.row.name]
        assert precision.half == scenario.precision(1500, Decimal(1)).half
        assert precision.unit == "points"


@pytest.mark.django_db
def test_a_dearer_publication_is_more_precise(draft):
    contents = [
        PlannedStudy(draft).scenario(each, HALF).question.at(Decimal(1)).content
        for each in draft.questions.all()
    ]
    usual = selectors.precisions(draft, contents, 1500)
    draft.release_epsilon = 4 * draft.release_epsilon
    dear = selectors.precisions(draft, contents, 1500)
    assert all(dear[name].half < usual[name].half for name in usual)
