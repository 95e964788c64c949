"""What a Plan fixes, in lines that people read; and what differs from the Plan before it."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from dpengine.privacy import epsilon_above
from surveys.design import documents, wording
from surveys.design import queries as design

WITHIN = ("group", "picture")  # parts of a question that hold a text
Lines = dict[str, tuple[str, str]]  # by address in the Plan: what it is, what it says


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One line that is no longer as it was; empty where it was not, or is not any more."""

    what: str
    old: str
    new: str

    @property
    def sign(self) -> str:
        return "new" if not self.old else "gone" if not self.new else "other"


def sections(content: dict[str, Any]) -> list[Section]:
    """Return all that opening would fix."""
    asked = [
        Section(_("Question %(number)s") % {"number": place}, list(question_lines(question, content).values()))
        for place, question in enumerate(content["questions"], start=1)
    ]
    texts = Section(_("What respondents read first"), list(text_lines(content).values()))
    return [texts, *asked, Section(_("What everybody is promised"), list(term_lines(content).values()))]


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[Difference]:
    """Return what of an earlier Plan changes, in the order in which it is read."""
    old, new = lines(before), lines(after)
    addresses = [*new, *(address for address in old if address not in new)]
    found = []
    for address in addresses:
        what = (new.get(address) or old[address])[0]
        was, will = old.get(address, ("", ""))[1], new.get(address, ("", ""))[1]
        if was != will:
            found.append(Difference(what, was, will))
    return found


def lines(content: dict[str, Any]) -> Lines:
    """Return every line of a Plan, by its address; a question's by its name, wherever it stands."""
    found = text_lines(content)
    for question in content["questions"]:
        for address, (what, said) in question_lines(question, content).items():
            found[f"{question['name']}.{address}"] = (f"{question['label']}: {what}", said)
    found["order"] = (_("Order of the questions"), ", ".join(each["label"] for each in content["questions"]))
    return found | term_lines(content)


def language_said(code: str) -> str:
    return str(get_language_info(code)["name_local"])


def text_lines(content: dict[str, Any]) -> Lines:
    spoken = [content.get("language", "en"), *content.get("translations", {})]
    found = {
        "title": (_("Title"), content["title"]),
        "organisation": (_("Who asks"), content["organisation"]),
        "purpose": (_("Why"), content["purpose"]),
        "contact": (_("Whom to write to"), content["contact"]),
        "languages": (_("Languages"), ", ".join(language_said(each) for each in spoken)),
    }
    for language, texts in content.get("translations", {}).items():
        for key in ("title", "organisation", "purpose"):
            found[f"{language}.{key}"] = (f"{found[key][0]} ({language_said(language)})", texts.get(key, ""))
    return found


def question_lines(question: dict[str, Any], content: dict[str, Any]) -> Lines:
    """Return all that a Plan says of one question, and its texts again in each other language."""
    found = lines_read(question, content["questions"])
    for language, texts in content.get("translations", {}).items():
        told = translated(content["questions"], texts.get("questions", {}))
        mine = next(each for each in told if each["name"] == question["name"])
        for address, (what, said) in lines_read(mine, told).items():
            if said != found[address][1]:
                found[f"{language}.{address}"] = (f"{what} ({language_said(language)})", said)
    return found | {"protection": (_("Protection"), protection_said(question))}


def lines_read(question: dict[str, Any], questions: list[dict[str, Any]]) -> Lines:
    """Return what respondents read of one question, and after which answers they are asked it."""
    found = {"text": (_("Question"), question["text"])}
    if question["help"]:
        found["help"] = (_("Help"), question["help"])
    if question["choices"]:
        shown = [question["choices"][at] for at in design.shown_order(question)]
        found["choices"] = (_("Answers"), " · ".join(shown))
    if "least" in question:
        found["bounds"] = (_("Answers"), bounds_said(question))
    if "group" in question:
        found["group"] = (_("Stands in a matrix"), question["group"]["text"])
    if "asked_if" in question:
        found["asked_if"] = (_("Asked only after"), condition_said(question["asked_if"], questions))
    if "picture" in question:
        found["picture"] = (_("Picture"), f"{question['picture']['text']} ({question['picture']['sha256'][:12]})")
    return found


def translated(questions: list[dict[str, Any]], texts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return questions with their texts in another language, wherever there are any."""
    found = []
    for question in questions:
        own = texts.get(question["name"], {})
        told = question | {part: own[part] for part in ("text", "help", "choices", "unit") if part in own}
        found.append(told | {part: {**question[part], "text": own[part]} for part in WITHIN if part in own})
    return found


def bounds_said(question: dict[str, Any]) -> str:
    least, most = question["least"], question["most"]
    if question["kind"] == "month":
        least, most = (f"{months // 12:04d}-{months % 12 + 1:02d}" for months in (least, most))
    values = {"least": least, "most": most, "unit": question.get("unit", "")}
    return (_("%(least)s to %(most)s %(unit)s") % values).strip()


def condition_said(asked_if: dict[str, Any], questions: list[dict[str, Any]]) -> str:
    """Say a condition in the words that people read: a Plan's places are not the order in which answers stand."""
    other = next(question for question in questions if question["name"] == asked_if["question"])
    answers = [other["choices"][at] for at in design.shown_order(other) if at in asked_if["answers"]]
    said = _(" or ").join(f"“{answer}”" for answer in answers)
    return _("%(answers)s to “%(question)s”") % {"answers": said, "question": other["text"]}


def protection_said(question: dict[str, Any]) -> str:
    if "loss" not in question:
        return _("sent as given, kept encrypted")
    epsilon = epsilon_above(documents.loss_of_question(question), places=2)
    return _("changed by chance on the device, ε %(epsilon)s at most") % {"epsilon": epsilon}


def term_lines(content: dict[str, Any]) -> Lines:
    caps, publication = content["caps"], content["publication"]
    total = epsilon_above(documents.loss_of_plan(content), places=2)
    found = {
        "loss": (_("All answers of one person"), _("ε %(total)s at most, on the device") % {"total": total}),
        "cap": (_("All publications together"), _("ε %(cap)s at most, ever") % {"cap": caps["central_epsilon"]}),
    }
    if "central_delta" in caps:
        found["delta"] = (_("δ of the cap"), f"{caps['central_delta']}: {wording.beyond_cap(caps['central_delta'])}")
    if "panel" in caps:
        found["panel"] = (_("Panel"), caps["panel"])
    if any("skipped" in question for question in content["questions"]):
        found["follow_ups"] = (_("Questions that are not for everybody"), follow_ups_said(content))
    return found | {
        "rule": (_("Published"), rule_said(publication)),
        "smallest": (_("Fewest answers to publish"), str(publication["smallest_batch"])),
        "results": (_("Results are for"), _("everyone") if content["results"] == "public" else _("its researchers")),
        "unit": (_("One record is"), unit_said(content["unit"])),
        "layout": (
            _("How the questions stand"),
            _("all on one page") if content.get("layout") == "page" else _("one a screen"),
        ),
    }


def follow_ups_said(content: dict[str, Any]) -> str:
    minutes = documents.minutes_between(content)
    if not minutes:
        return _(
            "asked of everybody, with “Does not apply” among the answers; messages leave at once, and the time shows "
            "who was quick"
        )
    return _(
        "passed over where they do not apply; a message leaves %(minutes)s minutes after its page was opened, or at a "
        "multiple of that"
    ) % {"minutes": minutes}


def unit_said(unit: str) -> str:
    if unit == "respondent-in-wave":
        return _("one person, in one wave")
    return _("one person, in all waves of the study")


def rule_said(publication: dict[str, Any]) -> str:
    values = {name: publication.get(name, "") for name in ("epsilon", "horizon")}
    values["span"] = wording.hours_said(publication.get("hours", 0))
    said = {
        "when-closed": _("once, when the wave has closed, for ε %(epsilon)s"),
        "every": _("%(span)s and when it has closed, for ε %(epsilon)s each"),
        "continual": _("%(horizon)s times, %(span)s, for ε %(epsilon)s in all"),
        "on-request": _("only what a researcher asks for, for ε %(epsilon)s a request at most"),
    }
    return said[publication["rule"]] % values
