"""What is recorded of pages is compared so that sentences can be worded anew, and nothing else."""

import pytest

from tests.walk.record import differences

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
