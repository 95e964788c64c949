from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a CSV file of these columns; return its path."""

    def write(columns: dict[str, Iterable[object]], name: str = "answers.csv") -> str:
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def published(write: Write) -> str:
    """The published example: 52 yes of 350, forced response with p = 2/3."""
    return write({"smoked": [1] * 52 + [0] * 298})
