"""The few expressions of an XLSForm that have a counterpart here. They are matched or refused, never evaluated."""

import re

REFERENCE = r"\$\{\s*([\w.-]+)\s*\}"
TEXT = r"['\"]([^'\"]*)['\"]"
EQUAL = re.compile(rf"{REFERENCE}\s*=\s*{TEXT}")
SELECTED = re.compile(rf"selected\(\s*{REFERENCE}\s*,\s*{TEXT}\s*\)")
BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*(-?\d{1,10})")
MONTH = re.compile(rf"\.\s*(>=|<=)\s*(?:date\(\s*)?{TEXT}\s*\)?")
DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?:-(\d\d))?")


def condition_of(relevant: str) -> tuple[str, list[str]] | None:
    """Read ${q} = 'x', selected(${q}, 'x'), and several of these about one question joined by or."""
    parts = [_without_brackets(part) for part in re.split(r"\s+or\s+", relevant.strip(), flags=re.IGNORECASE)]
    found = [EQUAL.fullmatch(part) or SELECTED.fullmatch(part) for part in parts]
    pairs = [(match[1], match[2]) for match in found if match]
    if len(pairs) < len(parts) or len({name for name, _answer in pairs}) != 1:
        return None
    return pairs[0][0], list(dict.fromkeys(answer for _name, answer in pairs))


def _without_brackets(part: str) -> str:
    plain = part.strip()
    return plain[1:-1].strip() if plain.startswith("(") and plain.endswith(")") else plain


def bounds_of(constraint: str) -> tuple[int, int] | None:
    """Read . >= 0 and . <= 120, with either sign strict or not."""
    parts = re.split(r"\s+and\s+", _without_brackets(constraint), flags=re.IGNORECASE)
    found = [BOUND.fullmatch(_without_brackets(part)) for part in parts]
    if len(parts) != 2 or not all(found):
        return None
    least = [int(match[2]) + (match[1] == ">") for match in found if match and match[1] in (">", ">=")]
    most = [int(match[2]) - (match[1] == "<") for match in found if match and match[1] in ("<", "<=")]
    return (least[0], most[0]) if least and most and least[0] < most[0] else None


def month_bounds_of(constraint: str) -> tuple[int, int] | None:
    """Read . >= date('2020-01-01') and . <= date('2025-12-31') as months; one whose first day is too early is none."""
    parts = re.split(r"\s+and\s+", _without_brackets(constraint), flags=re.IGNORECASE)
    found = {match[1]: match[2] for part in parts if (match := MONTH.fullmatch(_without_brackets(part)))}
    if len(parts) != 2 or len(found) != 2:
        return None
    first, last = DAY.fullmatch(found[">="]), DAY.fullmatch(found["<="])
    if not first or not last:
        return None
    least, most = _months(first) + (first[3] not in (None, "01")), _months(last)
    return (least, most) if least < most else None


def _months(day: re.Match[str]) -> int:
    return int(day[1]) * 12 + int(day[2]) - 1
