"""The planner's law of a publication is the one that the release draws with."""

from decimal import Decimal

import pytest

from dpengine.privacy import Neighbours
from surveys.aggregation import queries as aggregation
from surveys.design import services as design
from surveys.planning.laws import Once, Refreshed, law_of, pure
from surveys.planning.topics import Topic
from surveys.releases import queries as releases
from tests.conftest import NOW, QUESTIONS, STUDY

MORE = [
    {"name": "ticks", "kind": "multiple", "text": "Which?", "label": "Which", "choices": "A\nB\nC"},
    {"name": "days", "kind": "number", "text": "Days?", "label": "Days", "least": 0, "most": 20, "unit": "days"},
    {"name": "sent", "kind": "single", "text": "Where?", "label": "Where", "choices": "A\nB\nC",
     "protection": "publication"},
]  # fmt: skip


def opened(**terms):
    questions = [{**each, "epsilon": Decimal("0.9")} for each in QUESTIONS + MORE]
    made = design.draft_study(study={**STUDY, **terms}, questions=questions)
    return design.open_study(study_id=made.pk, who="ada", now=NOW)


@pytest.mark.django_db
@pytest.mark.parametrize("terms", [{}, {"cap_delta": "0.000001"}, {"neighbours": "add-remove"}], ids=str)
def test_it_is_the_law_that_the_release_of_every_question_draws_with(terms):
    plan = opened(**terms)
    tallies = aggregation.public_tallies(plan)
    for part in releases.by_rule(plan).parts:
        law = law_of(part.tally, len(tallies), plan.content["publication"])
        assert law.noise == part.mechanism


@pytest.mark.django_db
def test_it_is_the_law_of_the_last_refresh_where_all_are_paid_on_the_first_day():
    plan = opened(cap_delta="0.000001", rule="continual", horizon=8)
    tallies = aggregation.public_tallies(plan)
    for kept in releases.by_rule(plan).kept:
        law = law_of(kept.tally, len(tallies), plan.content["publication"])
        assert isinstance(law, Refreshed)
        assert law.counter == kept.counter
        assert law.noise == kept.counter.noise(8)


def test_a_draw_differs_from_the_counts_by_its_noise_only():
    drawn = Topic.made_up("yes_no").at(Decimal(1))
    law = law_of(drawn.tally, 1, pure("1"))
    assert isinstance(law, Once)
    off = [law.draw([1000])[0] - 1000 for _ in range(400)]
    assert any(off)
    assert abs(sum(off)) < 400 * 0.6  # variance 1.84 each: beyond 8 standard errors


def test_more_questions_share_what_one_publication_costs():
    tally = Topic.made_up("likert", neighbours=Neighbours.ADD_REMOVE).at(Decimal(1)).tally
    assert law_of(tally, 4, pure("1")).noise.epsilon <= law_of(tally, 1, pure("0.25")).noise.epsilon
