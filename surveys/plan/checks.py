"""What every check of a Plan's JSON is made of."""

import re
from typing import Any

import msgspec

from surveys.plan.content import Unsound


def expect(holds: bool, name: str, expected: str) -> None:
    if not holds:
        raise Unsound(f"{name}: expected {expected}")


def matches(value: Any, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def is_within(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def names_in(value: type[msgspec.Struct]) -> set[str]:
    """Return the names of the parts that an object of this kind may have."""
    return {field.encode_name for field in msgspec.structs.fields(value)}
