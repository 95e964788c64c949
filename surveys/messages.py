"""Messages: sentences that are stored in English and shown in any language.

Rows of the ledger are hashed, releases are drawn once, and the engine knows no languages: what
they say is the same for everybody. So a message is a template, defined once where it is used:

    TOO_FEW = message("Nothing is published before %(least)s answers.")

`TOO_FEW(least="50")` is its English, a `Text` that remembers the template and the values, and
`translate` says it in the reader's language from these. A template's msgid is its code. What was
stored without its code, and what the ledger hashes, is read back through the templates, by what
each hole can hold; a text that none of them fits, such as somebody's own reason, stays as it is.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from django.utils import translation
from django.utils.translation import gettext, ngettext

HOLE = re.compile(r"%\((\w+)\)s")
A_NUMBER = r"[-−]?(?:\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|inf|nan)"
AN_AMOUNT = rf"(?:ε {A_NUMBER},? or )?[ερ] {A_NUMBER}(?:(?:,| and) δ {A_NUMBER})?"
ANYTHING = ".+?"
MARKS = "?!.,;:？！。，；："  # noqa: RUF001 (Chinese ones too)
MAX_CACHED = 4096  # texts that were found among the templates
NUMBERS = (
    "n count many wave number all weekly half part scale other_scale share low high least most "
    "percent points step threshold chance delta epsilon rho apart times tolerance ranks size "
    "width r amount cells"
)
HOLES = dict.fromkeys(NUMBERS.split(), A_NUMBER) | {  # what a hole of this name can hold
    "cap": AN_AMOUNT,
    "code": "[0-9a-f]{12}",
    "cost": AN_AMOUNT,
    "day": "[0-9-]{10}",
    "digest": "[0-9a-f]{64}",
    "left": f"(?:{AN_AMOUNT}|{A_NUMBER})",
    "list": "[^;]+",
    "question": "[-a-z0-9_]+",
    "sign": "[ερ]",
    "study": "[-a-z0-9_]+",
}
IN_PARTS = {  # holes that hold other messages, or somebody's own words
    *("mechanism", "limits", "scales", "cap", "cost", "left", "unit_word", "answer_unit"),
}
FILLED_AS = {"unit_word": "unit", "answer_unit": "unit"}


@dataclass(frozen=True, slots=True)
class Message:
    """A template, with a plural form where the hole `number` counts something."""

    msgid: str
    plural: str = ""
    number: str = ""
    fills: str = ""  # the hole that this text may stand in, of other messages
    is_ending: bool = False  # it may follow any other sentence

    def __call__(self, **values: Any) -> "Text":
        """Return the English text of these values."""
        form = self.msgid
        if self.plural and _whole(str(values[self.number])) != 1:
            form = self.plural
        return Text(form % values if values else form, self, values)

    def __str__(self) -> str:
        return self.said()

    def said(self, **values: Any) -> str:
        """Return it in the reader's language."""
        if not values:
            return gettext(self.msgid)
        told = {name: _part_said(name, value) for name, value in values.items()}
        if self.plural:
            return ngettext(self.msgid, self.plural, _whole(str(values[self.number]))) % told
        return gettext(self.msgid) % told


class Text(str):
    """An English text that knows its message and its values."""

    __slots__ = ("message", "values")

    message: Message | None
    values: Mapping[str, Any]

    def __new__(
        cls, text: str, message: Message | None = None, values: Mapping[str, Any] | None = None
    ) -> Self:
        self = super().__new__(cls, text)
        self.message, self.values = message, values or {}
        return self


def _part_said(hole: str, value: Any) -> str:
    """Return what stands in a hole in the reader's language, if it is one of our texts."""
    if isinstance(value, Text):
        return translate(value)
    known = MESSAGES.get(str(value))
    return str(known) if known and known.fills == FILLED_AS.get(hole, hole) else str(value)


MESSAGES: dict[str, Message] = {}  # by msgid: every module adds its own when it is loaded


def message(msgid: str, *, fills: str = "", is_ending: bool = False) -> Message:
    """Define a message. Its msgid is gathered for translators."""
    return MESSAGES.setdefault(msgid, Message(msgid, fills=fills, is_ending=is_ending))


def plural_message(msgid: str, plural: str, *, number: str) -> Message:
    """Define a message with a form for one and one for many of what its hole `number` counts."""
    return MESSAGES.setdefault(msgid, Message(msgid, plural, number))


def is_english() -> bool:
    """Tell whether who reads now reads English."""
    language = translation.get_language()
    return language is None or language.split("-")[0] == "en"


def translate(text: Any) -> str:
    """Return an English text in the reader's language, from its message or one that it fits."""
    if is_english() or not text:
        return str(text)
    if isinstance(text, Text) and text.message:
        return text.message.said(**text.values)
    return _registered(len(MESSAGES)).told(str(text))


def is_known(text: str) -> bool:
    """Tell whether an English text is one of this site's own messages."""
    return _registered(len(MESSAGES)).is_known(text)


def is_foreign(text: str) -> bool:
    """Tell whether a text of this site's own can only be shown in English to this reader."""
    return bool(text) and not is_english() and not is_known(text)


# Codes, kept beside what is stored in English


def codes_in(document: Any) -> dict[str, Any]:
    """Return [msgid, values] for every text with values in a document, by its English."""
    if isinstance(document, Text):
        return {str(document): _code(document)} if document.values else {}
    parts = document.values() if isinstance(document, dict) else document
    if not isinstance(document, dict | list | tuple):
        return {}
    return {english: code for part in parts for english, code in codes_in(part).items()}


def _code(text: Text) -> list[Any]:
    values = {
        name: _code(value) if isinstance(value, Text) and value.message else str(value)
        for name, value in text.values.items()
    }
    return [text.message.msgid if text.message else str(text), values]


def with_codes(document: Any, codes: Mapping[str, Any]) -> Any:
    """Return a document whose texts know their messages. A code never changes what is said: one
    that does not make the very text that is stored is passed over.
    """
    if isinstance(document, dict):
        return {name: with_codes(part, codes) for name, part in document.items()}
    if isinstance(document, list):
        return [with_codes(part, codes) for part in document]
    if isinstance(document, str) and document in codes:
        text = _decoded(codes[document])
        return text if text == document else document
    return document


def _decoded(code: Any) -> str:
    try:
        msgid, values = code
        found = {
            name: _decoded(value) if isinstance(value, list) else str(value)
            for name, value in values.items()
        }
        return MESSAGES[msgid](**found)
    except (TypeError, ValueError, KeyError, AttributeError):
        return ""


# Reading back what has no code


class Sentences:
    """The messages that texts were made from."""

    def __init__(self, messages: Collection[Message]) -> None:
        filling: dict[str, list[str]] = {}
        for each in messages:
            if each.fills:
                filling.setdefault(each.fills, []).append(each.msgid)
        self.holes = {**HOLES, **{name: _one_of(texts) for name, texts in filling.items()}}
        self.in_parts = {*IN_PARTS, *filling}
        self.endings = [each.msgid for each in messages if each.is_ending]
        forms = {form: each for each in messages for form in (each.msgid, each.plural) if form}
        # those with most words of their own first: the surest
        surest = sorted(forms, key=lambda form: len(HOLE.sub("", form)), reverse=True)
        self.patterns = [(forms[form], self._expression(form)) for form in surest]
        self._found = lru_cache(MAX_CACHED)(self._find)

    def told(self, text: str) -> str:
        """Return a text in the language of whoever reads; one that is not known, as it is."""
        if found := self._found(text):
            message, parts = found
            told = {
                name: self.told(part) if name in self.in_parts else part
                for name, part in parts.items()
            }
            if message.plural and message.number not in told:
                told[message.number] = "1"
            return message.said(**told)
        for ending in self._endings_of(text):
            return gettext("%(sentence)s %(end)s") % {
                "sentence": self.told(text[: -len(ending) - 1]),
                "end": gettext(ending),
            }
        return text

    def is_known(self, text: str) -> bool:
        return self._found(text) is not None or any(
            self.is_known(text[: -len(ending) - 1]) for ending in self._endings_of(text)
        )

    def _find(self, text: str) -> tuple[Message, dict[str, str]] | None:
        for message, expression in self.patterns:
            if match := expression.fullmatch(text):
                return message, match.groupdict()
        return None

    def _endings_of(self, text: str) -> list[str]:
        return [ending for ending in self.endings if text.endswith(f" {ending}")]

    def _expression(self, form: str) -> re.Pattern[str]:
        """Return a form as a regular expression; one with holes has its percent signs twice."""
        pieces = HOLE.split(form)
        fixed = [piece.replace("%%", "%") if len(pieces) > 1 else piece for piece in pieces[::2]]
        holes = [f"(?P<{name}>{self.holes.get(name, ANYTHING)})" for name in pieces[1::2]]
        text = re.escape(fixed[0])
        for hole, piece in zip(holes, fixed[1:], strict=True):
            text += hole + re.escape(piece)
        return re.compile(text, re.DOTALL)


@lru_cache(maxsize=1)
def _registered(_count: int) -> Sentences:
    """Return all messages that are defined by now."""
    return Sentences(MESSAGES.values())


def _one_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _whole(text: str) -> int:
    return int(float(text.replace(",", "").replace("−", "-")))


def listed(labels: Iterable[str]) -> str:
    """Return labels of questions as a list: in quotation marks if one of them ends with a mark of
    its own, such as “last week?”, which no comma can follow.
    """
    labels = list(labels)
    is_marked = any(label.endswith(tuple(MARKS)) for label in labels)
    return ", ".join(f"“{label}”" if is_marked else label for label in labels)
