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
