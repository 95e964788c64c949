"""What is wrong with a catalogue of the form's words: nothing else stands between a file and what
respondents are told.

A translation may say what its sentence says with other words, and nothing more: it has the same
placeholders and the same markup, no link, and no sign that would end a text in HTML.
"""

import gettext
import re
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po

Key = tuple[str | None, str]
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|\{\w+\}")
MARKUP = re.compile(r"</?[a-z][^<>]*>|&\w+;")
LINK = re.compile(r"(?i)://|\bwww\.|\b(javascript|mailto|data):")
# ends a text or an attribute, is a format by itself, or turns the direction of what follows
ALIEN = re.compile('[<>&"%\\x00-\\x09\\x0b-\\x1f\u202a-\u202e\u2066-\u2069]')
MOST = 200  # up to which number plural forms are compared


def read(po: bytes) -> Catalog:
    """Read a catalogue, or raise a ValueError that says what is wrong with the file."""
    try:
        return read_po(BytesIO(po), abort_invalid=True)
    except PoFileError as error:
        raise ValueError(str(error)) from error


def forms(text: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [text] if isinstance(text, str) else list(text or [""])


def messages(found: Catalog) -> dict[Key, Message]:
    """Return a catalogue's messages by context and sentence. The reader of compiled catalogues
    leaves contexts as bytes.
    """
    return {
        (
            message.context.decode() if isinstance(message.context, bytes) else message.context,
            forms(message.id)[0],
        ): message
        for message in found
        if message.id
    }


def problems(catalogue: Catalog, source: Catalog, tag: str) -> list[str]:
    """Return what is wrong with the words of a language, each by its message."""
    if wrong := wrong_plurals(catalogue, tag):
        return [f"{tag}: {wrong}"]
    told, many = messages(catalogue), catalogue.num_plurals
    served = Counter(map(plural_of(catalogue), range(MOST + 1)))
    return [
        f"{tag}: “{sentence}”: {problem}"
        for (context, sentence), message in messages(source).items()
        if (problem := _problem(message, told.get((context, sentence)), many, served))
    ]


def plural_of(catalogue: Catalog) -> Callable[[int], int]:
    """Return which plural form a number takes by a catalogue's own header."""
    made: Callable[[int], int] = gettext.c2py(catalogue.plural_expr)
    return made


def wrong_plurals(catalogue: Catalog, tag: str) -> str:
    """Tell whether the header parts numbers as the language does, by CLDR."""
    many = catalogue.num_plurals
    try:
        chosen = list(map(plural_of(catalogue), range(MOST + 1)))
    except (ValueError, ZeroDivisionError) as error:
        return f"its Plural-Forms cannot be read ({error})"
    if max(chosen) >= many:
        return f"its Plural-Forms has {many} forms, and chooses form {max(chosen)}"
    try:
        rule = Locale.parse(tag, sep="-").plural_form
    except (UnknownLocaleError, ValueError):  # a language that CLDR does not know
        return ""
    categories = list(map(rule, range(MOST + 1)))
    pairs = set(zip(chosen, categories, strict=True))
    if not len(pairs) == len(set(chosen)) == len(set(categories)):
        return f"its Plural-Forms is not that of the language, by CLDR: {rule.rules}"
    return ""


def _problem(source: Message, told: Message | None, many: int, served: Counter[int]) -> str:
    if told is None or told.fuzzy or not all(forms(told.string)):
        return "not translated"
    texts, many = forms(told.string), many if source.pluralizable else 1
    if len(texts) != many:
        return f"expected {many} plural forms, got {len(texts)}"
    wrong = (
        _wrong_text(source, text, is_one=source.pluralizable and served[at] == 1)
        for at, text in enumerate(texts)
    )
    return next(filter(None, wrong), "")


def _wrong_text(source: Message, text: str, *, is_one: bool) -> str:
    """Return what is wrong with one text. That of a single number may leave it out."""
    last = forms(source.id)[-1]
    expected, found = _found(PLACEHOLDER, last), _found(PLACEHOLDER, text)
    if found - expected or (expected - found).total() > is_one:
        return f"expected the placeholders {_said(expected)}, got {_said(found)}"
    expected, found = _found(MARKUP, last), _found(MARKUP, text)
    if found != expected:
        return f"expected the markup {_said(expected)}, got {_said(found)}"
    if LINK.search(text) and not LINK.search(last):
        return "it holds a link"
    if alien := next(_alien(text), None):
        return f"it holds the sign {alien!a}"
    return ""


def _alien(text: str) -> Iterator[str]:
    bare = PLACEHOLDER.sub("", MARKUP.sub("", text)).replace("%%", "")
    return (match[0] for match in ALIEN.finditer(bare))


def _found(pattern: re.Pattern[str], text: str) -> Counter[str]:
    return Counter(pattern.findall(text))


def _said(found: Counter[str]) -> str:
    return ", ".join(sorted(found.elements())) or "none"
