"""What every page has: the version, the contact, and the menu of who runs the site."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext as _, gettext_lazy

from dpengine import __version__
from surveys.operations.models import Alarm
from surveys.people.models import Right
from surveys.people.selectors import may

MENU: tuple[tuple[Right, str, Promise], ...] = (
    (Right.SEE_HEALTH, "operations:health", gettext_lazy("Health")),
    (Right.SEE_ACCOUNTS, "people:accounts", gettext_lazy("People")),
    (Right.MANAGE_STUDIES, "limits:site", gettext_lazy("Limits")),
    (Right.SEE_PANELS, "limits:panels", gettext_lazy("Panels")),
    (Right.SEE_BUDGETS, "limits:ledger", gettext_lazy("Ledger")),
)


def site_menu(request: HttpRequest) -> dict[str, Any]:
    """Offer what an admin may open. Health has a mark where the last look found something wrong: a
    worker looks every few minutes, and no page does.
    """
    return {
        "site_menu": SimpleLazyObject(lambda: _links(request)),
        "version": __version__,
        "contact": settings.CONTACT,
    }


def _links(request: HttpRequest) -> list[dict[str, Any]]:
    user = getattr(request, "user", None)
    if user is None or not may(user, Right.ENTER):
        return []
    return [
        {
            "name": name,
            "address": reverse(view),
            "is_here": request.path == reverse(view),
            "mark": _mark(right),
        }
        for right, view, name in MENU
        if may(user, right)
    ]


def _mark(right: Right) -> str:
    """Return what is to be looked at behind a link; nothing if all is well."""
    is_wrong = right is Right.SEE_HEALTH and Alarm.objects.exists()
    return _("something wants a look") if is_wrong else ""
