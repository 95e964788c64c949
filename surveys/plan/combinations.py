"""What of a study goes with what: the one table. What no row names goes together.

An option is a choice and one of its values, such as `rule` and `continual`. A row names two that do
not go together, the field at which that is mended, and a code for the sentence that says why and
what to change (`surveys/design/combinations.py` has the sentences). Read by whatever refuses a
draft, by *Limits* and by the planner; docs/combinations.md prints it, and a test opens a study for
every pair that no row names.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

Values = frozenset[str]
Chosen = Mapping[str, str]  # a value of each choice that is known

OPTIONS: dict[str, tuple[str, ...]] = {
    "rule": ("when-closed", "every", "continual", "on-request"),
    "protects": ("change-one", "add-remove"),
    "unit": ("person", "person in a wave", "answer", "household"),
    "delta": ("none", "some"),
    "waves": ("one", "several"),
    "draws": ("fresh", "kept"),
    "people": ("link", "list"),
    "asked": ("everything", "drawn"),
    "sent": ("apart", "as one"),
    "closes": ("by hand or day", "at a number", "each group at a number"),
    "panel": ("none", "some"),
    "given": ("none", "some", "numbers only"),
}


@dataclass(frozen=True, slots=True)
class Apart:
    """Two options that do not go together: a choice, and the values of it that are meant."""

    code: str
    field: str  # of a study, at which it is mended; "" where it is a question's
    one: str
    ones: Values
    other: str
    others: Values

    @property
    def choices(self) -> frozenset[str]:
        return frozenset({self.one, self.other})

    def holds(self, chosen: Chosen) -> bool:
        """Tell whether both were chosen."""
        return chosen.get(self.one) in self.ones and chosen.get(self.other) in self.others


def _apart(code: str, field: str, one: str, ones: str, other: str, others: str) -> Apart:
    values = (frozenset(each.split("|")) for each in (ones, others))
    return Apart(code, field, one, next(values), other, next(values))


APART: tuple[Apart, ...] = (
    _apart("continual needs δ", "rule", "rule", "continual", "delta", "none"),
    _apart("rule tells n", "rule", "rule", "every|continual", "protects", "add-remove"),
    _apart("drawn tells n", "asked", "asked", "drawn", "protects", "add-remove"),
    _apart("as one tells n", "", "sent", "as one", "protects", "add-remove"),
    _apart("closing tells n", "closes_at", "closes", "at a number", "protects", "add-remove"),
    _apart(
        "closing tells n",
        "stratum_closes_at",
        "closes",
        "each group at a number",
        "protects",
        "add-remove",
    ),
    _apart("list tells n", "neighbours", "people", "list", "protects", "add-remove"),
    _apart("answer hides nobody", "neighbours", "unit", "answer", "protects", "add-remove"),
    _apart("answer has no δ", "cap_delta", "unit", "answer", "delta", "some"),
    _apart("household has no δ", "cap_delta", "unit", "household", "delta", "some"),
    _apart("key of one wave", "draws", "draws", "kept", "waves", "one"),
    _apart("key of a list", "draws", "draws", "kept", "people", "list"),
    _apart(
        "panel counts people",
        "unit",
        "panel",
        "some",
        "unit",
        "person in a wave|answer|household",
    ),
    _apart(
        "given numbers on request",
        "rule",
        "given",
        "numbers only",
        "rule",
        "when-closed|every|continual",
    ),
)


def apart(chosen: Chosen, *, of: Iterable[str] = OPTIONS) -> Iterator[Apart]:
    """Yield the rows that these options break; `of`: only rows about one of these choices."""
    about = frozenset(of)
    return (row for row in APART if row.choices & about and row.holds(chosen))


def fits(**chosen: str) -> bool:
    """Tell whether these options go together."""
    return not any(apart(chosen))
