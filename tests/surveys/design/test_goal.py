"""What is wanted of people, and how it is asked: figures that can be worked out by hand."""

from dataclasses import replace
from decimal import Decimal
from math import exp, sqrt

import pytest

from dpengine.estimates import CONFIDENCE, normal_quantile
from dpengine.local.budget import cheapest
from dpengine.local.ways import Importance, Kind
from surveys.design import documents, goal as planning
from surveys.design.drafts import new_draft, set_protections
from surveys.design.goal import Goal, Outcome, Topic
from surveys.planning.selectors import Planned, precisions
from tests.conftest import NOW

YES_NO = Topic("yes_no", 2)
SIX = Goal(800, Decimal(2), (YES_NO,) * 6)
TEXTS = {
    "title": "A plan",
    "organisation": "Aldermoor",
    "purpose": "To try.",
    "contact": "a@example.org",
}


def coin(epsilon, n):
    """Return the ± of a share of a half, in points, from the definition of the coin."""
    contrast = (exp(epsilon) - 1) / (exp(epsilon) + 1)
    return 100 * normal_quantile(CONFIDENCE) * sqrt(1 / 4 / n) / contrast


def of_four(epsilon, n):
    """Return the ± of a question of two that are sent as one of four answers, from its law."""
    truth = exp(epsilon) / (exp(epsilon) + 3)
    return 100 * normal_quantile(CONFIDENCE) * sqrt(1 / 4 / n) / (truth - (1 - truth) / 3)


def test_one_of_six_drawn_is_the_coin_for_a_sixth_of_the_people():
    outcome = Outcome(replace(SIX, asked=1))
    assert (outcome.way.kind, outcome.asked) == (Kind.APART, 1)
    assert outcome.half() == pytest.approx(coin(2, 800 / 6), rel=1e-3)
    assert outcome.epsilons == [Decimal(2)] * 6
    assert (outcome.together, outcome.better_asked) == ([], 2)


def test_two_of_six_sent_as_one_are_one_of_four_answers_for_a_third_of_the_people():
    outcome = Outcome(SIX)
    assert (outcome.way.kind, outcome.asked) == (Kind.TOGETHER, 1)
    assert outcome.half() == pytest.approx(of_four(2, 800 / 3), rel=1e-3)
    assert outcome.epsilons == [Decimal(2)] * 6
    assert outcome.together == [(0, 1), (2, 3), (4, 5)]
    assert outcome.questions_asked == (2, 2)
    assert Outcome(replace(SIX, asked=2)).way == outcome.way


def test_as_many_as_is_said_share_the_ε():
    five = Topic("single", 5)
    outcome = Outcome(replace(SIX, topics=(five,) * 6, asked=3))
    assert (outcome.way.kind, outcome.asked) == (Kind.APART, 3)
    assert max(outcome.epsilons) <= Decimal(2) / 3
    assert outcome.better_asked == 1
    three = Outcome(replace(SIX, asked=3))
    assert three.together == [(0, 1, 2), (3, 4, 5)]
    assert three.half() < coin(2 / 3, 400), "sent as one they are surer than each by itself"
    everything = Outcome(replace(SIX, asked=6))
    assert everything.asked is None
    assert everything.half() <= coin(2 / 6, 800)
    assert everything.together == [(0, 1, 2), (3, 4, 5)]
    assert Outcome(replace(SIX, asked=60)).half() == everything.half()
    assert Outcome(replace(SIX, asked=2)).better_asked is None


def test_what_a_person_gives_away_is_never_more_than_was_said():
    for asked in (None, 1, 2, 5, 6):
        outcome = Outcome(replace(SIX, asked=asked))
        first = {block.questions[0] for block in outcome.way.blocks}
        sent = sorted(outcome.epsilons[at] for at in first)[-len(outcome.way.drawn.sets[0]) :]
        assert sum(sent) <= 2
        assert float(outcome.way.loss) <= exp(2)


def test_n_and_epsilon_that_are_offered_reach_what_is_wanted_and_less_does_not():
    goal = replace(SIX, half=Decimal(9))
    outcome = Outcome(goal)
    assert not outcome.is_reached
    needed = outcome.people_needed
    assert Outcome(replace(goal, n=needed)).is_reached
    assert not Outcome(replace(goal, n=needed - 1)).is_reached
    epsilon = outcome.epsilon_needed(Decimal(8))
    assert Outcome(replace(goal, epsilon=epsilon)).is_reached
    assert not Outcome(replace(goal, epsilon=epsilon - Decimal("0.1"))).is_reached
    assert Outcome(replace(goal, half=outcome.half_to_be_had)).is_reached


def test_no_epsilon_is_offered_beyond_a_guess_right_95_times_or_the_site_s_own_limit():
    assert Outcome(replace(SIX, half=Decimal(4))).epsilon_needed(Decimal(8)) is None
    assert Outcome(replace(SIX, half=Decimal(9))).epsilon_needed(Decimal("2.1")) is None
    number = Topic("number", 0, 0, 100, "mean")
    assert (
        Outcome(Goal(800, Decimal(2), (number,), half=Decimal(1))).epsilon_needed(Decimal(8))
        is None
    )


def test_what_is_wanted_is_wanted_of_what_matters_most():
    decisive = replace(YES_NO, importance=Importance.DECISIVE)
    seven = Topic("single", 7, importance=Importance.NICE)
    outcome = Outcome(replace(SIX, topics=(decisive, seven, seven), asked=3))
    assert outcome.half() == pytest.approx(100 * outcome.way.half(0, 800))
    assert outcome.half() < 100 * outcome.way.half(1, 800)


def test_where_devices_may_not_draw_everybody_is_asked_everything():
    outcome = Outcome(replace(SIX, can_draw=False, asked=2))
    assert (outcome.asked, outcome.way.kind) == (None, Kind.SPLIT)
    assert outcome.better_asked is None


@pytest.mark.parametrize("n", [10, 40, 41, 800, 1_000_000])
def test_the_best_way_is_the_same_as_without_a_memory(n):
    topics = (YES_NO, YES_NO, Topic("single", 7), Topic("likert", 5))
    found = Outcome(Goal(n, Decimal(3), topics)).proposal.figures
    key = planning._key(n)
    fresh = cheapest(Decimal(3), [topic.question for topic in topics], key, in_one_block=True)
    assert found["half"] == pytest.approx(100 * fresh.way.worst(n))
    if n >= 40:
        exact = cheapest(Decimal(3), [topic.question for topic in topics], n, in_one_block=True)
        assert found["half"] == pytest.approx(exact.figures["half"])


def test_a_number_s_precision_is_no_better_than_its_channel():
    number = Topic("number", 0, 0, 100, "mean")
    known = planning._spread(number, planning._channel(number, Decimal(2)))
    looked_up = planning._spread(number, planning._channel_at(number, Decimal(2)))
    assert known <= looked_up < known * 1.06


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("epsilon", "kinds"),
    [
        (2, ("yes_no",) * 6),
        (3, ("yes_no",) * 5),
        (3, ("yes_no", "single", "single")),
        (1, ("yes_no", "multiple")),
    ],
)
def test_the_draft_publishes_what_the_plan_says(epsilon, kinds):
    """Where it is planned for at a half, as a release's expected width is. An exact interval is up
    to 3 % wider than 1.96 standard errors at these n.
    """
    topics = tuple(Topic(kind, 2 if kind == "yes_no" else 4) for kind in kinds)
    outcome = Outcome(Goal(3000, Decimal(epsilon), topics))
    planned = Planned(outcome)
    questions = [
        {
            "kind": kind,
            "text": f"Question {at}?",
            "label": f"Q {at}",
            "choices": "" if kind == "yes_no" else "A\nB\nC\nD",
            "epsilon": None if planned.is_shared else part,
            **way,
        }
        for at, (kind, part, way) in enumerate(
            zip(kinds, planned.epsilons, planned.ways, strict=True)
        )
    ]
    study = new_draft(texts=TEXTS, questions=questions)
    set_protections(
        study_id=study.pk, epsilons={}, planned=planned.fields, who="ada", why="planned", now=NOW
    )
    study.refresh_from_db()
    content = documents.compose(study)
    assert float(content.loss) <= exp(epsilon)
    assert planned.adds_no_noise
    drawn = content.drawn_sets
    found = precisions(study, content.questions, 3000, drawn, weights=content.weights)
    for at, question in enumerate(content.questions):
        published = found[question.name]
        assert published.variance.publication == 0, "the devices' own chance is all there is"
        if kinds[at] != "single":
            assert 100 * published.half == pytest.approx(100 * outcome.way.half(at, 3000), rel=0.03)
