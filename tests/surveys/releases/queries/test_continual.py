"""Reached by the rule of a study: “every so many hours, all of them paid on the first day”."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.central.counter import UNIT, Strategy
from dpengine.local.channels import channel_for
from surveys.design.models import Plan
from surveys.releases import statistics
from surveys.releases.queries.base import InteractiveQuery
from surveys.releases.queries.continual import Continual
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.selectors import by_rule
from tests.plans import whole

RULE = {
    "rule": "continual",
    "hours": 24,
    "horizon": 3,
    "rho": "0.5",
    "epsilon": "4",
    "smallest_batch": 10,
}
COPIED = {
    "name": "copied",
    "kind": "yes_no",
    "label": "Copied",
    "choices": ["No", "Yes"],
    "protection": "device",
    "channel": channel_for(2, Decimal(1)).document(),
}
OFTEN = {
    "name": "often",
    "kind": "single",
    "label": "How often",
    "choices": ["Never", "Once", "Often"],
    "protection": "publication",
}
AGE = {
    "name": "age",
    "kind": "number",
    "label": "Age",
    "choices": [],
    "least": 0,
    "most": 99,
    "unit": "",
    "protection": "publication",
}
EXACT = {"copied": [600, 400], "often": [700, 200, 100]}


def plan_with(*questions, **changed):
    content = {
        "neighbours": "change-one",
        "questions": list(questions),
        "publication": {**RULE, **changed},
        "caps": {"central_epsilon": "4", "central_delta": "0.000001", "central_rho": "0.5"},
    }
    return Plan(document=whole(**content))


PLAN = plan_with(COPIED, OFTEN, AGE)


def asked(plan: Plan = PLAN) -> Continual:
    rho = plan.content.publication.rho or ""
    return Continual.read(plan, {"questions": statistics.public_names(plan), "rho": rho})


def test_it_is_a_thing_that_goes_on():
    assert isinstance(asked(), InteractiveQuery)


def test_all_refreshes_together_cost_what_the_plan_says():
    rho = asked().cost.rho
    assert Fraction(1, 2) * (1 - Fraction(1, 2**40)) < rho <= Fraction(1, 2)
    assert asked().cost.epsilon is None


def test_one_person_moves_as_many_counts_as_their_question_says():
    one, several = asked().parts
    assert (one.counter.counts, one.counter.moves) == (1, 1)
    assert (several.counter.counts, several.counter.moves) == (3, 2)


def test_numbers_are_those_of_a_release_with_the_step_s_own_noise():
    """ρ = 1/4 a question: counts are off by a few people, a share of 1,000 by less than .05 but
    for 1e-9.
    """
    state, numbers = asked().step(asked().start(EXACT, 1000), EXACT, 1000)
    assert numbers.n == 1000
    copied, often = numbers.questions
    assert copied.choices[0].noisy_count + copied.choices[1].noisy_count == 1000
    estimates = [choice.estimate for choice in often.choices]
    assert estimates == pytest.approx([0.7, 0.2, 0.1], abs=0.05)
    assert often.mechanism.step == 1
    assert often.mechanism.name == "continual counter, discrete Gaussian"
    assert often.mechanism.known_sum
    assert sum(estimates) == pytest.approx(1)
    noise = asked().parts[1].counter.noise(1).variance * 2 / 3  # the rest leaves with the sum
    assert often.choices[0].variance["publication"] == pytest.approx(noise / 1000**2)
    assert [table.caption for table in numbers.tables] == ["Copied", "How often"]
    assert "over" not in state


def test_a_stored_state_goes_on_until_the_horizon_is_over():
    state = asked().start(EXACT, 1000)
    for step in (1, 2, 3):
        counts = {name: [count * step for count in counts] for name, counts in EXACT.items()}
        stored = json.loads(json.dumps(state))
        state, numbers = asked().step(stored, counts, 1000 * step)
        assert numbers.refresh == numbers.questions[1].mechanism.step == step
        added = numbers.questions[1].choices[0].variance["publication"] * (1000 * step) ** 2
        assert added == pytest.approx(asked().parts[1].counter.noise(step).variance * 2 / 3)
        assert f"{3 - step} more are paid for" in numbers.notes[0]
    assert state["over"] is True
    with pytest.raises(ValueError, match="horizon of 3, got 4"):
        asked().step(state, counts, 3000)


def test_what_came_since_the_last_step_is_added_to_the_counter():
    query, tallies = asked(), {"copied": [550, 250], "often": [500, 200, 100]}
    state, _ = query.step(query.start(tallies, 800), tallies, 800)
    assert state["copied"]["joined"] == [[250]]
    assert state["often"]["joined"] == [[500, 200, 100]]


def test_what_was_stored_is_read_as_the_same_request():
    query = asked()
    assert query.document() == {
        "epsilon": "4",
        "horizon": 3,
        "questions": ["copied", "often"],
        "rho": "0.5",
    }
    assert Continual.read(PLAN, query.document()).document() == query.document()


def test_a_series_goes_on_with_the_strategy_it_was_begun_with():
    """A request from before names none; the rule's own names the better one."""
    before, now = asked(), by_rule(PLAN)
    assert {part.counter.strategy for part in before.parts} == {Strategy.SQUARE_ROOT}
    assert {part.counter.strategy for part in now.parts} == {Strategy.WEIGHTED}
    assert now.document() == {**before.document(), "strategy": "weighted"}
    assert Continual.read(PLAN, now.document()).document() == now.document()
    laws = [query.parts[1].at(3).law for query in (before, now)]
    assert laws[0].scale == before.parts[1].counter.gaussian.scale / UNIT
    assert laws[1].standard_error < laws[0].standard_error


def test_a_strategy_that_is_none_is_refused():
    with pytest.raises(WrongParameter, match="expected one of square root, weighted"):
        Continual.read(PLAN, {**asked().document(), "strategy": "dense"})


def test_nobody_asks_for_it():
    assert Continual.form(PLAN) is None
    assert asked().question_form() is None


def test_what_is_expected_and_what_the_ledger_is_told():
    query = asked()
    lines = query.expected(1000)
    assert len(lines) == 2
    assert lines[0].startswith("Copied: chance moves each count by ")
    assert query.mechanism == "continual counter, discrete Gaussian, 3 refreshes"
    assert query.sensitivity == "2 counts by 1 in each tally, in one refresh"


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (plan_with(COPIED, rule="every"), "rule: expected continual, got every"),
        (plan_with(COPIED, rho=""), "a pure cap cannot pay for it"),
        (plan_with(AGE), "one or more whose answers can be counted"),
    ],
)
def test_a_plan_without_this_rule_is_refused(plan, message):
    with pytest.raises(WrongParameter, match=message):
        asked(plan)
