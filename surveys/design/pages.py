"""Acts on one study or panel that are for good: each has a page that says what it does and asks why."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.acting import who as who
from surveys.design import services, wording
from surveys.design.forms import LONGEST_WHY
from surveys.ledger.models import EpsilonField, RhoField, Side
from surveys.ledger.services import Refused as LedgerRefused

REFUSALS = (services.Refused, LedgerRefused)  # their texts are for people


class WhyForm(forms.Form):
    why = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=LONGEST_WHY,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Everyone can read it in the ledger, with your pseudonym and the day."),
    )


class RetireForm(WhyForm):
    why = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=services.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Everyone can read it in the registry and the ledger, with your pseudonym and the day."),
    )


class CapForm(WhyForm):
    new = forms.DecimalField(label=gettext_lazy("The new cap, ε"), decimal_places=EpsilonField.places, max_digits=12)
    field_order = ("new", "why")


class WeekForm(WhyForm):
    weekly = forms.DecimalField(
        label=gettext_lazy("At most in any seven days"), required=False, decimal_places=RhoField.places, max_digits=15
    )
    field_order = ("weekly", "why")


@dataclass(frozen=True, slots=True)
class Act:
    """Something that an admin does to one study or panel, for a reason that is written down."""

    name: str  # the last part of its page's address
    title: str | Promise
    button: str | Promise
    done: str | Promise
    form: type[WhyForm]
    means: Callable[[Any], list[str]]
    fits: Callable[[Any], bool]  # whether it can be done at all, as things are
    do: Callable[..., Any]  # (found, cleaned data, who=, now=)
    for_good: bool = False


RETIRE = Act(
    name="retire",
    title=gettext_lazy("Retire this study"),
    button=gettext_lazy("Retire, and erase the answers"),
    done=gettext_lazy("“%(name)s” is retired."),
    form=RetireForm,
    means=wording.retiring_means,
    fits=lambda study: study.budget_id is not None and not study.is_retired,
    do=lambda study, data, **by: services.retire(study_id=study.pk, because=data["why"], **by),
    for_good=True,
)
LOWER = Act(
    name="lower-cap",
    title=gettext_lazy("Lower the cap"),
    button=gettext_lazy("Lower the cap"),
    done=gettext_lazy("“%(name)s” has a lower cap."),
    form=CapForm,
    means=lambda study: wording.lowering_means(study, study.cap),
    fits=lambda study: study.budget_id is not None and not study.is_retired,
    do=lambda study, data, **by: services.lower_cap(study_id=study.pk, **data, **by),
)
LIMIT = Act(
    name="weekly-limit",
    title=gettext_lazy("Limit a week"),
    button=gettext_lazy("Set the limit"),
    done=gettext_lazy("“%(name)s” has a new limit for a week."),
    form=WeekForm,
    means=wording.limiting_means,
    fits=lambda study: study.budget_id is not None and not study.is_retired,
    do=lambda study, data, **by: services.set_weekly_limit(study_id=study.pk, **data, **by),
)
PANEL_LOWER = Act(
    name="lower-cap",
    title=gettext_lazy("Lower the cap for publications"),
    button=gettext_lazy("Lower the cap"),
    done=gettext_lazy("“%(name)s” has a lower cap for publications."),
    form=CapForm,
    means=lambda panel: wording.lowering_means(panel, panel.cap),
    fits=lambda panel: panel.central_budget_id is not None,
    do=lambda panel, data, **by: services.lower_panel_cap(panel_id=panel.pk, side=Side.CENTRAL, **data, **by),
)
PANEL_LOWER_ANSWERS = Act(
    name="lower-answers-cap",
    title=gettext_lazy("Lower the cap for answers"),
    button=gettext_lazy("Lower the cap"),
    done=gettext_lazy("“%(name)s” has a lower cap for answers."),
    form=CapForm,
    means=lambda panel: wording.lowering_means(panel, panel.local_cap),
    fits=lambda panel: panel.central_budget_id is not None,
    do=lambda panel, data, **by: services.lower_panel_cap(panel_id=panel.pk, side=Side.LOCAL, **data, **by),
)


class WithActs:
    """A ModelAdmin whose objects have pages for acts, linked from the object's own page."""

    acts: tuple[Act, ...] = ()
    change_form_template: Any = "admin/design/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        own = [path(f"<int:pk>/{act.name}/", self._page(act)) for act in self.acts]
        return [*own, *super().get_urls()]  # type: ignore[misc]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        found = self.get_object(request, object_id)  # type: ignore[attr-defined]
        acts = [act for act in self.acts if found is not None and act.fits(found)] if self._may(request) else []
        return super().change_view(request, object_id, form_url, {"acts": acts, **(extra_context or {})})  # type: ignore[misc]

    def _may(self, request: HttpRequest) -> bool:
        return bool(self.has_change_permission(request))  # type: ignore[attr-defined]

    def _page(self, act: Act) -> Callable[..., HttpResponse]:
        def page(request: HttpRequest, pk: int) -> HttpResponse:
            if not self._may(request):
                raise PermissionDenied
            found = get_object_or_404(self.model, pk=pk)  # type: ignore[attr-defined]
            return act_page(self, request, act, found)  # type: ignore[arg-type]

        return self.admin_site.admin_view(page)  # type: ignore[attr-defined, no-any-return]


def act_page(site: admin.ModelAdmin, request: HttpRequest, act: Act, found: models.Model) -> HttpResponse:
    """Show what an act does and ask why; do it when that is told."""
    back = HttpResponseRedirect(reverse(f"admin:{found._meta.label_lower.replace('.', '_')}_change", args=[found.pk]))
    if not act.fits(found):
        messages.error(request, _("“%(name)s”: this cannot be done now. Nothing was changed.") % {"name": found})
        return back
    form = act.form(request.POST or None)
    if form.is_valid() and done(request, act, found, form):
        messages.success(request, str(act.done) % {"name": found})
        return back
    context = {
        **site.admin_site.each_context(request),
        "title": act.title,
        "opts": found._meta,
        "found": found,
        "act": act,
        "form": form,
        "means": act.means(found),
    }
    return TemplateResponse(request, "admin/design/act.html", context)


def done(request: HttpRequest, act: Act, found: models.Model, form: WhyForm) -> bool:
    """Do it; if it is refused, put the reason on the form."""
    try:
        act.do(found, form.cleaned_data, who=who(request), now=datetime.datetime.now(datetime.UTC))
    except REFUSALS as refusal:
        form.add_error(None, str(refusal))
    return form.is_valid()
