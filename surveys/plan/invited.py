"""Prove of a Plan that asks a list of people that each stratum's tickets can be told from others’.

Tickets       are signed under RSABSSA-SHA384-PSS-Randomized (RFC 9474), with e = 65537 and a salt
              of 48 bytes (`tickets.py`); only the modulus is the Plan's own.
moments       1 to 60 minutes, and a divisor of 60. Whoever watches the times of connections
              joins about one person of each stratum rightly at every moment
              (tests/bench/joining_by_time.py), so a launch sets the moments further apart where
              there are more strata (`minutes_between`).
answers_from  a day as in 2026-12-01, if it is there.
strata        1 to 100. A key is odd and has 2048 to 4096 bits, in whole bytes of which the first
              is 128 or more: 512 to 1024 small hexadecimal digits, an even number of them. No two
              keys are alike, and no two names; a name is a text, empty only where the stratum is
              the only one. People are 30 or more: of fewer a ticket would tell too much.

Twin of the check in intake/verify.js.
"""

import re
from collections.abc import Iterator
from typing import Any

from surveys.plan.checks import expect, is_within, matches, names_in
from surveys.plan.content import LARGEST_NUMBER, Invited, Stratum

FEWEST, MOST_STRATA = 30, 100
HOUR = 60
MOMENTS = {1: 15, 3: 30, MOST_STRATA: HOUR}  # minutes between them, by the most strata
KEY = re.compile("[89a-f][0-9a-f](?:[0-9a-f]{2}){254,510}[0-9a-f][13579bdf]")
DAY = re.compile("20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")


def minutes_between(strata: int) -> int:
    """Return how far apart the moments are that a launch sets for so many strata, in minutes."""
    return next((minutes for most, minutes in MOMENTS.items() if strata <= most), HOUR)


def stand_in(at: int) -> str:
    """Return what stands for the key of a stratum until it is made."""
    return f"80{at:0509x}1"


def parts_of(plan: Any) -> Iterator[tuple[str, Any, set[str]]]:
    """Yield every object of the part: its place, itself, its allowed parts."""
    if "invited" not in plan:
        return
    yield "invited", plan["invited"], names_in(Invited)
    for number, part in enumerate(plan["invited"]["strata"], 1):
        yield f"stratum {number}", part, names_in(Stratum)


def verify(invited: Any) -> None:
    """Refuse a list whose tickets nobody could check, or that would tell too much."""
    moments, strata = invited["moments"], invited["strata"]
    is_divisor = is_within(moments, 1, HOUR) and HOUR % moments == 0
    expect(is_divisor, "moments", f"minutes that divide {HOUR}")
    if "answers_from" in invited:
        expect(matches(invited["answers_from"], DAY), "answers_from", "a day")
    is_list = isinstance(strata, list) and 0 < len(strata) <= MOST_STRATA
    expect(is_list, "strata", f"1 to {MOST_STRATA}")
    for number, each in enumerate(strata, 1):
        place, people = f"stratum {number}", each["people"]
        expect(matches(each["key"], KEY), place, "an odd modulus of 2048 to 4096 bits")
        is_named = isinstance(each["name"], str) and (each["name"] != "" or len(strata) == 1)
        expect(is_named, place, "a name")
        is_many = is_within(people, FEWEST, LARGEST_NUMBER)
        expect(is_many, place, f"{FEWEST} people or more")
    for part in ("key", "name"):
        expect(len({each[part] for each in strata}) == len(strata), "strata", f"each {part} once")
