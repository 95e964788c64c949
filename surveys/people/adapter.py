"""How allauth behaves here: an admin makes accounts, nobody signs up, and a QR code obeys the
page's rules.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _, gettext_lazy

from surveys.charts.codes import QrCode
from surveys.people.attempts import PASSWORDS, guess

SILENT = ("logged_in.txt", "logged_out.txt")  # the page that follows shows it already

GUESSED = {
    "too_many_login_attempts": gettext_lazy(
        "Too many wrong tries from here. Wait five minutes, or use a passkey."
    ),
    "tried_elsewhere": gettext_lazy(
        "This name is tried from many places, so only some tries are looked at. Try again, or use "
        "a passkey."
    ),
}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth has no types
    error_messages = (
        DefaultAccountAdapter.error_messages
        | GUESSED
        | {
            "username_password_mismatch": gettext_lazy(
                "No account has this name with this password. Capital and small letters count as "
                "different."
            ),
        }
    )

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count this try at a password, or refuse to look at it; allauth takes the count back if
        it fits.
        """
        attempt = guess(request, credentials.get("username", ""), PASSWORDS)
        if isinstance(attempt, str):
            raise self.validation_error(attempt)
        self._login_failed_rl_usage = attempt

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("people:account")

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str = "",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Say what happened, unless the next page shows it by itself."""
        if not (message_template or "").endswith(SILENT):
            super().add_message(request, level, message_template, *args, **kwargs)


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc] # allauth has no types
    error_messages = (
        DefaultMFAAdapter.error_messages
        | GUESSED
        | {
            "incorrect_code": gettext_lazy(
                "This code does not fit. Codes change every 30 seconds: take the newest."
            ),
        }
    )

    def build_totp_svg(self, url: str) -> str:
        """Return a QR code that stands in the page itself: no image address, no style, so the
        page's rules hold.
        """
        code = QrCode.of(url)
        return format_html(
            '<svg class="qr" viewBox="0 0 {0} {0}" role="img" aria-label="{1}"><path '
            'd="{2}"/></svg>',
            code.size,
            _("QR code for an authenticator app; the key below it says the same"),
            code.path,
        )

    def _get_site_name(self) -> str:
        return "Candor"

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        return _("My key")
