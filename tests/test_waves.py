"""The twin of the browser’s draws by a key: what the vectors record, and what follows for who
answers in many waves.
"""

import hashlib
import hmac
from fractions import Fraction

import pytest

from dpengine.local.channel import Learns
from dpengine.local.channels import channel_from
from tests.vectors import load
from tests.waves import words

CASES = load("waves.json")
COIN = {"kind": "table", "weights": [[3, 1], [1, 3]]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_twin_makes_what_is_recorded(case):
    key = bytes.fromhex(case["key"])
    drawn = words(key, case["question"], case["answer"])
    assert [drawn() for _ in range(16)] == case["first"]
    again = words(key, case["question"], case["answer"])
    document = case["question"]["channel"]
    learns = Learns.TICKS if document["kind"] == "one_of" else Learns.SHARES
    assert channel_from(document, learns).randomise(case["answer"], again) == case["report"]


def test_there_are_two_hundred_with_every_kind_and_some_that_reject_words():
    assert len(CASES) == 200
    assert {case["question"]["channel"]["kind"] for case in CASES} >= {"table", "subset", "one_of"}


def test_a_block_is_what_the_description_says_by_hand():
    question = (
        '{"channel":{"kind":"table","weights":[[3,1],[1,3]]},"name":"q1","text":"Är du på väg?"}'
    )
    digest = hashlib.sha256(question.encode()).hexdigest()
    block = hmac.digest(bytes(32), f'["{digest}",1,0]'.encode(), "sha256")
    drawn = words(bytes(32), {"text": "Är du på väg?", "name": "q1", "channel": COIN}, 1)
    assert b"".join(drawn().to_bytes(4, "big") for _ in range(8)) == block


def two_waves(first: int, second: int) -> dict[tuple[int, int], Fraction]:
    """Return the chances of two waves' reports: one draw an answer, so the same for the same
    answer.
    """
    rows = [[Fraction(weight, 4) for weight in row] for row in COIN["weights"]]
    if first == second:
        return {(report, report): rows[first][report] for report in (0, 1)}
    return {(one, two): rows[first][one] * rows[second][two] for one in (0, 1) for two in (0, 1)}


def test_who_sees_both_waves_of_an_unchanged_answer_learns_no_more_than_from_one():
    no, yes = two_waves(0, 0), two_waves(1, 1)
    assert max(yes[reports] / no[reports] for reports in no) == 3


def test_who_answers_differently_spends_twice():
    there, back = two_waves(0, 1), two_waves(1, 0)
    assert max(there[reports] / back[reports] for reports in back) == 9


def test_one_draw_for_two_questions_would_give_the_second_away_to_who_knows_the_first():
    """Why the words depend on all of a question, and not on its name and channel: two waves can
    use a name twice.
    """
    known_yes_then_no, known_yes_then_yes = two_waves(1, 0), two_waves(1, 1)
    assert (1, 0) not in known_yes_then_yes
    assert known_yes_then_no[1, 0] > 0
    key, question = bytes(32), {"name": "q1", "text": "Tea?", "channel": COIN}
    of = words(key, question, 1)
    others = [
        {**question, **more}
        for more in ({"text": "Drugs?"}, {"choices": ["Yes", "No"]}, {"name": "q2"})
    ]
    first = [of() for _ in range(8)]
    for changed in others:
        drawn = words(key, changed, 1)
        assert [drawn() for _ in range(8)] != first


def test_that_an_answer_changed_is_not_protected():
    assert (0, 1) not in two_waves(0, 0)
    assert two_waves(0, 1)[0, 1] > 0
