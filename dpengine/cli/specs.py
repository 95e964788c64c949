"""The SPEC of a design, as in `--design forced:p=2/3,yes=1/6,no=1/6`: a name, a colon, its parts.

Fractions and decimals are exact; a column or an expression over columns stands where odds differ
from row to row. The outcome's 1 is “yes” (crosswise designs: “same”, both statements hold or
neither; triangular: a triangle; kuk: red).

    SPEC                           P(1 | yes)    P(1 | no)   what the parts are
    direct                         1             0
    coin                           3/4           1/4
    warner:p=3/4                   p             1 − p       the sensitive statement is asked
    forced:p=2/3,yes=1/6,no=1/6    p + yes       yes         answer truthfully; say yes; say no
    crosswise:p=1/4                p             1 − p       the other statement holds
    unrelated:p=1/2,q=1/12         p + (1 − p)q  (1 − p)q    the sensitive one; yes to the other
    disguised:yes=4/5[,no=1/5]     yes           no          red cards in each stack; no = 1 − yes
    mangat:p=7/10                  1             1 − p       those without the trait tell the truth
    triangular:p=1/4               1             p           the harmless trait
    kuk:p1=4/5,p2=1/5[,repeats=3]  p1            p2          red cards; repeats: the outcome counts
    kary:k=7,epsilon=2 or kary:k=7,keep=1/2       the true choice with chance keep, else another
    subset:k=5,size=2,epsilon=1 or subset:k=5,size=2,keep=2/3   the report holds `size` of k
                           choices, the true one with chance keep: 1 3
    table:FILE.json        [answer][report]: weights, or chances with sum 1
    affine:c0=COL,c1=COL           c0 + c1       c0          of each row
    sld, cdm, unrelated2, ecwm: p=COL[,group=COL]; anchored:p=COL,anchor=COL,anchor_p=COL;
    list:treated=COL,items=4

`first=1` after kary, subset or table says that the outcome's codes start at 1.
"""

import inspect
import json
import math
import re
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpengine import designs
from dpengine.bounds import DIGITS
from dpengine.checks import require
from dpengine.designs import Design
from dpengine.privacy import exponential_below

MAX_CHOICES = 128
MAX_CELLS = 4096
MAX_SET_CELLS = 2**16  # of a subset design: choices times sets
MAX_REPEATS = 100
MAX_NUMBER_LENGTH = 40
# Chances written as decimals may miss 1 by this: other tools print sixteen digits
SLACK = Fraction(1, 10**9)
NUMBER = re.compile(r"-?((\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?|\d+/\d+)")
CODES = re.compile(r"(?P<path>.*?)(,first=(?P<first>[^,]*))?", re.DOTALL)
IMPORTED = {  # parts that are needed, and parts that may be left out
    "affine": (("c0", "c1"), ()),
    "sld": (("p",), ("group",)),
    "cdm": (("p",), ("no", "group")),
    "unrelated2": (("p",), ("group",)),
    "ecwm": (("p",), ("group",)),
    "anchored": (("p", "anchor", "anchor_p"), ()),
    "list": (("treated",), ()),
}
NAMES = sorted({*designs.BINARY, *IMPORTED, "kary", "subset", "table"})
COLUMN = re.compile(r"\s*(`(?P<quoted>[^`]+)`|(?P<name>[^:`]+))\s*(:(?P<spec>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Imported:
    """A design with constants of each row, or with parameters of its own besides π; analysed, never
    offered for collection.
    """

    spec: str
    kind: str
    parts: dict[str, str] = field(default_factory=dict)  # columns and expressions by role
    repeats: int = 1  # of Kuk's cards
    items: int = 0  # of a list
    one: Design | None = None  # of Kuk's cards, drawn once

    @property
    def epsilon(self) -> float | None:
        """Return ε of Kuk's cards, drawn independently; None for the others, where it depends on
        what people do.
        """
        one = None if self.one is None else self.one.epsilon
        return None if one is None else one * self.repeats


AnyDesign = Design | Imported


@dataclass(frozen=True, slots=True)
class Asked:
    """A column besides the outcome, and how it was asked; without a design it was given openly."""

    column: str
    design: AnyDesign | None


def parse(spec: str) -> AnyDesign:
    """Return the design that a SPEC describes. ValueError names the part, what was expected and
    what came.
    """
    name, _, rest = spec.strip().partition(":")
    name = name.strip().lower()
    require(name in NAMES, "design: expected one of {}, got {!r}", ", ".join(NAMES), name)
    if name == "table":
        return _table(spec, rest)
    parts = Parts(spec, name, rest)
    design = _design(parts)
    parts.end()
    return design


def parse_asked(option: str, text: str, is_open: bool = False) -> Asked:
    """Return the column and the design of COL:SPEC; without SPEC too, where it may be open."""
    expected = f"{option}: expected COL:SPEC, such as drug:kary:k=3,keep=1/2"
    named = COLUMN.fullmatch(text)
    if named is None or not (is_open or named["spec"]):
        raise ValueError(f"{expected}{', or COL alone' * is_open}, got {text!r}")
    column = (named["quoted"] or named["name"]).strip()
    if named["spec"] is None:
        return Asked(column, None)
    try:
        design = parse(named["spec"])
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None
    if isinstance(design, Imported) and design.kind != "affine":
        raise ValueError(
            f"{option}: expected a design whose chances are known, got {design.kind}, which has "
            "parameters of its own"
        )
    return Asked(column, design)


class Parts:
    """The parts of a SPEC, taken one by one; what is left at the end has no meaning."""

    def __init__(self, spec: str, name: str, text: str) -> None:
        self.spec, self.name = spec, name
        self.left: dict[str, str] = {}
        self.known: list[str] = []
        for part in split(text) if text.strip() else []:
            key, _, value = (piece.strip() for piece in part.partition("="))
            require(
                key and value,
                "design {}: expected parts such as p=2/3, got {!r}",
                name,
                part.strip(),
            )
            require(key not in self.left, "design {}: {} is given twice", name, key)
            self.left[key] = value

    def text(self, key: str, default: str | None = None) -> str:
        self.known.append(key)
        text = self.left.pop(key, default)
        if text is None:
            raise ValueError(f"design {self.name}: {key} is missing")
        return text

    def number(self, key: str) -> Fraction:
        return number(f"design {self.name}: {key}", self.text(key))

    def whole(self, key: str, least: int, most: int, default: str | None = None) -> int:
        value = number(f"design {self.name}: {key}", self.text(key, default))
        require(
            value.denominator == 1 and least <= value <= most,
            "design {}: {} must be a whole number from {} to {}, got {}",
            self.name,
            key,
            least,
            most,
            value,
        )
        return int(value)

    def end(self) -> None:
        known = ", ".join(dict.fromkeys(self.known)) or "no parts"
        others = next(iter(self.left), "")
        require(not others, "design {}: expected {}, got {!r} too", self.name, known, others)


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
    require(
        len(text) <= MAX_NUMBER_LENGTH and NUMBER.fullmatch(text.strip()),
        "{} must be a number such as 2/3 or 0.25, got {!r}",
        name,
        text[:MAX_NUMBER_LENGTH],
    )
    try:
        return Fraction(text.strip())
    except ZeroDivisionError:
        raise ValueError(f"{name} must be a number such as 2/3 or 0.25, got {text!r}") from None


def _design(parts: Parts) -> AnyDesign:
    if parts.name in IMPORTED:
        needed, optional = IMPORTED[parts.name]
        texts = {
            **{key: parts.text(key) for key in needed},
            **{key: parts.text(key, "") for key in optional},
        }
        columns = {key: text for key, text in texts.items() if text}
        items = parts.whole("items", 1, MAX_REPEATS) if parts.name == "list" else 0
        return Imported(parts.spec, parts.name, columns, items=items)
    try:
        if parts.name in ("kary", "subset"):
            return _choices(parts)
        make = designs.BINARY[parts.name]
        chances = make(
            **{
                key: parts.number(key)
                for key, part in inspect.signature(make).parameters.items()
                if part.default is part.empty or key in parts.left
            }
        )
    except ValueError as error:
        prefix = "" if str(error).startswith("design ") else f"design {parts.name}: "
        raise ValueError(f"{prefix}{error}") from None
    design = Design(parts.spec, chances)
    repeats = parts.whole("repeats", 1, MAX_REPEATS, default="1") if parts.name == "kuk" else 1
    return design if repeats == 1 else Imported(parts.spec, "kuk", repeats=repeats, one=design)


def _choices(parts: Parts) -> Design:
    """Return a design of k choices, whose report holds `size` of them: one in k-ary response."""
    choices = parts.whole("k", 2, MAX_CHOICES)
    size = parts.whole("size", 1, choices - 1) if parts.name == "subset" else 1
    require(
        (cells := (choices * math.comb(choices, size))) <= MAX_SET_CELLS,
        "design subset: k times the sets of so many must be at most {}, got {}",
        MAX_SET_CELLS,
        cells,
    )
    first = parts.whole("first", 0, 1, default="0")
    if "keep" in parts.left:
        keep = parts.number("keep")
    else:
        epsilon = parts.number("epsilon")
        with localcontext(prec=DIGITS):
            loss = exponential_below(Decimal(epsilon.numerator) / Decimal(epsilon.denominator))
        keep = loss * size / (loss * size + choices - size)
    return Design(parts.spec, designs.subset(choices, size, keep), first, size)


def _table(spec: str, rest: str) -> Design:
    """Return the design of a file: chances, or whole weights of one sum."""
    named = CODES.fullmatch(rest.strip())
    if not named or not named["path"]:
        raise ValueError("design table: expected a file, as in table:FILE.json, got nothing")
    first = named["first"] or "0"
    require(first in ("0", "1"), "design table: first must be 0 or 1, got {!r}", first)
    rows = _weights(named["path"])
    totals = [sum(row, Fraction()) for row in rows]
    whole = all(weight.denominator == 1 for row in rows for weight in row)
    are_weights = whole and len(set(totals)) == 1 and totals[0] > 0
    require(
        are_weights or all(abs(total - 1) <= SLACK for total in totals),
        "design table: rows must add up to 1, or be whole numbers with one sum, got sums {}",
        ", ".join(dict.fromkeys(map(str, totals))),
    )
    chances = tuple(
        tuple(weight / total for weight in row) for row, total in zip(rows, totals, strict=True)
    )
    return Design(spec, chances, int(first))


def _weights(path: str) -> list[list[Fraction]]:
    """Return a file's rows: a list of lists, alone or as the `weights` of a Plan's channel."""
    try:
        document = json.loads(
            Path(path).read_text(encoding="utf-8-sig"), parse_float=Decimal, parse_constant=str
        )
    except OSError as error:
        raise ValueError(f"design table: cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError(
            f"design table: {path} must be JSON, a list of rows such as [[3, 1], [1, 3]]"
        ) from None
    rows: Any = document.get("weights") if isinstance(document, dict) else document
    are_rows = isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    require(
        are_rows and len(rows) >= 2,
        "design table: expected two rows or more, one for each answer, such as [[3, 1], [1, 3]]",
    )
    lengths = [len(row) for row in rows]
    require(
        len(set(lengths)) == 1 and lengths[0] >= 2 and sum(lengths) <= MAX_CELLS,
        "design table: rows must be of one length, 2 or more, {} cells at most, got lengths {}",
        MAX_CELLS,
        ", ".join(map(str, lengths[:5])),
    )
    weights = [[number("design table: every cell", str(cell)) for cell in row] for row in rows]
    least = min(weight for row in weights for weight in row)
    require(least >= 0, "design table: every cell must be 0 or more, got {}", least)
    return weights
