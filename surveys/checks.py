"""Prove the settings at start, the way Django proves its own: an id, a sentence, a hint."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured

LEAST_KEY, LEAST_LETTERS = 50, 5  # characters, and different ones, as Django's own check asks
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


def refuse_to_start_if_unsafe() -> None:
    """Run the system checks where Django would not: in the server, the worker and the beat."""
    errors = [message for message in run_checks() if message.is_serious()]
    if errors:
        raise ImproperlyConfigured("Candor does not start:\n" + "\n".join(str(error) for error in errors))
