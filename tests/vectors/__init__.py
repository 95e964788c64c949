"""Recorded words and what must be made of them; tests/browser/ reads the same files."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpengine.randomness import Stream


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((Path(__file__).parent / name).read_text())
    assert cases, f"{name} is empty"
    return cases


def replay(words: Iterable[int]) -> Stream:
    """Return a stream of recorded words; one too many is a StopIteration."""
    recorded = iter(words)
    return lambda: next(recorded)
