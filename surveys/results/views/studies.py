"""What people see who are not answering: home, the studies shared with them, results."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.addresses import form_address
from surveys.design import selectors as design
from surveys.design.models import Plan, Study
from surveys.design.selectors import State
from surveys.design.wording import StudyStatus
from surveys.invited import selectors as invited
from surveys.ledger import selectors as ledger
from surveys.people import selectors as people
from surveys.people.models import Right
from surveys.releases import comparisons, selectors as releases
from surveys.results import exports
from surveys.results.access import study_page, with_plan
from surveys.results.progress import WaveProgress
from surveys.results.publications import chosen, key_of, summary_of
from surveys.results.questions import MANY, JointIntervals, Result, blocks_of, results_of

ON_A_PAGE = 25
MAX_SEARCH = 100
STATES = {
    State.DRAFT: gettext_lazy("Draft"),
    State.COLLECTING: gettext_lazy("Open"),
    State.CLOSED: gettext_lazy("Closed"),
    State.RETIRED: gettext_lazy("Ended"),
}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what Candor is, and which studies are open."""
    open_plans = design.plans().filter(closed_on=None).order_by("study__title", "pk")
    ids = open_plans.values_list("pk", flat=True)
    page = Paginator(ids, ON_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "plans": design.plans_in_order(page)}
    return render(request, "results/home.html", context)


@dataclass(frozen=True, slots=True)
class ListedStudy:
    """A study in a researcher's list. A draft has not opened, and has no progress."""

    study: Study
    status: StudyStatus
    progress: WaveProgress | None
    link: str  # for respondents; empty where it takes no answers
    address: str  # of its page


@never_cache
@login_required
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """List the studies shared with whoever is signed in, narrowed by a search."""
    shared = people.studies_of(request.user)
    words = request.GET.get("q", "")[:MAX_SEARCH].strip()
    state = request.GET.get("state", "") if request.GET.get("state") in STATES else ""
    page = Paginator(_matching(shared, words, state), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "shared": _listed(request, list(page)),
        "words": words,
        "state": state,
        "states": STATES,
        "has_any": shared.exists(),
        "query": urlencode({"q": words, "state": state}) + "&",
    }
    return render(request, "results/studies.html", context)


def _matching(studies: QuerySet[Study], words: str, state: str) -> QuerySet[Study]:
    """Return the studies that hold all these words and stand so, those that changed last first."""
    for word in words.split():
        studies = studies.filter(
            Q(title__icontains=word) | Q(organisation__icontains=word) | Q(slug__icontains=word)
        )
    is_open = Q(pk__in=design.plans().filter(closed_on=None).values("study"))
    has_opened = Q(pk__in=design.plans().values("study"))
    conditions = {
        "": Q(),
        State.RETIRED: Q(retired_on__isnull=False),
        State.DRAFT: Q(retired_on=None) & ~has_opened,
        State.COLLECTING: Q(retired_on=None) & is_open,
        State.CLOSED: Q(retired_on=None) & has_opened & ~is_open,
    }
    return studies.filter(conditions[state]).distinct().order_by("-pk")


def _listed(request: HttpRequest, studies: list[Study]) -> list[ListedStudy]:
    standings = design.standings(studies)
    accounts = ledger.accounts(study.budget_id for study in studies)
    opened = [each.plan for each in standings if each.plan is not None]
    last, told = releases.latest_releases(opened), releases.answers_of(opened)
    listed = []
    for standing in standings:
        study, plan = standing.study, standing.plan
        progress, link, page = None, "", "dashboard:study"
        if plan is not None and study.budget_id is not None:
            progress = WaveProgress(
                plan, told[plan.pk], accounts[study.budget_id], last.get(plan.pk)
            )
            if standing.state == State.COLLECTING:  # with the Plan's fingerprint
                link = f"{form_address(request, study.get_absolute_url())}#{plan.digest}"
        elif people.may(request.user, Right.EDIT, study):
            page = "drafting:build"
        status, address = StudyStatus.of(study, plan), reverse(page, args=[study.slug])
        listed.append(ListedStudy(study, status, progress, link, address))
    return listed


@with_plan
@require_safe
def study(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show a study's results, and what its rule waits for."""
    published = releases.by_rule_of(plan.study)
    shown = chosen(published, request.GET.get("release"))
    together = JointIntervals.of(shown) if shown and request.GET.get("together") == "1" else None
    results = results_of(shown, together) if shown else []
    answered = [(each, summary_of(each)) for each in releases.asked_of(plan.study)]
    unanswered = releases.unanswered_of(plan.study) if shared else []
    rights = people.rights_of(request.user, plan.study) if shared else set()
    return study_page(
        request,
        "study",
        plan,
        shared=shared,
        formats=exports.offered(),
        lacking=exports.lacking(),
        progress=WaveProgress.of(plan),
        published=[(key_of(each), each) for each in published],
        shown=shown,
        key=key_of(shown) if shown else "",
        results=results,
        together=together,
        intervals=comparisons.interval_count(shown.request.plan, shown.content) if shown else 0,
        blocks=blocks_of(results),
        skewable=[each.skew for each in results if isinstance(each, Result)],
        numbers_asked=[
            question
            for question in plan.spoken.questions
            if question.kind == "number" and question.is_cleartext
        ],
        many=MANY,
        has_course=len(published) > 1,
        may_launch=Right.LAUNCH in rights,
        counts=invited.counts(plan) if Right.LAUNCH in rights else [],
        answered=answered,
        waiting=[(each, releases.title_of(each)) for each in unanswered],
        may_ask=Right.ASK in rights,
        askable=[kind for kind in releases.kinds().values() if kind.can_be_asked(plan)],
        reason=releases.may_ask(plan, timezone.now().date()) if shared else "",
    )
