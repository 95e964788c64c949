"""Who reads a study's pages: those it is shared with, under /studies/, and everyone, under /results/.

One place for the rule. A study that is not shared looks as if there were none of its name.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import add_never_cache_headers

from surveys.design import queries as design
from surveys.design.models import Plan, Study
from surveys.people import queries as people
from surveys.people.models import Right

View = Callable[..., HttpResponse]


def with_plan(view: View) -> View:
    """Hand a view the newest Plan of a study that this reader may read, and whether it is shared with them."""

    @wraps(view)
    def found(request: HttpRequest, slug: str, *, shared: bool = False, **parts: Any) -> HttpResponse:
        if not shared:
            return view(request, newest(people.readable_study(slug, request.user).slug), shared=False, **parts)
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        study = get_object_or_404(people.studies_of(request.user), slug=slug)
        plan = design.latest_plan(slug)
        response = unopened(request, study) if plan is None else view(request, plan, shared=True, **parts)
        add_never_cache_headers(response)
        return response

    return found


def unopened(request: HttpRequest, study: Study) -> HttpResponse:
    """Say that a study has not opened, and to whom may change it where to go on."""
    address = request.resolver_match.url_name if request.resolver_match else ""
    context = {
        "study": study,
        "step": "collect" if address == "collect" else "results",
        "may_edit": people.may(request.user, Right.EDIT, study),
    }
    return render(request, "dashboard/draft.html", context)


def newest(slug: str) -> Plan:
    plan = design.latest_plan(slug)
    if plan is None:
        raise Http404("no study of this name has opened")
    return plan
