"""The Plan as a document: compose it from a study, write it down canonically, prove its losses.

A question is protected on the device, by its channel, whose loss it declares; or in publications only: then its
answer is sent as given, it has neither channel nor loss (its local ε is ∞), and the Plan's total is of the others.
What one question may be is in asking.py, what its kind means in kinds.py, the proof in verifying.py: this module is
the door to all of them.

Canonical JSON: keys sorted, no spaces, UTF-8 as it is; only objects, lists, strings and
integers, and integers above 2⁵³ − 1 as decimal strings, so that every reader sees the same
numbers. The digest is the SHA-256 of these bytes. `verify` is the twin of intake/verify.js.
"""

import hashlib
import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from django.utils.dates import MONTHS
from django.utils.translation import gettext as _

from dpengine.local.channels import Channel, PlanChannel, choice_channel_from
from dpengine.local.choose import Asked, Kind, cheapest
from dpengine.privacy import loss_of_all
from surveys.design import asking, choosing, kinds, terms, verifying
from surveys.design.asking import channel_of as channel_of
from surveys.design.asking import check as check
from surveys.design.asking import content_of as content_of
from surveys.design.asking import free_text as free_text
from surveys.design.asking import options_of as options_of
from surveys.design.given import Given as Given
from surveys.design.kinds import DEVICE as DEVICE
from surveys.design.kinds import MULTIPLE as MULTIPLE
from surveys.design.kinds import NUMBER as NUMBER
from surveys.design.kinds import PUBLICATION as PUBLICATION
from surveys.design.kinds import WITH_STEPS as WITH_STEPS
from surveys.design.kinds import beside as beside
from surveys.design.kinds import bin_ends as bin_ends
from surveys.design.kinds import input_of as input_of
from surveys.design.kinds import randomise as randomise
from surveys.design.verifying import FORMAT as FORMAT
from surveys.design.verifying import MAXIMUM_TOTAL as MAXIMUM_TOTAL
from surveys.design.verifying import Unsound as Unsound
from surveys.design.verifying import verify as verify

if TYPE_CHECKING:
    from surveys.design.models import Question, Study

DECLINE = kinds.SAID["en"].decline
USUAL_CHOICES = kinds.SAID["en"].usual


def reason_for_channel(question: "Question") -> str:
    """Return in one sentence why a question's channel is the one it is, and what the next best would cost."""
    if question.kind not in kinds.CONDITIONS:
        return ""
    return choosing.told(cheapest(Asked(Kind.SINGLE, choices=len(question.options)), question.epsilon).why)


def compose(study: "Study") -> dict[str, Any]:
    """Return the Plan's content for a study as it stands."""
    drafts = list(study.questions.all())
    questions = [content_of(question) for question in drafts]
    if questions and study.rule != "on-request" and all(_is_only_asked_about(question) for question in questions):
        raise ValueError(
            _("Numbers sent as given are published only as a researcher asks about them: choose the rule that says so.")
        )
    return {
        "caps": terms.caps(study),
        "contact": study.contact,
        "format": FORMAT,
        "language": str(study.language),
        "loss": verifying.pair(loss_of_all(loss_of_question(each) for each in questions if "loss" in each)),
        "neighbours": str(study.neighbours),
        "organisation": study.organisation,
        "publication": terms.publication(study),
        "purpose": study.purpose,
        "questions": questions,
        "results": str(study.results),
        "slug": study.slug,
        "title": study.title,
        "unit": str(study.unit),
        "wave": study.wave,
        **_rarer(study, drafts),
    }


def _is_only_asked_about(question: dict[str, Any]) -> bool:
    """Tell whether no rule publishes a question: a histogram of numbers would give rare ones away."""
    return bool(question["kind"] == NUMBER and question["protection"] == PUBLICATION)


def _rarer(study: "Study", questions: list["Question"]) -> dict[str, Any]:
    """Return the parts that most Plans do not have."""
    found: dict[str, Any] = {"layout": "page"} if study.layout == "page" else {}
    translations = {
        str(each.language): _translated(each.content, questions, str(each.language))
        for each in study.translations.all()
        if each.language != study.language
    }
    return found | ({"translations": translations} if translations else {})


def spoken(content: dict[str, Any], language: str) -> dict[str, Any]:
    """Return what a Plan says in one of its languages; as it stands, if it is not one of them."""
    texts = content.get("translations", {}).get(language)
    if texts is None:
        return content
    said = texts.get("questions", {})
    questions = [_spoken(question, said.get(question["name"], {})) for question in content["questions"]]
    return {**content, **texts, "questions": questions}


def _spoken(question: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    """Return a question with other texts; those of a matrix and a picture stand inside of what they are about."""
    parts = [name for name in ("group", "picture") if name in texts]
    inside: dict[str, Any] = {name: {**question[name], "text": texts[name]} for name in parts}
    return {**question, **texts, **inside}


def _translated(content: dict[str, Any], questions: list["Question"], language: str) -> dict[str, Any]:
    found = {part: content[part] for part in ("title", "organisation", "purpose") if content.get(part)}
    texts = content.get("questions", {})
    each = {question.name: asking.texts_of(question, texts.get(question.name, {}), language) for question in questions}
    for question in questions:
        if said := asking.for_whom(question, language, each):
            part, own = ("group", question.group_text) if question.group else ("help", question.help)
            each[question.name][part] = asking.joined(each[question.name].get(part) or own, said)
    return {**found, "questions": {name: said for name, said in each.items() if said}}


def minutes_between(content: dict[str, Any]) -> int:
    """Return how many minutes are between moments at which a message may leave; 0: it leaves at once.

    Twin of intake/moments.js: a minute for the ends, and for each question 20 s and one for every ten bytes of words.
    """
    questions = content["questions"]
    if not any("asked_if" in question for question in questions):
        return 0
    words = ("".join((each["text"], each["help"], *each["choices"])).encode() for each in questions)
    return math.ceil((60 + sum(20 + math.ceil(len(said) / 10) for said in words)) / 60)


def canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(document: str) -> str:
    return hashlib.sha256(document.encode()).hexdigest()


def read(document: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(document)
    return content


def channels(content: dict[str, Any]) -> dict[str, PlanChannel]:
    """Return the channel of every question that is protected on the device, by name, in order."""
    return {
        question["name"]: kinds.channel_of(question)
        for question in content["questions"]
        if question["protection"] == DEVICE
    }


def choice_channel(question: dict[str, Any]) -> Channel:
    """Return the channel of a question with one answer of several choices."""
    return choice_channel_from(question["channel"])


def given(content: dict[str, Any]) -> dict[str, Given]:
    """Return what every question that is sent as given takes, by name, in order."""
    return {
        question["name"]: Given.from_question(question)
        for question in content["questions"]
        if question["protection"] == PUBLICATION
    }


def loss_of_plan(content: dict[str, Any]) -> Fraction:
    """Return the declared e^ε of all answers together."""
    return verifying.fraction(content["loss"])


def loss_of_question(question: dict[str, Any]) -> Fraction:
    """Return the declared e^ε of one answer."""
    return verifying.fraction(question["loss"])


def said_month(month: float) -> str:
    """Return a month, counted as year × 12 + (month − 1), in words; of a mean, the month it falls in."""
    year, place = divmod(int(month // 1), 12)
    return _("%(month)s %(year)s") % {"month": MONTHS[place + 1], "year": year}
