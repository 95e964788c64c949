"""Set ε by its consequences: of one study, and of the whole site."""

import datetime
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dpengine.privacy import exponential_above
from surveys.acting import who
from surveys.design import queries as design
from surveys.design import services, wording
from surveys.design.models import SiteLimits, Study
from surveys.ledger import queries as ledger
from surveys.ledger.services import Refused as LedgerRefused
from surveys.limits import acts, consequences, spending
from surveys.limits.forms import PREFIX, DraftForm, SiteForm
from surveys.people import queries as people
from surveys.people.models import Right

SET_LIMITS = "design.set_limits"
REFUSALS = (services.Refused, LedgerRefused)  # their texts are for people


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a study's limits do: those of a draft can be changed here, those of an open one by acts only."""
    found = get_object_or_404(people.studies_of(request.user), slug=slug)
    if found.plan is None and not found.is_retired:
        return _draft(request, found)
    if request.method == "POST":
        messages.error(request, _("This study is open, or was: its terms stay. Nothing was changed."))
        return redirect("limits:study", slug)
    plan = design.latest_plan(slug)
    content = plan.content if plan else {"questions": []}
    found_does = consequences.of_plan(found, content, household=_household(request))
    context = {"plan": plan, "content": content, "household": found_does.household, **_acts(request, found)}
    return render(request, "limits/study.html", {**_context(found, found_does), **context})


def _draft(request: HttpRequest, study: Study) -> HttpResponse:
    may_edit = people.may(request.user, Right.EDIT, study)
    may_set = request.user.has_perm(SET_LIMITS)
    data = request.POST if request.method == "POST" else None
    if data is not None and not may_edit:
        raise PermissionDenied(_("To change a draft’s limits you need the role of an editor of this study."))
    form = DraftForm(data, study=study, may_set_limits=may_set)
    only_look = data is not None and "look" in data
    if data is not None and form.is_valid() and not only_look and _decided(request, form, may_set=may_set):
        messages.success(request, _("Saved. Members of the study can read what was changed, and why."))
        return redirect("limits:study", study.slug)
    if only_look:
        form.errors.pop("why", None)
    proposed = form.proposed()
    does = consequences.of_draft(proposed, form.proposed_questions(), household=form.household_shown)
    context = {
        **_context(proposed, does),
        "form": form,
        "fields": {answer.name: form[PREFIX + answer.name] for answer in does.answers if not answer.is_given},
        "may_edit": may_edit,
        "may_set": may_set,
        "only_look": only_look,
        **_acts(request, study),
    }
    status = 422 if form.is_bound and form.errors and not only_look else 200
    return render(request, "limits/live.html" if request.htmx else "limits/study.html", context, status=status)  # type: ignore[attr-defined]


def _decided(request: HttpRequest, form: DraftForm, *, may_set: bool) -> bool:
    """Save; if it is refused, put the reasons on the form."""
    try:
        services.decide(
            study_id=form.study.pk,
            epsilons=form.epsilons,
            new=form.terms,
            may_set_limits=may_set,
            who=who(request),
            why=form.cleaned_data["why"],
            now=_now(),
        )
    except services.NotDecided as refusal:
        form.tell(refusal.problems)
        return False
    except REFUSALS as refusal:
        form.add_error(None, str(refusal))
        return False
    return True


def _context(study: Study, does: consequences.Consequences) -> dict[str, Any]:
    low, high = design.allowed_epsilon(study)
    return {
        "study": study,
        "does": does,
        "limits": design.site_limits(),
        "least": low,
        "greatest": high,
        "cap_means": wording.cap_means(study),
        "rule_means": wording.rule_means(study),
        "spent": spending.of(study, _now()),
        "history": design.changes_of(study),
    }


def _acts(request: HttpRequest, study: Study) -> dict[str, Any]:
    may_act = people.may(request.user, Right.LAUNCH, study)
    return {"may_act": may_act, "acts": [act for act in acts.ACTS.values() if act.fits(study)]}


def _household(request: HttpRequest) -> int:
    asked = request.GET.get("household", "")
    usual = consequences.USUAL_HOUSEHOLD
    if not (asked.isascii() and asked.isdigit() and len(asked) == 1):
        return usual
    return int(asked) if 1 <= int(asked) <= consequences.LARGEST_HOUSEHOLD else usual


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site(request: HttpRequest) -> HttpResponse:
    """Show the site's limits to whoever is signed in; its admin changes them, with a reason."""
    may_set = request.user.has_perm(SET_LIMITS)
    if request.method == "POST" and not may_set:
        raise PermissionDenied(_("Only the site’s admin changes its limits."))
    limits = design.site_limits()
    form = SiteForm.of(limits, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid() and _site_set(request, form):
        messages.success(request, _("Saved, and written in the ledger. What is open stays as it is."))
        return redirect("limits:site")
    sees = request.user.has_perm("design.view_study")
    context = {
        "limits": limits,
        "form": form,
        "may_set": may_set,
        "may_see_drafts": sees,
        "beyond": design.drafts_beyond(limits) if sees else [],
        "changes": ledger.acts_beginning("site:")[:10],
        "meaning": _meaning(limits),
    }
    return render(request, "limits/site.html", context, status=422 if form.errors else 200)


def _meaning(limits: SiteLimits) -> list[tuple[str, Decimal, list[consequences.Guess]]]:
    """Return what a guess becomes at each limit."""
    named = {
        _("One answer, at the least"): limits.epsilon_floor,
        _("One answer, at the most"): limits.epsilon_ceiling,
        _("All publications, at the most"): limits.cap_ceiling,
    }
    return [(words, at, consequences.guesses(exponential_above(at))) for words, at in named.items()]


def _site_set(request: HttpRequest, form: SiteForm) -> bool:
    data = form.cleaned_data
    limits = {name: data[name] for name in ("epsilon_floor", "epsilon_ceiling", "cap_ceiling")}
    if problems := services.problems_of_limits(**limits):
        form.tell(problems)
        return False
    try:
        services.set_site_limits(**limits, who=who(request), why=data["why"], now=_now())
    except REFUSALS as refusal:
        form.add_error(None, str(refusal))
        return False
    return True


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
