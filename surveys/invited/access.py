"""Who may open the pages of a list: the owners of its study, and no admin."""

from functools import wraps

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from surveys.design.models import Study
from surveys.issuer.refusals import Away
from surveys.people.access import View, of_study
from surveys.people.models import Right


def of_owners(view: View) -> View:
    """Hand a view the study of its address, if whoever is signed in owns it."""

    @of_study(Right.INVITE)
    @wraps(view)
    def view_of_list(request: HttpRequest, study: Study, **parts: object) -> HttpResponse:
        try:
            return view(request, study, **parts)
        except Away:
            text = _("The issuer of tickets cannot be reached. Nothing was changed: try again.")
            messages.error(request, text)
            return redirect("invited:list", study.slug)

    return view_of_list
