"""The page on which a draft is put together: texts, questions, their order, and the preview."""

import datetime
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys import languages
from surveys.design import blocks, revisions, waves
from surveys.design.drafts import (
    delete_question,
    duplicate_question,
    move_question,
    order_questions,
    restore_question,
    save_study,
)
from surveys.design.merging import merge
from surveys.design.models import Plan, Question, Study
from surveys.design.questions import is_scored
from surveys.design.readiness import Consequence, Readiness, consequence_of
from surveys.design.refusals import Refused
from surveys.design.revisions import OF_QUESTION, Overtaken, Since
from surveys.design.together import offer_declining, send_apart, send_together
from surveys.drafting.forms import TextsForm
from surveys.drafting.views.ways import to_build
from surveys.intake.pages import page_context
from surveys.invited import selectors as lists
from surveys.people.access import View, author, of_study, require, today
from surveys.people.models import Right
from surveys.plan import content as plans
from surveys.planning import selectors as planning

# What of a question people write, and what decides whether it is sent as one answer with others.
WRITTEN = sorted(OF_QUESTION.keys() - {"position", "epsilon", "together"})
JOINED = ("kind", "choices", "may_decline", "protection", "together")
ITSELF = {"frame-ancestors": ["'self'"]}  # the page on which it is built, and no other
LETTER = f".0.{'A' * 22}"  # in the link of the preview of a list's study: a code that nobody has


@of_study(Right.READ)
@require_safe
def build(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the draft: what it asks, what that gives away, and what it still lacks."""
    plan = study.plan
    if plan is not None or study.is_retired:
        context = {"study": study, "plan": plan, "no_next": waves.problem_of_next(study)}
        return render(request, "drafting/frozen.html", context)
    require(Right.EDIT, request, study)
    saved = request.session.pop(f"saved:{study.slug}", "")
    return render(request, "drafting/build.html", page_of(request, study, saved=saved))


@dataclass(frozen=True, slots=True)
class Item:
    """One question in the list of a draft."""

    question: Question
    kind: str
    condition: str  # the label of the question on whose answer it depends
    others: list[str]  # the labels of those that are sent as one answer with it
    consequence: Consequence
    problem: str

    @property
    def remarks(self) -> list[str]:
        """Say what else holds for it, each in a few words."""
        question, others = self.question, "”, “".join(self.others)
        said = {
            _("in a matrix"): question.group,
            _("depends on “%(label)s”") % {"label": self.condition}: question.asked_if,
            _("sent as one answer with “%(labels)s”") % {"labels": others}: self.others,
            _("stays together as “%(name)s”") % {"name": question.drawn_in}: question.drawn_in,
            question.get_matters_display(): question.matters != "useful",
        }
        return [str(text) for text, holds in said.items() if holds]


def kind_text(question: Question) -> str:
    if is_scored(question):
        return _("%(kind)s, its mean") % {"kind": Question.Kind.LIKERT.label}
    return str(question.get_kind_display())


def page_of(request: HttpRequest, study: Study, **more: str) -> dict[str, Any]:
    """Return what the page shows; `focus` is the id of the button that a change leaves it on."""
    revision = revisions.number(study)  # before all that is read of it
    readiness = Readiness(study, lists.part_of(study))
    problems, content = readiness.problems(author(request)["now"]), readiness.content
    texts = {problem.question: problem.text for problem in reversed(problems)}
    labels = {question.name: question.label for question in readiness.questions}
    offered = [translation.language for translation in readiness.translations]
    known = {study.language, *offered}
    items = [
        Item(
            question=question,
            kind=kind_text(question),
            condition=labels.get(question.asked_if, question.asked_if),
            others=[
                each.label
                for each in readiness.questions
                if question.together and each.together == question.together and each != question
            ],
            consequence=consequence_of(question),
            problem=texts.get(question.name, ""),
        )
        for question in readiness.questions
    ]
    # another address for each state of the draft: the preview's form checks the fingerprint
    digest = plans.digest(plans.canonical(content)) if content else ""
    address = reverse("drafting:preview", args=[study.slug])
    return {
        "study": study,
        "revision": revision,
        "items": items,
        "joinable": [each for each in readiness.questions if blocks.can_be_joined(each)],
        "answers": blocks.groups(readiness.questions).items(),
        "problems": problems,
        "declining": content
        and planning.declining(study, readiness.questions, content, lists.listed(study)),
        "loss": Consequence(loss=content.loss) if content else None,
        "asked": max((len(each) for each in content.drawn_sets), default=0) if content else 0,
        "outlook": content and planning.outlook(content, study.expected, lists.listed(study)),
        "language": languages.name(study.language),
        "offered": [(each, languages.name(each)) for each in offered],
        "languages": [pair for pair in languages.choices() if pair[0] not in known],
        "incomplete": {problem.language for problem in problems},
        "deleted": request.session.get(f"deleted:{study.slug}"),
        "imported": request.session.pop(f"imported:{study.slug}", None),
        "preview": f"{address}?draft={digest[:12]}#{digest}{LETTER if study.is_invited else ''}",
        **{name: request.GET.get(name, "") for name in ("focus", "moved", "to")},
        **more,
    }


@of_study(Right.EDIT)
@require_http_methods(["GET", "HEAD", "POST"])
def texts(request: HttpRequest, study: Study) -> HttpResponse:
    """Edit the study's own texts, and its terms."""
    context: dict[str, Any] = {"study": study, "revision": revisions.read(study)}
    if request.method != "POST":
        form = TextsForm(instance=study)
        return render(request, "drafting/texts.html", {**context, "form": form})
    try:
        typed = revisions.edit(
            study_id=study.pk,
            revision=request.POST.get("revision"),
            change=lambda held, since: _save_texts(request, held, since),
        )
    except Refused as refusal:  # it is no draft any more
        form = TextsForm(request.POST, instance=study)
        form.add_error(None, str(refusal))
        context |= {"form": form}
    else:
        if typed is None:
            return to_build(request, study)
        context |= typed
    status = 409 if context.get("conflicts") else 400
    return render(request, "drafting/texts.html", context, status=status)


def _save_texts(request: HttpRequest, study: Study, since: Since) -> dict[str, Any] | None:
    """Save what was typed, merged with what others saved; return what the page shows instead."""
    merged = merge(
        read=TextsForm(instance=since.draft),
        now=TextsForm(instance=copy(study)),
        data=request.POST,
        last=since.last,
    )
    form = TextsForm(merged.data, instance=study)
    if form.is_valid() and not merged.conflicts:
        try:
            save_study(study=study, fields=form.changed_data, **author(request))
            return None
        except Refused as refusal:
            form.add_error(None, str(refusal))
    return {"form": form, "conflicts": merged.conflicts, "revision": since.number}


def changes_questions(act: Callable[..., dict[str, str]]) -> View:
    """Show the questions as an act leaves them, or why it was refused.

    The act returns where the focus goes and what was moved; without scripts, the address says it.
    It is refused where somebody else has changed the same since the page was shown.
    """

    @require_POST
    @of_study(Right.EDIT)
    @wraps(act)
    def changed(request: HttpRequest, study: Study, **parts: str) -> HttpResponse:
        try:
            more = revisions.edit(
                study_id=study.pk,
                revision=request.POST.get("revision"),
                change=lambda held, since: act(request, held, since, **parts),
            )
        except Question.DoesNotExist as gone:
            raise Http404("no question of this name") from gone
        except Refused as refusal:
            context = page_of(request, study, refused=str(refusal))
            if isinstance(refusal, Overtaken):
                context |= {"overtaken": refusal.save}
            if getattr(request, "htmx", False):
                return render(request, "drafting/list.html", context)
            return render(request, "drafting/build.html", context, status=409)
        if getattr(request, "htmx", False):
            return render(request, "drafting/list.html", page_of(request, study, **more))
        address = reverse("drafting:build", args=[study.slug])
        return redirect(f"{address}?{urlencode(more)}#{more['focus']}" if more else address)

    return changed


@changes_questions
def order(request: HttpRequest, study: Study, since: Since) -> dict[str, str]:
    """Put the questions in the order in which they were dragged."""
    since.refuse(*(f"q{pk}.position" for pk in study.questions.values_list("pk", flat=True)))
    names = request.POST.get("names", "").split(",")
    order_questions(study_id=study.pk, names=names, **author(request))
    return {}


@changes_questions
def change(
    request: HttpRequest, study: Study, since: Since, name: str, change: str
) -> dict[str, str]:
    """Move a question up or down, copy it, or delete it."""
    by = author(request)
    if change in ("up", "down"):
        step = -1 if change == "up" else 1
        place = move_question(study_id=study.pk, name=name, by=step, **by)
        return {"moved": name, "to": str(place), "focus": f"{change}-{name}"}
    if change == "duplicate":
        copied = duplicate_question(study_id=study.pk, name=name, **by)
        return {"focus": f"edit-{copied.name}"}
    if change == "delete":
        since.refuse(*paths_of(study, [name], WRITTEN))
        deleted = delete_question(study_id=study.pk, name=name, **by)
        request.session[f"deleted:{study.slug}"] = deleted
        return {"focus": "undo"}
    raise Http404("no change of this name")


@changes_questions
def join(request: HttpRequest, study: Study, since: Since) -> dict[str, str]:
    """Send the questions that were ticked as one answer; or those of one each by itself."""
    by, names = author(request), request.POST.getlist("names")
    if together := request.POST.get("apart"):
        own = study.questions.filter(together=together).values_list("name", flat=True)
        since.refuse(*paths_of(study, own, ("together",)))
        send_apart(study_id=study.pk, together=together, **by)
    else:
        since.refuse(*paths_of(study, names, JOINED))
        send_together(study_id=study.pk, names=names, **by)
    return {"focus": "together"}


@changes_questions
def offer(request: HttpRequest, study: Study, since: Since) -> dict[str, str]:
    """Let people decline all questions of one choice that are randomised, or none of them."""
    own = study.questions.values_list("name", flat=True)
    since.refuse(*paths_of(study, own, ("may_decline", "codes", "kind", "protection")))
    offered = request.POST.get("offered") == "yes"
    offer_declining(study_id=study.pk, offered=offered, **author(request))
    return {"focus": "declining"}


def paths_of(study: Study, names: Iterable[str], fields: Iterable[str]) -> list[str]:
    """Return where a draft's revisions have these fields of these questions."""
    own = study.questions.filter(name__in=list(names)).values_list("pk", flat=True)
    return [f"q{pk}.{field}" for pk in own for field in fields]


@changes_questions
def undo(request: HttpRequest, study: Study, since: Since) -> dict[str, str]:
    """Bring back the question that was deleted last."""
    fields = request.session.pop(f"deleted:{study.slug}", None)
    if fields is None:
        return {}
    question = restore_question(study_id=study.pk, fields=fields, **author(request))
    return {"focus": f"edit-{question.name}"}


@require_safe
@xframe_options_sameorigin
@csp_replace(ITSELF)
@of_study(Right.READ)
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form of a draft, of what is fit to be asked."""
    content = Readiness(study, lists.part_of(study)).content
    if content is None:
        return render(request, "drafting/no_preview.html", {"study": study})
    wanted = request.GET.get("in", "")
    language = wanted if wanted in content.languages else content.language
    document = plans.canonical(content)
    draft = Plan(study=study, wave=study.wave, document=document, opened_on=today())
    with languages.speaking(language):
        form = page_context(draft, language, datetime.datetime.now(datetime.UTC))
        for spoken in form["languages"]:
            spoken["address"] = f"?in={spoken['code']}"
        context = {
            "study": form,
            "plurals": languages.samples(language),
            "preview": reverse("drafting:preview-plan", args=[study.slug]),
        }
        response = render(request, "drafting/preview.html", context)
    response["Referrer-Policy"] = "no-referrer"
    return response


@of_study(Right.READ)
@require_safe
def plan(request: HttpRequest, study: Study) -> HttpResponse:
    """Serve the draft as a Plan, for the preview alone."""
    content = Readiness(study, lists.part_of(study)).content
    body = plans.canonical(content) if content is not None else "{}"
    return HttpResponse(body, content_type="application/json; charset=utf-8")
