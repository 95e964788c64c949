"""Letters to the people of a list: written, tried out, sent, stopped; and those that are printed.

Owners see numbers. No page shows who has fetched a ticket: for a reminder a program asks the
issuer, and whom it chose is forgotten when the reminder is out. Who works at it can learn it of one
person: by a code that they printed, or a reminder that nobody else can get.
"""

import smtplib
from collections.abc import Callable, Iterator
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys.actor import actor
from surveys.addresses import form_address
from surveys.charts.codes import QrCode
from surveys.design.models import Plan, Study
from surveys.design.refusals import Refused
from surveys.invited import letters, paper as printed, selectors, sending, services
from surveys.invited.access import of_owners
from surveys.invited.forms import LetterForm
from surveys.invited.lists import Entry
from surveys.invited.models import Letter
from surveys.languages import speaking
from surveys.people import services as accounts
from surveys.people.access import today
from surveys.people.models import AuditRow, User

KINDS = ("invitation", "reminder")
SAMPLE = "A" * 22  # a code that nobody has


def _open_plan(study: Study) -> Plan | None:
    plan = study.plan
    return plan if plan is not None and plan.is_open and plan.content.invited else None


@of_owners
@require_safe
def show(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how each letter goes, in numbers, and whose it is that are doubtful: that is a reading
    of the list.
    """
    plan = study.plan
    written = list(selectors.progress_of(study, plan)) if plan else []
    if any(each.addresses for each in written):
        accounts.note_reading(study=study, reader=cast(User, request.user))
    context = {
        "study": study,
        "plan": _open_plan(study),
        "letters": written,
        "is_configured": settings.EMAIL_CONFIGURED,
        "without": selectors.without_email(study),
        "parts": printed.parts(study),
    }
    return render(request, "invited/letters.html", context)


@of_owners
@require_http_methods(["GET", "HEAD", "POST"])
def write(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """Write a letter: look at it, send it to oneself, or have it sent on a day."""
    plan = _open_plan(study)
    if kind not in KINDS or plan is None:
        raise Http404("no letter can be written")
    form = LetterForm(
        request.POST or None,
        languages=plan.content.languages,
        columns=selectors.columns_of(study),
        today=today(),
        initial=_usual(plan, kind),
    )
    refused = said = ""
    acts = request.POST.get("do") != "change"  # from the sample, back to what was typed
    if request.method == "POST" and acts and form.is_valid():
        reminds = kind == "reminder"
        how: dict[str, Any] = {"plan": plan, "texts": form.texts, "origin": form_address(request)}
        try:
            if request.POST.get("do") == "try":
                said = _tried(request, how)
            elif request.POST.get("do") == "look":
                return _sample(request, plan, form)
            else:
                day = form.cleaned_data["day"]
                sending.schedule(**how, reminds=reminds, day=day, today=today())
                return redirect("invited:letters", study.slug)
        except Refused as refusal:
            refused = str(refusal)
    context = {
        "study": study,
        "kind": kind,
        "form": form,
        "refused": refused,
        "said": said,
        "names": sorted(letters.OWN | form.columns),
        "is_configured": settings.EMAIL_CONFIGURED,
    }
    status = 409 if refused else 400 if form.errors else 200
    return render(request, "invited/write.html", context, status=status)


def _usual(plan: Plan, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {"day": today()}
    for code in plan.content.languages:
        with speaking(code):
            usual = letters.usual(plan.content.spoken(code), reminds=kind == "reminder")
        found |= {f"subject_{code}": usual["subject"], f"text_{code}": usual["text"]}
    return found


def _tried(request: HttpRequest, how: dict[str, Any]) -> str:
    """Send a letter to who wrote it, and say so."""
    address = getattr(request.user, "email", "")
    if not address:
        raise Refused(_("Your account has no e-mail address: write one there first."))
    try:
        sending.send_sample(**how, address=address)
    except (OSError, smtplib.SMTPException) as error:
        text = _("The mail server did not accept it (%(kind)s).")
        raise Refused(text % {"kind": type(error).__name__}) from error
    return _("Sent to %(address)s. Its link fetches nothing.") % {"address": address}


def _sample(request: HttpRequest, plan: Plan, form: LetterForm) -> HttpResponse:
    """Show the letter as an invented person would get it, in each language."""
    origin = form_address(request)
    written = []
    for code in plan.content.languages:
        columns = {name: _("[%(column)s]") % {"column": name} for name in form.columns}
        entry = Entry("ada@example.org", _("Ada Example"), code, columns=columns)
        link = letters.link_of(plan, origin, 0, SAMPLE, code)
        written.append(letters.write(plan, form.texts, entry, link=link, origin=origin))
    context = {"study": plan.study, "form": form, "written": written}
    return render(request, "invited/sample.html", context)


@of_owners
@require_POST
def act(request: HttpRequest, study: Study, number: int, act: str) -> HttpResponse:
    """Stop a letter, go on, or decide about those that may have gone out or not."""
    plan = study.plan
    letter = Letter.objects.filter(plan=plan, pk=number).first()
    acts: dict[str, Callable[[Letter], None]] = {
        "stop": lambda of: sending.stop(of, today=today()),
        "go-on": lambda of: sending.go_on(of, today=today()),
        "send-again": lambda of: sending.decide(of, again=True),
        "leave": lambda of: sending.decide(of, again=False),
    }
    if letter is None or act not in acts:
        raise Http404("no letter of this number")
    acts[act](letter)
    return redirect("invited:letters", study.slug)


@of_owners
@require_http_methods(["GET", "HEAD", "POST"])
def paper(request: HttpRequest, study: Study) -> HttpResponse:
    """Make fresh codes for a file, or for pages to print: they stand there and nowhere else."""
    plan = _open_plan(study)
    if request.method != "POST" or plan is None:
        return redirect("invited:letters", study.slug)
    everybody, part = request.POST.get("whom") == "all", request.POST.get("part", "0")
    as_file = request.POST.get("as") == "file"
    chosen = printed.chosen(study, everybody=everybody)
    if not as_file:
        chosen = printed.part(chosen, int(part) if part.isdecimal() and len(part) < 6 else 0)
    with transaction.atomic():  # no code is made that its owners are not told of
        coded = services.new_codes(plan, chosen, origin=form_address(request), alone=True)
        what = AuditRow.What.EXPORT if as_file else AuditRow.What.CODES
        accounts.note(what, who=actor(request), study=study, many=len(coded))
    if as_file:
        response = HttpResponse(printed.as_csv(coded), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-letters.csv"'
        return response
    return render(request, "invited/paper.html", {"sheets": list(_sheets(plan, coded))})


def _sheets(plan: Plan, coded: list[services.Coded]) -> Iterator[dict[str, Any]]:
    """Yield what stands on each sheet, in its reader's language."""
    for each in coded:
        language = each.entry.language
        language = language if language in plan.content.languages else plan.content.language
        content = plan.content.spoken(language)
        with speaking(language):
            text = letters.usual_on_paper(plan, content, each.entry)
        yield {
            "language": language,
            "to": each.entry,
            "organisation": content.organisation,
            "title": content.title,
            "paragraphs": [part for part in text.split("\n\n") if part.strip()],
            "link": each.link,
            "code": QrCode.of(each.link),
        }
