"""A Plan that asks a list of people: what its part `invited` may say, and what it may not."""

import copy
from typing import Any

import pytest

from surveys.plan.content import Invited, Stratum, Unsound, canonical, read
from surveys.plan.invited import minutes_between
from surveys.plan.verification import verify
from tests.vectors import load

KEY = "c" * 511 + "1"
LAW = {"key": KEY, "name": "Faculty of law", "people": 312}
ARTS = {"key": "d" * 511 + "1", "name": "Faculty of arts", "people": 30}
INVITED: dict[str, Any] = {"moments": 15, "strata": [ARTS, LAW]}


def plan(**parts: Any) -> dict[str, Any]:
    """Return a sound Plan of a list, with these parts of it changed."""
    found = copy.deepcopy(load("plans.json")[0]["plan"])
    return found | {"invited": INVITED | parts}


def stratum(**parts: Any) -> dict[str, Any]:
    return plan(strata=[ARTS, LAW | parts])


SOUND = {
    "two strata": plan(),
    "two phases": plan(answers_from="2026-12-01"),
    "the largest key": stratum(key="8" + "0" * 1022 + "1"),
    "a list that is one": plan(strata=[LAW | {"name": ""}]),
    "every minute": plan(moments=1),
    "every hour": plan(moments=60),
    "a hundred strata": plan(
        strata=[LAW | {"key": f"{KEY[:-3]}{at:02x}1", "name": f"{at}"} for at in range(100)]
    ),
}
UNSOUND = {
    "a list of nobody": plan(strata=[]),
    "a hundred and one strata": plan(
        strata=[LAW | {"key": f"{KEY[:-3]}{at:02x}1", "name": f"{at}"} for at in range(101)]
    ),
    "strata that are no list": plan(strata={}),
    "a stratum that is none": plan(strata=[LAW, "arts"]),
    "an even key": stratum(key="c" * 512),
    "a key of 2047 bits": stratum(key="7" + KEY[1:]),
    "a key of 2040 bits": stratum(key=KEY[2:]),
    "a key of 4104 bits": stratum(key="8" + "0" * 1024 + "1"),
    "half a byte more": stratum(key="8" + KEY),
    "a key with capitals": stratum(key=KEY.upper()),
    "a key that is a number": stratum(key=2**2048 - 1),
    "a key with a line's end": stratum(key=KEY + "\n"),
    "a key twice": stratum(key=ARTS["key"]),
    "a name twice": stratum(name=ARTS["name"]),
    "no name beside others": stratum(name=""),
    "a name that is none": stratum(name=7),
    "too few people": stratum(people=29),
    "people in words": stratum(people="312"),
    "people who are true": stratum(people=True),
    "more people than numbers": stratum(people=2**53),
    "a size of groups": stratum(size=3),
    "never": plan(moments=0),
    "seven minutes": plan(moments=7),
    "two hours": plan(moments=120),
    "half a minute": plan(moments=0.5),
    "moments that are true": plan(moments=True),
    "a day in words": plan(answers_from="tomorrow"),
    "a month of none": plan(answers_from="2026-13-01"),
    "a day that is none": plan(answers_from=None),
    "a part that nothing verifies": plan(salt=48),
    "no list": plan() | {"invited": []},
    "nothing": plan() | {"invited": None},
}


@pytest.mark.parametrize("name", SOUND)
def test_a_list_is_taken(name):
    verify(SOUND[name])


@pytest.mark.parametrize("name", UNSOUND)
def test_a_list_is_refused(name):
    with pytest.raises(Unsound):
        verify(UNSOUND[name])


@pytest.mark.parametrize("part", ["moments", "strata"])
def test_no_part_of_a_list_may_be_missing(part):
    broken = plan()
    broken["invited"] = {name: value for name, value in INVITED.items() if name != part}
    with pytest.raises(Unsound):
        verify(broken)


@pytest.mark.parametrize("part", ["key", "name", "people"])
def test_no_part_of_a_stratum_may_be_missing(part):
    with pytest.raises(Unsound):
        verify(plan(strata=[ARTS, {name: value for name, value in LAW.items() if name != part}]))


def test_it_is_read_as_written_and_left_out_where_there_is_no_list():
    document = canonical(plan(answers_from="2026-12-01"))
    content = read(document)
    assert canonical(content) == document
    assert content.invited == Invited(
        strata=[Stratum(**ARTS), Stratum(**LAW)], moments=15, answers_from="2026-12-01"
    )
    assert read(canonical(load("plans.json")[0]["plan"])).invited is None
    assert '"answers_from"' not in canonical(read(canonical(plan())))


@pytest.mark.parametrize(("strata", "minutes"), {1: 15, 2: 30, 3: 30, 4: 60, 100: 60}.items())
def test_moments_are_further_apart_the_more_strata_there_are(strata, minutes):
    assert minutes_between(strata) == minutes
