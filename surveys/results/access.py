"""Who may read a study's pages: its members, under /studies/; everyone, under /results/.

One place for the rule. A study that is not shared looks as if there were none of its name.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache

from surveys.design import selectors as design
from surveys.design.models import Plan, Study
from surveys.people import selectors as people
from surveys.people.models import Right

View = Callable[..., HttpResponse]
PAGES = ("compare", "over-time", "methods", "export", "release", "release-file")


def with_study(view: View) -> View:
    """Hand a view the study that this reader may read, and whether it is shared with them."""

    @never_cache
    def for_members(request: HttpRequest, slug: str, **parts: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        study = get_object_or_404(people.studies_of(request.user), slug=slug)
        return view(request, study, shared=True, **parts)

    @wraps(view)
    def with_study_of(
        request: HttpRequest, slug: str, *, shared: bool = False, **parts: Any
    ) -> HttpResponse:
        if shared:
            return for_members(request, slug, **parts)
        return view(request, people.readable_study(slug, request.user), shared=False, **parts)

    return with_study_of


def with_plan(view: View) -> View:
    """Hand a view a study's newest Plan; show that it has not opened if there is none."""

    @with_study
    @wraps(view)
    def with_plan_of(request: HttpRequest, study: Study, **parts: Any) -> HttpResponse:
        if plan := design.latest_plan(study.slug):
            return view(request, plan, **parts)
        address = request.resolver_match.url_name if request.resolver_match else ""
        context = {
            "study": study,
            "step": "collect" if address == "collect" else "results",
            "may_edit": people.may(request.user, Right.EDIT, study),
        }
        return render(request, "results/draft.html", context)

    return with_plan_of


def study_page(
    request: HttpRequest, template: str, plan: Plan, *, shared: bool, **context: object
) -> HttpResponse:
    """Show a page of a study, with the names by which `url` finds its pages for this reader."""
    prefix = "dashboard:" if shared else "dashboard:public-"
    pages = {page.replace("-", "_"): prefix + page for page in PAGES}
    pages["results"] = "dashboard:study" if shared else "dashboard:results"
    common = {"shared": shared, "study": plan.study, "plan": plan, "pages": pages}
    return render(request, f"results/{template}.html", {**common, **context})
