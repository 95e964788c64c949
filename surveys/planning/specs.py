"""The SPEC of a design, as in `--design forced:p=2/3,yes=1/6,no=1/6`: a name, a colon, its parts.

Fractions and decimals are exact; a column or an expression over columns stands where odds differ from row to row. The
outcome's 1 is “yes” (crosswise designs: “same”, both statements hold or neither; triangular: a triangle; kuk: red).

    SPEC                                  P(1 | yes)      P(1 | no)
    direct                                1               0
    coin                                  3/4             1/4
    warner:p=3/4                          p               1 − p       p: the sensitive statement is the one asked about
    forced:p=2/3,yes=1/6,no=1/6           p + yes         yes         p: answer truthfully; yes, no: say so
    crosswise:p=1/4                       p               1 − p       p: the other statement holds
    unrelated:p=1/2,q=1/12                p + (1 − p)q    (1 − p)q    p: the sensitive question; q: yes to the other
    disguised:yes=4/5[,no=1/5]            yes             no          red cards in the stack of yes, of no; no = 1 − yes
    mangat:p=7/10                         1               1 − p       p: those without the trait tell the truth
    triangular:p=1/4                      1               p           p: the harmless trait
    kuk:p1=4/5,p2=1/5[,repeats=3]         p1              p2          red cards; with repeats the outcome counts them
    kary:k=7,epsilon=2 or kary:k=7,keep=1/2                           the true choice with chance keep, else another
    table:FILE.json                                                   [answer][report]: weights, or chances with sum 1
    affine:c0=COL,c1=COL                  c0 + c1         c0          of each row
    sld, cdm, unrelated2, ecwm: p=COL[,group=COL]; anchored:p=COL,anchor=COL,anchor_p=COL; list:treated=COL,items=4

`first=1` after kary or table says that the outcome's codes start at 1.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpengine.privacy import DIGITS, exponential_below

MOST_CHOICES = 128
MOST_CELLS = 4096
SLACK = Fraction(1, 10**9)  # by which chances written as decimals may miss 1: other tools print sixteen digits
LONGEST_NUMBER = 40  # characters
NUMBER = re.compile(r"-?((\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?|\d+/\d+)")
CODES = re.compile(r"(?P<path>.*?)(,first=(?P<first>[^,]*))?", re.DOTALL)

Chances = tuple[tuple[Fraction, ...], ...]  # [answer][report]


@dataclass(frozen=True, slots=True)
class Channel:
    """One table of chances for everyone."""

    spec: str
    chances: Chances
    first: int = 0  # the outcome's lowest code

    def __post_init__(self) -> None:
        if len(set(self.chances)) == 1:
            raise ValueError(f"design {self.spec}: every report is as likely after each answer: nothing can be learned")

    @property
    def is_binary(self) -> bool:
        return len(self.chances) == len(self.chances[0]) == 2

    @property
    def affine(self) -> tuple[Fraction, Fraction]:
        """Return c0 and c1 of a binary design: P(1) = c0 + c1·π."""
        (_, no), (_, yes) = self.chances
        return no, yes - no

    @property
    def loss(self) -> Fraction | None:
        """Return e^ε exactly; None where a report proves or rules out an answer."""
        columns = [column for column in zip(*self.chances, strict=True) if any(column)]
        return None if any(0 in column for column in columns) else max(max(c) / min(c) for c in columns)

    @property
    def epsilon(self) -> float | None:
        loss = self.loss
        return None if loss is None else math.log(loss.numerator) - math.log(loss.denominator)


@dataclass(frozen=True, slots=True)
class Affine:
    """P(yes) = c0 + c1·π in each row, both a number, a column or an expression over columns."""

    spec: str
    c0: str
    c1: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A design with parameters of its own besides π; analysed, never offered for collection."""

    spec: str
    kind: str
    parts: dict[str, str]  # columns and expressions by role
    whole: dict[str, int]
    odds: dict[str, Fraction]

    @property
    def epsilon(self) -> float | None:
        """Return ε of Kuk's cards, drawn independently; None for the others, where it depends on what people do."""
        if self.kind != "kuk":
            return None
        one = _binary(self.spec, self.odds["p1"], self.odds["p2"]).epsilon
        return None if one is None else one * self.whole["repeats"]


Design = Channel | Affine | Imported


def parse(spec: str) -> Design:
    """Return the design that a SPEC describes. ValueError names the part, what was expected and what came."""
    name, _, rest = spec.strip().partition(":")
    name = name.strip().lower()
    if name not in READERS:
        raise ValueError(f"design: expected one of {', '.join(sorted(READERS))}, got {name!r}")
    if name == "table":
        return _table(spec, rest)
    parts = Parts(spec, name, rest)
    design = READERS[name](parts)
    parts.end()
    return design


class Parts:
    """The parts of a SPEC, taken one by one; what is left at the end has no meaning."""

    def __init__(self, spec: str, name: str, text: str) -> None:
        self.spec, self.name = spec, name
        self.left: dict[str, str] = {}
        self.known: list[str] = []
        for part in split(text) if text.strip() else []:
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not key or not value:
                raise ValueError(f"design {name}: expected parts such as p=2/3, got {part.strip()!r}")
            if key in self.left:
                raise ValueError(f"design {name}: {key} is given twice")
            self.left[key] = value

    def has(self, key: str) -> bool:
        return key in self.left

    def text(self, key: str) -> str:
        self.known.append(key)
        if key not in self.left:
            raise ValueError(f"design {self.name}: {key} is missing")
        return self.left.pop(key)

    def option(self, key: str) -> str | None:
        self.known.append(key)
        return self.left.pop(key, None)

    def number(self, key: str) -> Fraction:
        return number(f"design {self.name}: {key}", self.text(key))

    def chance(self, key: str) -> Fraction:
        return _chance(f"design {self.name}: {key}", self.number(key))

    def whole(self, key: str, least: int, most: int, default: int | None = None) -> int:
        text = self.option(key) if default is not None else self.text(key)
        value = Fraction(default or 0) if text is None else number(f"design {self.name}: {key}", text)
        if value.denominator != 1 or not least <= value <= most:
            raise ValueError(f"design {self.name}: {key} must be a whole number from {least} to {most}, got {value}")
        return int(value)

    def end(self) -> None:
        if self.left:
            known = ", ".join(dict.fromkeys(self.known)) or "no parts"
            raise ValueError(f"design {self.name}: expected {known}, got {next(iter(self.left))!r} too")


def split(text: str) -> list[str]:
    """Return the parts between commas that stand in no bracket and no backticks."""
    parts, depth, quoted = [""], 0, False
    for sign in text:
        quoted ^= sign == "`"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def number(name: str, text: str) -> Fraction:
    """Return a fraction or decimal, exactly."""
    if len(text) > LONGEST_NUMBER or not NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{name} must be a number such as 2/3 or 0.25, got {text[:LONGEST_NUMBER]!r}")
    try:
        return Fraction(text.strip())
    except ZeroDivisionError:
        raise ValueError(f"{name} must be a number such as 2/3 or 0.25, got {text!r}") from None


def _chance(name: str, value: Fraction) -> Fraction:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be a chance, from 0 to 1, got {value}")
    return value


def _binary(spec: str, after_yes: Fraction, after_no: Fraction) -> Channel:
    return Channel(spec, ((1 - after_no, after_no), (1 - after_yes, after_yes)))


def _direct(parts: Parts) -> Channel:
    return _binary(parts.spec, Fraction(1), Fraction(0))


def _coin(parts: Parts) -> Channel:
    return _binary(parts.spec, Fraction(3, 4), Fraction(1, 4))


def _warner(parts: Parts) -> Channel:
    p = parts.chance("p")
    return _binary(parts.spec, p, 1 - p)


def _forced(parts: Parts) -> Channel:
    p, yes, no = (parts.chance(key) for key in ("p", "yes", "no"))
    if p + yes + no != 1:
        raise ValueError(f"design forced: p + yes + no must be 1, got {p + yes + no}")
    return _binary(parts.spec, p + yes, yes)


def _unrelated(parts: Parts) -> Channel:
    p, q = parts.chance("p"), parts.chance("q")
    return _binary(parts.spec, p + (1 - p) * q, (1 - p) * q)


def _disguised(parts: Parts) -> Channel:
    yes = parts.chance("yes")
    return _binary(parts.spec, yes, _chance("design disguised: no", parts.number("no")) if parts.has("no") else 1 - yes)


def _mangat(parts: Parts) -> Channel:
    return _binary(parts.spec, Fraction(1), 1 - parts.chance("p"))


def _triangular(parts: Parts) -> Channel:
    return _binary(parts.spec, Fraction(1), parts.chance("p"))


def _kuk(parts: Parts) -> Channel | Imported:
    odds = {key: parts.chance(key) for key in ("p1", "p2")}
    repeats = parts.whole("repeats", 1, 100, default=1)
    if repeats == 1:
        return _binary(parts.spec, odds["p1"], odds["p2"])
    return Imported(parts.spec, "kuk", {}, {"repeats": repeats}, odds)


def _kary(parts: Parts) -> Channel:
    choices = parts.whole("k", 2, MOST_CHOICES)
    first = parts.whole("first", 0, 1, default=0)
    if parts.has("keep"):
        keep = parts.chance("keep")
    else:
        loss = _loss(parts.number("epsilon"))
        keep = loss / (loss + choices - 1)
    other = (1 - keep) / (choices - 1)
    rows = tuple(tuple(keep if answer == report else other for report in range(choices)) for answer in range(choices))
    return Channel(parts.spec, rows, first)


def _loss(epsilon: Fraction) -> Fraction:
    try:
        with localcontext(prec=DIGITS):
            return exponential_below(Decimal(epsilon.numerator) / Decimal(epsilon.denominator))
    except ValueError as error:
        raise ValueError(f"design kary: {error}") from None


def _affine(parts: Parts) -> Affine:
    return Affine(parts.spec, parts.text("c0"), parts.text("c1"))


def _two_parameters(*needed: str, optional: tuple[str, ...] = ("group",)) -> Callable[[Parts], Imported]:
    def read(parts: Parts) -> Imported:
        given = {key: parts.text(key) for key in needed}
        extra = {key: value for key in optional if (value := parts.option(key)) is not None}
        return Imported(parts.spec, parts.name, given | extra, {}, {})

    return read


def _list(parts: Parts) -> Imported:
    treated = {"treated": parts.text("treated")}
    return Imported(parts.spec, "list", treated, {"items": parts.whole("items", 1, 100)}, {})


def _table(spec: str, rest: str) -> Channel:
    found = CODES.fullmatch(rest.strip())
    path, first = (found["path"], found["first"]) if found else ("", None)
    if not path:
        raise ValueError("design table: expected a file, as in table:FILE.json, got nothing")
    if first not in (None, "0", "1"):
        raise ValueError(f"design table: first must be 0 or 1, got {first!r}")
    rows = _weights(path)
    totals = [sum(row, Fraction()) for row in rows]
    whole = all(weight.denominator == 1 for row in rows for weight in row)
    are_weights = whole and len(set(totals)) == 1 and totals[0] > 0
    if not are_weights and any(abs(total - 1) > SLACK for total in totals):
        sums = ", ".join(dict.fromkeys(str(total) for total in totals))
        raise ValueError(f"design table: rows must add up to 1, or be whole numbers with one sum, got sums {sums}")
    chances = tuple(tuple(weight / total for weight in row) for row, total in zip(rows, totals, strict=True))
    return Channel(spec, chances, int(first or 0))


def _weights(path: str) -> list[list[Fraction]]:
    """Return the rows of a table's file: a list of lists, alone or as the `weights` of a Plan's channel."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"), parse_float=Decimal, parse_constant=str)
    except OSError as error:
        raise ValueError(f"design table: cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"design table: {path} must be JSON, a list of rows such as [[3, 1], [1, 3]]") from None
    rows = document.get("weights") if isinstance(document, dict) else document
    if not isinstance(rows, list) or len(rows) < 2 or not all(isinstance(row, list) for row in rows):
        raise ValueError("design table: expected two rows or more, one for each answer, such as [[3, 1], [1, 3]]")
    if len({len(row) for row in rows}) > 1 or len(rows[0]) < 2 or len(rows) * len(rows[0]) > MOST_CELLS:
        lengths = ", ".join(str(len(row)) for row in rows[:5])
        raise ValueError(
            f"design table: rows must be of one length, 2 or more, {MOST_CELLS} cells at most, got lengths {lengths}"
        )
    return [[_weight(cell) for cell in row] for row in rows]


def _weight(cell: Any) -> Fraction:
    weight = number("design table: every cell", str(cell))
    if weight < 0:
        raise ValueError(f"design table: every cell must be 0 or more, got {weight}")
    return weight


READERS: dict[str, Callable[[Parts], Design]] = {
    "direct": _direct,
    "coin": _coin,
    "warner": _warner,
    "forced": _forced,
    "crosswise": _warner,  # outcome 1 is “same”: P(same | yes) = P(the other statement holds)
    "disguised": _disguised,
    "unrelated": _unrelated,
    "mangat": _mangat,
    "triangular": _triangular,
    "kuk": _kuk,
    "kary": _kary,
    "affine": _affine,
    "sld": _two_parameters("p"),
    "cdm": _two_parameters("p", optional=("no", "group")),
    "unrelated2": _two_parameters("p"),
    "ecwm": _two_parameters("p"),
    "anchored": _two_parameters("p", "anchor", "anchor_p", optional=()),
    "list": _list,
    "table": lambda parts: _table(parts.spec, ""),
}
