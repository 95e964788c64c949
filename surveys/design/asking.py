"""One question of a draft as a Plan will hold it, or why none can: the reason, and what to do instead.

Every refusal is a sentence for the person who drafts, in their language. verifying.py proves the finished Plan again.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from dpengine.local.channels import PlanChannel, channel_for
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from surveys.design import kinds
from surveys.design.kinds import DEVICE, MONTH, MULTIPLE, PUBLICATION, WITH_STEPS
from surveys.design.verifying import pair

if TYPE_CHECKING:
    from surveys.design.models import Question

LONGEST_CHOICE = 120  # characters
BINS = ((1_500, 8), (8_000, 16), (40_000, 32), (math.inf, kinds.MOST_BINS))  # for fewer answers than so many
USUAL_EXPECTED = 2_000  # where the draft does not say
MOST_GIVEN_NUMBER = kinds.GREATEST_ANSWER


def options_of(question: "Question") -> list[str]:
    """Return what can be answered: the choices, then declining, then "Does not apply" or "Not asked"."""
    if question.kind in WITH_STEPS:
        return []
    words = kinds.said_in(_language(question))
    own = lines(question.choices) or words.usual.get(question.kind, [])
    return [*own, *extras(question, words)]


def extras(question: "Question", words: kinds.Said) -> list[str]:
    """Return the last choices, which every language has its own words for."""
    other = words.not_asked if is_passed_over(question) else words.does_not_apply
    return [*([words.decline] if question.may_decline else []), *([other] if question.asked_if else [])]


def is_passed_over(question: "Question") -> bool:
    """Tell whether only some are asked a question. Otherwise a follow-up is asked of all, and may not apply."""
    return bool(question.asked_if) and question.study_id is not None and question.study.follow_ups == "skip"


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _language(question: "Question") -> str:
    return str(question.study.language) if question.study_id is not None else "en"


def check(question: "Question") -> None:
    """Refuse, with a ValueError that says what to do instead, a question that no Plan can hold."""
    _check_kind(question)
    if question.kind in WITH_STEPS:
        check_number(question)
    else:
        check_choices(question)
    if question.group and question.kind != "likert":
        raise ValueError(_("Only scales of agreement can stand in one matrix: take this question out of its group."))
    if question.asked_if and question.study_id is not None:
        _check_condition(question)
    if question.protection == DEVICE:
        channel_of(question)


def _check_kind(question: "Question") -> None:
    if question.kind == kinds.TEXT:
        raise ValueError(free_text(question.protection))
    if question.kind == MULTIPLE and question.protection == PUBLICATION:
        raise ValueError(
            _(
                "Which options somebody ticks can only be changed on the device: choose that protection, or ask one "
                "yes or no question for each option."
            )
        )
    if question.kind == MONTH and question.protection == PUBLICATION:
        raise ValueError(
            _(
                "A month can only be changed on the device: choose that protection, or ask for the year as a number "
                "that is sent as given."
            )
        )


def _check_condition(question: "Question") -> None:
    """Refuse an answer sent as given that depends on one changed on the device: its last choice would tell that one."""
    asked = _asked_before(question)
    if asked is not None and question.protection == PUBLICATION and asked.protection == DEVICE:
        raise ValueError(
            _(
                "Sent as given, “%(other)s” would tell what this person answered to “%(label)s”, which is changed on "
                "the device. Change this question on the device too, or make it one for everyone."
            )
            % {"label": asked.label, "other": question.options[-1]}
        )


def _asked_before(question: "Question") -> "Question | None":
    """Return the question on whose answer this one depends; None if it is not there."""
    return next((each for each in question.study.questions.all() if each.name == question.asked_if), None)


def for_whom(question: "Question", language: str, texts: Mapping[str, Mapping[str, Any]]) -> str:
    """Say in words whom a question is for that everybody is asked; nothing if it is for all. `texts`: by name."""
    if not question.asked_if or is_passed_over(question) or question.study_id is None:
        return ""
    asked = _asked_before(question)
    if asked is None or asked.kind not in kinds.CONDITIONS or not _is_earlier(asked, question):
        raise ValueError(_("%(name)s: expected an earlier question of choices to depend on") % {"name": question.name})
    words, said = kinds.said_in(language), texts.get(asked.name, {})
    choices = said.get("choices") or asked.options
    last = len(choices) - 1 - bool(asked.asked_if)
    if not question.asked_if_answers or not all(0 <= at <= last for at in question.asked_if_answers):
        raise ValueError(_("%(name)s: expected answers of the question it depends on") % {"name": question.name})
    answers = words.either.join(f"“{choices[at]}”" for at in sorted(question.asked_if_answers))
    return words.only_if % {"answers": answers, "question": said.get("text") or asked.text}


def _is_earlier(asked: "Question", question: "Question") -> bool:
    return question.pk is None or (asked.position, asked.pk) < (question.position, question.pk)


def free_text(protection: str = DEVICE) -> str:
    """Say why a question cannot be answered in one's own words, and what to do instead."""
    if protection == DEVICE:
        return _(
            "Free text cannot be protected: chance cannot turn one sentence into another that could as well have been "
            "meant. Offer choices instead, with “Something else” as the last one, or ask for a number."
        )
    return _(
        "Free text cannot be sent as given either: a sentence can name a person, and no total of sentences can be "
        "published. Offer choices instead, with “Something else” as the last one, or ask for a number."
    )


def check_choices(question: "Question") -> None:
    """Refuse choices that are too few or many, that do not differ, or that nobody could read."""
    if question.kind not in kinds.LEAST_CHOICES:
        allowed = ", ".join(kinds.LEAST_CHOICES)
        raise ValueError(_("kind must be %(kinds)s, got %(kind)s") % {"kinds": allowed, "kind": question.kind})
    options = question.options
    added = question.may_decline + bool(question.asked_if)
    given, least = len(options) - added, kinds.LEAST_CHOICES[question.kind]
    most = min(kinds.MOST_CHOICES[question.kind], kinds.MOST_OPTIONS.get(question.protection, 2) - added)
    if not least <= given <= most:
        found = {"least": least, "most": f"{most:,}", "given": f"{given:,}"}
        raise ValueError(_("choices must be %(least)s to %(most)s, one a line, got %(given)s") % found)
    if len(set(options)) != len(options):
        raise ValueError(_("choices must differ from one another"))
    if not all(option.isprintable() and len(option) <= LONGEST_CHOICE for option in options):
        raise ValueError(
            _("choices must be visible characters, at most %(longest)s each") % {"longest": LONGEST_CHOICE}
        )


def check_number(question: "Question") -> None:
    """Refuse a number without bounds: it would take anything, and nothing could be published of it."""
    if question.least is None or question.most is None:
        raise ValueError(_("a number needs its least and its greatest value: they say how much one person can weigh"))
    bound, found = MOST_GIVEN_NUMBER, {"least": question.least, "most": question.most}
    if not -bound <= question.least < question.most <= bound:
        raise ValueError(
            _("expected least below most, neither beyond %(bound)s, got %(least)s and %(most)s")
            % {**found, "bound": f"{bound:,}"}
        )
    if question.choices.strip() or question.may_decline:
        raise ValueError(
            _(
                "a number has no choices, and none of them is “Prefer not to say”: if people may decline, or have to "
                "choose, offer ranges as the choices of a single choice question"
            )
        )
    if question.asked_if:
        raise ValueError(
            _(
                "a number cannot depend on another answer: who is not asked would have no number to send, and that "
                "would tell. Ask everybody, or offer ranges as the choices of a single choice question"
            )
        )
    if not question.unit.isprintable():
        raise ValueError(_("unit must be visible characters"))
    if question.protection == DEVICE:
        _check_steps(question, question.least, question.most)


def _check_steps(question: "Question", least: int, most: int) -> None:
    """Refuse what no channel takes: too many steps, or months that are none."""
    if question.kind == MONTH and not kinds.FIRST_MONTH <= least < most <= kinds.LAST_MONTH:
        raise ValueError(_("expected months from January of year 1 to December of year 9999"))
    if most - least > kinds.MOST_STEPS:
        raise ValueError(
            _(
                "expected at most %(most)s steps between the least and the greatest number, got %(steps)s: ask in a "
                "larger unit, such as thousands"
            )
            % {"most": f"{kinds.MOST_STEPS:,}", "steps": f"{most - least:,}"}
        )
    if question.wanted not in (kinds.MEAN, kinds.DISTRIBUTION):
        raise ValueError(_("expected the mean or the distribution to be wanted"))


def channel_of(question: "Question") -> PlanChannel:
    """Return the most precise channel within the question's ε. ValueError says why there is none."""
    if question.kind in WITH_STEPS:
        return _channel_of_number(question)
    check_choices(question)
    if question.kind == MULTIPLE:
        return OneOf.for_epsilon(len(question.options), question.epsilon)
    return channel_for(len(question.options), question.epsilon)


def _channel_of_number(question: "Question") -> NumberChannel | Distribution:
    check_number(question)
    least, most = int(question.least or 0), int(question.most or 0)
    if question.wanted == kinds.DISTRIBUTION:
        bins = min(_bins_for(question), most - least + 1)
        return Distribution.for_epsilon(question.epsilon, Decimal(least), Decimal(most + 1), bins)
    return NumberChannel.for_epsilon(question.epsilon, Decimal(least), Decimal(most), most - least)


def _bins_for(question: "Question") -> int:
    """Return how many bins so many answers can tell apart: more of them need more noise in what is published."""
    expected = question.study.expected if question.study_id is not None else None
    return next(bins for fewer_than, bins in BINS if (expected or USUAL_EXPECTED) < fewer_than)


def content_of(question: "Question") -> dict[str, Any]:
    """Return the question as its Plan holds it. ValueError says why none can."""
    check(question)
    own = for_whom(question, _language(question), {})
    content = {
        "choices": question.options,
        "decline": int(question.may_decline),
        "help": question.help if question.group else joined(question.help, own),
        "kind": str(question.kind),
        "label": question.label,
        "name": question.name,
        "protection": str(question.protection),
        "text": question.text,
        **_rarer(question, own),
    }
    if question.kind in WITH_STEPS:
        unit = "" if question.kind == MONTH else question.unit
        content |= {"least": question.least, "most": question.most, "unit": unit}
    if question.protection == PUBLICATION:
        return content
    channel = channel_of(question)
    if question.kind in WITH_STEPS:
        content["wanted"] = str(question.wanted)
    if isinstance(channel, Distribution):
        content["bins"] = channel.bins
    return content | {"channel": kinds.document_of(channel), "loss": pair(channel.loss)}


def joined(*texts: str) -> str:
    return " ".join(filter(None, texts))


def _rarer(question: "Question", own: str) -> dict[str, Any]:
    """Return the parts that most questions do not have: a plain Plan keeps its bytes. `own`: whom it is for."""
    found: dict[str, Any] = {"skipped": 1} if question.asked_if else {}
    if is_passed_over(question):
        found["asked_if"] = {"answers": sorted(question.asked_if_answers), "question": question.asked_if}
    if question.group:
        found["group"] = {"name": question.group, "text": joined(question.group_text, own)}
    if question.picture is not None:
        kept = question.picture
        size = {"height": kept.height, "width": kept.width}
        found["picture"] = {"sha256": kept.sha256, "text": question.picture_text, "type": kept.media_type, **size}
    return found


def texts_of(question: "Question", texts: dict[str, Any], language: str) -> dict[str, Any]:
    """Return a question's texts in another language, with that language's own words for usual choices."""
    found = {part: texts[part] for part in ("text", "label", "help", "unit", "group", "picture") if texts.get(part, "")}
    if question.kind in WITH_STEPS:
        return found
    words = kinds.said_in(language)
    written = lines(question.choices)
    own = texts.get("choices") or words.usual.get(question.kind, []) if not written else texts.get("choices")
    if not own or len(own) != len(written or own) or not all(own):
        return found
    choices = [*own, *extras(question, words)]
    if len(choices) == len(question.options) and len(set(choices)) == len(choices):
        found["choices"] = choices
    return found
