"""The languages of the form. They are free of the site's: a study is asked in any language of which
the words of the form are there, whole.

These words are a catalogue of each language, locale/form/<tag>.po, with English sentences as its
sources; what is compiled of it is found by Django like any other. A tag of BCP 47 without a
catalogue of its own is served from that of its base: pt-br from pt. A script is never left out:
zh-hant is not served from zh-hans, nor sr-latn from sr.
"""

import contextlib
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel import Locale, UnknownLocaleError
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils import translation
from django.utils.translation import pgettext

SOURCE = "en"  # of which the sentences are the sources
FOLDER: Path = settings.BASE_DIR / "locale" / "form"
MAX_TAG = 32
TAG = re.compile(
    "[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))?"
)


@functools.cache
def catalogues() -> tuple[str, ...]:
    """Return the tags of the catalogues that are there, in order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.po")))


def catalogue_of(tag: str) -> str | None:
    """Return the tag of the catalogue that serves a language, None if none does."""
    if not TAG.fullmatch(tag):
        return None
    known = catalogues()
    return next((each for each in _bases(tag) if each in known), None)


def _bases(tag: str) -> Iterator[str]:
    """Yield a tag, and what it is a kind of."""
    yield tag
    info = LANG_INFO.get(tag, {})
    if "fallback" in info:  # zh-tw is written as zh-hant is
        yield from info["fallback"]
        return
    base, _dash, last = tag.rpartition("-")
    if base and not re.fullmatch("[a-z]{4}", last):
        yield from _bases(base)


def name(tag: str) -> str:
    """Return what a language is called in its own words."""
    own = LANG_INFO.get(tag, {}).get("name_local")
    with contextlib.suppress(UnknownLocaleError, ValueError):
        own = own or Locale.parse(tag, sep="-").display_name
    return own[:1].upper() + own[1:] if own else tag


@contextlib.contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Say what is said here in a language of the form."""
    with translation.override(catalogue_of(tag) or SOURCE):
        yield


@dataclass(frozen=True, slots=True)
class Said:
    """What every form says in one language, and what becomes part of a Plan."""

    decline: str
    not_asked: str  # which nobody chooses: it stands for who was not asked
    does_not_apply: str
    only_if: str
    either: str  # between answers
    usual: dict[str, list[str]]  # choices that need not be written, by kind


def said_in(tag: str) -> Said:
    with speaking(tag):
        return Said(
            # Translators: these are choices that a question offers.
            decline=pgettext("answer", "Prefer not to say"),
            not_asked=pgettext("answer", "Not asked"),
            does_not_apply=pgettext("answer", "Does not apply"),
            only_if=pgettext(
                "above a question",
                "Only if you answered %(answers)s to “%(question)s”. If not, choose “Does not "
                "apply”.",
            ),
            either=pgettext("between answers", " or "),
            usual={
                "yes_no": [pgettext("answer", "No"), pgettext("answer", "Yes")],
                "likert": [
                    pgettext("answer", "Strongly disagree"),
                    pgettext("answer", "Disagree"),
                    pgettext("answer", "Neither"),
                    pgettext("answer", "Agree"),
                    pgettext("answer", "Strongly agree"),
                ],
            },
        )
