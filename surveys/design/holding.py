"""Hold a study while it is changed, and write down what of its terms is no longer as it was."""

import datetime

from django.db import transaction
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from surveys.design import changes
from surveys.design.models import Panel, Study
from surveys.design.refusals import CannotOpen
from surveys.ledger import services as ledger
from surveys.ledger.models import Entry


def hold(study_id: int) -> Study:
    """Hold a study until the transaction ends."""
    return Study.objects.select_for_update(of=("self",)).get(pk=study_id)


def lock_draft(*, study_id: int) -> Study:
    """Hold a study until the transaction ends, so that it stays a draft; CannotOpen if it no longer is one."""
    study = hold(study_id)
    if study.is_retired:
        text = _("“%(study)s” was retired on %(day)s: it takes no answers any more.")
        raise CannotOpen(text % {"study": study, "day": day_said(study.retired_on)})
    if study.plan is not None:
        text = _("“%(study)s” is open already, or was; begin a new wave to ask again.")
        raise CannotOpen(text % {"study": study})
    return study


@transaction.atomic
def record_changes(
    *, of: Study | Panel, before: changes.Terms, who: str, why: str, now: datetime.datetime
) -> list[Entry]:
    """Write down what of a saved study's or panel's terms is no longer as it was, a row each."""
    if isinstance(of, Study):
        after, budget_id, name = changes.terms_of(of), of.budget_id, of.slug
    else:
        after, budget_id, name = changes.terms_of_panel(of), of.central_budget_id, f"panel {of.slug}"
    return [
        ledger.record(
            budget_id=budget_id,
            what=f"{name}: {change.what}",
            old=change.old,
            new=change.new,
            why=why,
            who=who,
            now=now,
        )
        for change in changes.differences(before, after)
    ]


def day_said(day: datetime.date | None) -> str:
    return date_format(day, "DATE_FORMAT") if day else ""
