"""Words that promise in absolutes, and the sentences that may hold one.

A sentence is let through only for a reason, in absolute.toml, that holds for every Plan on whose
pages it can stand.
"""

import re
import tomllib
from pathlib import Path

WORDS = re.compile(
    r"\b(?:nobody|no one|nothing|never|everything|always|prove[sdn]?|anonym\w*|guarantee\w*"
    r"|impossible|perfect\w*|can(?:not|’t|'t) (?:tell|know|be known|identify|learn|find out)"
    r"|(?:un|not )traceable|completely|totally)\b"
    r"|绝不|从不|任何人都|没有人|谁也|谁都|完全|保证|证明|无法得知|无从得知|永远|一切|什么也|什么都|匿名|绝对",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"[^.!?:;。！？：；\n]+")  # noqa: RUF001

REASONS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


def sentences(text: str) -> set[str]:
    """Return the sentences that promise in absolutes and have no reason."""
    found = (" ".join(each.split()) for each in SENTENCE.findall(text))
    return {each for each in found if WORDS.search(each) and each not in REASONS}
