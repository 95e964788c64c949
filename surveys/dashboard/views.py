"""What people see who are not answering: home, the studies shared with them, results."""

import datetime
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.dashboard.asked import summary_of
from surveys.dashboard.progress import Progress, progress_of
from surveys.dashboard.published import chosen, key_of
from surveys.dashboard.readers import unopened
from surveys.dashboard.results import MANY, blocks_of, results_of
from surveys.design import queries as design
from surveys.design.models import Plan, Study
from surveys.design.queries import Standing, State
from surveys.ledger import queries as ledger
from surveys.people import queries as people
from surveys.people.models import Right
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step

ON_A_PAGE = 25
LONGEST_SEARCH = 100
STATES = {
    State.DRAFT: gettext_lazy("Draft"),
    State.COLLECTING: gettext_lazy("Collecting"),
    State.CLOSED: gettext_lazy("Closed"),
    State.RETIRED: gettext_lazy("Retired"),
}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what Candor is, and which studies are open."""
    open_plans = design.plans().filter(closed_on=None).order_by("study__title")
    page = Paginator(open_plans, ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "dashboard/home.html", {"page": page})


@dataclass(frozen=True, slots=True)
class Shared:
    """A study in a researcher's list. A draft has not opened, and has no progress."""

    standing: Standing
    progress: Progress | None
    link: str  # for respondents; empty where it takes no answers
    may_edit: bool

    @property
    def study(self) -> Study:
        return self.standing.study

    @property
    def state(self) -> State:
        return self.standing.state


@never_cache
@login_required
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """List the studies shared with whoever is signed in, or those of them that were searched for."""
    every = people.studies_of(request.user)
    words = request.GET.get("q", "")[:LONGEST_SEARCH].strip()
    state = request.GET.get("state", "") if request.GET.get("state") in STATES else ""
    page = Paginator(_matching(every, words, state), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "shared": _shared(request, list(page)),
        "words": words,
        "state": state,
        "states": STATES,
        "has_any": every.exists(),
        "query": urlencode({"q": words, "state": state}) + "&",
    }
    return render(request, "dashboard/studies.html", context)


def _matching(every: QuerySet[Study], words: str, state: str) -> QuerySet[Study]:
    """Return the studies that hold all these words and stand so, those that changed last first."""
    for word in words.split():
        every = every.filter(Q(title__icontains=word) | Q(organisation__icontains=word) | Q(slug__icontains=word))
    open_now = design.plans().filter(closed_on=None).values("study")
    opened = design.plans().values("study")
    if state == State.RETIRED:
        every = every.filter(retired_on__isnull=False)
    elif state == State.DRAFT:
        every = every.filter(retired_on=None).exclude(pk__in=opened)
    elif state == State.COLLECTING:
        every = every.filter(retired_on=None, pk__in=open_now)
    elif state == State.CLOSED:
        every = every.filter(retired_on=None, pk__in=opened).exclude(pk__in=open_now)
    return every.distinct().order_by("-pk")


def _shared(request: HttpRequest, found: list[Study]) -> list[Shared]:
    standings = design.standings(found)
    plans = [each.plan for each in standings if each.plan is not None]
    last, accounts = releases.latest_releases(plans), ledger.accounts()
    return [
        Shared(
            standing=each,
            progress=_progress(each.plan, accounts, last),
            link=_link(request, each.plan) if each.plan and each.state == State.COLLECTING else "",
            may_edit=people.may(request.user, Right.EDIT, each.study),
        )
        for each in standings
    ]


def _link(request: HttpRequest, plan: Plan) -> str:
    """Return the address of the form, with the Plan's fingerprint: a browser refuses any other questions or odds."""
    return request.build_absolute_uri(plan.study.get_absolute_url()) + f"#{plan.digest}"


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
        return unopened(request, study)
    published = releases.by_rule_of(study)
    shown = chosen(published, request.GET.get("release"))
    results = results_of(shown) if shown else []
    context: dict[str, Any] = {
        "shared": shared,
        "study": study,
        "plan": plan,
        "progress": _progress(plan, ledger.accounts(), releases.latest_releases([plan])),
        "published": [(key_of(each), each) for each in published],
        "shown": shown,
        "key": key_of(shown) if shown else "",
        "results": results,
        "blocks": blocks_of(results),
        "skewable": [each for each in results if not each.is_measured],
        "numbers_asked": [
            question
            for question in plan.spoken["questions"]
            if question["kind"] == "number" and question["protection"] != "device"
        ],
        "many": MANY,
        "link": _link(request, plan),
        "has_course": len(published) > 1,
        "may_launch": shared and people.may(request.user, Right.LAUNCH, study),
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


def _progress(
    plan: Plan | None, accounts: dict[int, ledger.Account], last: dict[int, Release | Step]
) -> Progress | None:
    if plan is None or plan.study.budget_id is None:
        return None
    account = accounts[plan.study.budget_id]
    return progress_of(plan, answers=releases.answers_so_far(plan), account=account, last=last.get(plan.pk))
