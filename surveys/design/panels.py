"""Make a panel, edit its terms until it meets its first study, delete it if it never did."""

import datetime
from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from surveys.design import changes
from surveys.design.models import Panel
from surveys.design.refusals import NotDecided, Refused


def lock_panel(*, panel_id: int, editing: Collection[str]) -> Panel:
    """Hold a panel, so that none of its terms is edited that its budgets hold."""
    panel = Panel.objects.select_for_update(of=("self",)).get(pk=panel_id)
    if panel.central_budget_id is not None and {"slug", *changes.PANEL_TERMS} & set(editing):
        raise Refused(
            _(
                "“%(panel)s” is used by a study, so its settings are locked. You "
                "can only lower its caps."
            )
            % {"panel": panel}
        )
    return panel


def create_panel(*, terms: Mapping[str, Any]) -> Panel:
    """Save a new panel; NotDecided if one of its terms cannot be."""
    panel = Panel(**terms)
    _check(panel)
    panel.save(force_insert=True)
    return panel


@transaction.atomic
def edit_panel(
    *, panel_id: int, new: Mapping[str, Any], who: str, why: str, now: datetime.datetime
) -> Panel:
    """Save what differs, a line of history for each of its terms; a name needs no reason."""
    stored = Panel.objects.get(pk=panel_id)
    changed = [name for name in new if getattr(stored, name) != new[name]]
    panel = lock_panel(panel_id=panel_id, editing=changed)
    before = changes.terms_of(panel)
    for name in changed:
        setattr(panel, name, new[name])
    _check(panel)
    panel.save(update_fields=changed)
    changes.record_changes(of=panel, before=before, who=who, why=why, now=now)
    return panel


@transaction.atomic
def delete_panel(*, panel_id: int) -> None:
    """Delete a panel that no study is in, and that has met none: its budgets stay for good."""
    panel = lock_panel(panel_id=panel_id, editing=["slug"])
    if panel.studies.exists():
        raise Refused(
            _("There are studies in “%(panel)s”: take them out first. Nothing was deleted.")
            % {"panel": panel}
        )
    panel.delete()


def _check(panel: Panel) -> None:
    try:
        panel.full_clean()
    except ValidationError as error:
        raise NotDecided(
            {name: " ".join(texts) for name, texts in error.message_dict.items()}
        ) from error
