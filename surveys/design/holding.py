"""Hold a study while it is changed, and write down what of its terms is no longer as it was."""

import datetime
from typing import Any

from django.db import transaction
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from surveys.design import changes
from surveys.design.models import DraftChange, Panel, Study
from surveys.design.refusals import CannotOpen, Refused

LONGEST = DraftChange._meta.get_field("why").max_length or 0


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
) -> list[DraftChange]:
    """Write down what of a draft's terms is no longer as it was, a line each: for its members, not for the ledger.

    The ledger is public and never forgets; it hears of a draft when it opens, in one row.
    """
    after = changes.terms_of(of) if isinstance(of, Study) else changes.terms_of_panel(of)
    found = changes.differences(before, after)
    if found and not why.strip():
        raise Refused(_("Say why: who works on this draft can read it. Nothing was changed."))
    owner: dict[str, Any] = {"study" if isinstance(of, Study) else "panel": of}
    lines = [
        DraftChange(**owner, what=each.what, old=each.old, new=each.new, why=why.strip()[:LONGEST], who=who, at=now)
        for each in found
    ]
    return DraftChange.objects.bulk_create(lines)


def day_said(day: datetime.date | None) -> str:
    return date_format(day, "DATE_FORMAT") if day else ""
