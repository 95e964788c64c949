"""Accounts with a second factor, and what their app shows."""

import time
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.test import Client

SECRET = "JBSWY3DPEHPK3PXP"
PASSWORD = "a long password"


def shown_by_app(secret: str = SECRET, steps: int = 0) -> str:
    """Return what an authenticator app shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps)))


def sign_in(client: Client, name: str, **headers: Any) -> Any:
    return client.post("/accounts/login/", {"login": name, "password": PASSWORD}, **headers)


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
