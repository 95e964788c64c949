"""What of a draft or a panel touches ε, in words, and the history of how it changed."""

import datetime
from decimal import Decimal
from typing import Any

from django.db import models, transaction
from django.utils import translation
from django.utils.translation import gettext as _

from dpengine.privacy import plain
from surveys.design.models import DraftChange, Panel, Question, Study
from surveys.design.refusals import Refused
from surveys.messages import message

TERMS = {  # as a row of the ledger calls them, by field
    "unit": message("unit", fills="term"),
    "neighbours": message("neighbours", fills="term"),
    "person": message("ε of one person, shared equally", fills="term"),
    "cap": message("cap for all publications, ε", fills="term"),
    "cap_delta": message("δ of the cap", fills="term"),
    "panel": message("panel", fills="term"),
    "epsilon_floor": message("least ε of one answer", fills="term"),
    "epsilon_ceiling": message("greatest ε of one answer", fills="term"),
    "given_cap": message("greatest cap where answers are sent as given, ε", fills="term"),
    "given_batch": message("fewest answers to publish where they are sent as given", fills="term"),
    "asked": message("questions each person is asked", fills="term"),
    "waves": message("waves planned", fills="term"),
    "draws": message("chance in later waves", fills="term"),
    "rule": message("publish", fills="term"),
    "horizon": message("publications in all", fills="term"),
    "hours": message("hours between", fills="term"),
    "release_epsilon": message("cost of one publication, ε", fills="term"),
    "retires_on": message("retires on", fills="term"),
    "local_cap": message("cap for all answers of one person, ε", fills="term"),
}
PANEL_TERMS = ("neighbours", "cap", "cap_delta", "local_cap")
STUDY_TERMS = tuple(field for field in TERMS if field != "local_cap")
NOTHING = message("none")()
IN_CLEAR = message("sent as given: no finite ε on the way")
ON_DEVICE = message("%(epsilon)s, changed on the device")
SHARED = message("an equal share, changed on the device")()
# What the ledger says changed, with the owner
OF_STUDY, OF_PANEL = message("%(study)s: %(term)s"), message("panel %(study)s: %(term)s")
OF_QUESTION = message("%(study)s: ε of %(question)s")

MAX_REASON = DraftChange._meta.get_field("why").max_length or 0

Terms = dict[str, str]


def terms_of(owner: Study | Panel) -> Terms:
    """Return the terms of a saved study, its questions' too, or of a panel: in English."""
    fields = STUDY_TERMS if isinstance(owner, Study) else PANEL_TERMS
    with translation.override("en"):
        terms: Terms = {TERMS[field](): _said(owner, field) for field in fields}
    if not isinstance(owner, Study):
        return terms
    is_shared = owner.person is not None
    questions = owner.questions.all()
    return terms | {f"ε of {each.name}": _protection(each, is_shared) for each in questions}


@transaction.atomic
def record_changes(
    *, of: Study | Panel, before: Terms, who: str, why: str, now: datetime.datetime
) -> list[DraftChange]:
    """Write down what of a draft's terms is no longer as it was, a line each, for its members.

    Not for the ledger, which is public and never forgets: it hears of a draft when it opens, in
    one row. What is new was “none”, and what is gone is.
    """
    after, reason = terms_of(of), why.strip()
    changes = [
        DraftChange(
            what=name,
            old=before.get(name, NOTHING),
            new=after.get(name, NOTHING),
            why=reason[:MAX_REASON],
            who=who,
            at=now,
            **{"study" if isinstance(of, Study) else "panel": of},
        )
        for name in before | after
        if before.get(name) != after.get(name)
    ]
    if changes and not reason:
        raise Refused(_("Say why: who works on this draft can read it. Nothing was changed."))
    return DraftChange.objects.bulk_create(changes)


def _said(owner: models.Model, field: str) -> str:
    value: Any = getattr(owner, field)
    if value is None:
        return NOTHING
    if isinstance(value, Panel):
        return value.slug
    return str(plain(value)) if isinstance(value, Decimal) else str(value)


def _protection(question: Question, is_shared: bool) -> str:
    if question.protection == Question.Protection.PUBLICATION:
        return IN_CLEAR()
    if is_shared:
        return SHARED
    return ON_DEVICE(epsilon=plain(question.epsilon))
