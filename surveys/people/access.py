"""Who may open which page of a study. One that is not shared is as good as none; a right that is
lacking is told.
"""

import datetime
from collections.abc import Callable
from functools import wraps
from typing import TypedDict

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from surveys.actor import actor
from surveys.design.models import Study
from surveys.people import selectors as people
from surveys.people.models import Right

View = Callable[..., HttpResponse]


class Author(TypedDict):
    """Who changes a study, and when."""

    who: str
    now: datetime.datetime


def author(request: HttpRequest) -> Author:
    return Author(who=actor(request), now=datetime.datetime.now(datetime.UTC))


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def of_study(right: Right) -> Callable[[View], View]:
    """Hand a view the study of its address, if whoever is signed in has this right in it."""

    def decorate(view: View) -> View:
        @never_cache
        @login_required
        @wraps(view)
        def view_of_study(request: HttpRequest, slug: str, **parts: str) -> HttpResponse:
            study: Study = get_object_or_404(people.studies_of(request.user), slug=slug)
            if right is not Right.READ:  # no study is found that may not be read
                require(right, request, study)
            return view(request, study, **parts)

        return view_of_study

    return decorate


def require(right: Right, request: HttpRequest, study: Study) -> None:
    """Refuse whoever has not this right in a study, and name who could help."""
    if not people.may(request.user, right, study):
        needed = _("an editor or an owner") if right is Right.EDIT else _("an owner")
        raise PermissionDenied(
            _("This needs %(role)s of “%(study)s”. Ask one of them.")
            % {"role": needed, "study": study}
        )
