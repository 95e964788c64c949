"""The site's limits, which hold for every draft and every opening, and its panels: people who meet
several studies, with caps that hold for all of these together.
"""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dpengine.privacy import exponential_above
from surveys.design import selectors as design, wording
from surveys.design.models import Panel
from surveys.design.panels import create_panel, edit_panel
from surveys.design.site import set_site_limits
from surveys.guesses import guesses
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Statement
from surveys.limits import amendments
from surveys.limits.site_forms import PanelForm, SiteForm
from surveys.people.access import author
from surveys.people.models import Right
from surveys.people.selectors import may


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site(request: HttpRequest) -> HttpResponse:
    """Show the site's limits to whoever is signed in; its admin changes them, with a reason."""
    may_set = may(request.user, Right.SET_LIMITS)
    if request.method == "POST" and not may_set:
        raise PermissionDenied(_("Only the site’s admin changes its limits."))
    limits = design.site_limits()
    form = SiteForm(request.POST if request.method == "POST" else None, limits=limits)
    if form.is_valid():
        with form.refusals():
            set_site_limits(**form.cleaned_data, **author(request))
            messages.success(
                request, _("Saved, and written in the ledger. What is open stays as it is.")
            )
            return redirect("limits:site")
    sees = may(request.user, Right.SEE_STUDIES)
    bounds = {
        _("One answer, at the least"): limits.epsilon_floor,
        _("One answer, at the most"): limits.epsilon_ceiling,
        _("One person, at the least"): limits.person_floor,
        _("One person, at the most"): limits.person_ceiling,
        _("All publications, at the most"): limits.cap_ceiling,
    }
    context = {
        "limits": limits,
        "form": form,
        "may_set": may_set,
        "may_see_drafts": sees,
        "beyond": design.drafts_beyond(limits) if sees else [],
        "changes": ledger.acts_beginning("site:")[:10],
        "meaning": [
            (label, epsilon, guesses(exponential_above(epsilon)))
            for label, epsilon in bounds.items()
        ],
    }
    return render(request, "limits/site.html", context, status=422 if form.errors else 200)


def panel_or_refusal(request: HttpRequest, slug: str) -> Panel:
    """Return a panel for an admin of studies; nobody else sees panels."""
    if not may(request.user, Right.SEE_PANELS):
        raise PermissionDenied(_("Only admins of this site see its panels."))
    return get_object_or_404(design.panels(), slug=slug)


@never_cache
@login_required
@require_safe
def panels(request: HttpRequest) -> HttpResponse:
    """List all panels with what they have spent."""
    if not may(request.user, Right.SEE_PANELS):
        raise PermissionDenied(_("Only admins of this site see its panels."))
    rows = [
        {
            "panel": panel,
            "studies": panel.studies.count(),
            "publications": statement_of(panel.central_budget_id),
            "answers": statement_of(panel.local_budget_id),
        }
        for panel in design.panels()
    ]
    may_add = may(request.user, Right.ADD_PANELS)
    return render(request, "limits/panels.html", {"rows": rows, "may_add": may_add})


def statement_of(budget_id: int | None) -> Statement | None:
    return None if budget_id is None else Statement(ledger.account(budget_id))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_panel(request: HttpRequest) -> HttpResponse:
    if not may(request.user, Right.ADD_PANELS):
        raise PermissionDenied(_("Only admins of this site make panels."))
    form = PanelForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with form.refusals():
            panel = create_panel(terms=form.terms)
            messages.success(
                request, _("The panel is made. Put studies into it while they are drafts.")
            )
            return redirect("limits:panel", panel.slug)
    return render(
        request, "limits/panel_new.html", {"form": form}, status=422 if form.errors else 200
    )


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a panel's caps mean and what is spent; edit it, as far as it still can be."""
    subject = panel_or_refusal(request, slug)
    may_edit = may(request.user, Right.MANAGE_PANELS)
    if request.method == "POST" and not may_edit:
        raise PermissionDenied(_("Only an admin of this site does this."))
    form = PanelForm(request.POST if request.method == "POST" else None, panel=subject)
    if form.is_valid():
        with form.refusals("why" if "why" in form.fields else None):
            saved = edit_panel(
                panel_id=subject.pk,
                new=form.terms,
                why=form.cleaned_data.get("why", ""),
                **author(request),
            )
            messages.success(request, _("Saved."))
            return redirect("limits:panel", saved.slug)
    context = {
        "panel": subject,
        "form": form,
        "may_edit": may_edit,
        "caps": [
            {
                "title": _("Publications of all its studies"),
                "cap": subject.cap,
                "means": wording.cap_means(subject),
                "statement": statement_of(subject.central_budget_id),
            },
            {
                "title": _("Answers to all its studies"),
                "cap": subject.local_cap,
                "means": wording.panel_means(subject),
                "statement": statement_of(subject.local_budget_id),
            },
        ],
        "amendments": [
            amendment
            for amendment in amendments.OF_PANEL
            if amendment.fits(subject) and amendment.is_for(request.user, subject)
        ],
        "studies": subject.studies.order_by("title"),
        "history": design.changes_of(subject),
    }
    return render(request, "limits/panel.html", context, status=422 if form.errors else 200)
