"""What was charged when, by whom and how: sums that the database makes, from an index of time."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, Count, Min, Sum

from dpengine.accounting.filters import Charge
from surveys.ledger.fields import EPOCH, MICROSECOND, amount_of, moment_of
from surveys.ledger.models import Entry, EpsilonField, Kind, RhoField
from surveys.ledger.totals import Sums

DAY = datetime.timedelta(days=1)
MICROSECONDS = DAY // MICROSECOND  # of a day
ADDED_UP = "COUNT(*), SUM(rho), SUM(delta), COALESCE(SUM(epsilon), 0), COUNT(*) - COUNT(epsilon)"


@dataclass(frozen=True, slots=True)
class Day:
    """What was charged to a budget on one day, in UTC."""

    day: datetime.date
    until: datetime.datetime  # the last of these charges
    sums: Sums


def days_of(budget_ids: Iterable[int], since: datetime.date) -> dict[int, list[Day]]:
    """Return, by budget, the days on which anything was charged from one on, in one query."""
    found: dict[int, dict[datetime.date, Day]] = {budget_id: {} for budget_id in budget_ids}
    if not found:
        return {}
    first = datetime.datetime.combine(since, datetime.time(), tzinfo=datetime.UTC)
    rows = _rows(
        f"SELECT budget_id, at / {MICROSECONDS}, MAX(at), part, {ADDED_UP} FROM ledger_entry "  # noqa: S608
        f"WHERE budget_id IN ({', '.join(['%s'] * len(found))}) AND kind = %s AND at >= %s "
        f"GROUP BY budget_id, at / {MICROSECONDS}, part ORDER BY 1, 2, 4",
        [*found, Kind.CHARGE, (first - EPOCH) // MICROSECOND],
    )
    for budget_id, number, last, part, *sums in rows:
        day = (EPOCH + number * DAY).date()
        one = found[budget_id].setdefault(day, Day(day, moment_of(last), Sums()))
        one.sums.merge(Sums({part: list(map(int, sums))}))
        if moment_of(last) > one.until:
            found[budget_id][day] = replace(one, until=moment_of(last))
    return {budget_id: list(days.values()) for budget_id, days in found.items()}


def sums_after(budget_id: int, moment: datetime.datetime) -> Sums:
    """Return what was charged to a budget after a moment, added up for each part."""
    rows = _rows(
        f"SELECT part, {ADDED_UP} FROM ledger_entry "  # noqa: S608
        "WHERE budget_id = %s AND kind = %s AND at > %s GROUP BY part ORDER BY part",
        [budget_id, Kind.CHARGE, (moment - EPOCH) // MICROSECOND],
    )
    return Sums({part: list(map(int, sums)) for part, *sums in rows})


def _rows(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def charges_of(budget_id: int) -> list[Charge]:
    """Return every charge as what it cost, the same ones together: how many, and not which."""
    alike = ("part", "rho", "delta", "epsilon")
    found = Entry.charges.filter(budget=budget_id).order_by().values_list(*alike)
    charges: list[Charge] = []
    for part, rho, delta, epsilon, times, _first in found.annotate(
        Count("pk"), first=Min("pk")
    ).order_by("first"):
        entry = Entry(part=part, rho=rho, delta=delta, epsilon=epsilon)
        charges += [entry.charge] * times
    return charges


def spent_by_person(budget_id: int, measure: str) -> dict[str, Decimal]:
    """Return what was charged by whom, as rows call them, in ε or ρ, all parts added up."""
    name, kind = ("epsilon", EpsilonField) if measure == "ε" else ("rho", RhoField)
    spent = Sum(name, output_field=BigIntegerField(), default=0)
    found = Entry.charges.filter(budget=budget_id).order_by().values_list("who")
    return {who: amount_of(int(sum_), kind.places) for who, sum_ in found.annotate(spent=spent)}


def mechanisms(budget_id: int) -> list[str]:
    """Return the mechanisms that charges name, by name."""
    found = Entry.charges.filter(budget=budget_id).order_by("mechanism")
    return list(found.values_list("mechanism", flat=True).distinct())
