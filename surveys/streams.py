"""Long documents, written as they are read."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CHUNK = 100  # rows written at a time


def json_lines(
    document: Mapping[str, Any], rows: Iterable[Any], *, ensure_ascii: bool = True
) -> Iterator[str]:
    """Yield what json.dumps would write of {**document, "rows": [*rows]} with an indent of 1."""
    begun = json.dumps({**document, "rows": []}, indent=1, ensure_ascii=ensure_ascii)
    yield begun.removesuffix("]\n}")
    lines, is_first = [], True
    for row in rows:
        text = json.dumps([[row]], indent=1, ensure_ascii=ensure_ascii)
        lines.append(text.removeprefix("[\n [").removesuffix("\n ]\n]"))
        if len(lines) == CHUNK:
            yield ("" if is_first else ",") + ",".join(lines)
            lines, is_first = [], False
    if lines:
        yield ("" if is_first else ",") + ",".join(lines)
        is_first = False
    yield "]\n}" if is_first else "\n ]\n}"
