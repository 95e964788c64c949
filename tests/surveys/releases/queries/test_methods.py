"""What a release says of itself: devices only where they changed answers, noise only where added."""

from fractions import Fraction

import numpy as np
import pytest
from django.utils.translation import override
from msgspec.structs import replace

from surveys.messages import translate
from surveys.releases.queries import KINDS, crosstab, trusted
from tests.surveys.releases.queries.browsers import device, given, number, plan_with, reported

MOON, SEEN = device("moon", ["No", "Yes"], "2", "yes_no"), device("seen", ["No", "Yes"], "2")
TEAM, HOURS = given("team", ["A", "B", "C"]), number("hours", 0, 60)
SIDE = given("side", ["Left", "Right"])


def plan_of(*questions, counts=""):
    plan = plan_with(*questions)
    publication = replace(plan.content.publication, counts=counts)
    changed = [
        each if each.is_cleartext else replace(each, own_loss=Fraction(7))
        for each in plan.content.questions
    ]
    plan.content = replace(plan.content, publication=publication, questions=changed)
    return plan


PLAN = plan_of(MOON, SEEN, TEAM, SIDE, HOURS)
OF_ANSWERS = plan_of(MOON, SEEN, counts="answers")


def method(kind, plan=PLAN, epsilon="1", **parameters):
    query = KINDS[kind].read(plan, {"epsilon": epsilon, **parameters})
    if kind == "shares":
        counts = {part.name: [30] * part.tally.channel.cells for part in query.parts}
        return str(query.draw(counts, 60).method)
    people = np.zeros((60, len(query.names)), dtype=np.int64)
    return str(query.draw(reported(plan, query.names, people, 3), 60).method)


@pytest.mark.parametrize(
    ("kind", "parameters", "devices", "noise"),
    [
        ("shares", {"questions": ["moon"]}, True, True),
        ("shares", {"questions": ["team", "side"]}, False, True),
        ("shares", {"questions": ["moon", "team"]}, True, True),
        ("shares", {"questions": ["moon"], "plan": OF_ANSWERS, "epsilon": "20"}, True, False),
        ("mean", {"question": "moon"}, True, True),
        ("mean", {"question": "hours"}, False, True),
        ("mean", {"question": "team"}, False, True),
        ("mean", {"question": "team", "scores": "1,5,9"}, False, True),
        ("mean", {"question": "moon", "plan": OF_ANSWERS, "epsilon": "20"}, True, False),
        ("crosstab", {"rows": "moon", "within": "seen"}, True, True),
        ("crosstab", {"rows": "moon", "within": "team"}, True, True),
        ("crosstab", {"rows": "side", "within": "team"}, False, True),
    ],
)
def test_devices_and_noise_are_named_where_they_were(kind, parameters, devices, noise):
    text = method(kind, **parameters)
    assert ("devices" in text) is devices
    assert ("hance was added" in text or "with chance added" in text) is noise
    assert ("publication" in text) is noise


def test_shares_of_both_name_the_devices_for_some_of_them_only():
    text = method("shares", questions=["moon", "team"])
    assert "where they had changed the answer" in text
    assert "both questions' devices" in method("crosstab", rows="moon", within="seen")
    assert "one of the two questions" in method("crosstab", rows="team", within="moon")


def test_a_mean_without_noise_names_none():
    query = KINDS["mean"].read(OF_ANSWERS, {"question": "moon", "epsilon": "20"})
    assert query.mechanism == "no noise on counts"
    assert query.cost.epsilon <= Fraction(2)


def test_one_of_something_is_one():
    query = KINDS["crosstab"].read(PLAN, {"rows": "moon", "within": "team", "epsilon": "1"})
    assert query.sensitivity == "2 counts of pairs by 1 each"
    assert crosstab.SENSITIVITY(count=1) == "1 count of a pair by 1"
    assert trusted.EXPECTED(size="1", ranks="2", count="80").startswith("About 1 person in each")
    assert trusted.EXPECTED(size="1,000", ranks="2", count="80").startswith("About 1,000 people")
    with override("zh-hans"):  # an older row's words for one
        assert "counts" not in translate("1 counts of pairs by 1 each")
