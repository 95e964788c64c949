"""Reached on the ask page: “Mean of a number or of scored choices”."""

import json
import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

from dpengine.local.subset import Subset
from dpengine.local.table import Table
from surveys.releases.queries.base import Query
from surveys.releases.queries.mean import Mean
from surveys.releases.queries.parameters import WrongParameter
from tests.surveys.releases.queries.scored_plans import (
    FAIR,
    HOURS,
    SHY,
    device,
    plan_with,
    rows_of,
    stored,
)

EXAMPLES = [
    {"question": "cost", "spread": "released"},
    {"question": "hours"},
    {"question": "team"},
]  # on `scored_plans.everything`
FIVE = ["A", "B", "C", "D", "E"]
SUBSET = device(FIVE, Subset.for_epsilon(5, Decimal(1)))
COIN = device(["No", "Yes"], Table.coin(), kind="yes_no")
PLAN = plan_with(HOURS, FAIR, SHY, SUBSET)


def asked(question="hours", plan=PLAN, **parameters):
    return Mean.read(plan, {"question": question, "epsilon": "1", **parameters})


def reports(channel, answers, seed=1):
    """Have people's devices change their answers."""
    words = np.random.default_rng(seed)
    drawn = (channel.randomise(answer, lambda: int(words.integers(2**32))) for answer in answers)
    return Counter((tuple(report) if isinstance(report, list) else report,) for report in drawn)


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_a_form_reads_as_its_document_does():
    form = Mean.form(PLAN)(
        {"question": "fair", "scores": "", "epsilon": "0.5", "spread": "released"}
    )
    assert form.is_valid(), form.errors
    first = Mean.read(PLAN, form.cleaned_data)
    assert first.document() == {
        "question": "fair",
        "epsilon": "0.5",
        "scores": "1,2,3,4",
        "spread": "released",
    }
    assert Mean.read(PLAN, stored(first)).document() == first.document()


@pytest.mark.parametrize("question", ["hours", "fair", "shy", "device"])
@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_it_costs_what_was_asked_and_no_more(question, neighbours):
    cost = asked(
        question, plan_with(HOURS, FAIR, SHY, SUBSET, neighbours=neighbours), spread="released"
    ).cost
    assert 0.999999 < cost.epsilon <= 1


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize(
    ("question", "counts", "mean"),
    [
        ("hours", {(10,): 400, (30,): 400}, 20),
        ("fair", {(0,): 400, (3,): 400}, 2.5),
        ("shy", {(0,): 400, (2,): 400, (3,): 700}, 2),  # those who would not say do not count
    ],
)
def test_the_mean_of_answers_sent_as_given(neighbours, question, counts, mean):
    plan = plan_with(HOURS, FAIR, SHY, neighbours=neighbours)
    (row,) = rows_of(
        asked(question, plan, epsilon="20").draw(Counter(counts), sum(counts.values()))
    )
    assert row.value == pytest.approx(mean, rel=0.01)
    assert row.low < row.value < row.high


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize("question", [SUBSET, COIN], ids=["subset", "coin"])
def test_intervals_of_changed_answers_hold_as_often_as_they_say(question, neighbours):
    """60 studies of 600: fewer than 45 hits of 95 % is rarer than once in ten million runs;
    their spread as stated.
    """
    plan = plan_with(question, neighbours=neighbours)
    mean = asked("device", plan)
    channel = Subset.for_epsilon(5, Decimal(1)) if question is SUBSET else Table.coin()
    truth = 2.6 if question is SUBSET else 30  # of yes, in percent
    answers = (
        [0, 0, 1, 1, 1, 2, 2, 2, 3, 4] if question is SUBSET else [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    )
    rows = [rows_of(mean.draw(reports(channel, answers * 60, seed), 600))[0] for seed in range(60)]
    hits = sum(row.low <= truth <= row.high for row in rows)
    assert hits >= 45
    off = np.std([row.value for row in rows])
    assert 0.6 < off / np.mean([row.standard_error for row in rows]) < 1.4


def test_scores_may_be_any_numbers():
    found = asked("device", scores="-2, -1, 0, 1, 2.5")
    assert found.scores == (Decimal(-2), Decimal(-1), Decimal(0), Decimal(1), Decimal("2.5"))
    assert found.draw(reports(Subset.for_epsilon(5, Decimal(1)), [2] * 500), 500).tables


def test_too_few_answers_give_all_that_is_possible():
    plan = plan_with(SUBSET, neighbours="add-remove")
    (row,) = rows_of(asked("device", plan, epsilon="0.01").draw(Counter(), 0))
    assert 1 <= row.low <= row.value <= row.high <= 5


@pytest.mark.parametrize("question", ["hours", "fair", "device"])
def test_nobody_is_refused_where_n_is_public(question):
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        asked(question).draw(Counter(), 0)


@pytest.mark.parametrize("question", ["hours", "fair", "shy", "device"])
def test_what_to_expect_needs_no_answers_and_falls_with_people(question):
    few, many = (
        float(asked(question).expected(n)[0].split("± ")[1].split(" ")[0]) for n in (100, 10_000)
    )
    assert many < few / 5
    assert asked(question).expected(0)


@pytest.mark.parametrize("question", ["hours", "fair", "shy", "device"])
def test_it_says_what_the_ledger_writes_down(question):
    assert "discrete Laplace" in asked(question).mechanism
    assert "L1" in asked(question).sensitivity
    json.dumps(asked(question).document())


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"question": "other"}, "question"),
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"question": "fair", "scores": "1,2"}, "scores"),
        ({"question": "fair", "scores": "1,2,x,4"}, "scores"),
        ({"question": "fair", "scores": "1,1,1,1"}, "scores"),
        ({"question": "fair", "scores": "1,2,3,nan"}, "scores"),
        ({"question": "fair", "scores": "1,2,3,1e9"}, "scores"),
        ({"spread": "other"}, "spread"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed, field):
    with pytest.raises(WrongParameter) as refused:
        Mean.read(PLAN, {"question": "hours", "epsilon": "1", **changed})
    assert refused.value.field == field


def test_a_plan_without_scored_questions_offers_nothing():
    assert Mean.form(plan_with()) is None


def test_an_epsilon_that_no_noise_can_keep_is_refused_and_no_failure():
    with pytest.raises(WrongParameter, match="epsilon: scale must be at most"):
        asked(epsilon="0.000000001", spread="released")


@pytest.mark.parametrize("expected", [0.1, 0.5, 1, 2, 3])
def test_an_interval_holds_where_a_few_of_many_have_a_score_far_from_all_others(expected):
    """So many of 500 on average, from noisy counts that have next to no noise: exactly."""
    n, found = 500, asked("fair", scores="1,1.5,2,100", epsilon="20")
    true = 1 + 99 * expected / n
    holds = 0.0
    for far in range(20):
        measured = found._combined([n - far, 0, 0, far], n)
        chance = math.comb(n, far) * (expected / n) ** far * (1 - expected / n) ** (n - far)
        holds += chance * (measured.low <= true <= measured.high)
    assert holds > 0.94


def test_noise_that_all_counts_share_moves_no_mean_where_n_is_public():
    found = asked("fair", scores="101,102,103,104")
    assert found._combined([140, 140, 140, 140], 400).value == pytest.approx(102.5)


def test_an_interval_counts_all_of_the_noise_where_there_is_much():
    """In 300 draws: fewer than 85 of 100 hold once in 10⁹ runs."""
    found, people = (
        asked("fair", scores="101,102,103,105", epsilon="0.2"),
        Counter({(choice,): 500 for choice in range(4)}),
    )
    rows = [rows_of(found.draw(people, 2000))[0] for _ in range(300)]
    assert sum(row.low <= 102.75 <= row.high for row in rows) > 255
