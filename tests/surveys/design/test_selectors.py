"""Why a channel was chosen is said in the reader's language."""

from decimal import Decimal

import pytest
from django.utils import translation

from surveys.design.selectors import reason_for_channel
from tests.surveys.design.kinds import question


def reason(choices: int, epsilon: str) -> str:
    if choices == 2:
        return reason_for_channel(question("yes_no", epsilon=Decimal(epsilon)))
    written = "\n".join(f"Answer {number}" for number in range(choices))
    return reason_for_channel(question("single", choices=written, epsilon=Decimal(epsilon)))


def test_it_is_one_sentence_with_both_ways_and_the_price():
    assert reason(2, "1") == (
        "Each device would keep the answer 73 times of 100 and turn it otherwise; at ε = 1.00 the "
        "next best of the ways compared, to force answers, three yes for one no, needs 3.0 times "
        "as many people to be as precise."
    )
    assert reason(10, "1") == (
        "Each device would name 2 of the 10 answers, the true one more often than another; at ε = "
        "1.00 the next best of the ways compared, to name one answer, needs 29 % more people to be "
        "as precise."
    )


@pytest.mark.parametrize("choices", [2, 3, 5, 12, 50])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "8"])
def test_every_way_and_price_has_a_chinese_text(choices, epsilon):
    with translation.override("zh-hans"):
        found = reason(choices, epsilon)
    assert found.startswith("每")
    assert not {"answer", "bit", "people", "name", "send"} & set(found.split())


def test_answers_that_are_no_single_choice_have_no_reason():
    assert reason_for_channel(question("multiple", choices="a\nb\nc")) == ""
    assert reason_for_channel(question("number", least=0, most=9, wanted="mean")) == ""
    assert reason_for_channel(question("yes_no", protection="publication")) == ""
