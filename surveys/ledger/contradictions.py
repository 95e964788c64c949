"""Budgets that contradict their rows: a cap that rose, a limit that went, a second life."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, models

from surveys.ledger import chain, terms
from surveys.ledger.chain import Columns, Damaged, Fault
from surveys.ledger.models import Budget

TRUTHS = {
    "true": True,
    "1": True,
    "false": False,
    "0": False,
}  # as PostgreSQL and SQLite write them


@dataclass(slots=True)
class Terms:
    """What the acts of the chain have made of a budget so far, each term with the row that says
    it, and acts that say it was another before.
    """

    opening: int = 0  # the position of the first act
    is_opened: bool = False
    stated: dict[str, str] = field(default_factory=dict)
    stated_in: dict[str, int] = field(default_factory=dict)
    misstated: list[list[Any]] = field(default_factory=list)  # position, said, stated

    def add(self, act: Columns) -> None:
        """Add an act, after those before it."""
        what, position = act["what"], int(act["position"])
        if not self.opening:
            lasting, _, cap = str(act["new"]).rpartition("; ")
            said = lasting, cap, terms.UNLIMITED, terms.OPEN
            self.opening, self.is_opened = position, what == terms.OPENED
            self.stated = dict(zip(terms.NAMES, said, strict=True))
            self.stated_in = dict.fromkeys(terms.NAMES, position)
        elif what in self.stated:
            if act["old"] != self.stated[what]:
                self.misstated.append([position, act["old"], self.stated[what]])
            self.stated[what], self.stated_in[what] = act["new"], position


def contradictions(
    found: Mapping[str, Terms], budgets: Mapping[str, Budget | Damaged]
) -> Iterator[Fault]:
    """Find budgets that are not what the acts of the chain made them."""
    names = {budget.pk: budget.name for budget in budgets.values() if isinstance(budget, Budget)}
    for name, budget in budgets.items():
        acts = found.get(name)
        if acts is None or not acts.is_opened:
            yield Fault(0, f"no row opens “{name}”")
        elif isinstance(budget, Damaged):
            yield Fault(acts.opening, f"opens “{name}”, which cannot be read: {budget}")
        else:
            yield from _differences(budget, acts)
            if not _is_held_rightly(budget, names):
                text = f"opens “{name}”, which is another person’s share now, or of another budget"
                yield Fault(acts.opening, text)


def _is_held_rightly(budget: Budget, names: dict[Any, str]) -> bool:
    """Compare a share with its name, which is hashed; one older than pseudonyms has a user's."""
    named = terms.SHARE.fullmatch(budget.name)
    holder, study = named.groups() if named else ("", "")
    is_pseudonym = holder.startswith("person ")  # no user can have such a name
    if budget.holder is None:
        return budget.within_id is None and not is_pseudonym
    return names.get(budget.within_id) == study and budget.holder == (
        holder if is_pseudonym else budget.holder
    )


def _differences(budget: Budget, acts: Terms) -> Iterator[Fault]:
    """Compare each term of a budget, as it stands, with the last act that says it."""
    for position, said, stated in acts.misstated:
        text = f"says that “{budget}” had “{said}” before; rows say “{stated}”"
        yield Fault(position, text)
    stands = (
        terms.lasting_of(budget),
        terms.cap_of(budget),
        terms.limit_of(budget),
        terms.end_of(budget),
    )
    for what, now in zip(terms.NAMES, stands, strict=True):
        if acts.stated[what] != now:
            text = f"says that “{budget}” has “{acts.stated[what]}”; it has “{now}”"
            yield Fault(acts.stated_in[what], text)


def stored_budgets() -> dict[str, Budget | Damaged]:
    """Return every budget as stored, by name, or what is wrong with one that cannot be read."""
    columns = {str(field.column): field for field in Budget._meta.concrete_fields}
    # As text where the database's driver would read more into a column.
    texts = models.BooleanField | models.DateField
    read = ", ".join(
        f"CAST({name} AS TEXT)" if isinstance(field, texts) else name
        for name, field in columns.items()
    )
    with chain.any_text(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {read} FROM ledger_budget")  # noqa: S608
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    return {str(row["name"]): _budget(columns, row) for row in rows}


def _budget(columns: "dict[str, models.Field[Any, Any]]", row: Columns) -> Budget | Damaged:
    try:
        return Budget(**{name: _value(field, row[name]) for name, field in columns.items()})
    except Damaged as damage:
        return damage


def _value(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return what a column holds, in Python's terms."""
    if value is None:
        return None
    if isinstance(field, models.BooleanField):
        if value not in TRUTHS:
            raise Damaged(f"{field.name}: expected yes or no")
        return TRUTHS[value]
    if isinstance(field, models.DateField):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError as error:
            raise Damaged(f"{field.name}: no such day") from error
    return chain.value_of(field, value)
