"""What may still change of a study that has opened: each act has a page that says what it does, and asks why."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from surveys.acting import who
from surveys.design import services, wording
from surveys.design.models import Study
from surveys.ledger.services import Refused as LedgerRefused
from surveys.limits.forms import Described, LowerForm, RetireForm, WeekForm
from surveys.people import queries as people
from surveys.people.models import Right

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is done to one study, for a reason that is written down."""

    name: str  # the last part of its page's address
    title: Text
    button: Text
    done: Text
    form: type[Described]
    means: Callable[[Study], list[str]]
    do: Callable[..., Any]  # (study, cleaned data, who=, now=)
    for_good: bool = False
    field: str | None = None  # beside which a refusal stands

    def fits(self, study: Study) -> bool:
        """Tell whether it can be done at all, as things are."""
        return study.budget_id is not None and not study.is_retired


LOWER = Act(
    name="lower",
    title=gettext_lazy("Lower the cap"),
    button=gettext_lazy("Lower the cap, for good"),
    done=gettext_lazy("The cap is lower now. It is written in the ledger."),
    form=LowerForm,
    means=lambda study: wording.lowering_means(study, study.cap),
    do=lambda study, data, **by: services.lower_cap(study_id=study.pk, new=data["new"], why=data["why"], **by),
    for_good=True,
    field="new",
)
WEEK = Act(
    name="week",
    title=gettext_lazy("Limit a week"),
    button=gettext_lazy("Set the limit"),
    done=gettext_lazy("The weekly limit is set. It is written in the ledger."),
    form=WeekForm,
    means=wording.limiting_means,
    do=lambda study, data, **by: services.set_weekly_limit(
        study_id=study.pk, weekly=data["weekly"], why=data["why"], **by
    ),
    field="weekly",
)
RETIRE = Act(
    name="retire",
    title=gettext_lazy("Retire this study"),
    button=gettext_lazy("Retire, and erase the answers"),
    done=gettext_lazy("The study is retired. Its answers are being erased."),
    form=RetireForm,
    means=wording.retiring_means,
    do=lambda study, data, **by: services.retire(study_id=study.pk, because=data["why"], **by),
    for_good=True,
)
ACTS = {act.name: act for act in (LOWER, WEEK, RETIRE)}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Show what an act does and ask why; do it when that is told."""
    study = get_object_or_404(people.studies_of(request.user), slug=slug)
    found = ACTS.get(name)
    if found is None:
        raise Http404("no such act")
    if not people.may(request.user, Right.LAUNCH, study):
        raise PermissionDenied(_("To do this you need the role of an owner of this study."))
    if not found.fits(study):
        messages.error(request, _("This cannot be done now: the study has never opened, or is retired."))
        return redirect("limits:study", slug)
    form = found.form(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid() and _done(request, found, study, form):
        messages.success(request, str(found.done))
        return redirect("limits:study", slug)
    context = {"study": study, "act": found, "form": form, "means": found.means(study)}
    return render(request, "limits/act.html", context, status=422 if form.errors else 200)


def _done(request: HttpRequest, act: Act, study: Study, form: Described) -> bool:
    """Do it; if it is refused, put the reason on the form."""
    now = datetime.datetime.now(datetime.UTC)
    try:
        act.do(study, form.cleaned_data, who=who(request), now=now)
    except (services.Refused, LedgerRefused) as refusal:
        form.add_error(act.field, str(refusal))
    return form.is_valid()
