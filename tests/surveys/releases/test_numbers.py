"""The document of a release and its values are the same, there and back."""

import pytest

from surveys.messages import Text
from surveys.releases.numbers import Numbers, interval_within
from surveys.releases.queries.watch import LOOK

VARIANCE = {"sampling": None, "device": 0.01, "publication": 0.02}
SHARE = {"estimate": 0.5, "interval": [0.4, 0.6], "standard_error": 0.05, "variance": VARIANCE}
LAW = {"name": "discrete Laplace", "scale": 2.0, "epsilon": "0.5", "sensitivity": 1}
CHOICE = {"choice": "Yes", "index": 1, "noisy_count": 30, "projected": 0.5, **SHARE}
QUARTILE = {"part": 25, "estimate": 3, "interval": [2, 4], "standard_error": None}
ROW = {"label": "Yes", "value": 50, "low": None, "high": 60.5, "standard_error": 5.0, "unit": ""}
WRITTEN = {
    "tables": [{"caption": "Team", "rows": [ROW, {**ROW, "value": "too few to say"}]}],
    "method": "Once.",
    "notes": [],
    "derived": [],
    "n": 0,
}
QUESTIONS = [
    {"name": "team", "mechanism": LAW, "as_precise_as": 40, "choices": [CHOICE]},
    {
        "name": "hours",
        "mechanism": LAW,
        "as_precise_as": [150, 250],
        "kind": "mean",
        "noisy_counts": [1, 2],
        "unit": "",
        "mean": {**SHARE, "unit": ""},
    },
    {
        "name": "born",
        "mechanism": LAW,
        "as_precise_as": None,
        "kind": "distribution",
        "noisy_counts": [1, 2],
        "unit": "",
        "is_month": True,
        "quartiles": [QUARTILE],
        "ranges": [{**SHARE, "standard_error": None, "least": 0, "most": 4}],
    },
]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"confidence": 0.95, "questions": QUESTIONS},
        {"batches": 2, "refresh": 3},
        {"noisy_counts": [[1, 2], [3, 4]]},
        {"noisy_counts": [[1, 2], [3, 4]], "known_sum": True},
        {"questions": [{**QUESTIONS[0], "mechanism": {**LAW, "known_sum": True}}]},
        {"columns": ["team"], "people": [["Red", 3]]},
    ],
)
def test_what_is_read_is_written_as_it_was(more):
    assert Numbers.read(WRITTEN | more).document() == WRITTEN | more


def test_numbers_of_the_first_version_held_questions_only():
    numbers = Numbers.read({"confidence": 0.95, "n": 60, "questions": QUESTIONS[:1]})
    assert (numbers.tables, numbers.method, numbers.questions[0].choices[0].low) == ([], "", 0.4)


def test_one_number_of_plain_answers_is_kept_as_it_was_stored_and_not_shown():
    numbers = Numbers.read({"n": 60, "questions": QUESTIONS})
    assert [each.as_precise_as for each in numbers.questions] == [40, [150, 250], None]
    assert [each.plain_answers for each in numbers.questions] == [None, [150, 250], None]


def test_texts_know_their_messages_there_and_back():
    text = LOOK(number="3")
    numbers = Numbers.read(WRITTEN | {"method": text})
    assert isinstance(numbers.method, Text)
    assert numbers.document()["method"].message is text.message


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((10, 30), (10, 30)),
        ((-5, 30), (0, 30)),
        ((90, 120), (90, 100)),
        ((-30, -10), (0, 5)),  # all beyond: a quarter as wide
        ((-30, 1), (0, 7.75)),  # nearly all
        ((130, 150), (95, 100)),
        ((-900, -500), (0, 100)),
        ((0, 0), (0, 0)),  # without chance in it
    ],
)
def test_an_interval_beyond_what_is_possible_is_no_single_point(interval, shown):
    assert interval_within(*interval, 0, 100) == shown
