"""What is planned and rehearsed where devices draw what they ask."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.http import QueryDict

from dpengine.privacy import epsilon_above
from surveys.design import documents
from surveys.limits import risk
from surveys.plan.content import largest_loss
from surveys.planning.population import population_of, usual
from surveys.planning.questions import part_asked
from surveys.planning.rehearsal import Rehearsal
from surveys.planning.scenarios import PlannedStudy
from surveys.planning.selectors import precisions
from surveys.planning.wishes import StudyWishes
from tests.conftest import draft_of_drawn

PEOPLE = 300


@pytest.fixture
def draft(db):
    return draft_of_drawn(widest=100, expected=400)


@pytest.fixture
def content(draft):
    return documents.compose(draft)


def test_a_rehearsal_asks_each_made_up_person_one_set(content):
    population = population_of(content, {each.name: usual(each) for each in content.questions})
    rehearsal = Rehearsal(content, population)
    asked = rehearsal._asked(PEOPLE, iter_words(7))
    assert len(asked["year"]) == PEOPLE
    assert 0 < len(asked["late"]) < PEOPLE
    assert asked["copied"] == asked["caught"]  # one block
    found = rehearsal.run(PEOPLE)
    assert set(found) == {each.name for each in content.questions}


def iter_words(start):
    """Return a stream of words that differ: any will do."""
    state = [start]

    def words():
        state[0] = (1_103_515_245 * state[0] + 12_345) % 2**32
        return state[0]

    return words


def test_each_question_is_as_precise_as_those_who_are_expected_to_be_asked_make_it(draft, content):
    sets = content.drawn_sets
    late = content.part_asked(["late"])
    assert part_asked("late", sets, content.weights) == late < Fraction(1, 2)
    assert part_asked("late", sets) == Fraction(1, 2), "where each set is as likely"
    assert part_asked("year", sets) == part_asked("late", []) == 1
    some = precisions(draft, content.questions, 1000, sets, weights=content.weights)
    everybody = precisions(draft, content.questions, 1000)
    asked = round(1000 * late)
    as_many = precisions(draft, content.questions, asked)
    assert some["late"].half > everybody["late"].half
    assert some["late"].half <= as_many["late"].half  # fewer share what a publication may lose
    assert some["late"].variance.sampling == pytest.approx(
        1000 / asked * everybody["late"].variance.sampling
    )


def test_a_draft_loses_what_the_set_that_loses_most_does(draft, content):
    found = risk.of_draft(draft, list(draft.questions.all()), household=1)
    losses = {name: content.question(name).loss for name in content.channels}
    assert found.loss == content.loss == largest_loss(content.sets, losses)
    assert found.asked == 3  # a block of two, and another question
    assert found.widths["late"].half > 0
    opened = risk.of_plan(draft, content, household=1)
    assert opened.loss == found.loss


def test_a_study_that_asks_everybody_everything_is_as_it_was(db):
    whole = draft_of_drawn(asked=None)
    content = documents.compose(whole)
    assert (content.blocks, content.drawn) == ([], [])
    found = risk.of_draft(whole, list(whole.questions.all()), household=1)
    assert found.loss == content.loss
    assert found.asked == 5
    assert documents.compose(draft_of_drawn(slug="four", asked=4)).drawn == []  # all there are


def test_the_planner_keeps_what_follows_from_another_with_it(draft):
    planned = PlannedStudy(draft)
    names = [each.name for each in planned.protected]
    kept = [tuple(names[place] for place in block) for block in planned.kept]
    assert kept == [("copied", "caught")]
    wishes = StudyWishes.of_study(planned, QueryDict("asked=1&epsilon=2"))
    epsilons = dict(zip(names, wishes.outcome.epsilons, strict=True))
    assert epsilons["copied"] == epsilons["caught"] == 1
    assert epsilons["late"] == 2


def test_the_planner_begins_with_what_a_person_gives_away_now(draft, content):
    present = StudyWishes.of_study(PlannedStudy(draft), QueryDict()).data["epsilon"]
    assert 0 <= Decimal(present) - epsilon_above(content.loss) < Decimal("0.01")
