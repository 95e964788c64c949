"""The server and the browser must agree on every Plan, sound or not: thousands of broken ones,
judged by both.
"""

import copy
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from surveys import languages
from surveys.plan import verification
from surveys.plan.content import Unsound, read
from surveys.plan.verification import verify
from tests.plans import whole
from tests.surveys.plan import test_invited as lists
from tests.vectors import load

HOUSE = Path(__file__).parent.parent.parent.parent
PLANS = 6000
JUDGE = """
import { readFileSync } from 'node:fs';
import { prepare } from './surveys/intake/static/intake/channels.js';
import * as cleartext from './surveys/intake/static/intake/cleartext.js';
import * as drawn from './surveys/intake/static/intake/drawn.js';
import * as invited from './surveys/intake/static/intake/invited.js';
import { verify } from './surveys/intake/static/intake/verify.js';
const verdict = (plan) => verify(invited.open(plan), cleartext.verify, drawn.verify);
const sound = (plan) => prepare(plan).then(() => verdict(plan)).then(() => true, () => false);
console.log(JSON.stringify(await Promise.all(JSON.parse(readFileSync(0, 'utf8')).map(sound))));
"""
# Without fractions such as 3.0, which a JSON reader in JavaScript cannot tell from 3.
NUMBERS = [0, 1, 2, 3, -1, -(2**31), 2**31 + 1, 2**32, 2**53 - 1, 2**53, 10**30, 1.5]
DIGITS = ["", "1", "9" * 400, "3", "0", " 1", "1e1", "1.", "0.5", "1.5", "20", "٣", "Infinity"]
WORDS = [
    "a",
    "__proto__",
    "constructor",
    "yes_no",
    "likert",
    "single",
    "table",
    "subset",
    "one_of",
    "device",
    "number",
    "publication",
    "multiple",
    "month",
    "mean",
    "distribution",
    "q1",
    "asked",
    "image/png",
    "fresh",
    "kept",
]
ODD = [*NUMBERS, *DIGITS, *WORDS, None, True, False, [], {}, [1], ["a", "b"]]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a document but the whole of it."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in inner:
        yield (*path, key)
        yield from paths(part, (*path, key))


def broken(plan: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return the Plan with one thing replaced, removed, off by one or doubled."""
    plan = copy.deepcopy(plan)
    *way, last = chance.choice(list(paths(plan)))
    place: Any = plan
    for step in way:
        place = place[step]
    how = chance.choice(("replace", "replace", "remove", "off by one", "double"))
    if how == "remove" and isinstance(place, dict):
        del place[last]
    elif how == "off by one" and type(place[last]) is int:
        place[last] += chance.choice((-1, 1))
    elif how == "double" and isinstance(place, list):
        place.append(copy.deepcopy(place[last]))
    else:
        place[last] = copy.deepcopy(chance.choice(ODD))
    return plan


def objects(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a Plan, and what it is: a question goes by kind and protection, a channel
    by its kind.
    """
    yield "plan", plan
    for path in paths(plan):
        part: Any = plan
        for step in path:
            part = part[step]
        if isinstance(part, dict):
            place = ".".join(
                "*" if type(step) is int or before == "questions" else str(step)
                for before, step in zip(("", *path), path, strict=False)
            )
            marks = [
                str(part[mark]) for mark in ("kind", "protection", "wanted", "rule") if mark in part
            ]
            yield f"{place} {' '.join(marks)}", part


def enlarged(
    plan: dict[str, Any], chance: random.Random, known: dict[str, set[str]]
) -> tuple[dict[str, Any], str]:
    """Return the Plan with one part more, where no sound Plan has one of that name; and where."""
    plan = copy.deepcopy(plan)
    place, part = chance.choice(list(objects(plan)))
    names = sorted({*set().union(*known.values()), *WORDS, "", "src", "note"} - known[place])
    donors = [other[name] for _, other in objects(plan) for name in names if name in other]
    part[chance.choice(names)] = copy.deepcopy(chance.choice([*ODD, *donors]))
    return plan, place


def parts_known(plans: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the names of parts that sound Plans have, by what they are parts of."""
    known: dict[str, set[str]] = {}
    for plan in plans:
        for place, part in objects(plan):
            known.setdefault(place, set()).update(part)
    # which any question may have, if all else fits
    every = {"asked_if", "group", "picture", "skipped"}
    return {
        place: names | every if "protection" in names else names for place, names in known.items()
    }


def sound_plans() -> list[dict[str, Any]]:
    of_lists = [plan for name, plan in lists.SOUND.items() if "hundred" not in name]
    return [*(case["plan"] for case in load("plans.json") if case["accepted"]), *of_lists]


def is_sound(plan: dict[str, Any]) -> bool:
    try:
        verify(plan)
    except Unsound:
        return False
    return True


def judged_by_browser(plans: list[dict[str, Any]]) -> list[bool]:
    command = ["node", "--input-type=module", "-e", JUDGE]
    done = subprocess.run(
        command, cwd=HOUSE, input=json.dumps(plans), capture_output=True, text=True, check=True
    )
    verdicts: list[bool] = json.loads(done.stdout)
    return verdicts


def test_a_part_that_nothing_verifies_is_refused_by_both_wherever_it_stands():
    chance = random.Random(20261122)
    sound = sound_plans()
    known = parts_known(sound)
    made = [enlarged(chance.choice(sound), chance, known) for _ in range(PLANS)]
    plans = [plan for plan, _ in made]
    assert [plan for plan in plans if is_sound(plan)] == []
    assert [
        plan for plan, there in zip(plans, judged_by_browser(plans), strict=True) if there
    ] == []
    assert {place for _, place in made} == set(known)  # every kind of object was tried


def test_a_plan_can_be_translated_into_every_language_a_study_is_asked_in():
    assert all(verification.LANGUAGE.fullmatch(each) for each in languages.ours())


def test_server_and_browser_agree_on_thousands_of_broken_plans():
    chance = random.Random(20261121)
    sound = sound_plans()
    plans = [broken(chance.choice(sound), chance) for _ in range(PLANS)]
    browser = judged_by_browser(plans)
    server = [is_sound(plan) for plan in plans]
    assert [
        plan for plan, here, there in zip(plans, server, browser, strict=True) if here != there
    ] == []
    assert 100 < sum(server) < PLANS - 100  # both verdicts occur


def test_both_take_the_same_lists_of_invited_people():
    plans = [*lists.SOUND.values(), *lists.UNSOUND.values()]
    assert judged_by_browser(plans) == [is_sound(plan) for plan in plans]
    lists_alone = random.Random(20261124)
    made = [broken(plan, lists_alone) for plan in list(lists.SOUND.values()) * 100]
    of_lists = [{**lists.plan(), "invited": plan.get("invited")} for plan in made]
    assert judged_by_browser(of_lists) == [is_sound(plan) for plan in of_lists]


MINUTES = """
import { readFileSync } from 'node:fs';
import { minutesBetween } from './surveys/intake/static/intake/moments.js';
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(minutesBetween)));
"""


PARTS = {"name": "", "label": "", "kind": "yes_no", "protection": "device"}


def test_both_count_the_same_minutes_between_moments():
    chance = random.Random(20261122)
    plans = []
    for count in range(2, 60):
        each = [
            {
                "text": "tж字🂡"[chance.randrange(4)] * chance.randrange(300),
                "help": "h" * chance.randrange(30),
                "choices": ["a", "é"],
                **PARTS,
            }
            for _ in range(count)
        ]
        plans.append(
            {
                "questions": [
                    each[0],
                    {**each[1], "asked_if": {"answers": [1], "question": ""}},
                    *each[2:],
                ]
            }
        )
    words = ["node", "--input-type=module", "-e", MINUTES]
    done = subprocess.run(
        words, cwd=HOUSE, input=json.dumps(plans), capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found == [read(whole(**plan)).minutes_between for plan in plans]
    assert len(set(found)) > 20
