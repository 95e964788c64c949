"""Read the environment with types. A bad value is remembered, not raised.

Settings must load before Django's system checks can run, and the checks are where
an admin reads what is wrong, all of it at once, with a hint. So a value that cannot
be read becomes a `Problem` and its default; `checks.py` refuses to start on any.
"""

import base64
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import environ  # type: ignore[import-untyped]
from django.core.exceptions import ImproperlyConfigured

from surveys.zones import UTC, zones

SERVER_SCHEMES = ("postgres", "postgresql")
DATABASE_SCHEMES = ("sqlite", *SERVER_SCHEMES)
KEY_BYTES = 32
EMAIL_SCHEMES = ("smtp", "smtp+tls", "smtp+ssl", "consolemail")

Read = TypeVar("Read")
Config = dict[str, Any]  # settings of Django's, by name


@dataclass(frozen=True, slots=True)
class Problem:
    """One environment variable that cannot be used: which, what was expected, what came."""

    variable: str
    expected: str
    hint: str


class Environment:
    """Typed readers of the process environment, gathering problems as they go."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self.values = dict(os.environ if values is None else values)
        self.problems: list[Problem] = []

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def choice(self, name: str, options: tuple[str, ...], default: str) -> str:
        wanted = f"one of {', '.join(options)}"
        return self._read(name, default, lambda text: options[options.index(text)], wanted)

    def whole(self, name: str, default: int, *, least: int, most: int) -> int:
        allowed, wanted = range(least, most + 1), f"a whole number from {least} to {most}"
        return self._read(name, default, lambda text: allowed[allowed.index(int(text))], wanted)

    def flag(self, name: str, *, default: bool) -> bool:
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        return self._read(name, default, lambda text: words[text.lower()], "1 or 0")

    def names(self, name: str) -> list[str]:
        return [part.strip() for part in self.text(name).split(",") if part.strip()]

    def keys(self, name: str, default: str | None) -> tuple[bytes, ...]:
        """Return keys of 32 bytes, given in base64 and apart by commas. None of them is ever
        echoed.

        `default` is what this data folder's own file holds, None if there must be none.
        """

        def parse(text: str) -> tuple[bytes, ...]:
            keys = tuple(base64.b64decode(part.strip(), validate=True) for part in text.split(","))
            if any(len(key) != KEY_BYTES for key in keys):
                raise ValueError
            return keys

        expected = f"keys of {KEY_BYTES} bytes in base64, apart by commas"
        try:
            fallback = () if default is None else parse(default)
        except ValueError:
            hint = f"Put a good copy of publication.key into the data folder, or set {name}."
            self.problems.append(
                Problem(variable=f"{name} (publication.key)", expected=expected, hint=hint)
            )
            fallback = ()
        return self._read(name, fallback, parse, expected)

    def folder(self, name: str, default: Path) -> Path:
        return Path(self.text(name, str(default))).expanduser().resolve()

    def database(
        self, name: str, default: Path, schemes: tuple[str, ...] = DATABASE_SCHEMES
    ) -> Config:
        """Return Django's settings of a database given as a URL, which is never echoed: it may
        hold a password.
        """

        def parse(url: str) -> Config:
            if url.split(":", 1)[0] not in schemes:
                raise ValueError
            config = dict(environ.Env.db_url_config(url))
            if not config["NAME"]:
                raise ValueError
            return config

        fallback: Config = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(default)}
        examples = {"postgres": "postgres://user:password@host/name", "sqlite": "sqlite:////path"}
        known = " or ".join(each for scheme, each in examples.items() if scheme in schemes)
        return self._read(name, fallback, parse, f"a URL such as {known}")

    def redis(self, name: str, default: str) -> str:
        wanted = "a URL that starts with redis://, rediss:// or redis+socket://"
        return self._matching(name, r"(rediss?|redis\+socket):.*", default, wanted)

    def origin(self, name: str) -> str:
        """Return an origin, such as https://tickets.example.org, or nothing."""
        wanted = "an origin such as https://tickets.example.org"
        return self._matching(name, r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", "", wanted)

    def contact(self, name: str) -> str:
        """Return the link by which people reach the operator, or nothing."""

        def parse(text: str) -> str:
            address = text.removeprefix("mailto:")
            if text.isprintable() and re.fullmatch(r"https://[^\s@\"<>]+", text):
                return text
            if text.isprintable() and re.fullmatch(r"[^\s@:/?&\"<>]+@[^\s@:/?&\"<>]+", address):
                return f"mailto:{address}"
            raise ValueError

        return self._read(
            name, "", parse, "an email address, or an address that starts with https://"
        )

    def zone(self, name: str) -> str:
        """Return a time zone that a study can have, UTC by default."""

        known = {zone: zone for zone in zones()}
        wanted = "UTC, or a time zone such as Europe/Berlin"
        return self._read(name, UTC, lambda text: known[text], wanted)

    def email(self, name: str) -> Config:
        """Return Django's settings of a server for letters given as a URL, never echoed; without
        one none is sent.
        """

        def parse(url: str) -> Config:
            if url.split(":", 1)[0] not in EMAIL_SCHEMES:
                raise ValueError
            config = environ.Env.email_url_config(url)
            return {key: value for key, value in config.items() if value is not None}

        none: Config = {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
        return self._read(name, none, parse, "a URL such as smtp+tls://user:password@host:587")

    def _matching(self, name: str, pattern: str, default: str, expected: str) -> str:
        def parse(text: str) -> str:
            if not re.fullmatch(pattern, text):
                raise ValueError
            return text

        return self._read(name, default, parse, expected)

    def _read(self, name: str, default: Read, parse: Callable[[str], Read], expected: str) -> Read:
        text = self.text(name)
        if not text:
            return default
        try:
            return parse(text)
        except (ValueError, KeyError, ImproperlyConfigured):
            hint = f"Set {name} to {expected}, or leave it out."
            self.problems.append(Problem(variable=name, expected=expected, hint=hint))
            return default
