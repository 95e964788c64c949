"""Budgets that contradict their rows: a cap that rose, a limit that went, a second life."""

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, models

from surveys.ledger import chain, terms
from surveys.ledger.chain import Columns, Damaged, Fault, Stored
from surveys.ledger.models import Budget, Kind

TRUTHS = {
    "true": True,
    "1": True,
    "false": False,
    "0": False,
}  # as PostgreSQL and SQLite write them


def contradictions(rows: Sequence[Stored]) -> Iterator[Fault]:
    """Find budgets that are not what the acts of the chain made them."""
    budgets = _stored_budgets()
    names = {budget.pk: budget.name for budget in budgets.values() if isinstance(budget, Budget)}
    for name, budget in budgets.items():
        acts = [columns for columns, whose in rows if whose == name and columns["kind"] == Kind.ACT]
        if not acts or acts[0]["what"] != terms.OPENED:
            yield Fault(0, f"no row opens “{name}”")
        elif isinstance(budget, Damaged):
            yield Fault(acts[0]["position"], f"opens “{name}”, which cannot be read: {budget}")
        else:
            yield from _differences(budget, acts)
            if not _is_held_rightly(budget, names):
                text = f"opens “{name}”, which is another person’s share now, or of another budget"
                yield Fault(acts[0]["position"], text)


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


def _differences(budget: Budget, acts: Sequence[Columns]) -> Iterator[Fault]:
    """Compare each term of a budget, as it stands, with the last act that says it."""
    opening = acts[0]
    lasting, _, cap = str(opening["new"]).rpartition("; ")
    stated = {
        terms.OPENED: lasting,
        terms.LOWERED: cap,
        terms.LIMITED: terms.UNLIMITED,
        terms.RETIRED: terms.OPEN,
    }
    stated_in: Columns = dict.fromkeys(stated, opening["position"])
    for act in acts[1:]:
        if (what := act["what"]) in stated:
            if act["old"] != stated[what]:
                yield Fault(
                    act["position"],
                    f"says that “{budget}” had “{act['old']}” before; rows say “{stated[what]}”",
                )
            stated[what], stated_in[what] = act["new"], act["position"]
    stands = (
        terms.lasting_of(budget),
        terms.cap_of(budget),
        terms.limit_of(budget),
        terms.end_of(budget),
    )
    for what, now in zip(stated, stands, strict=True):
        if stated[what] != now:
            text = f"says that “{budget}” has “{stated[what]}”; it has “{now}”"
            yield Fault(stated_in[what], text)


def _stored_budgets() -> dict[str, Budget | Damaged]:
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
