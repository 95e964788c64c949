"""Accounts with a second factor, and what their app shows."""

from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.test import Client

SECRET = "JBSWY3DPEHPK3PXP"
PASSWORD = "a long password"
MOMENT = 1_780_000_000  # when it shows 000000 neither before nor after


def shown_by_app(secret: str = SECRET, steps: int = 0) -> str:
    """Return what an authenticator app shows now."""
    return str(format_hotp_value(hotp_value(secret, MOMENT // 30 + steps)))


def sign_in(client: Client, name: str, **headers: Any) -> Any:
    return client.post("/accounts/login/", {"login": name, "password": PASSWORD}, **headers)


@pytest.fixture(autouse=True)
def one_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no code lose its 30 seconds between the app and the site."""
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", SimpleNamespace(time=lambda: MOMENT))


@pytest.fixture
def strict(settings: Any) -> None:
    """As every site but the demo is."""
    settings.ADMINS_NEED_SECOND_FACTOR = True


@pytest.fixture
def guarded(admin_user: Any, strict: None) -> Any:
    """An admin with an authenticator app and recovery codes."""
    TOTP.activate(admin_user, SECRET)
    RecoveryCodes.activate(admin_user)
    return admin_user
