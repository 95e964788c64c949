"""Decide a draft's limits in one act: the ε of its answers, its cap, what a publication costs, its floor and ceiling.

All or nothing: each value is checked against the study's limits and the site's under the same locks that an opening
takes, and every term that is no longer as it was is a line of the draft's history, with the reason.
"""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from surveys.design import changes, documents, holding, site, terms
from surveys.design.models import Question, Study
from surveys.design.refusals import Refused

TERMS = (
    "cap",
    "cap_delta",
    "release_epsilon",
    "epsilon_floor",
    "epsilon_ceiling",
    "retires_on",
    "given_cap",
    "given_batch",
)
LASTING = ("cap", "cap_delta")  # from the first opening on, the ledger's budget holds them
OF_GIVEN = ("given_cap", "given_batch")
OF_THE_SITE = ("epsilon_floor", "epsilon_ceiling", *OF_GIVEN)


class NotDecided(Refused):
    """Some values cannot be: which, and why. A question's ε goes by the question's name."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@transaction.atomic
def decide(
    *,
    study_id: int,
    epsilons: Mapping[str, Decimal],
    new: Mapping[str, Any],
    may_set_limits: bool,
    who: str,
    why: str,
    now: datetime.datetime,
) -> Study:
    """Save a draft's limits, or raise a Refused and change nothing."""
    study = holding.lock_draft(study_id=study_id)
    before = changes.terms_of(study)
    changed = [name for name in TERMS if name in new and getattr(study, name) != new[name]]
    _refuse_what_stays(study, changed, may_set_limits=may_set_limits)
    for name in changed:
        setattr(study, name, new[name])
    if set(OF_GIVEN) & set(changed):
        study.given_why, study.given_by = why, who
    moved = _moved(study, epsilons)
    if not changed and not moved:
        raise Refused(_("Everything is as it was. Nothing was changed."))
    if problems := problems_of(study, moved, changed):
        raise NotDecided(problems)
    if changed:
        study.save(update_fields=[*changed, "given_why", "given_by"])
    for question in moved:
        question.save(update_fields=["epsilon"])
    holding.record_changes(of=study, before=before, who=who, why=why, now=now)
    return study


def _refuse_what_stays(study: Study, changed: list[str], *, may_set_limits: bool) -> None:
    if study.budget_id is not None and set(LASTING) & set(changed):
        text = _("“%(study)s” has opened before: its cap can only be lowered, and its δ stays. Nothing was changed.")
        raise Refused(text % {"study": study})
    if not may_set_limits and set(OF_THE_SITE) & set(changed):
        raise Refused(_("Only the site’s admin changes what a study is allowed. Nothing was changed."))


def _moved(study: Study, epsilons: Mapping[str, Decimal]) -> list[Question]:
    """Return the questions whose ε is to change, with the new one, not saved."""
    found = {question.name: question for question in study.questions.filter(protection=Question.Protection.DEVICE)}
    if unknown := set(epsilons) - set(found):
        text = _("This draft has no question “%(name)s” that is changed on the device any more.")
        raise Refused(text % {"name": min(unknown)})
    moved = [found[name] for name, epsilon in epsilons.items() if found[name].epsilon != epsilon]
    for question in moved:
        question.epsilon = epsilons[question.name]
    return moved


def problems_of(study: Study, questions: list[Question], changed: list[str]) -> dict[str, str]:
    """Return what cannot be, by the term's or the question's name; the site's limits are held meanwhile."""
    limits = site.hold_limits()
    found = {**_malformed(study, changed), **terms.problems(study)}
    if problem := terms.problem_of_cap(study, limits):
        found["cap"] = problem
    given = terms.problems_of_given(study, study.questions.all())
    found |= {name: problem for name, problem in given.items() if name == "cap" or set(OF_GIVEN) & set(changed)}
    for question in questions:
        if problem := terms.problem_of_epsilon(study, question.epsilon, limits) or _unfit(question):
            found[question.name] = problem
    return found


def _malformed(study: Study, changed: list[str]) -> dict[str, str]:
    every = {field.name for field in Study._meta.fields}
    try:
        study.clean_fields(exclude=every - set(changed))
    except ValidationError as error:
        return {name: " ".join(messages) for name, messages in error.message_dict.items()}
    return {}


def _unfit(question: Question) -> str:
    try:
        documents.check(question)
    except (ValueError, TypeError) as error:
        return str(error)
    return ""
