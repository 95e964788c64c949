"""Have questions of a draft sent as one answer, or each by itself again."""

import datetime
from collections.abc import Sequence

from django.utils.translation import gettext as _

from surveys.design import blocks, combinations
from surveys.design.drafts import editing, plan_no_more
from surveys.design.models import Question, Study
from surveys.design.questions import decline
from surveys.design.refusals import Refused


def send_together(*, study_id: int, names: Sequence[str], who: str, now: datetime.datetime) -> str:
    """Have these questions of a draft sent as one answer; return what it is called.

    Their ε is that of the first. A question of another answer leaves it, and one that would be left
    there alone is sent by itself.
    """
    with editing(study_id=study_id, who=who, now=now) as study:
        own = list(study.questions.filter(name__in=names))
        if len(own) < len(set(names)):
            raise Refused(_("The questions have changed meanwhile. Nothing was changed."))
        if len(own) < 2:
            raise Refused(_("Choose two questions or more to send as one answer."))
        plan_no_more(study)
        called = free_answer(study)
        study.questions.filter(name__in=names).update(together=called, epsilon=own[0].epsilon)
        _leave_alone(study)
        questions = list(study.questions.all())
        chosen = {question.name for question in questions if question.together == called}
        problems = [text for name, text in blocks.problems(questions) if name in chosen]
        problems += [
            text for _field, text in combinations.of_questions(study, questions, of=["sent"])
        ]
        for problem in problems:
            raise Refused(f"{problem} {_('Nothing was changed.')}")
        _ask_no_more_than_there_are(study)
        return called


def send_apart(*, study_id: int, together: str, who: str, now: datetime.datetime) -> None:
    """Have the questions of one answer of a draft sent each by itself."""
    with editing(study_id=study_id, who=who, now=now) as study:
        plan_no_more(study)
        study.questions.filter(together=together).update(together="")


def offer_declining(*, study_id: int, offered: bool, who: str, now: datetime.datetime) -> None:
    """Let people decline each randomised question of one choice, or none of them."""
    with editing(study_id=study_id, who=who, now=now) as study:
        questions = list(study.questions.all())
        for question in filter(blocks.can_be_joined, questions):
            decline(question, offered=offered)
        Question.objects.bulk_update(questions, ["may_decline", "codes"])
        for _name, problem in () if study.is_planned else blocks.problems(questions):
            raise Refused(f"{problem} {_('Nothing was changed.')}")


def free_answer(study: Study, taken: Sequence[str] = ()) -> str:
    """Return a name for an answer that no question and no other answer of the study has."""
    there = {name for pair in study.questions.values_list("name", "together") for name in pair}
    numbered = (f"as_one_{number}" for number in range(1, 10_000))
    return next(name for name in numbered if name not in there and name not in taken)


def _leave_alone(study: Study) -> None:
    """Send by itself what is the only question of an answer."""
    for called, own in blocks.groups(study.questions.all()).items():
        if len(own) == 1:
            study.questions.filter(together=called).update(together="")


def _ask_no_more_than_there_are(study: Study) -> None:
    """Ask everybody everything where there are no more answers left to draw."""
    if study.asked is not None and study.asked >= len(blocks.blocks(study.questions.all())):
        study.asked = None
        study.save(update_fields=["asked"])
