"""Why options of a study do not go together, in sentences: one for each code of the table
(`surveys/plan/combinations.py`), with what to change.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from surveys.plan.combinations import OPTIONS, Chosen, apart
from surveys.plan.content import KEPT
from surveys.plan.kinds import NUMBER, PUBLICATION
from surveys.plan.records import ONE_ANSWER, people_in

if TYPE_CHECKING:
    from surveys.design.models import Question, Study

IN_WAVE = "respondent-in-wave"  # a record in each wave, each with the whole cap

WHY = {
    "continual needs δ": gettext_lazy(
        "Publications paid on the first day need a cap with a δ; it is a cap without one."
    ),
    "rule tells n": gettext_lazy(
        "Where it is protected whether somebody took part, numbers are published once, when the "
        "study has closed, or on request: how often would tell how many come."
    ),
    "drawn tells n": gettext_lazy(
        "Where it is hidden who takes part, everybody must be asked everything: how many are asked "
        "a question is public. “Texts and terms” says how many of the questions each person is "
        "asked: leave that empty."
    ),
    "as one tells n": gettext_lazy(
        "Where it is hidden who takes part, every question must be sent by itself: how many are "
        "asked one is public."
    ),
    "closing tells n": gettext_lazy(
        "Where it is hidden who takes part, it cannot close at a number of answers: that it closed "
        "would tell that as many came."
    ),
    "list tells n": gettext_lazy(
        "A list shows how many took part. Limits must protect what was answered."
    ),
    "answer hides nobody": gettext_lazy(
        "Whether somebody took part is more than one answer: protect a person or a household."
    ),
    "answer has no δ": gettext_lazy("Where one answer is protected, the cap must have no δ."),
    "household has no δ": gettext_lazy("A household needs a cap without a δ."),
    "key of one wave": gettext_lazy(
        "One wave needs no key on devices: choose fresh draws, or plan more."
    ),
    "key of a list": gettext_lazy(
        "People on a list keep no key: messages that repeat would show who fetched which ticket. "
        "Choose fresh draws."
    ),
    "panel counts people": gettext_lazy(
        "A study of a panel must count one person in all waves. Choose that, or no panel."
    ),
    "given numbers on request": gettext_lazy(
        "Numbers sent as given are published only as a researcher asks about them: choose the rule "
        "that says so."
    ),
}


def chosen(study: "Study", questions: "Iterable[Question] | None" = None) -> Chosen:
    """Return the options of a draft; without `questions`, none that are theirs."""
    options = {
        "rule": str(study.rule),
        "protects": str(study.neighbours),
        "unit": _unit(study.unit),
        "delta": "some" if Fraction(study.cap_delta) else "none",
        "waves": "several" if study.planned > 1 else "one",
        "draws": "kept" if study.draws == KEPT else "fresh",
        "people": "list" if study.is_invited else "link",
        "asked": "everything" if study.asked is None else "drawn",
        "closes": _closes(study),
        "panel": "none" if study.panel_id is None else "some",
    }
    return options if questions is None else {**options, **_of_questions(list(questions))}


def _unit(unit: str) -> str:
    if unit == IN_WAVE:
        return "person in a wave"
    if unit == ONE_ANSWER:
        return "answer"
    return "household" if people_in(unit) > 1 else "person"


def _closes(study: "Study") -> str:
    if study.closes_at:
        return "at a number"
    return "each group at a number" if study.stratum_closes_at else "by hand or day"


def _of_questions(questions: "list[Question]") -> Chosen:
    given = [each for each in questions if each.protection == PUBLICATION]
    only_numbers = len(given) == len(questions) and all(each.kind == NUMBER for each in given)
    return {
        "sent": "as one" if any(each.together for each in questions) else "apart",
        "given": "none" if not given else "numbers only" if only_numbers else "some",
    }


def of_questions(
    study: "Study", questions: "Iterable[Question]", *, of: Iterable[str] = ("sent", "given")
) -> list[tuple[str, str]]:
    """Return why a draft's questions do not go with its terms, each with its field."""
    return problems(chosen(study, questions), of=of)


def problems(options: Chosen, *, of: Iterable[str] = OPTIONS) -> list[tuple[str, str]]:
    """Return why these options do not go together, each with the field at which that is mended;
    `of`: only what is about one of these choices.
    """
    return [(row.field, str(WHY[row.code])) for row in apart(options, of=of)]
