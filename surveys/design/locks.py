"""Hold a study while it is changed."""

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from surveys.design.models import Study
from surveys.design.refusals import CannotOpen


def hold(study_id: int) -> Study:
    """Hold a study until the transaction ends."""
    return Study.objects.select_for_update(of=("self",)).get(pk=study_id)


def refuse_retired(study: Study, text: str) -> None:
    """Refuse what a retired study cannot have any more, in a text with its name and the day."""
    if study.retired_on is not None:
        day = date_format(study.retired_on, "DATE_FORMAT")
        raise CannotOpen(text % {"study": study, "day": day})


def lock_draft(*, study_id: int) -> Study:
    """Hold a study, so that it stays a draft; CannotOpen if it no longer is one."""
    study = hold(study_id)
    refuse_retired(study, _("“%(study)s” ended on %(day)s and no longer takes responses."))
    if study.plan is not None:
        raise CannotOpen(
            _("“%(study)s” is open already, or was; begin a new wave to ask again.")
            % {"study": study}
        )
    return study
