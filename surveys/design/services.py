"""Open a study, close it, begin its next wave."""

import datetime
from typing import Any

from django.db import transaction

from surveys.design import documents
from surveys.design.models import Plan, Question, Study
from surveys.ledger import services as ledger

LASTING_TERMS = ("slug", "unit", "neighbours", "caps", "results")


class CannotOpen(Exception):
    """The study is not fit to be answered; the message says what is missing."""


@transaction.atomic
def draft_study(*, study: dict[str, Any], questions: list[dict[str, Any]]) -> Study:
    """Make a study with its questions, in their order; return an existing one of the same name as it is."""
    made, is_new = Study.objects.get_or_create(slug=study["slug"], defaults=study)
    for position, question in enumerate(questions if is_new else [], start=1):
        Question.objects.create(study=made, position=position, **question)
    return made


def lock_draft(*, study_id: int) -> Study:
    """Hold a study until the transaction ends, so that it stays a draft; CannotOpen if it no longer is one."""
    study = Study.objects.select_for_update().get(pk=study_id)
    if study.plan is not None:
        raise CannotOpen(f"“{study}” is open already, or was; begin a new wave to ask again.")
    return study


@transaction.atomic
def open_study(*, study_id: int, today: datetime.date) -> Plan:
    """Freeze the draft into a Plan and begin to take answers.

    From here on nothing about this wave can change. The study's central budget is opened with
    its first wave and its cap holds for all of them.
    """
    study = lock_draft(study_id=study_id)
    if not study.questions.exists():
        raise CannotOpen(f"“{study}” has no questions yet.")
    if study.closes_on is not None and study.closes_on < today:
        raise CannotOpen(f"“{study}” has its last day in the past: {study.closes_on}.")
    document = _frozen(study)
    if study.budget is None:
        study.budget = ledger.open_budget(
            name=f"study:{study.slug}", unit=study.unit, neighbours=study.neighbours, cap=study.cap
        )
        study.save(update_fields=["budget"])
    return Plan.objects.create(
        study=study,
        wave=study.wave,
        document=document,
        digest=documents.digest(document),
        opened_on=today,
        closes_on=study.closes_on,
    )


def _frozen(study: Study) -> str:
    try:
        content = documents.compose(study)
        documents.verify(content)
    except (ValueError, documents.Unsound) as error:
        raise CannotOpen(f"“{study}” cannot be opened. {error}") from error
    if (first := study.plans.first()) is not None:
        _refuse_changed_terms(first.content, content)
    return documents.canonical(content)


def _refuse_changed_terms(first: dict[str, Any], new: dict[str, Any]) -> None:
    """All waves of a study share its address, its cap, what the cap counts, and who may read the results."""
    for term in LASTING_TERMS:
        if first[term] != new[term]:
            raise CannotOpen(f"“{new['title']}”: {term} has been {_say(first[term])} since wave 1; it cannot change.")


def _say(term: Any) -> str:
    return str(term["central_epsilon"] if isinstance(term, dict) else term)


@transaction.atomic
def close_plan(*, plan_id: int, today: datetime.date) -> Plan:
    """Take no more answers in this wave. Closing twice changes nothing."""
    plan = Plan.objects.select_for_update().get(pk=plan_id)
    if plan.is_open:
        plan.closed_on = today
        plan.save(update_fields=["closed_on"])
    return plan


def close_due(*, today: datetime.date) -> list[int]:
    """Close every wave whose last day has passed; return their ids."""
    due = Plan.objects.filter(closed_on=None, closes_on__lt=today).values_list("pk", flat=True)
    return [close_plan(plan_id=plan_id, today=today).pk for plan_id in due]


@transaction.atomic
def begin_wave(*, study_id: int) -> Study:
    """Make the study a draft again, for its next wave, once the present one has closed."""
    study = Study.objects.select_for_update().get(pk=study_id)
    plan = study.plan
    if plan is None:
        raise CannotOpen(f"“{study}” has not opened its wave {study.wave} yet: change the draft.")
    if plan.is_open:
        raise CannotOpen(f"“{study}” is still collecting wave {study.wave}: close it first.")
    study.wave += 1
    study.closes_on = None
    study.save(update_fields=["wave", "closes_on"])
    return study
