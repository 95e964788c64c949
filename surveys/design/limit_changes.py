"""Decide a draft's limits in one act: the ε of its answers and publications, its cap, its bounds.

All or nothing: each value is checked against the study's limits and the site's under the same locks
that an opening takes, and every term that is no longer as it was is a line of the draft's history,
with the reason.
"""

import datetime
from collections.abc import Mapping
from copy import copy
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from surveys.design import sharing, site, terms
from surveys.design.drafts import editing
from surveys.design.models import Question, Study, Unit
from surveys.design.questions import unfit
from surveys.design.refusals import NotDecided, Refused

TERMS = (
    "person",
    "cap",
    "cap_delta",
    "release_epsilon",
    "epsilon_floor",
    "epsilon_ceiling",
    "retires_on",
    "given_cap",
    "given_batch",
    "unit",
    "neighbours",
    "panel",
)
# From the first opening on, the ledger's budget holds these.
LASTING = ("cap", "cap_delta", "unit", "neighbours", "panel")
OF_ADMINS = ("panel",)  # whose other studies pay too
OF_ADMINS_UNIT = Unit.RESPONDENT_IN_WAVE  # the cap is then one wave's
OF_GIVEN = ("given_cap", "given_batch")
OF_THE_SITE = ("epsilon_floor", "epsilon_ceiling", *OF_GIVEN)


def decide(
    *,
    study_id: int,
    epsilons: Mapping[str, Decimal],
    new: Mapping[str, Any],
    may_set_limits: bool,
    may_choose_panel: bool = False,
    who: str,
    why: str,
    now: datetime.datetime,
) -> Study:
    """Save a draft's limits, or raise a Refused and change nothing.

    If `new` says a person's ε, the questions share it; what publications may say follows it as long
    as it was the same. Without one, an ε that moves is set by hand.
    """
    with editing(study_id=study_id, who=who, now=now, why=why) as study:
        new, epsilons, asked = _with_person(study, new, epsilons)
        changed = [name for name in TERMS if name in new and getattr(study, name) != new[name]]
        _refuse_what_stays(study, changed)
        if not may_set_limits and set(OF_THE_SITE) & set(changed):
            raise Refused(
                _("Only the site’s admin changes what a study is allowed. Nothing was changed.")
            )
        if not may_choose_panel and set(OF_ADMINS) & set(changed):
            raise Refused(_("Only an admin puts a study into a panel. Nothing was changed."))
        is_of_waves = "unit" in changed and OF_ADMINS_UNIT in (study.unit, new["unit"])
        if not may_choose_panel and is_of_waves:
            raise Refused(
                _("Only an admin lets one person count anew in each wave. Nothing was changed.")
            )
        for name in changed:
            setattr(study, name, new[name])
        study.asked = asked
        if set(OF_GIVEN) & set(changed):
            study.given_why, study.given_by = why, who
        elif {"unit", "neighbours"} & set(changed) and not may_set_limits:
            # what was given beyond the usual was for what one cap protected then
            study.given_cap = study.given_batch = study.given_why = study.given_by = None
        moved = _moved(study, epsilons)
        if not changed and not moved:
            raise Refused(_("Everything is as it was. Nothing was changed."))
        if problems := problems_of(study, moved, changed):
            raise NotDecided(problems)
        if changed:
            study.save(update_fields={*changed, *OF_GIVEN, "given_why", "given_by"})
        for question in moved:
            question.save(update_fields=["epsilon"])
    return Study.objects.get(pk=study_id)


def _with_person(
    study: Study, new: Mapping[str, Any], epsilons: Mapping[str, Decimal]
) -> tuple[Mapping[str, Any], Mapping[str, Decimal], int | None]:
    """Return terms, the questions' ε and how many of them each person is asked, with what a
    person's ε makes of them.
    """
    if (person := new.get("person")) is None:
        moved = _moved(study, epsilons)
        return ({**new, "person": None} if moved else new), epsilons, study.asked
    typed = [name for name in ("cap", "release_epsilon") if new.get(name) != getattr(study, name)]
    follows = sharing.follow(study, person, typed) if person != study.person else {}
    wanted = copy(study)
    for name, value in new.items():
        setattr(wanted, name, value)
    found = sharing.spent_of(person, wanted, list(study.questions.all()))
    return {**new, **follows}, found.epsilons, found.asked


def _refuse_what_stays(study: Study, changed: list[str]) -> None:
    if study.budget_id is None:
        return
    if {"cap", "cap_delta"} & set(changed):
        raise Refused(
            _(
                "“%(study)s” has opened before: its cap can only be lowered, and its δ stays. "
                "Nothing was changed."
            )
            % {"study": study}
        )
    if set(LASTING) & set(changed):
        raise Refused(
            _(
                "“%(study)s” has opened before: its panel and what counts as one person stay. "
                "Nothing was changed."
            )
            % {"study": study}
        )


def _moved(study: Study, epsilons: Mapping[str, Decimal]) -> list[Question]:
    """Return the questions whose ε is to change, with the new one, not saved."""
    on_device = study.questions.filter(protection=Question.Protection.DEVICE)
    questions = {question.name: question for question in on_device}
    if unknown := set(epsilons) - set(questions):
        raise Refused(
            _("This draft has no question “%(name)s” that is changed on the device any more.")
            % {"name": min(unknown)}
        )
    moved = [questions[name] for name in epsilons if questions[name].epsilon != epsilons[name]]
    for question in moved:
        question.epsilon = epsilons[question.name]
    return moved


def problems_of(study: Study, questions: list[Question], changed: list[str]) -> dict[str, str]:
    """Return what cannot be, by the term's or the question's name; hold the site's limits."""
    limits, problems = site.hold_limits(), {}
    try:
        study.clean_fields({field.name for field in Study._meta.fields} - set(changed))
    except ValidationError as error:
        problems = {name: " ".join(texts) for name, texts in error.message_dict.items()}
    problems |= terms.problems(study)
    if problem := terms.problem_of_cap(study, limits):
        problems["cap"] = problem
    of_given = terms.problems_of_given(study, study.questions.all())
    if not set(OF_GIVEN) & set(changed):
        of_given.pop("smallest_batch", None)
    problems |= of_given
    for question in questions:
        if problem := terms.problem_of_epsilon(study, question.epsilon, limits) or unfit(question):
            problems[question.name] = problem
    return problems
