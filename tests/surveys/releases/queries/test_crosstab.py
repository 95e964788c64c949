"""Reached on the ask page: “Table of two questions”."""

import json
from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from surveys.releases.numbers import Numbers
from surveys.releases.queries.base import KNOWN_SUM, Query
from surveys.releases.queries.crosstab import DRAWN_FREE, N_ESTIMATED, WHY, Crosstab
from surveys.releases.queries.parameters import WrongParameter
from tests.surveys.releases.queries.browsers import (
    COLOURS,
    device,
    given,
    number,
    plan_with,
    reported,
)

EXAMPLES = [
    {"rows": "colour", "within": "side"},
    {"rows": "team", "within": "side"},
]  # on `scored_plans.everything`
PLAN = plan_with(
    device("moon", ["No", "Yes"], "2", "yes_no"),
    device("colour", COLOURS, "4"),
    given("team", ["A", "B", "C"]),
    number("age", 0, 99),
)
PAIRS = [("moon", "colour"), ("colour", "team"), ("team", "moon")]
N = 40_000


def asked(rows="moon", within="team", epsilon="1", plan=PLAN):
    return Crosstab.read(plan, {"rows": rows, "within": within, "epsilon": epsilon})


def test_it_is_a_thing_that_can_be_asked():
    assert isinstance(asked(), Query)


def test_what_a_form_takes_is_what_is_stored_and_read_again():
    form = Crosstab.form(PLAN)({"rows": "team", "within": "colour", "epsilon": "0.5"})
    assert form.is_valid()
    assert "age" not in dict(form.fields["rows"].choices)
    first = Crosstab.read(PLAN, form.cleaned_data)
    assert (
        Crosstab.read(PLAN, json.loads(json.dumps(first.document()))).document() == first.document()
    )
    assert first.names == ("team", "colour")


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize("names", PAIRS, ids="×".join)
def test_cells_and_shares_within_groups_are_those_of_people(names, neighbours):
    """40,000 people, seed 3: every cell within five standard errors, every group's too."""
    plan = plan_with(*PLAN.content.questions, neighbours=neighbours)
    table = asked(*names, plan=plan)
    sizes = [side.answers for side in table.sides]
    draw = np.random.default_rng(3)
    true = draw.dirichlet(np.full(sizes[0] * sizes[1], 2.0)).reshape(sizes)
    people = np.stack(np.unravel_index(draw.choice(true.size, N, p=true.ravel()), sizes), axis=1)
    numbers = Numbers.read(
        json.loads(json.dumps(table.draw(reported(plan, names, people, 5), N).document()))
    )
    whole, *groups = numbers.tables
    assert len(groups) == sizes[1]
    expected = [(whole.rows, 100 * true.ravel())]
    expected += [
        (group.rows, 100 * true[:, b] / true[:, b].sum()) for b, group in enumerate(groups)
    ]
    for rows, shares in expected:
        for row, share in zip(rows, shares, strict=True):
            assert row.low <= row.value <= row.high
            assert row.value == pytest.approx(share, abs=5 * row.standard_error + 0.01)
    assert numbers.known_sum == (neighbours == "change-one")
    assert numbers.notes == [KNOWN_SUM() if numbers.known_sum else N_ESTIMATED()]
    again = table.table_of(numbers)
    assert again.shares == pytest.approx(np.reshape([row.value for row in whole.rows], sizes) / 100)
    assert again.shares.sum() == pytest.approx(1, abs=1e-9 if numbers.known_sum else 1 / N)


def test_n_is_not_used_where_it_is_not_public():
    plan = plan_with(*PLAN.content.questions, neighbours="add-remove")
    people = Counter({(0, 0): 50_000, (1, 1): 50_000})
    values = [
        asked(plan=plan, epsilon="20").draw(people, n).tables[0].rows[0].value for n in (1, 100_000)
    ]
    assert values[0] == pytest.approx(values[1], rel=0.01)


def test_the_noise_is_laplace_for_a_pure_cap_and_gaussian_where_that_is_more_precise():
    pure, concentrated = asked(), asked(plan=plan_with(*PLAN.content.questions, rho=True))
    assert isinstance(pure.choice.mechanism, DiscreteLaplace)
    assert pure.cost.epsilon <= 1
    assert isinstance(concentrated.choice.mechanism, DiscreteGaussian)
    assert concentrated.cost.rho <= 1 / 2
    assert "Gaussian" in concentrated.mechanism
    assert "Laplace" in pure.mechanism


def test_a_table_that_was_published_without_its_known_sum_stays_as_it_was():
    table = asked("colour", "team")
    numbers = table.draw(reported(PLAN, ("colour", "team"), np.zeros((300, 2), dtype=int), 7), 300)
    old, new = (table.table_of(replace(numbers, known_sum=known)) for known in (False, True))
    assert old.noise == table.engine
    assert old.noisy.tolist() == [list(row) for row in numbers.noisy_counts]
    assert new.variances[1].max() < old.variances[1].max()


def test_sets_of_two_questions_move_as_many_counts_as_both_hold():
    """Two reports of w₁·w₂ pairs each can have none in common."""
    table = asked("colour", "moon")
    held = table.sides[0].held
    assert table.tally.moved == 2 * min(held, 10 - held)
    assert table.sensitivity == f"{2 * min(held, 10 - held)} counts of pairs by 1 each"


def test_what_is_expected_is_the_worst_cells_error_and_a_warning_where_it_means_nothing():
    assert len(asked().expected(N)) == 2
    assert "tell nothing" in asked(epsilon="0.01").expected(30)[-1]


def test_nobody_makes_a_table_too():
    numbers = asked().draw(Counter(), 0)
    assert all(0 <= row.low <= row.high <= 100 for table in numbers.tables for row in table.rows)


def test_a_study_with_one_question_has_no_table_of_two():
    assert Crosstab.form(plan_with(given("team", ["A", "B"]), number("age", 0, 9))) is None


@pytest.mark.parametrize(
    ("field", "wrong"), [("rows", "age"), ("within", "moon"), ("within", None), ("epsilon", "x")]
)
def test_parameters_that_cannot_be_are_refused_by_name(field, wrong):
    with pytest.raises(WrongParameter) as refusal:
        Crosstab.read(PLAN, {"rows": "moon", "within": "team", "epsilon": "1", field: wrong})
    assert refusal.value.field == field


def test_a_table_too_large_to_be_read_is_refused():
    large = plan_with(
        *(given(name, [str(place) for place in range(30)]) for name in ("one", "two"))
    )
    with pytest.raises(WrongParameter, match="at most 400 pairs"):
        asked("one", "two", plan=large)


def test_shares_within_groups_are_drawn_towards_their_mean_when_shown_and_stored_as_they_came():
    table, names = asked("moon", "colour"), ["moon", "colour"]
    people = np.array([[place % 3 == 0, place % 5] for place in range(4000)]).astype(int)
    numbers = table.draw(reported(PLAN, names, people, 5), 4000)
    stored = json.dumps(numbers.document())
    shown = table.shown(Numbers.read(json.loads(stored)))
    assert "drawn towards" not in stored
    assert shown.tables[0] == numbers.tables[0]  # shares of all people
    plain, drawn = shown.tables[1].rows[2:]
    assert (plain.label, drawn.label) == ("Yes", "Yes, drawn towards the mean of all groups")
    assert drawn.low < drawn.value < drawn.high
    assert drawn.standard_error < plain.standard_error
    assert shown.derived[-1] == DRAWN_FREE()
    yes = table.in_groups(numbers, 1)
    assert yes.caption == "Moon: Yes, in each group"
    assert [row.label for row in yes.rows][::2] == COLOURS
    assert yes.rows[:2] == [
        replace(row, label=row.label.replace("Yes", "Red")) for row in (plain, drawn)
    ]
    values = np.array([row.value for row in yes.rows])
    assert np.ptp(values[1::2]) < np.ptp(values[::2])


def test_three_groups_are_shown_as_they_came():
    table = asked("moon", "team")
    people = np.array([[place % 2, place % 3] for place in range(400)])
    numbers = table.draw(reported(PLAN, ["moon", "team"], people, 5), 400)
    assert table.shown(numbers) is numbers
    assert table.in_groups(numbers, 1) is None


def test_why_laplace_is_chosen_is_said_by_what_the_cap_counts():
    """ρ = ε²/2 = 8 is more than the cap's 2: only the sum of ε can pay."""
    either = plan_with(*PLAN.content.questions, rho=True)
    said = asked(epsilon="4", plan=either).expected(N)[1]
    assert said == "Laplace: it counts in ε too, as Gaussian noise would not."
    pure = asked().expected(N)[1]
    assert pure == "Laplace: the budget is pure, and Gaussian noise always needs a δ."
    assert {said, pure} <= {str(each()) for each in WHY[:3]}
