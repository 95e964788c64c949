"""Pages of one's own account, and the link that sets its password."""

from typing import Any, cast

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.views import password_reset as allauth_password_reset
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from surveys.people import factors, services
from surveys.people.forms import AccountForm, PasswordForm
from surveys.people.invitations import NotOpen, holder_of
from surveys.people.models import User
from surveys.people.wording import PROBLEMS

INVITATION = "invitation"  # in the session: the link that was opened


@login_required
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Show an account to whom it belongs, and change how others see it."""
    user = cast(User, request.user)
    form = AccountForm(request.POST or None, instance=User.objects.get(pk=user.pk))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        return redirect("people:account")
    return render(request, "people/account.html", {"form": form, **about(user)})


def about(user: User) -> dict[str, Any]:
    """Return what the page says of somebody's second factor and sessions."""
    found = list(Authenticator.objects.filter(user=user).order_by("created_at"))
    codes = next((each for each in found if each.type == Authenticator.Type.RECOVERY_CODES), None)
    return {
        "app": next((each for each in found if each.type == Authenticator.Type.TOTP), None),
        "keys": [each for each in found if each.type == Authenticator.Type.WEBAUTHN],
        "codes": None if codes is None else len(codes.wrap().get_unused_codes()),
        "is_needed": factors.must_show(user),
        "others": len(services.sessions_of(user)) - 1,
    }


@login_required
@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Say what a second factor is, and lead to the ways of setting one up."""
    user = cast(User, request.user)
    return render(request, "people/second_factor.html", about(user) | {"has_one": factors.has_factor(user)})


@login_required
@require_POST
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out everywhere but here."""
    ended = services.end_other_sessions(user=cast(User, request.user), kept=request.session.session_key)
    said = ngettext("Signed out in %(n)s other browser.", "Signed out in %(n)s other browsers.", ended) % {"n": ended}
    messages.success(request, said)
    return redirect("people:account")


def invitation_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open a link: keep it out of the address of the page that follows, where it could be read or passed on."""
    try:
        holder_of(token)
    except NotOpen as refusal:
        return not_open(request, refusal)
    request.session[INVITATION] = token
    return redirect("people:invitation")


@never_cache
@sensitive_post_parameters()
def invitation(request: HttpRequest) -> HttpResponse:
    """Set a password by a link that was opened."""
    try:
        user = holder_of(request.session.get(INVITATION, ""))
    except NotOpen as refusal:
        return not_open(request, refusal)
    form = PasswordForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        logout(request)  # whoever was signed in here before
        return sign_in_by_password(request, user)
    return render(request, "people/invitation.html", {"form": form, "holder": user})


def sign_in_by_password(request: HttpRequest, user: User) -> HttpResponse:
    """Sign in who has just set a password, which need not be typed once more; a second factor is asked for as ever."""
    record_authentication(request, user, method="password", username=user.username, reauthenticated=True)
    response: HttpResponse = perform_login(request, Login(user=user))
    return response


def not_open(request: HttpRequest, refusal: NotOpen) -> HttpResponse:
    return render(request, "people/link.html", {"problem": PROBLEMS[refusal.problem]}, status=410)


def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Mend a lost password by a letter, where letters can be sent; else say who can."""
    if not settings.EMAIL_CONFIGURED:
        return render(request, "account/password_reset.html", {"by_admin": True})
    response: HttpResponseBase = allauth_password_reset(request)
    return response
