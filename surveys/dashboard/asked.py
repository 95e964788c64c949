"""What was asked for and drawn: its numbers, what they cost, and how they were made; for files too."""

import datetime
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from surveys.dashboard.asking import in_our_words, tell
from surveys.dashboard.results import Block, blocks_of, results_of
from surveys.dashboard.sheets import Sheet, csv_of, people_csv, sheets_of
from surveys.design.models import Study
from surveys.ledger.queries import Line, Statement, account
from surveys.people import queries as people
from surveys.people.models import Right
from surveys.releases import queries as releases
from surveys.releases import services
from surveys.releases.models import Step
from surveys.releases.queries import Publication


@dataclass(frozen=True, slots=True)
class Shown:
    """The numbers of a release, or of one step of a series."""

    numbers: dict[str, Any]
    step: Step | None
    sheets: list[Sheet]
    blocks: list[Block]  # where they are shares of answers, which have pictures of their own

    @property
    def made_up(self) -> int:
        """Return how many made-up people a synthetic set holds, 0 where there is none."""
        return sum(row[-1] for row in self.numbers.get("people", []))

    @property
    def method(self) -> str:
        return str(self.numbers["method"])

    @property
    def notes(self) -> list[str]:
        return list(self.numbers.get("notes", []))

    @property
    def derived(self) -> list[str]:
        return list(self.numbers.get("derived", []))


def shown_of(publication: Publication) -> list[Shown]:
    """Return the numbers of a release, or those of all steps of a series, newest first."""
    if publication.release is not None:
        return [_shown(publication.release.numbers, publication, None)]
    return [_shown(step.numbers, publication, step) for step in reversed(publication.steps)]


def _shown(numbers: dict[str, Any], publication: Publication, step: Step | None) -> Shown:
    made = step or publication.release
    shares = results_of(made) if made is not None and "questions" in numbers else []
    return Shown(numbers, step, [] if shares else sheets_of(numbers), blocks_of(shares))


def summary_of(publication: Publication) -> str:
    """Return what a list says of a publication at once: its only number with its interval, or the first step's word."""
    shown = shown_of(publication)
    found = shown[0].sheets[0].one if shown and shown[0].sheets else None
    if found is None:
        return ""
    return f"{found.value} ({found.interval})" if found.interval else found.value


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show one release to those whom the study is shared with; in a series that takes questions, take the next."""
    study = get_object_or_404(people.studies_of(request.user), slug=slug)
    publication = _numbered(study, number)
    question_form = _question_form(request, study, publication)
    if request.method == "POST":
        if question_form is None:
            raise PermissionDenied
        if question_form.is_valid() and _take(publication, question_form):
            return redirect("dashboard:release", slug, number)
    return _show(request, study, publication, shared=True, question_form=question_form)


@require_safe
def public_release(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show one release to everyone, if the study's Plan says that its results are for everyone."""
    study = people.readable_study(slug, request.user)
    return _show(request, study, _numbered(study, number), shared=False, question_form=None)


@never_cache
@login_required
@require_safe
def release_file(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Give one release as a file to those whom the study is shared with."""
    study = get_object_or_404(people.studies_of(request.user), slug=slug)
    return _file(request, study, _numbered(study, number))


@require_safe
def public_file(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    study = people.readable_study(slug, request.user)
    return _file(request, study, _numbered(study, number))


def _numbered(study: Study, number: int) -> Publication:
    found = releases.publication_numbered(study, number)
    if found is None:
        raise Http404("no release has this number")
    return found


def _show(
    request: HttpRequest,
    study: Study,
    publication: Publication,
    *,
    shared: bool,
    question_form: forms.Form | None,
) -> HttpResponse:
    context = {
        "study": study,
        "plan": publication.request.plan,
        "publication": publication,
        "shown": shown_of(publication),
        "shared": shared,
        "line": _line(publication),
        "question_form": question_form,
        "takes_questions": _takes_questions(publication),
        "places": _places(publication) if question_form else [],
        "again": request.GET.get("again") is not None,
    }
    return render(request, "dashboard/release.html", context)


def _takes_questions(publication: Publication) -> bool:
    if publication.series is None:
        return False
    return releases.standing_of(publication.request).question_form(publication.request.plan) is not None


def _places(publication: Publication) -> list[dict[str, Any]]:
    """Return the questions whose choices a reader names by their places, with these choices in the Plan's order."""
    names = publication.asked.questions
    return [question for question in publication.request.plan.spoken["questions"] if question["name"] in names]


def _line(publication: Publication) -> tuple[Statement, Line]:
    """Return the study's statement, with the line that paid for this."""
    statement = Statement(account(publication.request.plan.study.budget_id))  # type: ignore[arg-type]
    return statement, next(line for line in statement.rows if line.entry.pk == publication.entry.pk)


def _question_form(request: HttpRequest, study: Study, publication: Publication) -> forms.Form | None:
    """Return the form for the next question of a series, if it takes any from this reader."""
    series = publication.series
    if series is None or series.is_over or study.retired_on or not people.may(request.user, Right.ASK, study):
        return None
    form = releases.standing_of(publication.request).question_form(publication.request.plan)
    if form is None:
        return None
    return in_our_words(form(request.POST) if request.method == "POST" else form())


def _take(publication: Publication, form: forms.Form) -> bool:
    """Take one step of a series; put a refusal into its form."""
    if publication.series is None:
        raise ValueError("expected a series")
    try:
        services.take_step(
            series_id=publication.series.pk, now=datetime.datetime.now(datetime.UTC), question=form.cleaned_data
        )
    except (services.CannotAsk, releases.Refused) as refusal:
        tell(form, refusal)
        return False
    return True


def _file(request: HttpRequest, study: Study, publication: Publication) -> HttpResponse:
    """Return the tables of a release, of a series step after step; or the synthetic set that it holds."""
    shown = shown_of(publication)
    made_up = "synthetic" in request.GET
    if made_up and not (shown and shown[0].made_up):
        raise Http404("this release holds no synthetic set")
    tables = [table for each in reversed(shown) for table in _tables(each)]
    text = people_csv(shown[0].numbers) if made_up else csv_of({"tables": tables})
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    suffix = "-synthetic" if made_up else ""
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{publication.number}{suffix}.csv"'
    return response


def _tables(shown: Shown) -> list[dict[str, Any]]:
    step = f"step {shown.step.number}: " if shown.step else ""
    return [{**table, "caption": f"{step}{table['caption']}"} for table in shown.numbers["tables"]]
