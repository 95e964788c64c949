"""What a Plan fixes, in lines that people read; and what differs from the Plan before it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _, ngettext

from dpengine.privacy import epsilon_above
from surveys import languages
from surveys.design import wording
from surveys.design.calendars import calendar_of
from surveys.design.models import Neighbours, Unit
from surveys.guesses import of_hundred
from surveys.plan.content import (
    Block,
    Condition,
    Invited,
    PlanContent,
    PlanQuestion,
    PublicationTerms,
)
from surveys.plan.kinds import KINDS

Lines = dict[str, tuple[str, str]]  # by address in the Plan: the name of the line, its text


@dataclass(frozen=True, slots=True)
class Difference:
    """One line that is no longer as it was; empty where it was not, or is not any more."""

    what: str
    old: str
    new: str

    @property
    def sign(self) -> str:
        return "new" if not self.old else "gone" if not self.new else "other"


def sections(content: PlanContent) -> list[tuple[str, Lines]]:
    """Return all that opening would fix, under headings."""
    questions = [
        (_("Question %(number)s") % {"number": number}, question_lines(question, content))
        for number, question in enumerate(content.questions, start=1)
    ]
    return [
        (_("What respondents read first"), study_lines(content)),
        *questions,
        (_("Promises to everyone"), term_lines(content)),
    ]


def differences(before: PlanContent, after: PlanContent) -> list[Difference]:
    """Return what of an earlier Plan changes, in the order in which it is read."""
    old, new = lines(before), lines(after)
    changes = []
    for address in [*new, *(address for address in old if address not in new)]:
        name = (new.get(address) or old[address])[0]
        was, becomes = old.get(address, ("", ""))[1], new.get(address, ("", ""))[1]
        if was != becomes:
            changes.append(Difference(name, was, becomes))
    return changes


def lines(content: PlanContent) -> Lines:
    """Return every line of a Plan, by its address; a question's by its name, wherever it stands."""
    by_address = study_lines(content)
    for question in content.questions:
        for address, (name, text) in question_lines(question, content).items():
            by_address[f"{question.name}.{address}"] = (f"{question.label}: {name}", text)
    labels = ", ".join(question.label for question in content.questions)
    return by_address | {"order": (_("Order of the questions"), labels)} | term_lines(content)


def study_lines(content: PlanContent) -> Lines:
    languages = ", ".join(_language_name(code) for code in content.languages)
    by_address = {
        "title": (_("Title"), content.title),
        "organisation": (_("Organisation"), content.organisation),
        "purpose": (_("Why"), content.purpose),
        "contact": (_("Contact"), content.contact),
        "languages": (_("Languages"), languages),
    }
    for code, texts in content.translations.items():
        for key in ("title", "organisation", "purpose"):
            name = f"{by_address[key][0]} ({_language_name(code)})"
            by_address[f"{code}.{key}"] = (name, getattr(texts, key))
    return by_address


def _language_name(code: str) -> str:
    return languages.name(code)


def question_lines(question: PlanQuestion, content: PlanContent) -> Lines:
    """Return all that a Plan says of one question, and its texts again in each other language."""
    by_address = _lines_in_one_language(question, content)
    for code in content.translations:
        translated = content.spoken(code)
        texts = _lines_in_one_language(translated.question(question.name), translated)
        for address, (name, text) in texts.items():
            if text != by_address[address][1]:
                by_address[f"{code}.{address}"] = (f"{name} ({_language_name(code)})", text)
    if question.loss is None:
        protection = _("not randomised, kept encrypted")
    else:
        protection = _("randomised on the device, ε %(epsilon)s at most") % {
            "epsilon": epsilon_above(question.loss, places=2)
        }
    return by_address | {"protection": (_("Protection"), protection)}


def _lines_in_one_language(question: PlanQuestion, content: PlanContent) -> Lines:
    """Return what respondents read of one question, and after which answers they are asked it."""
    group, picture, asked_if = question.group, question.picture, question.asked_if
    shown = [question.choices[at] for at in question.shown_order] if question.choices else []
    is_counted = KINDS[question.kind].is_counted
    return _told(
        {
            "text": (_("Question"), question.text),
            "help": (_("Help"), question.help),
            "choices": (_("Answers"), " · ".join(shown)),
            "bounds": (_("Answers"), _bounds_text(question) if is_counted else ""),
            "group": (_("Stands in a matrix"), group.text if group else ""),
            "asked_if": (
                _("Asked only after"),
                _condition_text(asked_if, content) if asked_if else "",
            ),
            "picture": (_("Picture"), f"{picture.text} ({picture.sha256[:12]})" if picture else ""),
        }
    )


def _told(by_address: Lines) -> Lines:
    """Return the lines that say something."""
    return {address: line for address, line in by_address.items() if line[1]}


def _bounds_text(question: PlanQuestion) -> str:
    calendar = calendar_of(question)
    text = calendar.typed if calendar else str
    values = {"least": text(question.least), "most": text(question.most), "unit": question.unit}
    return (_("%(least)s to %(most)s %(unit)s") % values).strip()


def _condition_text(condition: Condition, content: PlanContent) -> str:
    """Say a condition with its answers in the order in which people see them."""
    other = content.question(condition.question)
    shown = [at for at in other.shown_order if at in condition.answers]
    answers = _(" or ").join(f"“{other.choices[at]}”" for at in shown)
    return _("%(answers)s to “%(question)s”") % {"answers": answers, "question": other.text}


def term_lines(content: PlanContent) -> Lines:
    caps, publication, widest = content.caps, content.publication, content.publication.widest
    is_followed = any(question.skipped for question in content.questions)
    return _told(
        {
            "loss": (
                _("All answers of one person"),
                _("ε %(total)s at most, on the device")
                % {"total": epsilon_above(content.loss, places=2)},
            ),
            "cap": (
                _("All publications together"),
                _("ε %(cap)s at most, ever") % {"cap": caps.central_epsilon},
            ),
            "waves": (_("Waves"), wording.waves_of(content) if content.waves else ""),
            "asked": (
                _("Each person is asked"),
                _asked_text(content) if content.draws_questions else "",
            ),
            **{
                f"together.{block.name}": (_("Sent as one answer"), _said(block, content, ", "))
                for block in content.blocks
                if block.is_joint
            },
            **{
                f"declined.{block.name}": (_("Declined as one"), _said(block, content, ", "))
                for block in content.blocks
                if block.decline
            },
            "invited": (
                _("People asked"),
                _invited_text(content.invited) if content.invited else "",
            ),
            "delta": (
                _("δ of the cap"),
                _delta_text(caps.central_delta) if caps.central_delta else "",
            ),
            "panel": (_("Panel"), caps.panel or ""),
            "follow_ups": (
                _("Questions that do not apply to everyone"),
                _follow_ups_text(content.minutes_between) if is_followed else "",
            ),
            "rule": (_("Published"), rule_text(publication)),
            "smallest": (
                _("Minimum number of responses to publish"),
                str(publication.smallest_batch),
            ),
            "widest": (_("Widest interval to publish"), f"{widest} %" if widest else ""),
            "results": (
                _("Results are for"),
                _("everyone") if content.results == "public" else _("its researchers"),
            ),
            "unit": (_("One record is"), str(Unit(content.unit).label)),
            "neighbours": (_("Publications protect"), str(Neighbours(content.neighbours).label)),
            "layout": (
                _("Layout of the questions"),
                _("all on one page") if content.layout == "page" else _("one a screen"),
            ),
        }
    )


def _delta_text(delta: str) -> str:
    return f"{delta}: {wording.beyond_cap(delta)}"


def _invited_text(invited: Invited) -> str:
    """Say who is on the list, by stratum."""
    groups = [
        ngettext("%(name)s: %(count)s person", "%(name)s: %(count)s people", each.people)
        % {"name": each.name, "count": each.people}
        for each in invited.strata
        if each.name
    ]
    people = sum(each.people for each in invited.strata)
    text = ngettext(
        "%(count)s person on a list, once", "%(count)s people on a list, each once", people
    )
    said = " · ".join([text % {"count": people}, *groups])
    if invited.answers_from:
        said += " · " + _("answers from %(day)s on") % {"day": invited.answers_from}
    return said


def _asked_text(content: PlanContent) -> str:
    """Say which questions a device draws, each with those that follow from it."""
    text = _("%(asked)s of these, drawn by their device out of %(sets)s sets: %(blocks)s")
    said = text % {
        "asked": len(content.drawn[0].blocks),
        "sets": len(content.drawn),
        "blocks": "; ".join(_said(block, content, " + ") for block in content.blocks),
    }
    parts = sorted(content.part_asked(block.questions) for block in content.blocks)
    ends = {"least": of_hundred(parts[0]), "most": of_hundred(parts[-1])}
    if ends["least"] == ends["most"]:
        return said
    return _(
        "%(said)s. Each is asked of %(least)s to %(most)s people in 100, as it needs them."
    ) % {"said": said, **ends}


def _said(block: Block, content: PlanContent, between: str) -> str:
    return between.join(f"“{content.question(name).label}”" for name in block.questions)


def _follow_ups_text(minutes: int) -> str:
    if not minutes:
        return _(
            "asked of everyone, with “Does not apply” among the answers; "
            "responses leave at once, and the time can reveal a quick answer"
        )
    return _(
        "passed over where they do not apply; a message leaves %(minutes)s minutes after its page "
        "was opened, or at a multiple of that"
    ) % {"minutes": minutes}


def rule_text(publication: PublicationTerms) -> str:
    texts = {
        "when-closed": _("once, when the wave has closed, for ε %(epsilon)s"),
        "every": _("%(span)s and when it has closed, for ε %(epsilon)s each"),
        "continual": _("%(horizon)s times, %(span)s, for ε %(epsilon)s in all"),
        "on-request": _("only what a researcher asks for, for ε %(epsilon)s a request at most"),
    }
    return texts[publication.rule] % {
        "epsilon": publication.epsilon,
        "horizon": publication.horizon,
        "span": wording.hours_said(publication.hours),
    }
