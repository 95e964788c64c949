"""A study's limits and what they do: a draft's can be changed here, what is open amended.

An amendment's page says what it does and asks why; it is made when that is told.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dpengine.privacy import epsilon_above
from surveys.design import limit_changes, revisions, selectors as design, terms, wording
from surveys.design.merging import Conflict, merge
from surveys.design.models import Study
from surveys.design.refusals import Refused
from surveys.design.revisions import Since
from surveys.guesses import USUAL_HOUSEHOLD
from surveys.ledger import selectors as ledger
from surveys.limits import amendments, risk
from surveys.limits.amendments import Amendment, Subject
from surveys.limits.forms import PREFIX, DraftForm
from surveys.limits.presenters import Spending
from surveys.limits.views.site import panel_or_refusal
from surveys.people import selectors as people
from surveys.people.access import author, of_study, require
from surveys.people.models import Right
from surveys.planning import selectors as planning


@of_study(Right.READ)
@require_http_methods(["GET", "HEAD", "POST"])
def study(request: HttpRequest, study: Study) -> HttpResponse:
    if study.plan is None and not study.is_retired:
        return draft(request, study)
    if request.method == "POST":
        messages.error(
            request, _("This study is open, or was: its terms stay. Nothing was changed.")
        )
        return redirect("limits:study", study.slug)
    plan = design.latest_plan(study.slug)
    sizes = {str(size): size for size in range(1, risk.MAX_HOUSEHOLD + 1)}
    household = sizes.get(request.GET.get("household", ""), USUAL_HOUSEHOLD)
    shown = risk.of_plan(study, plan.content if plan else None, household=household)
    context = context_of(request, study, shown) | {"plan": plan, "household": household}
    return render(request, "limits/study.html", context)


def draft(request: HttpRequest, study: Study) -> HttpResponse:
    may_edit = people.may(request.user, Right.EDIT, study)
    if request.method == "POST":
        require(Right.EDIT, request, study)
    powers = {
        "may_set_limits": people.may(request.user, Right.SET_LIMITS),
        "may_choose_panel": people.may(request.user, Right.MANAGE_STUDIES),
    }
    typed = request.POST if request.method == "POST" else None
    revision = str(revisions.read(study))
    shares = typed is not None and "share" in typed
    only_look = typed is not None and ("look" in typed or shares)
    conflicts: list[Conflict] = []
    if typed is None or only_look:
        form = DraftForm(typed, study=study, **powers)
        revision = typed.get("revision", "") if typed is not None else revision
        form.is_valid()
    else:
        try:
            form, conflicts, revision = revisions.edit(
                study_id=study.pk,
                revision=typed.get("revision"),
                change=lambda held, since: _decide(request, held, since, powers),
            )
        except Refused as refusal:  # it is no draft any more
            form = DraftForm(typed, study=study, **powers)
            form.add_error(None, str(refusal))
        if form.is_valid() and not conflicts:
            messages.success(
                request, _("Saved. Members of the study can read what was changed, and why.")
            )
            return redirect("limits:study", study.slug)
        study = form.study
    if only_look:
        form.errors.pop("why", None)
    if shares:
        form.share()
    proposed, questions = form.proposed()
    household = form.cleaned_data.get("household") or USUAL_HOUSEHOLD
    shown = risk.of_draft(proposed, questions, household=household)
    context = context_of(request, proposed, shown) | {
        "form": form,
        "dials": [
            (question, None if question.is_cleartext else form[PREFIX + question.name])
            for question in shown.questions
        ],
        "protections": risk.protections(shown, questions) if "unit" in form.fields else [],
        "prices": planning.prices(proposed, questions),
        "may_edit": may_edit,
        "only_look": only_look and not shares,
        "conflicts": conflicts,
        "revision": revision,
        "is_shared": shares and not form.errors,
    }
    status = 422 if form.errors and not context["only_look"] else 200
    status = 409 if conflicts else status
    template = "limits/live.html" if request.htmx else "limits/study.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


def _decide(
    request: HttpRequest, study: Study, since: Since, powers: dict[str, bool]
) -> tuple[DraftForm, list[Conflict], str]:
    """Save the limits that were typed, merged with what others saved; return the form, whose errors
    say what was refused, what waits for a choice, and the draft's revision.
    """
    keys = {
        PREFIX + name: f"q{pk}.epsilon" for pk, name in study.questions.values_list("pk", "name")
    }
    merged = merge(
        read=DraftForm(study=since.draft, **powers),
        now=DraftForm(study=study, **powers),
        data=request.POST,
        last=lambda name: since.last(keys.get(name, name)) or since.last(*keys.values()),
    )
    form = DraftForm(merged.data, study=study, **powers)
    if form.is_valid() and not merged.conflicts:
        with form.refusals():
            limit_changes.decide(
                study_id=study.pk,
                epsilons=form.epsilons,
                new=form.terms,
                **powers,
                why=form.cleaned_data["why"],
                **author(request),
            )
    return form, merged.conflicts, str(since.number)


def context_of(request: HttpRequest, study: Study, shown: risk.StudyRisk) -> dict[str, Any]:
    """Return what the page shows of a draft as of an open study."""
    limits = design.site_limits()
    low, high = terms.allowed_epsilon(study, limits)
    fitting = [amendment for amendment in amendments.OF_STUDY if amendment.fits(study)]
    return {
        "study": study,
        "risk": shown,
        "limits": limits,
        "least": low,
        "greatest": high,
        "exact_at": epsilon_above(shown.loss_of_record, 2)
        if terms.counts_answers(study) and shown.randomised
        else None,
        "cap_means": wording.cap_means(study, shown.loss_of_reports),
        "rule_means": wording.rule_means(study, shown.loss_of_reports),
        "spent": None if study.budget_id is None else Spending(study, study.budget_id),
        "history": design.changes_of(study),
        "amendments": [each for each in fitting if each.is_for(request.user, study)],
        "owners_could": any(each.right is Right.LAUNCH for each in fitting),
        "shares": shares_of(request, study),
    }


def shares_of(request: HttpRequest, study: Study) -> list[dict[str, Any]]:
    """Return researchers' budgets within the study's, with what may be done to them: for admins."""
    if study.budget_id is None or not people.may(request.user, Right.SEE_BUDGETS):
        return []
    return [
        {
            "budget": account.budget,
            "statement": ledger.Statement(account),
            "amendments": [
                each
                for each in amendments.OF_SHARE
                if each.fits(account.budget) and each.is_for(request.user, account.budget)
            ],
        }
        for account in ledger.shares_of(study.budget_id)
    ]


@of_study(Right.READ)
@require_http_methods(["GET", "HEAD", "POST"])
def amend_study(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    amendment = named(name, amendments.OF_STUDY)
    return amend(request, amendment, study, study.title, redirect("limits:study", study.slug))


@of_study(Right.READ)
@require_http_methods(["GET", "HEAD", "POST"])
def amend_share(request: HttpRequest, study: Study, key: int, name: str) -> HttpResponse:
    """Amend a researcher's budget within a study's."""
    amendment = named(name, amendments.OF_SHARE)
    shares = {account.budget.pk: account.budget for account in ledger.shares_of(study.budget_id)}
    if key not in shares:
        raise Http404("no share of this study's budget has this number")
    return amend(request, amendment, shares[key], study.title, redirect("limits:study", study.slug))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def amend_panel(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    panel = panel_or_refusal(request, slug)
    amendment = named(name, amendments.OF_PANEL)
    return amend(request, amendment, panel, panel.name, redirect("limits:panel", slug))


def named(name: str, known: Iterable[Amendment]) -> Amendment:
    for amendment in known:
        if amendment.name == name:
            return amendment
    raise Http404("no amendment of this name")


def amend(
    request: HttpRequest, amendment: Amendment, subject: Subject, title: str, back: HttpResponse
) -> HttpResponse:
    if not amendment.is_for(request.user, subject):
        raise PermissionDenied(
            _("Only an admin of this site does this.")
            if amendment.right is not Right.LAUNCH
            else _("To do this you need the role of an owner of this study.")
        )
    if not amendment.fits(subject):
        text = _("“%(name)s”: this cannot be done now. Nothing was changed.") % {"name": subject}
        if isinstance(subject, Study):
            text = _("This cannot be done now: the study has never opened, or has ended.")
        messages.error(request, text)
        return back
    data = request.POST if request.method == "POST" else None
    form = amendment.form(data, budget=amendment.budget(subject))
    if form.is_valid():
        with form.refusals(amendment.field):
            amendment.make(subject, form.cleaned_data, **author(request))
            messages.success(request, str(amendment.done))
            leads_to = amendment.leads_to
            return back if leads_to is None else redirect(leads_to(form.cleaned_data))
    context = {
        "title": title,
        "back": back["Location"],
        "amendment": amendment,
        "form": form,
        "means": amendment.means(subject),
    }
    return render(request, "limits/amend.html", context, status=422 if form.errors else 200)
