"""The languages of the form. They are free of the site's: a study is asked in any language of which
the words of the form are there, whole.

These words are a catalogue of each language, with English sentences as its sources: those that come
with the site, locale/form/<tag>.po, which Django finds like any other; and those that an admin
installed, which are in the database. A tag of BCP 47 without a catalogue of its own is served from
that of its base: pt-br from pt. A script is never left out: zh-hant is not served from zh-hans, nor
sr-latn from sr.
"""

import contextlib
import functools
import gettext
import hashlib
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale, UnknownLocaleError
from babel.messages.mofile import write_mo
from django.apps import apps
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils import translation
from django.utils.translation import gettext as _, ngettext, pgettext, to_locale, trans_real

from surveys import catalogues
from surveys.catalogues import MOST

SOURCE = "en"  # of which the sentences are the sources
FOLDER: Path = settings.BASE_DIR / "locale" / "form"
MAX_TAG = 32
HEAD = 1_000  # bytes of a catalogue's file in which its header stands
TAG = re.compile(
    "[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))?"
)


class Words(NamedTuple):
    """A catalogue: what it is in, the SHA-256 of its file, whether it came with the site, and
    whether a person has reviewed it.
    """

    tag: str
    sha256: str
    is_ours: bool
    is_reviewed: bool = False


@functools.cache
def ours() -> dict[str, Words]:
    """Return the catalogues that come with the site, by their tags."""
    found = ((path.stem, path.read_bytes()) for path in sorted(FOLDER.glob("*.po")))
    return {
        tag: Words(tag, hashlib.sha256(po).hexdigest(), True, is_reviewed(po)) for tag, po in found
    }


def is_reviewed(po: bytes) -> bool:
    """Tell whether the head of a catalogue's file does not name a machine as its translator."""
    return b"Last-Translator: machine" not in po[:HEAD]


def installed() -> Any:
    """Return the catalogues that an admin installed: of each language, the newest counts."""
    return apps.get_model("design", "Catalogue").objects.filter(is_ours=False).order_by("pk")


def words_in(tag: str) -> Words | None:
    """Return a language's own catalogue, the newest; None if there is none."""
    if tag in ours():
        return ours()[tag]
    sha256 = installed().filter(tag=tag).values_list("sha256", flat=True).last()
    return Words(tag, sha256, is_ours=False) if sha256 else None


def words_of(tag: str) -> Words | None:
    """Return the catalogue that serves a language, None if none does."""
    bases = _bases(tag) if TAG.fullmatch(tag) else ()
    return next(filter(None, map(words_in, bases)), None)


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


def problem(tag: str) -> str:
    """Return why a study cannot be asked in a language, "" if it can."""
    if not TAG.fullmatch(tag):
        return _("“%(tag)s” is not a language tag, such as pt-br.") % {"tag": tag}
    if words_of(tag) is None:
        text = _(
            "The form has no words in “%(tag)s” yet. A site admin can install them: "
            "manage.py install_language FILE."
        )
        return text % {"tag": tag}
    return ""


def choices(*more: str) -> list[tuple[str, str]]:
    """Return the languages to choose from, and more of them, each with its own name."""
    known = {*ours(), *installed().values_list("tag", flat=True), *more}
    named = [(tag, name(tag)) for tag in known]
    return sorted(named, key=lambda pair: pair[1].casefold())


def name(tag: str) -> str:
    """Return what a language is called in its own words."""
    own = LANG_INFO.get(tag, {}).get("name_local")
    with contextlib.suppress(UnknownLocaleError, ValueError):
        own = own or Locale.parse(tag, sep="-").display_name
    return own[:1].upper() + own[1:] if own else tag


def english_name(tag: str) -> str:
    with contextlib.suppress(UnknownLocaleError, ValueError):
        return LANG_INFO.get(tag, {}).get("name") or Locale.parse(tag, sep="-").english_name or tag
    return tag


def direction(tag: str) -> str:
    """Return in which direction a language is written."""
    with contextlib.suppress(UnknownLocaleError, ValueError):
        return Locale.parse(tag, sep="-").text_direction
    return "ltr"


@contextlib.contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Say what is said here in a language of the form."""
    words = words_of(tag) or ours()[SOURCE]
    with translation.override(words.tag if words.is_ours else _prepared(words)):
        yield


@functools.cache
def _prepared(words: Words) -> str:
    """Let Django know a catalogue that was installed; return the language that it has it as."""
    name = f"{words.tag}-x-{words.sha256[:8]}"
    trans_real.translation(name).merge(_compiled(words))
    return name


@functools.cache
def _compiled(words: Words) -> gettext.GNUTranslations:
    if words.is_ours:
        path = FOLDER / to_locale(words.tag) / "LC_MESSAGES" / "django.mo"
        return gettext.GNUTranslations(BytesIO(path.read_bytes()))
    catalogue, file = catalogues.read(content_of(words)), BytesIO()
    write_mo(file, catalogue)
    file.seek(0)
    made = gettext.GNUTranslations(file)
    made.plural = catalogues.plural_of(catalogue)  # type: ignore[attr-defined]
    return made


def content_of(words: Words) -> bytes:
    """Return a catalogue's file."""
    if words.is_ours:
        return (FOLDER / f"{words.tag}.po").read_bytes()
    return bytes(installed().get(tag=words.tag, sha256=words.sha256).content)


def misread(tag: str) -> str:
    """Return the first sentence of a catalogue that Django would not say as it says it: another
    catalogue has the same sentence, in other words. Nothing if there is none.
    """
    words = words_in(tag) or ours()[SOURCE]
    told = catalogues.messages(catalogues.read(content_of(words)))
    with speaking(tag):
        for (context, sentence), message in told.items():
            said = pgettext(context, sentence) if context else _(sentence)
            if message.pluralizable:
                said = ngettext(message.id[0], message.id[1], 1)
            if said not in catalogues.forms(message.string):
                return sentence
    return ""


def spoken() -> str:
    """Return the tag of the language that is spoken now."""
    return (translation.get_language() or SOURCE).partition("-x-")[0]


def samples(tag: str) -> list[int]:
    """Return, for each plural form of a language in turn, the first number that is said in it: of
    those from 2 on, for what scripts count is more than one. The browser keeps the form whose
    number is said as its own is (page.js).
    """
    plural: Callable[[int], int] = _compiled(words_of(tag) or ours()[SOURCE]).plural  # type: ignore[attr-defined]
    first: dict[int, int] = {}
    for number in range(2, MOST + 1):
        first.setdefault(plural(number), number)
    return [first[form] for form in sorted(first)]
