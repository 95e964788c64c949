"""The list of a study, for its owners: how many it holds, who they are, people to add, one to
remove.
"""

import re
from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST, require_safe

from surveys.design.models import Study
from surveys.design.refusals import Refused
from surveys.erasing import InUse
from surveys.invited import selectors, services
from surveys.invited.access import of_owners
from surveys.invited.forms import AddForm, EraseForm, ReturnedForm
from surveys.people import services as accounts
from surveys.people.access import today
from surveys.people.models import User

ON_A_PAGE = 50
REFERENCE = re.compile("[0-9a-f]{32}")


@of_owners
@require_safe
def show(request: HttpRequest, study: Study) -> HttpResponse:
    return _page(request, study)


def _page(request: HttpRequest, study: Study, status: int = 200, **more: Any) -> HttpResponse:
    """Show the list, and write down who read it: its other owners are told."""
    accounts.note_reading(study=study, reader=cast(User, request.user))
    chosen = selectors.chosen(study, request.GET.get("find", ""))
    is_draft = not (study.plan or study.is_retired)
    problems = selectors.problems(study) if is_draft else []
    page = Paginator(chosen, ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "sizes": selectors.strata_of(study),
        "page": page,
        "people": list(selectors.people_of(study, page.object_list)),
        "find": request.GET.get("find", ""),
        "form": AddForm(languages=selectors.languages_of(study)),
        "returned": ReturnedForm(),
        "erase": EraseForm(initial={"day": selectors.erased_on(study)}),
        "is_open": bool(study.plan and study.plan.is_open),
        "problems": problems,
        "is_ready": is_draft and not problems,
        **more,
    }
    return render(request, "invited/list.html", context, status=status)


def _person(request: HttpRequest) -> str:
    """Return the reference that was sent, or nothing where it can be nobody's."""
    sent = request.POST.get("person", "")
    return sent if REFERENCE.fullmatch(sent) else ""


@of_owners
@require_POST
def add(request: HttpRequest, study: Study) -> HttpResponse:
    """Put people on the list: all that were given, or none, with every problem named; or those
    without a problem, where the rest was asked for. Who is on it already stays as they are.
    """
    form = AddForm(request.POST, request.FILES, languages=selectors.languages_of(study))
    if not form.is_valid():
        return _page(request, study, status=400, form=form)
    found, many = form.found, form.cleaned_data["count"]
    is_rest, known, added = form.cleaned_data["rest"] and bool(found.rest), 0, many or 0
    try:
        if many:
            stratum = " ".join(form.cleaned_data["stratum"].split())
            services.add_unnamed(study_id=study.pk, count=many, stratum=stratum)
        elif is_rest or not found.count:
            new = services.not_there_yet(study, found.rest)
            known, added = len(found.rest) - len(new), len(new)
            wrong = services.add_people(study_id=study.pk, entries=new) if new else []
            for each in wrong:
                found.wrong(each.text, each.row, each.column)
            is_rest = is_rest and not wrong
    except Refused as refusal:
        found.wrong(str(refusal))
        is_rest = False
    if found.count and not is_rest:
        return _page(request, study, status=400, form=form, found=found)
    _say_added(request, added, known, len(found.entries) - len(found.rest))
    return redirect("invited:list", study.slug)


def _say_added(request: HttpRequest, added: int, known: int, left_out: int) -> None:
    text = ngettext("%(count)s person was added.", "%(count)s people were added.", added)
    said = [text % {"count": added}]
    if known:
        text = ngettext(
            "%(count)s was on the list already, and stays as they are.",
            "%(count)s were on the list already, and stay as they are.",
            known,
        )
        said.append(text % {"count": known})
    if left_out:
        text = ngettext("%(count)s row was left out.", "%(count)s rows were left out.", left_out)
        said.append(text % {"count": left_out})
    messages.success(request, " ".join(said))


@of_owners
@require_POST
def remove(request: HttpRequest, study: Study) -> HttpResponse:
    """Take somebody off the list, and say the same whether they had fetched a ticket or not."""
    try:
        services.remove_person(study_id=study.pk, reference=_person(request))
        text = _("Removed, and erased. A ticket that was fetched still counts.")
        messages.success(request, text)
    except (InUse, Refused) as refusal:
        busy = _("A backup reads the list just now. Nothing was removed: try again in a minute.")
        messages.error(request, busy if isinstance(refusal, InUse) else str(refusal))
    return redirect("invited:list", study.slug)


@of_owners
@require_POST
def lost(request: HttpRequest, study: Study) -> HttpResponse:
    """Let somebody who lost their ticket fetch another, whether they had one or not."""
    if study.is_invited:
        services.reissue(study=study, reference=_person(request))
        text = _("If a ticket had been fetched, another can be, once. It is counted in public.")
        messages.success(request, text)
    return redirect("invited:list", study.slug)


@of_owners
@require_POST
def returned(request: HttpRequest, study: Study) -> HttpResponse:
    """Mark the addresses to which letters could not be delivered."""
    form = ReturnedForm(request.POST, request.FILES)
    found = form.addresses() if form.is_valid() else set()
    count = services.note_returned(study=study, addresses=found) if study.is_invited else 0
    text = ngettext(
        "%(count)s address of the list was marked: no further emails go to it.",
        "%(count)s addresses of the list were marked: no further emails go to them.",
        count,
    )
    messages.success(request, text % {"count": count})
    return redirect("invited:list", study.slug)


@of_owners
@require_POST
def again(request: HttpRequest, study: Study) -> HttpResponse:
    """Have letters sent again to somebody to whom one came back, to another address or the same."""
    reference, address = _person(request), request.POST.get("address", "")
    try:
        services.write_again(study_id=study.pk, reference=reference, address=address)
        messages.success(request, _("The next email goes there."))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("invited:list", study.slug)


@of_owners
@require_POST
def erase(request: HttpRequest, study: Study) -> HttpResponse:
    """Choose the day on which the list is erased."""
    form = EraseForm(request.POST)
    try:
        if not form.is_valid() or (form.cleaned_data["day"] or today()) < today():
            raise Refused(_("This day is not in the future. Nothing was changed."))
        services.set_erasure(study=study, day=form.cleaned_data["day"])
        messages.success(request, _("Saved."))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("invited:list", study.slug)
