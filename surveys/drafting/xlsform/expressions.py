"""The few expressions of an XLSForm that have a counterpart here. They are matched or refused,
never evaluated.
"""

import re

from surveys.design.calendars import Calendar

REFERENCE = r"\$\{\s*([\w.-]+)\s*\}"
TEXT = r"['\"]([^'\"]*)['\"]"
EQUAL = re.compile(rf"{REFERENCE}\s*=\s*{TEXT}")
SELECTED = re.compile(rf"selected\(\s*{REFERENCE}\s*,\s*{TEXT}\s*\)")
BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*(-?\d{1,10})")
DATE = re.compile(rf"\.\s*(>=|<=)\s*(?:date\(\s*)?{TEXT}\s*\)?")
DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?:-(\d\d))?")


def condition_of(relevant: str) -> tuple[str, list[str]] | None:
    """Read ${q} = 'x', selected(${q}, 'x'), and several of these about one question joined by
    or.
    """
    parts = [
        _without_brackets(part)
        for part in re.split(r"\s+or\s+", relevant.strip(), flags=re.IGNORECASE)
    ]
    found = [EQUAL.fullmatch(part) or SELECTED.fullmatch(part) for part in parts]
    pairs = [(match[1], match[2]) for match in found if match]
    if len(pairs) < len(parts) or len({name for name, _answer in pairs}) != 1:
        return None
    return pairs[0][0], list(dict.fromkeys(answer for _name, answer in pairs))


def _without_brackets(part: str) -> str:
    plain = part.strip()
    return plain[1:-1].strip() if plain.startswith("(") and plain.endswith(")") else plain


def _limits(constraint: str, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the lower and the upper limit, each with its sign; nothing if they are not these."""
    parts = re.split(r"\s+and\s+", _without_brackets(constraint), flags=re.IGNORECASE)
    found = [pattern.fullmatch(_without_brackets(part)) for part in parts]
    limits = sorted(((match[1], match[2]) for match in found if match), reverse=True)
    is_whole = len(parts) == 2 and [sign[0] for sign, _limit in limits] == [">", "<"]
    return limits if is_whole else []


def bounds_of(constraint: str) -> tuple[int, int] | None:
    """Read . >= 0 and . <= 120, with either sign strict or not."""
    limits = _limits(constraint, BOUND)
    if not limits:
        return None
    (above, least), (below, most) = limits
    first, last = int(least) + (above == ">"), int(most) - (below == "<")
    return (first, last) if first < last else None


def range_of(parameters: str) -> tuple[int, int] | None:
    """Read start=0 end=10 step=1."""
    values = dict(re.findall(r"(\w+)\s*=\s*(-?[\d.]+)", parameters))
    try:
        start, end, step = (int(values[name]) for name in ("start", "end", "step"))
    except (KeyError, ValueError):
        return None
    return (start, end) if step == 1 and start < end else None


def calendar_bounds_of(constraint: str, calendar: Calendar) -> tuple[int, int] | None:
    """Read . >= date('2020-01-01') and . <= date('2025-12-31') as steps that begin in between."""
    limits = [day for _sign, day in _limits(constraint, DATE) if DAY.fullmatch(day)]
    if len(limits) != 2:
        return None
    first, last = limits
    try:
        least, most = calendar.step_of(first), calendar.step_of(last)
    except ValueError:  # a day that no month has
        return None
    least += first > calendar.first_day(least)
    return (least, most) if least < most else None
