"""Queries: what can be asked and what it would cost; the wait; the numbers, as page and file."""

import datetime
from contextlib import suppress

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys import clock
from surveys.actor import actor
from surveys.design.models import Plan, Study
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Statement
from surveys.people import selectors as people
from surveys.people.models import Right
from surveys.releases import selectors as releases, services
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.reconstruction import crowding_of
from surveys.releases.selectors import Publication
from surveys.results import exports
from surveys.results.access import study_page, with_plan, with_study
from surveys.results.cost_preview import preview_of
from surveys.results.forms import add_refusal, form_of, speak_the_readers_language
from surveys.results.loss_picture import LossPicture
from surveys.results.publications import shown_of
from surveys.results.tables import csv_of, people_csv

LATE = datetime.timedelta(minutes=1)  # from here on a page says that it takes longer than usual
LOOK_AGAIN = {False: 2, True: 15}  # seconds, while a worker draws, and when it is late


@with_plan
@require_safe
def ask(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """List what can be asked of a study."""
    _check_right(request, plan.study)
    kinds = releases.kinds().values()
    possible = [kind for kind in kinds if kind.form(plan) is not None]
    others = [(kind, kind.lacks(plan)) for kind in kinds if kind not in possible]
    crowding = crowding_of(plan)
    return _asking_page(request, "ask", plan, kinds=possible, others=others, crowding=crowding)


@with_plan
@require_POST
def publish_anyway(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Have the rule publish intervals that say next to nothing."""
    _check_right(request, plan.study)
    with suppress(services.CannotAsk):  # it has enough answers meanwhile, and publishes
        services.publish_anyway(plan=plan, who=actor(request), now=timezone.now())
    return redirect("dashboard:study", plan.study.slug)


@with_plan
@require_http_methods(["GET", "HEAD", "POST"])
def ask_kind(request: HttpRequest, plan: Plan, *, shared: bool, kind: str) -> HttpResponse:
    """Show the form of one kind; then what it would cost; then, confirmed, hand it to a worker."""
    _check_right(request, plan.study)
    query = releases.kinds().get(kind)
    form_class = query.form(plan) if query else None
    if form_class is None:
        raise Http404("nothing in this study can be asked so")
    form = form_of(form_class, request)
    speak_the_readers_language(form, plan)
    context: dict[str, object] = {"kind": query, "form": form}
    if form.is_bound and form.is_valid() and "change" not in request.POST:
        who, now = actor(request), timezone.now()
        try:
            preview = preview_of(plan, kind, form.cleaned_data, asker=who, now=now)
            if request.POST.get("confirmed") == preview.seen:
                asked_for = services.ask_for(
                    plan=plan, kind=kind, parameters=form.cleaned_data, who=who, now=now
                )
                if drawn := releases.drawn(asked_for):
                    address = reverse(
                        "dashboard:release", args=[plan.study.slug, drawn.entry.number]
                    )
                    return redirect(f"{address}?again")
                return redirect("dashboard:asked", plan.study.slug, asked_for.digest)
            context |= {"preview": preview, "moved": "confirmed" in request.POST}
        except (WrongParameter, ValueError) as refusal:
            add_refusal(form, refusal)
        except services.CannotAsk as refusal:
            context["reason"] = str(refusal)
    return _asking_page(request, "ask_kind", plan, **context)


def _check_right(request: HttpRequest, study: Study) -> None:
    """Raise where the user may not use the budget of a study."""
    if not people.may(request.user, Right.ASK, study):
        raise PermissionDenied


def _asking_page(
    request: HttpRequest, template: str, plan: Plan, **context: object
) -> HttpResponse:
    common = {
        "reason": releases.may_ask(plan, timezone.now().date()),
        "spending": _statement(plan.study),
        "back": reverse("dashboard:study", args=[plan.study.slug]),
    }
    return study_page(request, template, plan, shared=True, **{**common, **context})


def _statement(study: Study) -> Statement:
    return Statement(ledger.account(study.budget_id))  # type: ignore[arg-type]  # it has opened


@with_study
@require_http_methods(["GET", "HEAD", "POST"])
def asked(request: HttpRequest, study: Study, *, shared: bool, digest: str) -> HttpResponse:
    """Wait for what was asked for; go to it once it is drawn; ask again if it was refused."""
    asked_for = releases.request_named(study, digest)
    if asked_for is None:
        raise Http404("nothing was asked so")
    now = timezone.now()
    if request.method == "POST":
        _check_right(request, study)
        services.confirm(request_id=asked_for.pk, who=actor(request), now=now)
        return redirect("dashboard:asked", study.slug, digest)
    if drawn := releases.drawn(asked_for):
        return redirect("dashboard:release", study.slug, drawn.entry.number)
    is_late = now - asked_for.confirmed_at > LATE
    context = {
        "study": study,
        "asked_for": asked_for,
        "title": releases.title_of(asked_for),
        "may_ask": people.may(request.user, Right.ASK, study),
        "is_late": is_late,
        "reason": "" if asked_for.refused else clock.doubt(),
    }
    response = render(request, "results/asked.html", context)
    if not asked_for.refused:  # a header: no script, and no inline instruction
        response["Refresh"] = str(LOOK_AGAIN[is_late])
    return response


@with_study
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, study: Study, *, shared: bool, number: int) -> HttpResponse:
    """Show one release; in a series that takes questions, take the next of who may ask."""
    publication = _numbered(study, number)
    series, plan = publication.series, publication.request.plan
    form_class = None
    if series is not None:
        form_class = releases.interactive_query_of(publication.request).question_form()
    form, places = None, []
    goes_on = series is not None and not series.is_over and not study.retired_on
    if shared and goes_on and form_class and people.may(request.user, Right.ASK, study):
        form, names = form_of(form_class, request), publication.query.names
        places = [question for question in plan.spoken.questions if question.name in names]
    if request.method == "POST":
        if form is None or series is None:
            raise PermissionDenied
        if form.is_valid():
            question = form.cleaned_data
            try:
                services.take_step(series_id=series.pk, now=timezone.now(), question=question)
                return redirect("dashboard:release", study.slug, number)
            except (services.CannotAsk, WrongParameter) as refusal:
                add_refusal(form, refusal)
    statement = _statement(study)
    return study_page(
        request,
        "release",
        plan,
        shared=shared,
        formats=exports.offered(),
        lacking=exports.lacking(),
        publication=publication,
        shown=shown_of(publication),
        loss=LossPicture.of(publication) if publication.drawn else None,
        statement=statement,
        line=next(line for line in statement.rows if line.entry.pk == publication.entry.pk),
        question_form=form,
        takes_questions=form_class is not None,
        places=places,
        again="again" in request.GET,
    )


@with_study
@require_safe
def release_file(request: HttpRequest, study: Study, *, shared: bool, number: int) -> HttpResponse:
    """Give the tables of a release, of a series step after step; or its synthetic set."""
    publication = _numbered(study, number)
    if "synthetic" in request.GET:
        content = publication.drawn[-1].content if publication.drawn else None
        if content is None or not content.people:
            raise Http404("this release holds no synthetic set")
        text, suffix = people_csv(content), "-synthetic"
    else:
        text, suffix = csv_of(publication), ""
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    name = f"{study.slug}-{publication.number}{suffix}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _numbered(study: Study, number: int) -> Publication:
    publication = releases.publication_numbered(study, number)
    if publication is None:
        raise Http404("no release has this number")
    return publication
