"""A scale whose mean is wanted: a number whose values have words."""

from decimal import Decimal

import pytest

from surveys.design.models import Question
from surveys.design.questions import content_of, texts_of
from surveys.form_words import said_in

USUAL = said_in("en").usual["likert"]


def scale(**changes):
    parts = {
        "name": "mood",
        "kind": "number",
        "text": "How are you?",
        "label": "Mood",
        "choices": "\n".join(USUAL),
        "least": 1,
        "most": 5,
        "wanted": "mean",
        "epsilon": Decimal(1),
    }
    return Question(**{**parts, **changes})


def test_its_plan_has_the_channel_of_means_and_a_word_for_each_number():
    content = content_of(scale())
    assert (content.kind, content.wanted, content.least, content.most) == ("number", "mean", 1, 5)
    assert content.choices == USUAL
    assert content.channel.kind == "number"
    assert content.channel.answers == 5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"most": 6},
            "a number has no choices, unless each of its values has one: expected 6, got 5",
        ),
        ({"choices": "a\nb", "most": 2}, "choices must be 3 to 11, one a line, got 2"),
        ({"choices": "a\nb\na", "most": 3}, "choices must differ"),
        ({"may_decline": True}, "the mean of a scale cannot be told with “Prefer not to say”"),
        ({"wanted": "distribution"}, "only where they are changed on the device and its mean"),
        ({"protection": "publication"}, "only where they are changed on the device and its mean"),
        ({"asked_if": "other"}, "a number cannot depend on another answer"),
        ({"kind": "month", "least": 12, "most": 16}, "a number has no choices"),
    ],
)
def test_what_has_no_mean_is_refused_by_name(changes, said):
    with pytest.raises(ValueError, match=said):
        content_of(scale(**changes))


def test_usual_points_need_not_be_translated():
    usual = said_in("zh-hans").usual["likert"]
    assert texts_of(scale(), {}, "zh-hans").choices == usual
    own = scale(choices="bad\nso\ngood", most=3)
    assert texts_of(own, {}, "zh-hans").choices is None
    assert texts_of(own, {"choices": ["坏", "一般", "好"]}, "zh-hans").choices == [
        "坏",
        "一般",
        "好",
    ]


def test_it_can_stand_in_a_matrix():
    content = content_of(scale(group="week", group_text="This week"))
    assert content.group.name == "week"
