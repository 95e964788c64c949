"""Who may open which page of a draft. A study not shared is as good as none; a right that is
lacking is told.
"""

import datetime
from collections.abc import Callable
from functools import wraps
from typing import TypedDict

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from surveys.actor import actor
from surveys.design.models import Study
from surveys.people import selectors as people
from surveys.people.models import Right

View = Callable[..., HttpResponse]


class Author(TypedDict):
    """Who changes a draft, and when."""

    who: str
    now: datetime.datetime


def author(request: HttpRequest) -> Author:
    return Author(who=actor(request), now=datetime.datetime.now(datetime.UTC))


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def of_study(right: Right) -> Callable[[View], View]:
    """Hand a view the study of its address, if whoever is signed in has this right in it."""

    def decorate(view: View) -> View:
        @login_required
        @never_cache
        @wraps(view)
        def view_of_study(request: HttpRequest, slug: str, **parts: str) -> HttpResponse:
            study: Study = get_object_or_404(people.studies_of(request.user), slug=slug)
            if right is not Right.READ:  # no study is found that may not be read
                require(right, request, study)
            return view(request, study, **parts)

        return view_of_study

    return decorate


def to_build(request: HttpRequest, study: Study, at: str = "") -> HttpResponse:
    """Go to the draft; the page there is told what of what was typed is saved (typed.js)."""
    request.session[f"saved:{study.slug}"] = request.path
    response = redirect("drafting:build", study.slug)
    response["Location"] += at
    return response


def require(right: Right, request: HttpRequest, study: Study) -> None:
    """Refuse whoever has not this right in a study, and name who could help."""
    if not people.may(request.user, right, study):
        needed = _("an owner") if right is Right.LAUNCH else _("an editor or an owner")
        raise PermissionDenied(
            _("This needs %(role)s of “%(study)s”. Ask one of them.")
            % {"role": needed, "study": study}
        )
