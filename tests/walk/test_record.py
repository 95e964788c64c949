"""What is recorded of pages is compared so that sentences can be worded anew, and nothing else."""

import re

import pytest

from tests.walk.record import _settled, differences

BEFORE = [
    "200",
    "Open until 3 May.",
    "120 people answered.",
    "link /studies/a/",
    "Nobody was told.",
]
KNOWN = {*BEFORE, "This study is retired."}
OTHERS = {
    "another number": (1, "Open until 4 May."),
    "a sentence of another page": (4, "This study is retired."),
    "another link": (3, "link /studies/b/"),
    "a number in other words": (2, "There came 12 answers of all."),
    "another month": (1, "Open until 3 June."),
    "another sign": (2, "−120 people answered."),
    "another unit": (2, "120 % answered."),
    "another bound": (2, "At least 120 people answered; at most 130."),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_told_otherwise_is_said(other: str) -> None:
    at, line = OTHERS[other]
    now = [*BEFORE[:at], line, *BEFORE[at + 1 :]]
    (what,) = differences(BEFORE, now, KNOWN)
    assert f"− {BEFORE[at]}" in what
    assert f"+ {line}" in what


def test_a_line_that_is_gone_is_said() -> None:
    assert list(differences(BEFORE, BEFORE[:-1], KNOWN))


def test_a_sentence_can_be_worded_anew() -> None:
    now = [*BEFORE[:2], "Answers came from 120 people.", BEFORE[3], "No one heard of it."]
    assert not list(differences(BEFORE, now, KNOWN))


def test_numbers_that_changed_places_are_said() -> None:
    rows = ["All, weighted", "12 %", "As they came", "13 %"]
    assert list(differences(rows, [rows[0], rows[3], rows[2], rows[1]], set(rows)))


NEW = {
    "a digest": "/plans/33898f1f405a3de03750cf84f29ea434d29f870e167ba8453152120de2e20632",
    "how one begins": "row 15 5554dc…",
    "how one begins, without a letter": "row 15 555412…",
}
SAME = ["δ 0.000001", "δ 0.000000001", "1234567", "0.123456", "0.129999", "1,551"]


@pytest.mark.parametrize("line", NEW.values(), ids=NEW)
def test_what_is_new_each_time_is_left_out(line: str) -> None:
    assert _settled(line) == re.sub("[0-9a-f]{6,}", "#", line)


def test_numbers_are_kept() -> None:
    assert len({_settled(line) for line in SAME}) == len(SAME)
    assert _settled("0.12345678901") == "0.1235"  # of more digits, those that every processor has
