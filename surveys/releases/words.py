"""Say stored sentences in the reader's language: what the ledger and the releases keep is in English, whoever acts.

The sentences are listed in `sentences.py`; how a text is found among them is in the hall's `retelling.py`.
"""

from django.utils.translation import gettext

from surveys.releases.sentences import KNOWN, ONE_OF, SEPARATE
from surveys.retelling import A_NUMBER, Sentences, is_english

NUMBERS = (
    *("n", "count", "many", "wave", "number", "all", "weekly", "half", "part", "scale", "other_scale", "share"),
    *("low", "high", "least", "most", "percent", "points", "step", "threshold", "chance", "delta", "epsilon", "rho"),
    *("apart", "times", "tolerance", "ranks", "size", "width", "r", "amount", "cells"),
)
AN_AMOUNT = rf"[ερ] {A_NUMBER}(?:(?:,| and) δ {A_NUMBER})?"
SENTENCES = Sentences(
    KNOWN,
    one_of=ONE_OF,
    numbers=NUMBERS,
    kinds={
        "code": "[0-9a-f]{12}",
        "day": "[0-9-]{10}",
        "digest": "[0-9a-f]{64}",
        "cap": AN_AMOUNT,
        "cost": AN_AMOUNT,
        "list": "[^;]+",
        "left": f"(?:{AN_AMOUNT}|{A_NUMBER})",
        "sign": "[ερ]",
        "study": "[-a-z0-9_]+",
        "question": "[-a-z0-9_]+",
    },
    in_parts=("mechanism", "limits", "scales", "cap", "cost", "left", "unit_word", "answer_unit"),
)


def told(text: str) -> str:
    """Return a stored English sentence in the language of whoever reads; one that is not known, as it is."""
    if is_english() or SENTENCES.is_known(text):
        return SENTENCES.told(text)
    for end in _ends(text):
        return gettext("%(sentence)s %(end)s") % {"sentence": told(text[: -len(end) - 1]), "end": gettext(end)}
    return text


def is_known(text: str) -> bool:
    """Tell whether a stored sentence is one of those that can be said in other languages."""
    return SENTENCES.is_known(text) or any(is_known(text[: -len(end) - 1]) for end in _ends(text))


def is_foreign(text: str) -> bool:
    """Tell whether a text of this site's own is shown in English to somebody who reads another language."""
    return bool(text) and not is_english() and not is_known(text)


def _ends(text: str) -> list[str]:
    """Return the sentence at the end that is said by itself, if there is one."""
    return [end for end in SEPARATE if text.endswith(f" {end}")]
