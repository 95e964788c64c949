"""Who may open which page of a draft. A study not shared is as good as none; a right that is lacking is told."""

import datetime

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from surveys.acting import who as who
from surveys.design.models import Study
from surveys.people import queries as people
from surveys.people.models import Right


def study_for(request: HttpRequest, slug: str, right: Right) -> Study:
    """Return the study, if it is shared with this user and their role has this right."""
    study: Study = get_object_or_404(people.studies_of(request.user), slug=slug)
    if not people.may(request.user, right, study):
        needed = _("an owner") if right is Right.LAUNCH else _("an editor or an owner")
        raise PermissionDenied(
            _("This needs %(role)s of “%(study)s”. Ask one of them.") % {"role": needed, "study": study}
        )
    return study


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def today() -> datetime.date:
    return now().date()
