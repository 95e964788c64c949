"""Who may open the pages of a list: the owners of its study, and no admin."""

import datetime
from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from surveys.design.models import Study
from surveys.issuer.refusals import Away
from surveys.people import selectors as people
from surveys.people.models import Right

View = Callable[..., HttpResponse]


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def of_owners(view: View) -> View:
    """Hand a view the study of its address, if whoever is signed in owns it."""

    @login_required
    @never_cache
    @wraps(view)
    def view_of_list(request: HttpRequest, slug: str, **parts: object) -> HttpResponse:
        study: Study = get_object_or_404(people.studies_of(request.user), slug=slug)
        if not people.may(request.user, Right.INVITE, study):
            text = _("Only an owner of “%(study)s” sees its list. Ask one.")
            raise PermissionDenied(text % {"study": study})
        try:
            return view(request, study, **parts)
        except Away:
            text = _("The issuer of tickets cannot be reached. Nothing was changed: try again.")
            messages.error(request, text)
            return redirect("invited:list", study.slug)

    return view_of_list
