"""What a Plan says of each kind of question, and what no Plan can hold: the reason, and what to
do instead.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from dpengine.local.one_of import OneOf
from surveys.design import documents, services
from surveys.design.drafts import save_translation
from surveys.design.models import Picture, Question, Study
from surveys.design.questions import check, content_of
from surveys.design.selectors import Odds, odds_of
from surveys.plan.content import Condition, Group, Unsound, canonical, digest, to_document
from surveys.plan.verification import verify
from tests.conftest import QUESTIONS, STUDY
from tests.surveys.design.kinds import draft, question
from tests.vectors.kinds import plan as plan_of

YEARS = {"least": 0, "most": 100}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "free text": ({"kind": "text"}, "Free text cannot be protected: .*Offer choices instead"),
    "free text as given": (
        {"kind": "text", "protection": "publication"},
        "a sentence can name a person.*Offer choices",
    ),
    "ticks as given": (
        {"kind": "multiple", "choices": "a\nb", "protection": "publication"},
        "ask one yes or no question",
    ),
    "a month as given": (
        {"kind": "month", **YEARS, "protection": "publication"},
        "ask for the year as a number",
    ),
    "one option": (
        {"kind": "multiple", "choices": "a"},
        "choices must be 2 to 50, one a line, got 1",
    ),
    "a number without bounds": ({"kind": "number"}, "needs its least and its greatest value"),
    "a number to decline": (
        {"kind": "number", **YEARS, "may_decline": True},
        "offer ranges as the choices",
    ),
    "a number that depends": (
        {"kind": "number", **YEARS, "asked_if": "q0"},
        "Ask everyone, or offer ranges",
    ),
    "a number with choices": (
        {"kind": "number", **YEARS, "choices": "a\nb"},
        "a number has no choices",
    ),
    "too many steps": (
        {"kind": "number", "least": 0, "most": 10_001},
        "at most 10,000 steps.*ask in a larger unit",
    ),
    "a date as given": (
        {"kind": "date", **YEARS, "protection": "publication"},
        "ask for the year as a number",
    ),
    "weeks of no year": ({"kind": "date", "least": 51, "most": 100}, "from year 1"),
    "months of no year": ({"kind": "month", "least": 11, "most": 100}, "from January of year 1"),
    "a median": ({"kind": "number", **YEARS, "wanted": "median"}, "the mean or the distribution"),
    "a matrix of yes and no": (
        {"kind": "yes_no", "group": "m1"},
        "Only scales of agreement can form a matrix",
    ),
}


@pytest.mark.parametrize(("fields", "message"), REFUSED.values(), ids=REFUSED)
def test_what_no_plan_can_hold_is_refused_with_the_reason_and_what_to_do_instead(fields, message):
    with pytest.raises(ValueError, match=message):
        check(draft(**fields))


@pytest.mark.django_db
def test_a_question_sent_as_given_cannot_depend_on_one_that_is_not_for_not_being_asked_would_tell():
    given = {
        **QUESTIONS[2],
        "protection": "publication",
        "asked_if": "copied",
        "asked_if_answers": [1],
    }
    made = services.draft_study(study=STUDY, questions=[QUESTIONS[0], given])
    with pytest.raises(
        ValueError, match=r"Does not apply.*reveals the answer.*Randomise this question too"
    ):
        documents.compose(made)
    made.questions.filter(name="copied").update(protection="publication")
    verify(documents.compose(Study.objects.get(pk=made.pk)))


def test_several_ticks_have_an_option_for_declining_and_one_for_whom_they_do_not_concern():
    content = question(
        "multiple", choices="a\nb", may_decline=True, asked_if="q0", asked_if_answers=[1]
    )
    assert content.choices == ["a", "b", "Prefer not to say", "Does not apply"]
    assert content.channel_document["options"] == 4
    assert (content.decline, content.skipped) == (1, 1)


def test_a_number_whose_mean_is_wanted_has_a_grid_and_a_decoder():
    content = question("number", least=-5, most=95, unit="hours", wanted="mean")
    assert content.channel_document.keys() == {"decoder", "grid", "kind", "scale", "weights"}
    assert (content.channel_document["grid"][0], content.channel_document["grid"][-1]) == (0, 100)
    assert (content.least, content.most, content.unit, content.choices) == (
        -5,
        95,
        "hours",
        [],
    )


@pytest.mark.parametrize(("most", "bins"), [(1, 2), (9, 10), (15, 16), (1000, 16)])
def test_a_number_whose_spread_is_wanted_has_as_many_bins_as_answers_can_tell_apart(most, bins):
    content = question("number", least=0, most=most, wanted="distribution")
    assert (
        content.bins,
        content.channel_document["kind"],
        len(content.channel_document["weights"]),
    ) == (
        bins,
        "table",
        bins,
    )


@pytest.mark.django_db
@pytest.mark.parametrize(("expected", "bins"), [(100, 8), (1_500, 16), (8_000, 32), (40_000, 64)])
def test_more_answers_tell_more_bins_apart(expected, bins):
    study = Study.objects.create(**STUDY, expected=expected)
    assert content_of(draft("number", study=study, **YEARS, wanted="distribution")).bins == bins


def test_parts_that_a_question_does_not_use_are_not_in_its_plan():
    assert to_document(question("yes_no")).keys() == {
        "channel",
        "choices",
        "decline",
        "help",
        "kind",
        "label",
        "loss",
        "name",
        "protection",
        "text",
    }


@pytest.mark.django_db
def test_a_plan_of_every_part_is_sound_and_says_them():
    made = services.draft_study(
        study={**STUDY, "layout": "page"},
        questions=[
            QUESTIONS[0],
            {**QUESTIONS[2], "asked_if": "copied", "asked_if_answers": [1]},
            {
                "name": "r1",
                "kind": "likert",
                "text": "A",
                "label": "A",
                "group": "m1",
                "group_text": "Agree?",
            },
            {
                "name": "r2",
                "kind": "likert",
                "text": "B",
                "label": "B",
                "group": "m1",
                "group_text": "Agree?",
            },
        ],
    )
    picture = Picture.objects.create(
        sha256="a" * 64, media_type="image/png", width=3, height=2, content=b"x"
    )
    made.questions.filter(name="copied").update(picture=picture, picture_text="A desk.")
    content = documents.compose(made)
    verify(content)
    first, second, third, _ = content.questions
    assert content.layout == "page"
    assert to_document(first.picture) == {
        "sha256": "a" * 64,
        "type": "image/png",
        "width": 3,
        "height": 2,
        "text": "A desk.",
    }
    assert second.choices[-2:] == ["Prefer not to say", "Does not apply"]
    assert third.group == Group(name="m1", text="Agree?")


FOLLOWS = {**QUESTIONS[2], "asked_if": "copied", "asked_if_answers": [1]}


def composed(study, *questions):
    made = services.draft_study(study={**STUDY, **study}, questions=[QUESTIONS[0], *questions])
    content = documents.compose(made)
    verify(content)
    return content


@pytest.mark.django_db
def test_a_follow_up_is_asked_of_everybody_and_says_whom_it_is_for():
    _first, often = composed({}, {**FOLLOWS, "help": "Think back."}).questions
    assert (often.choices[-1], often.skipped) == ("Does not apply", 1)
    assert often.asked_if is None
    assert often.help == (
        "Think back. Only if you answered “Yes” to “Have you copied in an exam?”. If not, choose "
        "“Does not apply”."
    )


@pytest.mark.django_db
def test_a_study_may_pass_follow_ups_over_and_then_its_messages_wait():
    content = composed({"follow_ups": "skip"}, FOLLOWS)
    often = content.questions[1]
    assert (often.choices[-1], often.asked_if) == (
        "Not asked",
        Condition(answers=[1], question="copied"),
    )
    assert "Only if" not in often.help
    assert content.minutes_between > composed({"slug": "all"}, FOLLOWS).minutes_between == 0


@pytest.mark.django_db
def test_a_matrix_says_above_it_whom_it_is_for_once():
    row = {
        "kind": "likert",
        "group": "m1",
        "group_text": "Agree?",
        "asked_if": "copied",
        "asked_if_answers": [0, 1],
    }
    matrix = ({"name": "r1", "text": "A", **row}, {"name": "r2", "text": "B", **row})
    rows = composed({}, *matrix).questions[1:]
    assert {each.group.text for each in rows} == {
        "Agree? Only if you answered “No” or “Yes” to “Have you copied in an exam?”. If not, "
        "choose “Does not apply”."
    }
    assert {each.help for each in rows} == {""}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changed", [{"asked_if": "nobody"}, {"asked_if": "often"}, {"asked_if_answers": [2]}]
)
def test_a_follow_up_to_nothing_that_can_be_answered_makes_no_plan(changed):
    made = services.draft_study(study=STUDY, questions=[QUESTIONS[0], {**FOLLOWS, **changed}])
    with pytest.raises(ValueError, match="often: expected"):
        documents.compose(made)


@pytest.mark.django_db
def test_a_plan_holds_its_texts_in_every_language_with_each_ones_own_usual_words(now):
    questions = [QUESTIONS[0], {**QUESTIONS[2], "asked_if": "copied", "asked_if_answers": [1]}]
    made = services.draft_study(study=STUDY, questions=questions)
    asked = {"text": "抄过吗"}
    texts = {
        "title": "诚信",
        "questions": {
            "copied": asked,
            "often": {"text": "多久", "choices": ["从不", "一次", "经常"]},
        },
    }
    save_translation(study_id=made.pk, language="zh-hans", content=texts, who="ada", now=now)
    content = documents.compose(Study.objects.get(pk=made.pk))
    verify(content)
    assert to_document(content.translations["zh-hans"]) == {
        "title": "诚信",
        "questions": {
            "copied": {"text": "抄过吗", "choices": ["否", "是"]},
            "often": {
                "text": "多久",
                "choices": ["从不", "一次", "经常", "不愿回答", "不适用"],
                "help": "仅当您对“抄过吗”回答“是”时作答，否则请选“不适用”。",  # noqa: RUF001
            },
        },
    }


@pytest.mark.django_db
def test_a_study_in_chinese_has_its_usual_words_in_chinese():
    study = Study.objects.create(**{**STUDY, "language": "zh-hans"})
    asked = Question(
        study=study, name="q1", kind="yes_no", may_decline=True, asked_if="q0", text="?", label="?"
    )
    assert asked.options == ["否", "是", "不愿回答", "不适用"]
    study.follow_ups = "skip"
    assert asked.options == ["否", "是", "不愿回答", "未问及"]


@pytest.mark.django_db
def test_numbers_that_devices_change_are_published_by_a_rule_and_those_sent_as_given_are_not():
    number = {"name": "hours", "kind": "number", "text": "?", "label": "?", "least": 0, "most": 40}
    made = services.draft_study(study=STUDY, questions=[number])
    verify(documents.compose(made))
    made.questions.update(protection="publication")
    with pytest.raises(ValueError, match="published only as a researcher asks"):
        documents.compose(Study.objects.get(pk=made.pk))


def test_odds_of_ticks_are_those_of_one_option_and_numbers_have_none():
    ticks = odds_of(question("multiple", choices="a\nb\nc", epsilon=Decimal(1)))
    assert len(ticks) == 3
    assert (
        ticks[0].own_of_hundred,
        ticks[0].rest_of_hundred,
        ticks[0].luck_of_hundred,
        ticks[0].options,
    ) == (
        73,
        27,
        50,
        3,
    )
    assert odds_of(question("number", **YEARS)) == []
    assert odds_of(question("month", least=24_000, most=24_100, wanted="distribution")) == []


def test_where_two_options_are_told_of_the_odds_are_those_of_each():
    """ε = 2: two ticks of five arrive as they are in 71 of 100, one of them in 81."""
    content = question("multiple", choices="a\nb\nc\nd\ne", epsilon=Decimal(2))
    assert content.channel_document["together"] == 2
    odds = odds_of(content)[0]
    assert (odds.own_of_hundred, odds.luck_of_hundred) == (81, 50)
    assert (odds.told, odds.options) == (2, 5)


@pytest.mark.django_db
def test_a_later_wave_tells_of_as_many_options_as_the_wave_before_unless_its_odds_are_others():
    """Ticks of an older version are about one option: a kept key would draw anew."""
    asked = {"kind": "multiple", "text": "?", "label": "?", "choices": "a\nb\nc"}
    questions = [{"name": name, **asked, "epsilon": Decimal(2)} for name in ("same", "other")]
    made = services.draft_study(study=STUDY, questions=questions)
    older = OneOf.for_epsilon(3, Decimal(2), 1)
    first = documents.compose(made)
    assert [each.channel.held for each in first.questions] == [2, 2]
    told = [replace(each, channel_document=older.document()) for each in first.questions]
    document = canonical(replace(first, questions=told))
    made.plans.create(wave=1, document=document, digest=digest(document), opened_on="2026-05-11")
    made.questions.filter(name="other").update(epsilon=Decimal(3))
    Study.objects.filter(pk=made.pk).update(wave=2)
    later = documents.compose(Study.objects.get(pk=made.pk))
    assert later.question("same").channel == older
    assert later.question("other").channel == OneOf.for_epsilon(3, Decimal(3))


def test_what_would_be_hundred_of_hundred_is_told_as_beyond_99():
    """ε = 8: 99.97 of 100 send their own; ε = 1: 73."""
    said = [
        Odds(2, 1, share, 1 - share, Fraction(1, 2))
        for share in (Fraction(9997, 10000), Fraction(731, 1000))
    ]
    assert [(odds.own_said, odds.rest_said) for odds in said] == [(">99", "<1"), ("73", "27")]


@pytest.mark.parametrize(("count", "sound"), [(100, True), (101, False)])
def test_a_plan_has_at_most_a_hundred_questions(count, sound):
    asked = to_document(question("yes_no", epsilon=Decimal("0.01")))
    made = plan_of(*({**asked, "name": f"q{number}"} for number in range(count)))
    if sound:
        verify(made)
    else:
        with pytest.raises(Unsound, match="expected 1 to 100"):
            verify(made)


@pytest.mark.parametrize(
    ("protection", "declines", "most"),
    [("device", 0, 1000), ("device", 1, 999), ("publication", 0, 256)],
)
def test_a_question_may_have_as_many_choices_as_the_channel_and_the_files_carry(
    protection, declines, most
):
    """Files number a question's choices 0 to 999, and what is sent as given is kept in a byte."""
    fields = {"protection": protection, "may_decline": bool(declines)}
    found = question("single", choices="\n".join(f"Place {at}" for at in range(most)), **fields)
    assert len(found.choices) == most + declines
    with pytest.raises(
        ValueError, match=f"choices must be 2 to {most:,}, one a line, got {most + 1:,}"
    ):
        question("single", choices="\n".join(f"Place {at}" for at in range(most + 1)), **fields)
