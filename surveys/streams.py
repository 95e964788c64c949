"""Long documents, written as they are read."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CHUNK = 100  # rows written at a time


class Broken(Exception):
    """Rows that cannot be read on; its words, for the reader, say which and why."""


def json_lines(
    document: Mapping[str, Any], rows: Iterable[Any], *, ensure_ascii: bool = True
) -> Iterator[str]:
    """Yield what json.dumps would write of {**document, "rows": [*rows]} with an indent of 1.

    Where rows end as Broken, the document is left open and its words are the last line: that is
    no JSON, so that nobody takes a part for the whole, and whoever looks learns why.
    """
    begun = json.dumps({**document, "rows": []}, indent=1, ensure_ascii=ensure_ascii)
    yield begun.removesuffix("]\n}")
    lines: list[str] = []
    is_first, broken = True, ""

    def written() -> str:
        return ("" if is_first else ",") + ",".join(lines) if lines else ""

    try:
        for row in rows:
            text = json.dumps([[row]], indent=1, ensure_ascii=ensure_ascii)
            lines.append(text.removeprefix("[\n [").removesuffix("\n ]\n]"))
            if len(lines) == CHUNK:
                yield written()
                lines, is_first = [], False
    except Broken as error:
        broken = f"\n\nThis document is not whole. {error}\n"
    yield written()
    yield broken or ("]\n}" if is_first and not lines else "\n ]\n}")
