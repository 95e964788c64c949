"""Reached on the ask page: “Shares of each answer”. What it publishes of every kind of question:
tests/surveys/releases/test_kinds.py.
"""

from dataclasses import replace

import pytest
from msgspec import structs, to_builtins

from dpengine.estimates import share
from surveys.aggregation.contrasts import among
from surveys.releases.comparisons import among_asked, simultaneous
from surveys.releases.queries.base import KNOWN_SUM
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.shares import Shares
from surveys.releases.statistics import PeopleCounted, law_of, question_numbers
from tests.surveys.releases.queries.browsers import COLOURS, device, plan_with
from tests.surveys.releases.queries.scored_plans import everything, stored

EXAMPLES = [
    {"questions": ["colour"]},
    {"questions": ["colour", "team", "side"]},
]  # on `scored_plans.everything`
PLAN = everything(rho=True)


def test_the_same_set_of_questions_is_the_same_request():
    one, other = (
        Shares.read(PLAN, {"questions": names, "epsilon": "1"})
        for names in (["team", "colour"], ["colour", "team"])
    )
    assert one.document() == other.document() == {"epsilon": "1", "questions": ["colour", "team"]}
    assert Shares.read(PLAN, stored(one)) == one


def test_a_plan_that_wrote_its_rho_pays_no_more_than_that():
    query = Shares.read(PLAN, {"questions": ["colour"], "epsilon": "1", "rho": "0.01"})
    assert query.document()["rho"] == "0.01"
    assert 0.0099 < query.cost.rho <= 0.01


# A sum that is public


def drawn(plan, names=("colour", "moon")):
    query = Shares.read(plan, {"questions": list(names), "epsilon": "1"})
    exact = {"colour": [70, 50, 45, 20, 15], "moon": [120, 80]}
    return query, query.draw({name: exact[name] for name in names}, 200)


CHOICES = (device("colour", COLOURS), device("moon", ["No", "Yes"], "1", "yes_no"))


def test_shares_of_three_choices_or_more_add_up_and_the_counts_shown_are_those_drawn():
    query, numbers = drawn(plan_with(*CHOICES))
    colour, moon = numbers.questions
    assert (colour.mechanism.known_sum, moon.mechanism.known_sum) == (True, False)
    assert sum(choice.estimate for choice in colour.choices) == pytest.approx(1)
    assert all(type(choice.noisy_count) is int for choice in colour.choices)
    channel, noise = query.parts[0].tally.channel, query.parts[0].mechanism
    scale = (200 * channel.margin.contrast) ** 2
    for choice in colour.choices:
        assert choice.variance["publication"] == pytest.approx(noise.variance * 0.8 / scale)
    assert KNOWN_SUM() in numbers.notes
    assert KNOWN_SUM() not in drawn(plan_with(*CHOICES), ["moon"])[1].notes


def test_where_n_is_not_public_no_sum_is_used():
    _query, numbers = drawn(plan_with(*CHOICES, neighbours="add-remove"))
    assert not any(each.mechanism.known_sum for each in numbers.questions)
    assert "known_sum" not in str(numbers.document())
    assert KNOWN_SUM() not in numbers.notes


def test_what_was_published_without_its_sum_keeps_its_estimates():
    """As in a folder of before: its law does not name a sum."""
    plan = plan_with(*CHOICES)
    query, numbers = drawn(plan)
    part, noisy = query.parts[0], [each.noisy_count for each in numbers.questions[0].choices]
    before = replace(part, law=law_of(part.mechanism))
    old = question_numbers(before, noisy, PeopleCounted(200))
    alone = [share(count, 200, part.tally.channel.margin, part.mechanism) for count in noisy]
    assert [each.as_estimate() for each in old.choices] == alone
    assert "known_sum" not in str(to_builtins(old))
    stored = structs.replace(numbers, questions=[old])
    wider = simultaneous(plan, query, stored, 0.99)
    again = question_numbers(before, noisy, PeopleCounted(200), 0.99)
    assert [each.interval for each in wider.questions[0].choices] == [
        each.interval for each in again.choices
    ]
    newer = simultaneous(plan, query, numbers, 0.99).questions[0].choices
    # of the commonest, which no noise brings to an edge: there an interval is cut
    new, earlier = newer[0], again.choices[0]
    assert new.high - new.low < 0.97 * (earlier.high - earlier.low)


def test_shares_among_those_asked_use_the_sum_if_the_release_did():
    plan = plan_with(device("colour", COLOURS))
    query, numbers = drawn(plan, ["colour"])
    new = among_asked(plan, query, numbers, "colour")
    before = replace(query.parts[0], law=law_of(query.parts[0].mechanism))
    noisy = [each.noisy_count for each in numbers.questions[0].choices]
    stored = structs.replace(
        numbers, questions=[question_numbers(before, noisy, PeopleCounted(200))]
    )
    old = among_asked(plan, query, stored, "colour")
    side = query.parts[0].tally.channel.features()
    assert old == among(noisy, side, query.parts[0].mechanism, 200)
    assert new == among(noisy, side, query.parts[0].noise, 200)
    assert old != new


@pytest.mark.parametrize("wrong", [[], ["hours"], "colour", None])
def test_a_number_sent_in_the_clear_has_no_shares(wrong):
    with pytest.raises(WrongParameter, match="questions: "):
        Shares.read(PLAN, {"questions": wrong, "epsilon": "1"})
