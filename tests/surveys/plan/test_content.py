"""A Plan is read into values and written again, byte for byte; what no value has is refused."""

import json
from fractions import Fraction

import msgspec
import pytest

from surveys.plan.content import Texts, Unsound, canonical, digest, fraction, pair, read
from tests.plans import whole
from tests.vectors import load

SOUND = [case["plan"] for case in load("plans.json") if case["accepted"]]
WHOLE = [plan for plan in SOUND if "title" in plan]  # others are made of what is verified
TEXTS = {"title": "标题", "questions": {"q1": {"text": "文", "choices": ["否", "是"]}}}
ASKED = {
    "name": "q1",
    "kind": "yes_no",
    "label": "Copied",
    "choices": ["No", "Yes"],
    "protection": "publication",
}


def test_every_sound_plan_is_written_as_it_was_read():
    documents = [canonical(plan) for plan in WHOLE]
    assert len(documents) > 5
    assert [canonical(read(document)) for document in documents] == documents


def test_a_digest_is_of_the_bytes():
    assert digest("{}") == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("place", ["plan", "caps", "question"])
def test_a_part_that_no_value_has_is_not_read(place):
    plan = json.loads(whole(questions=[ASKED]))
    {"plan": plan, "caps": plan["caps"], "question": plan["questions"][0]}[place]["note"] = "x"
    with pytest.raises(msgspec.ValidationError, match="note"):
        read(canonical(plan))


def test_a_plan_speaks_its_languages_and_stays_as_it_is_in_others():
    content = read(whole(questions=[ASKED], translations={"zh-hans": TEXTS}))
    spoken = content.spoken("zh-hans")
    assert (spoken.title, spoken.purpose) == ("标题", content.purpose)
    assert (spoken.question("q1").text, spoken.question("q1").label) == ("文", "Copied")
    assert spoken.question("q1").choices == ["否", "是"]
    assert content.spoken("fr") is content
    assert content.languages == ["en", "zh-hans"]


def test_a_translation_of_no_question_keeps_its_bytes():
    assert canonical(Texts(questions={})) == '{"questions":{}}'


def test_a_text_of_a_matrix_that_is_none_any_more_is_not_spoken():
    texts = {"questions": {"q1": {"group": "怎么样"}}}
    content = read(whole(questions=[ASKED], translations={"zh-hans": texts}))
    assert content.spoken("zh-hans").question("q1").group is None


def test_an_answer_in_the_clear_has_a_channel_and_no_loss():
    content = read(whole(questions=[ASKED]))
    (question,) = content.questions
    assert question.is_cleartext
    assert question.loss is None
    assert content.cleartext == {"q1": question.channel}
    assert content.channels == {}
    assert not question.channel.is_random


@pytest.mark.parametrize("loss", [Fraction(3), Fraction(2**60, 3), Fraction(7, 2**53)])
def test_losses_are_written_so_that_every_reader_sees_the_same_numbers(loss):
    assert fraction(json.loads(json.dumps(pair(loss)))) == loss
    assert all(isinstance(part, str) or part < 2**53 for part in pair(loss))


@pytest.mark.parametrize("written", [[1], [0, 1], [1.0, 1], ["01", 1], [2**53, 1], None, "31"])
def test_a_loss_that_is_none_is_refused(written):
    with pytest.raises(Unsound, match="two whole numbers"):
        fraction(written)
