"""The second factor: who needs one, who has one, and whether this session showed it.

A password can be guessed, phished or read off a note. What an admin may do (set ε, see every study,
make accounts) is too much for that alone. A session is whole once it showed a code, a security key,
or a passkey that checked its owner.
"""

from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
    authenticator_used,
)
from allauth.mfa.webauthn.forms import LoginWebAuthnForm
from allauth.mfa.webauthn.internal.auth import parse_authentication_response
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext as _

from surveys.people.attempts import CODES, guess
from surveys.people.audit import note
from surveys.people.models import AuditRow, Right, User
from surveys.people.selectors import may

SHOWN = "second_factor"  # in the session: whose factor it saw
POWERS = (Right.SET_LIMITS, Right.MANAGE_STUDIES)
KINDS = (
    Authenticator.Type.TOTP,
    Authenticator.Type.WEBAUTHN,
)  # recovery codes stand in for one, and are none


def is_admin(user: User) -> bool:
    """Tell whether somebody can do what a password alone must not open."""
    return may(user, Right.ENTER) or any(may(user, power) for power in POWERS)


def must_show(user: User) -> bool:
    return bool(settings.ADMINS_NEED_SECOND_FACTOR) and is_admin(user)


def has_factor(user: User) -> bool:
    return bool(Authenticator.objects.filter(user=user, type__in=KINDS).exists())


def way_to_show(user: User) -> str:
    """Return the name of the page that asks for a factor somebody has: a code, or a key where
    there are no codes.
    """
    by_code = (
        Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.WEBAUTHN).exists()
    )
    return "mfa_reauthenticate" if by_code else "mfa_reauthenticate_webauthn"


def has_shown(request: HttpRequest, user: User) -> bool:
    """Tell whether this session saw a factor of this very account."""
    return bool(request.session.get(SHOWN) == str(user.pk))


@receiver([authenticator_used, authenticator_added], dispatch_uid="candor.people.remember_factor")
def remember_factor(request: HttpRequest, user: User, **kwargs: Any) -> None:
    """A factor was shown: at the sign-in, when asked again, or when it was set up, which takes
    showing it.
    """
    request.session[SHOWN] = str(user.pk)


@receiver(
    [authenticator_added, authenticator_removed, authenticator_reset],
    dispatch_uid="candor.people.note_factor",
)
def note_factor(user: User, **_signal: Any) -> None:
    note(AuditRow.What.FACTOR, who=user.pseudonym, whom=user)


class Counted:
    """A form for a code: each try counts, in the same way as one at a password."""

    user: User

    def clean_code(self) -> str:
        attempt = guess(context.request, f"code of {self.user.pk}", CODES)
        if isinstance(attempt, str):
            raise get_adapter().validation_error(attempt)
        code: str = super().clean_code()  # type: ignore[misc] # raises if it does not fit
        attempt.rollback()
        return code


class CodeForm(Counted, AuthenticateForm):  # type: ignore[misc] # allauth has no types
    """A code after the password."""


class CodeAgainForm(Counted, ReauthenticateForm):  # type: ignore[misc] # allauth has no types
    """A code of somebody who is signed in."""


class PasskeyForm(LoginWebAuthnForm):  # type: ignore[misc] # allauth has no types
    """Sign in with a passkey alone. It must have checked who holds it, else it is one factor and
    not two.
    """

    def clean_credential(self) -> Authenticator:
        authenticator = super().clean_credential()
        answer = parse_authentication_response(self.cleaned_data["credential"])
        if not answer.response.authenticator_data.is_user_verified():
            raise ValidationError(
                _("This key did not check that it is you. Sign in with your password first.")
            )
        return authenticator


@receiver(user_logged_in)
def end_with_the_browser(request: HttpRequest | None, **_signal: Any) -> None:
    """Let a session end with the browser, whichever way somebody signed in."""
    if request is not None:
        request.session.set_expiry(0)
