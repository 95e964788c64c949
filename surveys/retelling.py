"""Say English sentences in the reader's language after they were made: what is stored, or comes from the engine.

Rows of the ledger are hashed, releases are drawn once, and the engine knows no languages: their words are the same for
everybody. A room lists the sentences that such texts are made from, with %(holes)s; a text is read back through them
and said again from its parts. What none of them fits, such as somebody's own reason, is left as it is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import ngettext as plural_of

HOLE = re.compile(r"%\((\w+)\)s")
A_NUMBER = r"[-−]?(?:\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|inf|nan)"
ANYTHING = ".+?"
REMEMBERED = 4096  # texts


class Plural(NamedTuple):
    """A sentence for one and for many of what is counted in `number`."""

    one: str
    many: str
    number: str


Sentence = str | Plural


def ngettext(one: str, many: str, number: str) -> Plural:
    """Keep both forms of a sentence. By this name the gathering of messages finds them."""
    return Plural(one, many, number)


def is_english() -> bool:
    """Tell whether who reads now reads English."""
    language = translation.get_language()
    return language is None or language.split("-")[0] == "en"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One sentence, and how to find it."""

    sentence: Sentence
    form: str  # the sentence itself, or one of its forms for one and for many
    expression: re.Pattern[str]


class Sentences:
    """The sentences that texts are made from.

    `one_of` names holes that hold one of a few texts, `kinds` those with an expression of their own, `numbers` those
    with a number; every other hole holds anything. What is in a hole of `in_parts` or `one_of` is said again itself.
    """

    def __init__(
        self,
        known: Iterable[Sentence],
        *,
        one_of: Mapping[str, Iterable[str]],
        numbers: Iterable[str] = (),
        kinds: Mapping[str, str] | None = None,
        in_parts: Iterable[str] = (),
    ) -> None:
        self.kinds = dict.fromkeys(numbers, A_NUMBER) | dict(kinds or {}) | _alternatives(one_of)
        self.in_parts = {*in_parts, *one_of}
        self.patterns = self._patterns([*known, *(text for texts in one_of.values() for text in texts)])
        self.found = lru_cache(REMEMBERED)(self._find)

    def told(self, text: str) -> str:
        """Return a text in the language of whoever reads; one that is not known, as it is."""
        found = None if is_english() else self.found(text)
        return text if found is None else self._said(*found)

    def is_known(self, text: str) -> bool:
        return self.found(text) is not None

    def _find(self, text: str) -> tuple[Pattern, dict[str, str]] | None:
        for pattern in self.patterns:
            if found := pattern.expression.fullmatch(text):
                return pattern, found.groupdict()
        return None

    def _said(self, pattern: Pattern, parts: dict[str, str]) -> str:
        told = {name: self.told(text) if name in self.in_parts else text for name, text in parts.items()}
        if isinstance(pattern.sentence, Plural):
            one, many, number = pattern.sentence
            return plural_of(one, many, _whole(parts.get(number, "1"))) % told
        return gettext(pattern.sentence) % told if parts else gettext(pattern.sentence)

    def _patterns(self, sentences: list[Sentence]) -> list[Pattern]:
        """Return every sentence, those with the most words of their own first: they are the surest to be right."""
        forms = {form: each for each in sentences for form in (each[:2] if isinstance(each, Plural) else (each,))}
        found = [Pattern(each, form, re.compile(self._expression(form), re.DOTALL)) for form, each in forms.items()]
        return sorted(found, key=lambda each: len(HOLE.sub("", each.form)), reverse=True)

    def _expression(self, sentence: str) -> str:
        """Return a sentence as a regular expression; in one with holes a percent sign is written twice."""
        found, at = "", 0
        for hole in HOLE.finditer(sentence):
            found += re.escape(sentence[at : hole.start()].replace("%%", "%"))
            found += f"(?P<{hole[1]}>{self.kinds.get(hole[1], ANYTHING)})"
            at = hole.end()
        return found + re.escape(sentence[at:].replace("%%", "%") if at else sentence)


def _alternatives(one_of: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {
        name: "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))
        for name, texts in one_of.items()
    }


def _whole(text: str) -> int:
    return int(float(text.replace(",", "").replace("−", "-")))
