"""What other rooms are told of a study's precision is what the planner shows."""

from decimal import Decimal

import pytest

from surveys.planning import queries
from surveys.planning.drafts import Planned
from surveys.planning.topics import HALF


@pytest.mark.django_db
def test_half_widths_are_the_planners(draft):
    planned = Planned(draft)
    settings = [planned.setting(question, HALF) for question in planned.questions]
    contents = [setting.topic.at(Decimal(1)).content for setting in settings]
    found = queries.half_widths(draft, contents, 1500)
    for setting in settings:
        width = found[setting.topic.question.name]
        assert width.total == setting.width(1500, Decimal(1)).half
        assert width.unit == "points"


@pytest.mark.django_db
def test_a_dearer_publication_is_more_precise(draft):
    contents = [Planned(draft).setting(each, HALF).topic.at(Decimal(1)).content for each in draft.questions.all()]
    usual, dear = (queries.half_widths(draft, contents, 1500, Decimal(cost)) for cost in ("1", "4"))
    assert all(dear[name].total < usual[name].total for name in usual)
