"""Print a table, and keep its figures in bench.json."""

import json
from pathlib import Path
from typing import Any

FILE = Path("bench.json")


def table(title: str, rows: list[dict[str, Any]]) -> None:
    heads = list(rows[0])
    cells = [[_say(row[head]) for head in heads] for row in rows]
    widths = [max(len(line[i]) for line in [heads, *cells]) for i in range(len(heads))]
    print(f"\n{title}")
    for line in [heads, ["-" * width for width in widths], *cells]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)))


def save(name: str, rows: list[dict[str, Any]]) -> None:
    figures = json.loads(FILE.read_text()) if FILE.exists() else {}
    FILE.write_text(json.dumps({**figures, name: rows}, indent=1, sort_keys=True) + "\n")


def _say(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
