"""Ask for more: what there is to ask for, what it would cost, and the waiting until a worker has drawn it."""

import datetime
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from surveys.acting import who
from surveys.dashboard.bills import Bill, Crowd, bill_of, crowd_of
from surveys.design import queries as design
from surveys.design.models import Plan, Study
from surveys.ledger import queries as ledger
from surveys.ledger.queries import Statement
from surveys.people import queries as people
from surveys.people.models import Right
from surveys.releases import queries as releases
from surveys.releases import services
from surveys.releases.models import Request
from surveys.releases.queries import Asked, Refused

LOOK_AGAIN = 2  # seconds, while a worker draws
LATE = datetime.timedelta(minutes=1)  # from here on a page says that it takes longer than usual
LOOK_AGAIN_LATE = 15  # seconds
NEEDS = {  # what a kind needs, for studies that do not have it
    "crosstab": gettext_lazy("It needs two questions with choices."),
    "most_common": gettext_lazy("It needs a question with choices."),
    "shares": gettext_lazy("It needs a question with choices."),
    "price": gettext_lazy("It needs a number that is sent as given: what people would pay."),
    "ranges": gettext_lazy("It needs a question that is sent as given."),
    "synthetic": gettext_lazy("It needs questions that are sent as given."),
    "linear_regression": gettext_lazy("It needs two numbers that are sent as given."),
    "watch": gettext_lazy("It needs a question with choices."),
    "check": gettext_lazy("It needs a question with choices that is sent as given."),
}
NUMBER = gettext_lazy("It needs a number that is sent as given.")


AT_LEAST = gettext_lazy("It must be at least %(limit_value)s; it is %(show_value)s.")
AT_MOST = gettext_lazy("It must be at most %(limit_value)s; it is %(show_value)s.")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of statistic, as the list offers it."""

    name: str
    title: str
    sentence: str
    is_possible: bool

    @property
    def needs(self) -> str:
        return str(NEEDS.get(self.name, NUMBER))


@dataclass(frozen=True, slots=True)
class Preview:
    """What confirming would do."""

    asked: Asked
    title: str
    bill: Bill
    crowd: Crowd
    people: int
    expected: list[str]
    seen: str  # names the statistic: if more answers are counted before it is confirmed, it is another one
    same: Request | None  # that was asked before

    @property
    def middle(self) -> list[str]:
        """Return the expectations that a long list folds away: all but the first three and the last."""
        return self.expected[3:-1]


def kinds_for(plan: Plan) -> list[Kind]:
    """Return all kinds, those that fit a Plan first."""
    found = [
        Kind(name, str(kind.title), str(kind.sentence), is_possible=kind.form(plan) is not None)
        for name, kind in releases.kinds().items()
    ]
    return sorted(found, key=lambda kind: not kind.is_possible)


@never_cache
@login_required
@require_safe
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    """List what can be asked of a study."""
    study, plan = _study_to_ask(request, slug)
    found = kinds_for(plan)
    context = {"kinds": found, "possible": sum(kind.is_possible for kind in found), **_common(study, plan)}
    return render(request, "dashboard/ask.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def ask_kind(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Show the form of one kind; then what it would cost; then, confirmed, hand it to a worker."""
    study, plan = _study_to_ask(request, slug)
    found = releases.kinds().get(kind)
    form_class = found.form(plan) if found else None
    if found is None or form_class is None:
        raise Http404("nothing in this study can be asked so")
    form = in_our_words(form_class(request.POST) if request.method == "POST" else form_class())
    in_the_readers_language(form, plan)
    context: dict[str, Any] = {
        "kind": Kind(kind, str(found.title), str(found.sentence), is_possible=True),
        "form": form,
        **_common(study, plan),
    }
    if form.is_bound and form.is_valid() and "change" not in request.POST:
        try:
            preview = preview_of(plan, kind, form, request)
            if request.POST.get("confirmed") == preview.seen:
                return _confirm(study, plan, kind, form, request)
            context |= {"preview": preview, "moved": "confirmed" in request.POST}
        except (Refused, ValueError) as refusal:
            tell(form, refusal)
        except services.CannotAsk as refusal:
            context["reason"] = str(refusal)
    return render(request, "dashboard/ask_kind.html", context)


def in_the_readers_language(form: forms.Form, plan: Plan) -> None:
    """Offer questions and answers as the reader's language calls them, where the Plan says how."""
    said: dict[str, str] = {}
    for question, spoken in zip(plan.content["questions"], plan.spoken["questions"], strict=True):
        said |= dict(zip(question["choices"], spoken["choices"], strict=True)) | {question["label"]: spoken["label"]}
    for field in form.fields.values():
        if isinstance(field, forms.ChoiceField):
            offered: Any = field.choices
            field.choices = [(value, said.get(str(label), label)) for value, label in offered]


def in_our_words(form: forms.Form) -> forms.Form:
    """Have a form say what is wrong as the rest of the site does."""
    for field in form.fields.values():
        field.error_messages |= {"required": _("This is needed."), "invalid": _("This must be a number.")}
        for validator in field.validators:
            if isinstance(validator, MinValueValidator | MaxValueValidator):
                validator.message = AT_LEAST if isinstance(validator, MinValueValidator) else AT_MOST
    return form


def preview_of(plan: Plan, kind: str, form: forms.Form, request: HttpRequest) -> Preview:
    asked = releases.read(plan, kind, form.cleaned_data)
    if problem := releases.too_dear(plan, asked):
        raise Refused("epsilon", problem)
    people_counted = releases.people_counted(plan)
    return Preview(
        asked=asked,
        title=releases.heading(plan, asked),
        bill=bill_of(plan, asked, who=who(request), now=_now()),
        crowd=crowd_of(plan, asked, people_counted),
        people=people_counted,
        expected=asked.expected(people_counted),
        seen=releases.digest_now(plan, asked),
        same=releases.same_request(plan, asked),
    )


def _confirm(study: Study, plan: Plan, kind: str, form: forms.Form, request: HttpRequest) -> HttpResponse:
    made = services.ask_for(plan=plan, kind=kind, parameters=form.cleaned_data, who=who(request), now=_now())
    if drawn := releases.drawn(made):
        return redirect(f"{reverse('dashboard:release', args=[study.slug, drawn.entry.number])}?again")
    return redirect("dashboard:asked", study.slug, made.digest)


def tell(form: forms.Form, refusal: Exception) -> None:
    """Put a refusal beside the field it is about, or above all if there is none."""
    field = getattr(refusal, "field", None)
    text = str(getattr(refusal, "expected", refusal))
    form.add_error(field if field in form.fields else None, f"{text[:1].upper()}{text[1:]}.")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def asked(request: HttpRequest, slug: str, digest: str) -> HttpResponse:
    """Wait for what was asked for; go to it once it is drawn; ask again for what could not be paid."""
    study = get_object_or_404(people.studies_of(request.user), slug=slug)
    found = releases.request_named(study, digest)
    if found is None:
        raise Http404("nothing was asked so")
    if request.method == "POST":
        if not people.may(request.user, Right.ASK, study):
            raise PermissionDenied
        found = services.confirm(request_id=found.pk, who=who(request), now=_now())
        return redirect("dashboard:asked", slug, digest)
    if drawn := releases.drawn(found):
        return redirect("dashboard:release", slug, drawn.entry.number)
    context = {
        "study": study,
        "asked_for": found,
        "title": releases.heading(found.plan, releases.asked_of(found)),
        "may_ask": people.may(request.user, Right.ASK, study),
        "is_late": (is_late := _now() - found.confirmed_at > LATE),
    }
    response = render(request, "dashboard/asked.html", context)
    if not found.refused:
        response["Refresh"] = str(
            LOOK_AGAIN_LATE if is_late else LOOK_AGAIN
        )  # a header: no script, and no inline instruction
    return response


def _study_to_ask(request: HttpRequest, slug: str) -> tuple[Study, Plan]:
    """Return a study whose budget the user may spend, with its newest Plan."""
    study = get_object_or_404(people.studies_of(request.user), slug=slug)
    if not people.may(request.user, Right.ASK, study):
        raise PermissionDenied
    plan = design.latest_plan(slug)
    if plan is None or study.budget_id is None:
        raise Http404("this study has not opened")
    return study, plan


def _common(study: Study, plan: Plan) -> dict[str, Any]:
    spending = Statement(ledger.account(plan.study.budget_id))  # type: ignore[arg-type]  # an open study has one
    return {
        "study": study,
        "plan": plan,
        "reason": releases.may_ask(plan, _now().date()),
        "spending": spending,
        "back": reverse("dashboard:study", args=[study.slug]),
    }


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
