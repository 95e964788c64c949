"""No answer makes a report likelier than its question declares: exactly, through the code that
draws, every kind.
"""

from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest

from tests.surveys.design.kinds import law, question, worst_ratio

SETS = [list(ticks) for size in range(6) for ticks in combinations(range(5), size)]
CONDITION = {"asked_if": "q0", "asked_if_answers": [1]}
CASES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "yes or no": (question("yes_no"), [0, 1]),
    "yes, no, declining, does not apply": (
        question("yes_no", may_decline=True, **CONDITION),
        [0, 1, 2, 3],
    ),
    "single": (question("single", choices="a\nb\nc"), [0, 1, 2]),
    "single, declining, does not apply": (
        question("single", choices="a\nb\nc", may_decline=True, **CONDITION),
        [*range(5)],
    ),
    "Likert, does not apply": (question("likert", **CONDITION), [*range(6)]),
    "ticks": (question("multiple", choices="a\nb\nc\nd\ne"), SETS),
    "ticks, declining, does not apply": (
        question("multiple", choices="a\nb\nc", may_decline=True, **CONDITION),
        SETS,
    ),
    "mean, every step": (question("number", least=-3, most=9, wanted="mean"), [*range(13)]),
    "mean, a fine table": (
        question("number", least=0, most=8, wanted="mean", epsilon=Decimal(3)),
        [*range(9)],
    ),
    "spread, every step": (
        question("number", least=0, most=19, wanted="distribution"),
        [*range(20)],
    ),
    "mean of a month": (question("month", least=24_000, most=24_023, wanted="mean"), [*range(24)]),
    "spread of a month": (
        question("month", least=24_000, most=24_023, wanted="distribution"),
        [*range(24)],
    ),
}


@pytest.mark.parametrize(("content", "answers"), CASES.values(), ids=CASES)
def test_no_answer_makes_a_report_likelier_than_the_question_declares(
    content, answers, monkeypatch
):
    laws = [law(content, answer, monkeypatch) for answer in answers]
    assert all(sum(found.values()) == 1 for found in laws)
    # and no less: the declared loss is reached
    assert worst_ratio(laws) == content.loss


@pytest.mark.parametrize(("content", "answers"), CASES.values(), ids=CASES)
def test_every_answer_can_send_every_report_and_readers_take_them_all(
    content, answers, monkeypatch
):
    channel = content.channel
    laws = [law(content, answer, monkeypatch) for answer in answers]
    for report in {report for found in laws for report in found}:
        assert all(report in found for found in laws)
        assert channel.accepts(list(report) if isinstance(report, tuple) else report)


def test_that_it_does_not_apply_is_an_answer_as_likely_to_be_mistaken_as_any():
    """Its own report is as likely as every other answer's own, and others send it as often as
    any wrong one.
    """
    content = question("single", choices="a\nb\nc", **CONDITION)
    assert content.choices[-1] == "Does not apply"
    assert len(set(content.channel.margins())) == 1


@pytest.mark.parametrize("answer", range(13))
def test_reports_of_a_number_are_worth_the_answer_on_average_exactly(answer, monkeypatch):
    content = question("number", least=-3, most=9, wanted="mean")
    channel = content.channel
    found = law(content, answer, monkeypatch)
    assert (
        sum(chance * channel.decoder[report] for report, chance in found.items())
        == answer * channel.scale
    )


def test_bins_hold_every_number_once_and_in_order():
    for most in (7, 19, 63, 100):
        content = question("number", least=-5, most=most, wanted="distribution", epsilon=Decimal(1))
        held = [content.input_of(step) for step in range(most + 6)]
        assert held == sorted(held)
        assert set(held) == set(range(content.bins))
        for place in range(content.bins):
            least, last = content.bin_ends(place, place)
            assert [step - 5 for step, found in enumerate(held) if found == place] == [
                *range(least, last + 1)
            ]
