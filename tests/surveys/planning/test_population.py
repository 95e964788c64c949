"""Made-up people answer as is assumed, and who is not asked says so."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from msgspec.structs import replace

from dpengine.randomness import system_stream
from surveys.plan.content import Condition, read
from surveys.planning.population import (
    WHOLE,
    Population,
    parts_of,
    population_of,
    rows_of,
    usual,
)
from tests.plans import whole
from tests.surveys.planning.made_up import PlannedQuestion

PEOPLE = 4000  # a share's standard error is at most .8 points: 4 points are five of them


def question(kind, name="q", **made):
    return replace(PlannedQuestion.made_up(kind, **made).at(Decimal(1)).content, name=name)


def shares_of(population, name):
    counted = Counter(population.person(system_stream)[name] for _ in range(PEOPLE))
    return {answer: count / PEOPLE for answer, count in counted.items()}


def test_they_answer_in_the_shares_that_are_assumed():
    population = Population((question("single", choices=3),), {"q": [5000, 3000, 2000]})
    found = shares_of(population, "q")
    for answer, share in enumerate((0.5, 0.3, 0.2)):
        assert found[answer] == pytest.approx(share, abs=0.04)
    assert population.truths() == {"q": [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]}


def test_who_is_not_asked_says_so_and_the_truth_counts_them():
    first = question("yes_no", "first")
    second = replace(
        question("single", "second", choices=3),
        asked_if=Condition(question="first", answers=[1]),
        skipped=1,
    )
    population = Population((first, second), {"first": [7500, 2500], "second": [5000, 5000]})
    found = shares_of(population, "second")
    assert population.truths()["second"] == [Fraction(1, 8), Fraction(1, 8), Fraction(3, 4)]
    assert found[2] == pytest.approx(0.75, abs=0.04)
    assert rows_of(second) == ["1", "2"]
    people = [population.person(system_stream) for _ in range(300)]
    assert all((person["first"] == 0) is (person["second"] == 2) for person in people)


def test_declining_excludes_every_tick():
    asked = replace(question("multiple", choices=3), decline=1)
    population = Population((asked,), {"q": [10_000, 5000, 2000]})
    answers = [population.person(system_stream)["q"] for _ in range(300)]
    assert {tuple(answer) for answer in answers} <= {(2,), (0,), (0, 1)}
    assert population.truths()["q"] == [Fraction(4, 5), Fraction(2, 5), Fraction(1, 5)]


def test_numbers_stand_within_their_parts_and_the_mean_is_exact():
    asked = question("number", most=9)
    population = Population((asked,), {"q": usual(asked)})
    drawn = [population.person(system_stream)["q"] for _ in range(PEOPLE)]
    assert set(drawn) == set(range(10))
    (mean,) = population.truths()["q"]
    assert sum(drawn) / PEOPLE == pytest.approx(float(mean), abs=0.3)


@pytest.mark.parametrize("most", [3, 9, 100, 1000])
def test_parts_of_a_distribution_hold_whole_bins(most):
    asked = question("number", most=most, wanted="distribution")
    bins, steps = asked.bins, most + 1
    assert parts_of(asked)[0][0] == 0
    assert parts_of(asked)[-1][1] == most
    for first, last in parts_of(asked):
        inside = {step * bins // steps for step in range(first, last + 1)}
        outside = {step * bins // steps for step in range(steps)} - inside
        beyond = {step * bins // steps for step in range(steps) if not first <= step <= last}
        assert outside == beyond


@pytest.mark.parametrize("kind", ["yes_no", "single", "likert", "number", "month"])
def test_what_is_usual_adds_up_and_is_about_even(kind):
    asked = question(kind, least=24_000, most=24_100) if kind == "month" else question(kind)
    assert sum(usual(asked)) == WHOLE
    assert max(usual(asked)) - min(usual(asked)) <= 500


def test_numbers_that_nobody_publishes_are_left_out():
    asked = replace(question("number"), protection="publication")
    assert population_of(read(whole(questions=[asked])), {}).questions == ()


def test_that_it_does_not_apply_is_a_choice_with_a_share_of_its_own():
    everybody = replace(question("single", choices=3), skipped=1)
    assert rows_of(everybody) == ["1", "2", "3"]
    population = Population((everybody,), {"q": [5000, 3000, 2000]})
    assert population.truths() == {"q": [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]}


def test_ticks_that_do_not_apply_exclude_every_other_and_come_after_declining():
    asked = replace(question("multiple", choices=4), decline=1, skipped=1)
    population = Population((asked,), {"q": [10_000, 5000, 2000, 5000]})
    answers = [population.person(system_stream)["q"] for _ in range(300)]
    assert {tuple(answer) for answer in answers} <= {(3,), (2,), (0,), (0, 1)}
    assert population.truths()["q"] == [
        Fraction(2, 5),
        Fraction(1, 5),
        Fraction(1, 5),
        Fraction(2, 5),
    ]
    assert len(usual(asked)) == 4


def declined_as_one():
    """Return people of two questions and a follow-up that are declined as one."""
    first = replace(question("single", "first", choices=3), decline=1)
    second = replace(
        question("single", "second", choices=4),
        asked_if=Condition(question="first", answers=[1]),
        decline=1,
        skipped=1,
    )
    third = replace(question("single", "third", choices=3), decline=1)
    shares = {
        "first": [3000, 5000, 2000],
        "second": [2500, 2500, 5000],  # of those who do not decline half each
        "third": [6000, 2000, 2000],
    }
    questions = (first, second, third)
    return Population(questions, shares, {each.name: first for each in questions})


def test_who_declines_one_of_what_is_declined_as_one_declines_all():
    population = declined_as_one()
    assert population.truths() == {
        "first": [Fraction(3, 10), Fraction(5, 10), Fraction(2, 10)],
        "second": [Fraction(1, 4), Fraction(1, 4), Fraction(1, 5), Fraction(3, 10)],
        "third": [Fraction(6, 10), Fraction(2, 10), Fraction(2, 10)],
    }
    people = [population.person(system_stream) for _ in range(PEOPLE)]
    declined = [{name for name in person if person[name] == 2} for person in people]
    assert {frozenset(each) for each in declined} == {frozenset(), frozenset(population.shares)}
    for name, truth in population.truths().items():
        counted = Counter(person[name] for person in people)
        for answer, share in enumerate(truth):
            assert counted[answer] / PEOPLE == pytest.approx(float(share), abs=0.04)


def test_shares_of_people_who_all_decline_leave_none_to_others():
    population = declined_as_one()
    for shares in ([0, 0, 10_000], [4000, 6000, 0]):
        everybody = replace_shares(population, first=shares, third=[0, 0, 10_000])
        part = Fraction(shares[2], 10_000)
        assert everybody.truths()["third"] == [(1 - part) / 2, (1 - part) / 2, part]
        person = everybody.person(system_stream)
        assert (person["third"] == 2) is (part == 1)


def replace_shares(population, **shares):
    return Population(population.questions, {**population.shares, **shares}, population.first)
