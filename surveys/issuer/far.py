"""Verbs of an issuer that may run in another process: over HTTP where ISSUER_URL and ISSUER_TOKEN
are given, else here.
"""

import functools
import inspect
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, ParamSpec, TypeVar, get_type_hints

import msgspec
from django.conf import settings

from surveys.issuer.refusals import Away, Refused

PATIENCE = 60.0  # seconds: a hundred keys take some
Given = ParamSpec("Given")
Told = TypeVar("Told")


class Verb(msgspec.Struct):
    """What is done here, and how what it is given and tells goes over a wire."""

    act: Callable[..., Any]
    given: Any  # a type with a field a parameter
    told: Any  # a type

    def answer(self, body: bytes) -> bytes:
        """Do what a request asks for. ValidationError says what is wrong with it."""
        given = msgspec.json.decode(body, type=self.given)
        return msgspec.json.encode(self.act(**msgspec.structs.asdict(given)))


VERBS: dict[str, Verb] = {}


def verb(act: Callable[Given, Told]) -> Callable[Given, Told]:
    """Have a function done by the issuer, wherever that is."""
    hints = get_type_hints(act)
    told = hints.pop("return")
    names = inspect.signature(act)
    fields = [
        (name, kind)
        if (default := names.parameters[name].default) is inspect.Parameter.empty
        else (name, kind, default)
        for name, kind in hints.items()
    ]
    given = msgspec.defstruct(act.__name__, fields, forbid_unknown_fields=True)
    VERBS[act.__name__] = Verb(act, given, told)

    @functools.wraps(act)
    def done(*args: Given.args, **kwargs: Given.kwargs) -> Told:
        if not is_far():
            return act(*args, **kwargs)
        said: Told = _ask(act.__name__, names.bind(*args, **kwargs).arguments, told)
        return said

    return done


def is_far() -> bool:
    """Tell whether the issuer is another process."""
    return bool(settings.ISSUER_URL and settings.ISSUER_TOKEN)


def _ask(name: str, given: dict[str, Any], told: Any) -> Any:
    request = urllib.request.Request(  # noqa: S310 (a URL of the settings)
        f"{settings.ISSUER_URL}/issuer/verbs/{name}",
        data=msgspec.json.encode(given),
        headers={
            "Authorization": f"Bearer {settings.ISSUER_TOKEN}",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            return msgspec.json.decode(answer.read(), type=told)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error.code, error.read()) from None
    except (OSError, msgspec.MsgspecError) as error:
        raise Away(f"ISSUER_URL: expected an issuer, got {type(error).__name__}") from None


def _refusal(status: int, body: bytes) -> Refused | Away:
    """Return what an issuer refused; it is away if it says so, or what answers is none."""
    try:
        error = msgspec.json.decode(body, type=dict[str, dict[str, str]])["error"]
        field, message = error["field"], error["message"]
    except (msgspec.MsgspecError, KeyError):
        return Away(f"ISSUER_URL: expected an issuer, got one that answers {status}")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Away(f"ISSUER_URL: {message}")
    return Refused(field, message.removeprefix(f"{field}: "), status)
