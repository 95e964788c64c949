"""Sets of questions, of which each device draws one: their chances, and what a person loses."""

import copy
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

from dpengine.local.blocks import together
from dpengine.randomness import WORD
from surveys.plan.content import PlanContent, canonical, largest_loss, read
from surveys.plan.drawing import sets_of
from tests.vectors import load


def content() -> PlanContent:
    case = next(case for case in load("plans.json") if case["name"].startswith("drawn questions, "))
    return read(canonical(case["plan"]))


def test_each_set_is_exactly_as_likely_as_its_weight():
    weights = [3, 1, 4]  # 2**32 is a multiple of their sum: every 8 words in a row are alike
    assert WORD % sum(weights) == 0
    document = next(case for case in load("plans.json") if case["name"].startswith("drawn q"))
    plan = copy.deepcopy(document["plan"])
    for each, weight in zip(plan["drawn"], weights, strict=True):
        each["weight"] = weight
    drawn = read(canonical(plan))
    found = Counter(drawn.draw_set(lambda word=word: word) for word in range(8))
    assert [found[index] for index in range(3)] == weights


def test_how_many_are_asked_a_question_and_a_pair():
    plan = content()
    total = 1 + 2 + 2**20
    assert plan.sets == [{"q1", "q2"}, {"q3", "q4"}, {"q1"}]
    assert plan.part_asked(["q1"]) == Fraction(1 + 2**20, total)
    assert plan.part_asked(["q1", "q2", "choice"]) == Fraction(1, total)
    assert plan.part_asked(["q1", "q3"]) == 0
    assert plan.part_asked(["choice"]) == plan.part_asked([]) == 1


def test_where_nothing_is_drawn_everybody_is_asked_everything():
    case = load("plans.json")[0]
    plan = read(canonical(case["plan"]))
    assert plan.sets == [{"q1", "q2", "q3"}]
    assert (plan.weights, plan.part_asked(["q1", "q3"])) == ([1], 1)
    assert canonical(plan) == canonical(case["plan"])  # no new part in its bytes


def test_a_person_loses_what_the_set_that_loses_most_does():
    losses = {"a": Fraction(3), "b": Fraction(2), "c": Fraction(5)}
    assert largest_loss([["a", "b"], ["c"]], losses) == 6
    assert largest_loss([["c"], ["a", "b"], ["a"]], losses) == 6
    assert largest_loss([[]], losses) == 1


def test_a_question_and_all_that_follow_from_it_are_one_block():
    parents = {"b": "a", "d": "b", "e": "sent_as_given"}
    blocks = together(["a", "b", "c", "d", "e"], parents.items())
    assert blocks == [["a", "b", "d"], ["c"], ["e"]]


@pytest.mark.parametrize(("blocks", "asked"), [(2, 1), (8, 2), (8, 5), (100, 1)])
def test_all_subsets_can_be_drawn_if_they_are_few(blocks, asked):
    found = [tuple(each.blocks) for each in sets_of(blocks, asked)]
    assert found == list(combinations(range(blocks), asked))


@pytest.mark.parametrize(
    ("blocks", "asked"), [(9, 4), (15, 2), (16, 3), (20, 7), (40, 20), (60, 2), (100, 2), (100, 99)]
)
def test_else_some_sets_hold_each_block_equally_often(blocks, asked):
    found = [tuple(each.blocks) for each in sets_of(blocks, asked)]
    assert blocks <= len(found) == len(set(found)) <= 100
    assert {len(each) for each in found} == {asked}
    assert len(set(Counter(at for each in found for at in each).values())) == 1
