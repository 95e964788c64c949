"""Prove the settings at start, the way Django proves its own: an id, a sentence, a hint."""

import base64
import binascii
import hashlib
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured

LEAST_KEY, LEAST_LETTERS = 50, 5  # characters, and different ones, as Django's own check asks
LEAST_BYTES = 16  # different ones among a key's 32; a random key has fewer once in 10¹⁶
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@register(Tags.security)
def environment_can_be_read(**kwargs: Any) -> list[CheckMessage]:
    return [
        Error(f"{problem.variable}: expected {problem.expected}.", hint=problem.hint, id="candor.E001")
        for problem in settings.SETTINGS_PROBLEMS
    ]


@register(Tags.security)
def a_demo_stays_on_its_machine(**kwargs: Any) -> list[CheckMessage]:
    if not settings.CANDOR_DEMO or settings.CANDOR_HOST in LOOPBACK:
        return []
    message = f"CANDOR_DEMO=1 contradicts CANDOR_HOST={settings.CANDOR_HOST}: the demo's passwords are public."
    return [Error(message, hint="Unset CANDOR_DEMO, or leave CANDOR_HOST out.", id="candor.E008")]


@register(Tags.security)
def production_takes_nothing_for_granted(**kwargs: Any) -> list[CheckMessage]:
    return list(_production_errors()) if settings.PRODUCTION else []


def _production_errors() -> Iterator[CheckMessage]:
    if len(settings.SECRET_KEY) < LEAST_KEY or len(set(settings.SECRET_KEY)) < LEAST_LETTERS:
        yield Error(
            f"SECRET_KEY: production needs a key of its own, of {LEAST_KEY} characters or more.",
            hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))'",
            id="candor.E002",
        )
    if not _sound_publication_keys():
        yield Error(
            "PUBLICATION_KEYS: production needs keys of their own for answers that are sent as given, "
            "random, different, and nothing made of SECRET_KEY.",
            hint="Make one with: python -c "
            "'import base64, secrets; print(base64.b64encode(secrets.token_bytes(32)).decode())'",
            id="candor.E009",
        )
    if not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS: production needs the names it answers to, and * is not a name.",
            hint="Set ALLOWED_HOSTS=forms.example.org,candor.example.org",
            id="candor.E003",
        )
    if settings.DEBUG:
        yield Error(
            "DEBUG=1 contradicts CANDOR_MODE=production: its error pages show what people sent.",
            hint="Unset DEBUG, or set CANDOR_MODE=local.",
            id="candor.E004",
        )
    if settings.SQLITE:
        yield Error(
            "DATABASE_URL: production needs PostgreSQL; the embedded SQLite is for one machine.",
            hint="Set DATABASE_URL=postgres://user:password@host/name, or CANDOR_MODE=local.",
            id="candor.E005",
        )
    if settings.EMBEDDED_REDIS:
        yield Error(
            "REDIS_URL: production needs a Redis or Valkey server of its own.",
            hint="Set REDIS_URL=redis://host:6379/0, or CANDOR_MODE=local.",
            id="candor.E006",
        )
    if settings.CANDOR_DEMO:
        yield Error(
            "CANDOR_DEMO=1 contradicts CANDOR_MODE=production: it makes accounts with known passwords.",
            hint="Unset CANDOR_DEMO.",
            id="candor.E007",
        )


def _sound_publication_keys() -> bool:
    keys: tuple[bytes, ...] = settings.PUBLICATION_KEYS
    random = all(len(set(key)) >= LEAST_BYTES for key in keys)
    return bool(keys) and len(set(keys)) == len(keys) and random and not set(keys) & _made_of(settings.SECRET_KEY)


def _made_of(secret: str) -> set[bytes]:
    """Return the keys of 32 bytes that someone in a hurry would make of another secret."""
    found = {hashlib.sha256(secret.encode()).digest(), secret.encode()[:32], secret.encode()[-32:]}
    for decode in (base64.b64decode, base64.urlsafe_b64decode):
        try:
            whole = decode(secret + "=" * (-len(secret) % 4))
        except (binascii.Error, ValueError):
            continue
        found |= {whole, whole[:32], whole[-32:]}
    return found


def refuse_to_start_if_unsafe() -> None:
    """Run the system checks where Django would not: in the server, the worker and the beat."""
    errors = [message for message in run_checks() if message.is_serious()]
    if errors:
        raise ImproperlyConfigured("Candor does not start:\n" + "\n".join(str(error) for error in errors))
