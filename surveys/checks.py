"""Prove the settings at start, the way Django proves its own: an id, a sentence, a hint."""

import base64
import binascii
import hashlib
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured

MIN_KEY, MIN_DIFFERENT = 50, 5  # characters, and different ones, as Django's own check asks
MIN_BYTES = 16  # different ones among a key's 32; a random key has fewer once in 10¹⁶
ENVIRONMENT = "environment"  # the tag of checks that need settings only, and no application
MIN_TOKEN = 32  # characters
NEEDS = {  # of production: what is wrong, and what to do
    "candor.E002": (
        f"SECRET_KEY: production needs a key of its own, of {MIN_KEY} characters or more.",
        "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))'",
    ),
    "candor.E009": (
        "PUBLICATION_KEYS: production needs keys of their own for answers that are sent as "
        "given, random, different, and nothing made of SECRET_KEY.",
        "Make one with: python -c "
        "'import base64, secrets; print(base64.b64encode(secrets.token_bytes(32)).decode())'",
    ),
    "candor.E003": (
        "ALLOWED_HOSTS: production needs the names it answers to, and * is not a name.",
        "Set ALLOWED_HOSTS=forms.example.org,candor.example.org",
    ),
    "candor.E004": (
        "DEBUG=1 contradicts CANDOR_MODE=production: its error pages show what people sent.",
        "Unset DEBUG, or set CANDOR_MODE=local.",
    ),
    "candor.E005": (
        "DATABASE_URL: production needs PostgreSQL; the embedded SQLite is for one machine.",
        "Set DATABASE_URL=postgres://user:password@host/name, or CANDOR_MODE=local.",
    ),
    "candor.E006": (
        "REDIS_URL: production needs a Redis or Valkey server of its own.",
        "Set REDIS_URL=redis://host:6379/0, or CANDOR_MODE=local.",
    ),
    "candor.E007": (
        "CANDOR_DEMO=1 contradicts CANDOR_MODE=production: it makes accounts with known passwords.",
        "Unset CANDOR_DEMO.",
    ),
}


@register(Tags.security, ENVIRONMENT)
def environment_can_be_read(**kwargs: Any) -> list[CheckMessage]:
    return [
        Error(
            f"{problem.variable}: expected {problem.expected}.", hint=problem.hint, id="candor.E001"
        )
        for problem in settings.SETTINGS_PROBLEMS
    ]


def is_loopback(host: str) -> bool:
    """Tell whether an address is reached from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@register(Tags.security, ENVIRONMENT)
def a_demo_stays_on_its_machine(**kwargs: Any) -> list[CheckMessage]:
    if not settings.CANDOR_DEMO or is_loopback(settings.CANDOR_HOST):
        return []
    message = (
        f"CANDOR_DEMO=1 contradicts CANDOR_HOST={settings.CANDOR_HOST}: the demo's "
        f"passwords are public."
    )
    return [Error(message, hint="Unset CANDOR_DEMO, or leave CANDOR_HOST out.", id="candor.E008")]


@register(Tags.security, ENVIRONMENT)
def a_token_is_not_guessed(**kwargs: Any) -> list[CheckMessage]:
    tokens = {
        "CANDOR_METRICS_TOKEN": settings.METRICS_TOKEN,
        "ISSUER_TOKEN": settings.ISSUER_TOKEN,
    }
    hint = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
    return [
        Error(
            f"{name}: expected {MIN_TOKEN} characters or more, got fewer.",
            hint=hint,
            id="candor.E010",
        )
        for name, token in tokens.items()
        if token and len(token) < MIN_TOKEN
    ]


@register(Tags.security, ENVIRONMENT)
def a_copy_is_of_another_server(**kwargs: Any) -> list[CheckMessage]:
    if not settings.READS_COPY:
        return []
    where = [
        tuple(str(settings.DATABASES[alias].get(key, "")) for key in ("HOST", "PORT", "NAME"))
        for alias in ("default", "replica")
    ]
    if not settings.SQLITE and where[0] != where[1]:
        return []
    message = (
        "READ_DATABASE_URL: expected a streaming replica of the PostgreSQL that DATABASE_URL "
        f"names, got {'one of SQLite' if settings.SQLITE else 'that database itself'}."
    )
    hint = "Set READ_DATABASE_URL=postgres://user:password@replica/name, or leave it out."
    return [Error(message, hint=hint, id="candor.E011")]


@register(Tags.security, ENVIRONMENT)
def production_takes_nothing_for_granted(**kwargs: Any) -> list[CheckMessage]:
    if not settings.PRODUCTION:
        return []
    is_weak = len(settings.SECRET_KEY) < MIN_KEY or len(set(settings.SECRET_KEY)) < MIN_DIFFERENT
    keys: tuple[bytes, ...] = settings.PUBLICATION_KEYS
    keys_are_sound = (
        bool(keys)
        and len(set(keys)) == len(keys)
        and all(len(set(key)) >= MIN_BYTES for key in keys)
        and not set(keys) & _made_of(settings.SECRET_KEY)
    )
    has_no_names = not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS
    problems = {
        "candor.E002": is_weak,
        "candor.E009": not keys_are_sound,
        "candor.E003": has_no_names,
        "candor.E004": settings.DEBUG,
        "candor.E005": settings.SQLITE and settings.HAS_SERVERS,
        "candor.E006": settings.EMBEDDED_REDIS and settings.HAS_SERVERS,
        "candor.E007": settings.CANDOR_DEMO,
    }
    return [
        Error(NEEDS[id][0], hint=NEEDS[id][1], id=id)
        for id, is_there in problems.items()
        if is_there
    ]


def _made_of(secret: str) -> set[bytes]:
    """Return the keys of 32 bytes that someone in a hurry would make of another secret."""
    keys = {hashlib.sha256(secret.encode()).digest(), secret.encode()[:32], secret.encode()[-32:]}
    for decode in (base64.b64decode, base64.urlsafe_b64decode):
        try:
            whole = decode(secret + "=" * (-len(secret) % 4))
        except (binascii.Error, ValueError):
            continue
        keys |= {whole, whole[:32], whole[-32:]}
    return keys


def refuse_to_start_if_unsafe(*tags: str) -> None:
    """Run the system checks, or those with these tags, where Django would not: in the server, the
    worker, the beat and the door.
    """
    errors = [message for message in run_checks(tags=tags or None) if message.is_serious()]
    if errors:
        raise ImproperlyConfigured(
            "Candor does not start:\n" + "\n".join(str(error) for error in errors)
        )
