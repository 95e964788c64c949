"""What people see who are not answering: home, the studies shared with them, results."""

import datetime
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.dashboard.asked import summary_of
from surveys.dashboard.progress import Progress, progress_of
from surveys.dashboard.results import MANY, results_of
from surveys.design import queries as design
from surveys.design.models import Plan, Study
from surveys.ledger import queries as ledger
from surveys.people import queries as people
from surveys.people.models import Right
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step

ON_A_PAGE = 25


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what Candor is, and which studies are open."""
    open_plans = design.plans().filter(closed_on=None).order_by("study__title")
    page = Paginator(open_plans, ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "dashboard/home.html", {"page": page})


@dataclass(frozen=True, slots=True)
class Shared:
    """A study in a researcher's list. A draft has not opened, and has no progress."""

    study: Study
    progress: Progress | None


@never_cache
@login_required
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """List the studies shared with whoever is signed in."""
    page = Paginator(people.studies_of(request.user), ON_A_PAGE).get_page(request.GET.get("page"))
    newest = {plan.study_id: plan for plan in design.plans().filter(study__in=list(page)).order_by("wave")}
    last = releases.latest_releases(newest.values())
    accounts = ledger.accounts()
    shared = [Shared(study, _progress(newest.get(study.pk), accounts, last)) for study in page]
    return render(request, "dashboard/studies.html", {"page": page, "shared": shared})


@never_cache
@login_required
@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a study to those it is shared with; to anyone else there is none of this name."""
    found = get_object_or_404(people.studies_of(request.user), slug=slug)
    return _show(request, found, shared=True)


@require_safe
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a study's results to everyone, if its Plan says that they are for everyone."""
    return _show(request, people.readable_study(slug, request.user), shared=False)


def _show(request: HttpRequest, study: Study, *, shared: bool) -> HttpResponse:
    plan = design.latest_plan(study.slug)
    if plan is None:
        return render(request, "dashboard/draft.html", {"study": study})
    published = releases.by_rule_of(study)
    shown = _chosen(published, request.GET.get("release"))
    context: dict[str, Any] = {
        "shared": shared,
        "study": study,
        "plan": plan,
        "progress": _progress(plan, ledger.accounts(), releases.latest_releases([plan])),
        "published": [(key_of(each), each) for each in published],
        "shown": shown,
        "results": results_of(shown) if shown else [],
        "numbers_asked": [question for question in plan.content["questions"] if question["kind"] == "number"],
        "many": MANY,
        "link": request.build_absolute_uri(study.get_absolute_url()) + f"#{plan.digest}",
        **_asked_for(request, study, plan, shared=shared),
    }
    return render(request, "dashboard/study.html", context)


def _asked_for(request: HttpRequest, study: Study, plan: Plan, *, shared: bool) -> dict[str, Any]:
    """Return what was asked for beside the study's own numbers, and whether this reader may ask for more."""
    answered = [(each, summary_of(each)) for each in releases.publications_of(study) if not each.is_by_rule]
    if not shared:
        return {"answered": answered}
    return {
        "answered": answered,
        "waiting": [(each, releases.title_of(each)) for each in releases.unanswered_of(study)],
        "may_ask": people.may(request.user, Right.ASK, study),
        "reason": releases.may_ask(plan, datetime.datetime.now(datetime.UTC).date()),
    }


def _chosen(published: list[Release | Step], key: str | None) -> Release | Step | None:
    """Return the release, or the refresh, of this key: the newest if none is named."""
    if key is None:
        return published[0] if published else None
    for each in published:
        if key_of(each) == key:
            return each
    raise Http404("no release has this number")


def key_of(published: Release | Step) -> str:
    """Return the row of the ledger that paid for it, and which refresh it is if there are several: 3, or 3.12."""
    row = str(published.entry.number)
    return f"{row}.{published.number}" if isinstance(published, Step) else row


def _progress(
    plan: Plan | None, accounts: dict[int, ledger.Account], last: dict[int, Release | Step]
) -> Progress | None:
    if plan is None or plan.study.budget_id is None:
        return None
    account = accounts[plan.study.budget_id]
    return progress_of(plan, answers=releases.answers_so_far(plan), account=account, last=last.get(plan.pk))
