"""One question of a draft as a Plan will hold it, or why none can and what to do instead.

Every refusal is a sentence for the person who drafts, in their language. plan/verification.py
proves the finished Plan again.
"""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _, gettext_lazy

from dpengine.local.channel import Channel, Learns
from dpengine.local.channels import channel_for, number_for
from dpengine.local.distribution import Distribution
from dpengine.local.one_of import OneOf
from surveys.design import blocks
from surveys.design.calendars import CALENDARS
from surveys.form_words import Said, said_in
from surveys.plan import kinds
from surveys.plan.content import Condition, Group, Picture, PlanQuestion, QuestionTexts
from surveys.plan.kinds import (
    DEVICE,
    DISTRIBUTION,
    KINDS,
    MEAN,
    MULTIPLE,
    NUMBER,
    PUBLICATION,
    SCALE,
    TEXT,
)
from surveys.plan.records import ONE_ANSWER

if TYPE_CHECKING:
    from surveys.design.models import Question

MAX_CHOICE = 120  # characters
# for fewer answers than so many
BINS = ((1_500, 8), (8_000, 16), (40_000, 32), (math.inf, kinds.MAX_BINS))
USUAL_EXPECTED = 2_000  # where the draft does not say
ONLY_ON_DEVICE = {  # why, and what to do instead
    **{kind: calendar.in_the_clear for kind, calendar in CALENDARS.items()},
    MULTIPLE: gettext_lazy(
        "Ticks must be randomised: choose that protection, or ask one yes or no "
        "question for each option."
    ),
}
NO_FREE_TEXT = {
    DEVICE: gettext_lazy(
        "Free text cannot be protected: chance cannot turn one sentence into another that "
        "could as well have been meant. Offer choices instead, with “Something else” as the last "
        "one, or ask for a number."
    ),
    PUBLICATION: gettext_lazy(
        "Free text cannot be sent unchanged either: a sentence can name a person,"
        " and sentences have no total to publish. Offer choices instead, with "
        "“Something else” as the last one, or ask for a number."
    ),
}


def options_of(question: "Question") -> list[str]:
    """Return what can be answered: the choices, then those that answer nothing."""
    if question.kind in kinds.WITH_STEPS:
        return lines(question.choices)
    language = said_in(_language(question))
    own = lines(question.choices) or language.usual.get(question.kind, [])
    return [*own, *_extras(question, language)]


def _extras(question: "Question", language: Said) -> list[str]:
    """Return the last choices, which every language has its own words for."""
    other = language.not_asked if is_passed_over(question) else language.does_not_apply
    declining = [language.decline] if question.may_decline else []
    return declining + ([other] if question.asked_if else [])


def is_passed_over(question: "Question") -> bool:
    """Tell whether only some are asked a question, and not all, to whom it may not apply."""
    has_study = question.study_id is not None
    return bool(question.asked_if) and has_study and question.study.follow_ups == "skip"


def decline(question: "Question", *, offered: bool) -> None:
    """Let people decline a question, or no more: then its code goes too, where there is one."""
    codes = lines(question.codes or "")
    if question.may_decline and len(codes) == len(question.options) - bool(question.asked_if):
        question.codes = "\n".join(codes if offered else codes[:-1])
    question.may_decline = offered


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _language(question: "Question") -> str:
    return str(question.study.language) if question.study_id is not None else "en"


def check(question: "Question") -> None:
    """Refuse, with a ValueError that says what to do instead, a question that no Plan can hold."""
    if question.kind == TEXT:
        raise ValueError(NO_FREE_TEXT[question.protection])
    kind = KINDS.get(question.kind)
    if kind is None:
        allowed = ", ".join(name for name, kind in KINDS.items() if not kind.is_counted)
        raise ValueError(
            _("kind must be %(kinds)s, got %(kind)s") % {"kinds": allowed, "kind": question.kind}
        )
    if kind.only_on_device and question.protection == PUBLICATION:
        raise ValueError(ONLY_ON_DEVICE[question.kind])
    (_check_counted if kind.is_counted else _check_choices)(question, kind)
    _check_codes(question, kind)
    if question.group and not (kind.is_matrix or is_scored(question)):
        raise ValueError(
            _("Only scales of agreement can form a matrix: take this question out of its group.")
        )
    if question.asked_if and question.study_id is not None:
        asked = _named(question.asked_if, question.study.questions.all())
        if asked is not None and question.protection == PUBLICATION and asked.protection == DEVICE:
            # its last choice would tell that other answer
            raise ValueError(
                _(
                    "If “%(other)s” is not randomised, it reveals the answer to "
                    "“%(label)s”, which is. Randomise this question too, or ask it of"
                    " everyone."
                )
                % {"label": asked.label, "other": question.options[-1]}
            )
    if question.protection == DEVICE:
        channel_of(question)


def unfit(question: "Question") -> str:
    """Return why no Plan can hold a question, or nothing if one can."""
    try:
        check(question)
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


def _named(name: str, questions: Iterable[Any]) -> Any:
    return next((each for each in questions if each.name == name), None)


def for_whom(
    question: "Question", among: Iterable[Any], language: str, texts: Mapping[str, QuestionTexts]
) -> str:
    """Say in words whom a question is for that everybody is asked; nothing if it is for all.

    `texts`: of the questions that it stands `among`, in this language, by name.
    """
    if not question.asked_if or is_passed_over(question) or question.study_id is None:
        return ""
    asked = _named(question.asked_if, among)
    is_earlier = asked is not None and (
        question.pk is None or (asked.position, asked.pk) < (question.position, question.pk)
    )
    if not is_earlier or asked.kind not in kinds.CONDITIONS:
        raise ValueError(
            _("%(name)s: expected an earlier question of choices to depend on")
            % {"name": question.name}
        )
    own, answers = texts.get(asked.name, QuestionTexts()), question.asked_if_answers
    choices = own.choices or asked.options
    last = len(choices) - 1 - bool(asked.asked_if)
    if not answers or not all(0 <= at <= last for at in answers):
        raise ValueError(
            _("%(name)s: expected answers of the question it depends on") % {"name": question.name}
        )
    said = said_in(language)
    shown = said.either.join(said.named % {"answer": choices[at]} for at in sorted(answers))
    return said.only_if % {"answers": shown, "question": own.text or asked.text}


def is_scored(question: "Question") -> bool:
    """Tell whether a question is a scale whose mean is wanted: a number whose values have words."""
    return question.kind == NUMBER and bool(question.choices.strip())


def usual_points(question: "Question") -> list[str]:
    """Return the points of agreement that need not be written, in the study's own language."""
    return said_in(_language(question)).usual[SCALE]


def _check_scored(question: "Question") -> None:
    """Refuse a scale whose points are not its numbers, or of which no mean can be told."""
    points = int(question.most or 0) - int(question.least or 0) + 1
    if len(question.options) != points:
        raise ValueError(
            _(
                "a number has no choices, unless each of its values has one: expected %(points)s, "
                "got %(given)s"
            )
            % {"points": f"{points:,}", "given": len(question.options)}
        )
    if question.protection != DEVICE or question.wanted != MEAN:
        raise ValueError(
            _(
                "the numbers of a scale have words only where they are changed on the device and "
                "its mean is wanted"
            )
        )
    if question.may_decline:
        raise ValueError(
            _(
                "the mean of a scale cannot be told with “Prefer not to say” among the answers: "
                "leave that out, or ask how often each answer is chosen"
            )
        )
    _check_texts(question.options)
    _check_count(len(question.options), KINDS[SCALE].least_choices, KINDS[SCALE].max_choices)


def _check_choices(question: "Question", kind: kinds.Kind) -> None:
    """Refuse choices that are too few or many, that do not differ, or that nobody could read."""
    options, added = question.options, question.may_decline + bool(question.asked_if)
    own, least = len(options) - added, kind.least_choices
    most = min(kind.max_choices, kinds.MAX_OPTIONS.get(question.protection, 2) - added)
    _check_count(own, least, most)
    _check_texts(options)


def _check_count(own: int, least: int, most: int) -> None:
    if not least <= own <= most:
        raise ValueError(
            _("choices must be %(least)s to %(most)s, one a line, got %(given)s")
            % {"least": least, "most": f"{most:,}", "given": f"{own:,}"}
        )


def _check_texts(options: list[str]) -> None:
    if len(set(options)) != len(options):
        raise ValueError(_("choices must differ from one another"))
    if not all(option.isprintable() and len(option) <= MAX_CHOICE for option in options):
        raise ValueError(
            _("choices must be visible characters, at most %(longest)s each")
            % {"longest": MAX_CHOICE}
        )


def _check_codes(question: "Question", kind: kinds.Kind) -> None:
    """Refuse codes that are not one for each answer, or that files could not carry."""
    codes = lines(question.codes or "")
    own = len(question.options) - bool(question.asked_if)
    if not codes:
        return
    if kind.is_counted:
        raise ValueError(_("a number has no codes: its values are numbers already"))
    if len(codes) not in (own - question.may_decline, own):
        raise ValueError(
            _("codes must be %(answers)s, one for each answer, got %(given)s")
            % {"answers": own, "given": len(codes)}
        )
    if wrong := [each for each in codes if not kinds.CODE.fullmatch(each)]:
        raise ValueError(
            _(
                "a code is at most %(longest)s letters, digits, “.”, “_” or “-”, and “%(code)s” is "
                "not"
            )
            % {"longest": kinds.MAX_CODE, "code": wrong[0][:40]}
        )
    if len(set(codes)) != len(codes):
        raise ValueError(_("codes must differ from one another"))


def _check_counted(question: "Question", kind: kinds.Kind) -> None:
    """Refuse a number without bounds, of which nothing could be published, or what is no number."""
    least, most = question.least, question.most
    if least is None or most is None:
        raise ValueError(
            _(
                "a number needs its least and its greatest value: they say how much one person "
                "can weigh"
            )
        )
    bound = kinds.MAX_ANSWER
    if not -bound <= least < most <= bound:
        raise ValueError(
            _("expected least below most, neither beyond %(bound)s, got %(least)s and %(most)s")
            % {"least": least, "most": most, "bound": f"{bound:,}"}
        )
    if is_scored(question):
        _check_scored(question)
    elif question.choices.strip() or question.may_decline:
        raise ValueError(
            _(
                "a number has no choices, and none of them is “Prefer not to say”: if people may "
                "decline, or have to choose, offer ranges as the choices of a single choice "
                "question"
            )
        )
    if question.asked_if:
        raise ValueError(
            _(
                "a number cannot depend on another answer: people who are not "
                "asked would send no number, and that would reveal it. Ask "
                "everyone, or offer ranges as the choices of a single choice "
                "question"
            )
        )
    if not question.unit.isprintable():
        raise ValueError(_("unit must be visible characters"))
    if question.protection != DEVICE:
        return
    if not kind.first <= least < most <= kind.last:
        raise ValueError(CALENDARS[question.kind].too_far)
    if most - least > kinds.MAX_STEPS:
        raise ValueError(
            _(
                "expected at most %(most)s steps between the least and the greatest number, got "
                "%(steps)s: ask in a larger unit, such as thousands"
            )
            % {"most": f"{kinds.MAX_STEPS:,}", "steps": f"{most - least:,}"}
        )
    if question.wanted not in (MEAN, DISTRIBUTION):
        raise ValueError(_("expected the mean or the distribution to be wanted"))


def channel_of(question: "Question") -> Channel:
    """Return the most precise channel within a question's ε. ValueError says why there is none."""
    learns = KINDS[question.kind].learns
    if learns is Learns.TICKS and (kept := _ticks_of_before(question)) is not None:
        return kept
    if learns is not None:
        return _most_precise(learns, question.epsilon, len(question.options))
    least, most = int(question.least or 0), int(question.most or 0)
    # more bins need more noise in what is published: as many as so many answers can tell apart
    expected = _answers_expected(question)
    bins = next(bins for fewer_than, bins in BINS if expected < fewer_than)
    bins = min(bins, most - least + 1)
    return _most_precise(Learns(question.wanted), question.epsilon, bins, least, most)


def _ticks_of_before(question: "Question") -> Channel | None:
    """Return the channel of several ticks in the wave before, if its ε and options are the same:
    with another number of them in a report, devices that kept their key would draw anew.
    """
    study = question.study if question.study_id is not None else None
    before = study.plans.order_by("-wave").first() if study and study.wave > 1 else None
    names = before.content.channels if before else {}
    channel, options = names.get(question.name), len(question.options)
    if isinstance(channel, OneOf) and channel.options == options:
        same = OneOf.for_epsilon(options, question.epsilon, channel.together)
        return channel if channel == same else None
    return None


def _answers_expected(question: "Question") -> float:
    """Return how many answers a question is expected to have: fewer where devices draw."""
    study = question.study if question.study_id is not None else None
    expected = USUAL_EXPECTED if study is None else study.expected or USUAL_EXPECTED
    if study is None or study.asked is None:
        return expected
    count = len(blocks.blocks(study.questions.all()))
    return expected * min(1, study.asked / max(1, count))


@lru_cache(maxsize=1024)  # a page of a draft asks for the same ones again and again
def _most_precise(
    learns: Learns, epsilon: Decimal, answers: int, least: int = 0, most: int = 0
) -> Channel:
    if learns is Learns.SHARES:
        return channel_for(answers, epsilon)
    if learns is Learns.TICKS:
        return OneOf.for_epsilon(answers, epsilon)
    if learns is Learns.DISTRIBUTION:
        return Distribution.for_epsilon(epsilon, Decimal(least), Decimal(most + 1), answers)
    return number_for(least, most, epsilon)


def content_of(question: "Question", among: Iterable[Any] | None = None) -> PlanQuestion:
    """Return the question as its Plan holds it, among others. ValueError says why none can."""
    check(question)
    if among is None:
        among = question.study.questions.all() if question.study_id is not None else ()
    note, kind = for_whom(question, among, _language(question), {}), KINDS[question.kind]
    parts: dict[str, Any] = {}
    if kind.is_counted:
        unit = question.unit if kind.has_unit else ""
        parts = {"least": question.least, "most": question.most, "unit": unit}
    sent_with = blocks.sent_with(question, among) if question.together else None
    if question.protection == DEVICE and sent_with is None:
        channel = channel_of(question)
        parts |= {"channel_document": channel.document(), "own_loss": channel.loss}
        parts |= {"wanted": str(question.wanted)} if kind.is_counted else {}
        parts |= {"bins": channel.answers} if channel.learns is Learns.DISTRIBUTION else {}
    if is_passed_over(question):
        answers = sorted(question.asked_if_answers)
        parts["asked_if"] = Condition(answers=answers, question=question.asked_if)
    elif question.asked_if and question.study_id and question.study.unit == ONE_ANSWER:
        parts["follows"] = question.asked_if
    if codes := lines(question.codes or ""):
        parts["codes"] = codes
    if question.group:
        parts["group"] = Group(name=question.group, text=joined(question.group_text, note))
    if (picture := question.picture) is not None:
        parts["picture"] = Picture(
            sha256=picture.sha256,
            text=question.picture_text,
            type=picture.media_type,
            width=picture.width,
            height=picture.height,
        )
    content = PlanQuestion(
        choices=question.options,
        decline=int(question.may_decline),
        help=question.help if question.group else joined(question.help, note),
        kind=str(question.kind),
        label=question.label,
        name=question.name,
        protection=str(question.protection),
        skipped=int(bool(question.asked_if)),
        text=question.text,
        **parts,
    )
    return content.sent_with(sent_with)


def joined(*texts: str) -> str:
    return " ".join(filter(None, texts))


def texts_of(question: "Question", texts: Mapping[str, Any], language: str) -> QuestionTexts:
    """Return a question's texts in another language, with its own words for usual choices."""
    parts = ("text", "label", "help", "unit", "group", "picture")
    own = {part: texts[part] for part in parts if texts.get(part)}
    written, said = lines(question.choices), said_in(language)
    usual = said.usual.get(SCALE if is_scored(question) else question.kind, [])
    is_usual = not written or (is_scored(question) and written == usual_points(question))
    choices = texts.get("choices") or (usual if is_usual else [])
    if choices and all(choices) and len(choices) == len(written or choices):
        choices = [*choices, *_extras(question, said)]
        if len(set(choices)) == len(choices) == len(question.options):
            own["choices"] = choices
    return QuestionTexts(**own)
