"""A total is what the rows add up to: at any moment, or it is named."""

import itertools
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from dpengine.accounting.filters import Charge
from dpengine.contraction import Noise, Reading, Together, loss_of
from dpengine.privacy import Cost
from surveys.ledger import chain, selectors, services
from surveys.ledger.amounts import charged as charged_as
from surveys.ledger.models import Budget, Entry, Total
from surveys.ledger.totals import Sums, readings_from_text, readings_to_text
from surveys.ledger.verification import faults
from tests.surveys.ledger.small import DAY, NOW, open_budget, pay, pure, tampering

pytestmark = pytest.mark.django_db
TERMS: list[dict[str, Any]] = [
    {"epsilon": 10},
    {"epsilon": 10, "fixed_parts": True},
    {"epsilon": 10, "neighbours": "add-remove"},
    {"rho": 50, "delta": Fraction(1, 10**6)},
    {"epsilon": 10, "delta": Fraction(1, 10**6)},
]
COSTS = [
    pure("0.3"),
    pure("0.000000001"),
    Cost.concentrated(Fraction(1, 1000), Fraction(1, 10**8)),
    Cost.approximate(Fraction(1, 5), Fraction(1, 10**9)),
]


@pytest.mark.parametrize("terms", TERMS)
def test_to_a_filter_sums_of_parts_are_all_their_charges(terms: dict[str, Any]) -> None:
    """What is spent and left, and what is admitted: of any charges, after each of them."""
    filter_, chance = open_budget("study:sums", **terms).filter, random.Random(20260511)
    for _ in range(30):
        sums, charges = Sums(), []
        for _ in range(chance.randrange(12)):
            cost = charged_as(chance.choice(COSTS))
            charges.append(Charge(chance.choice(["", "a", "b", "c"]), cost))
            entry = Entry(part=charges[-1].part, at=NOW, **as_columns(cost))
            sums.add(chain.columns_of(entry))
            assert Sums.from_text(sums.to_text()) == sums
            assert filter_.total(sums.charges) == filter_.total(charges)
            assert filter_.holds(sums.charges) == filter_.holds(charges)
            for part, more in itertools.product(("", "a", "d"), COSTS):
                assert filter_.admits(more, sums.charges, part) == filter_.admits(
                    more, charges, part
                )
            assert left(filter_, sums.charges) == left(filter_, charges)


def left(filter_: Any, charges: list[Charge]) -> Any:
    try:
        return [filter_.left(charges, part) for part in ("", "a", "d")]
    except ValueError as refusal:
        return str(refusal)


def as_columns(cost: Cost) -> dict[str, Any]:
    epsilon = None if cost.epsilon is None else as_decimal(cost.epsilon)
    return {"rho": as_decimal(cost.rho), "delta": as_decimal(cost.delta), "epsilon": epsilon}


def as_decimal(amount: Fraction) -> Decimal:
    return Decimal(amount.numerator) / Decimal(amount.denominator)


def any_reading(chance: random.Random) -> Reading:
    """Return what some release reads: of a panel, of waves, of devices that draw what they ask."""
    study = chance.choice(["one", "two", "drawn"])
    names = [f"{study}/1/q{number}" for number in range(5)]
    read = chance.sample(names, chance.randint(1, 4))
    losses = {name: None if name.endswith("4") else Fraction(3 + int(name[-1]), 2) for name in read}
    noises = [
        Noise(
            frozenset(chance.sample(read, chance.randint(1, len(read)))),
            chance.choice([None, Fraction(1, 7), Fraction(1, 4), Fraction(5, 2)]),
        )
        for _ in range(chance.randint(1, 3))
    ]
    sets = (frozenset(names[:3]), frozenset(names[2:])) if study == "drawn" else ()
    return Reading(losses, noises, sets)


def test_what_answers_lose_is_the_same_of_readings_added_up_to_the_last_bit() -> None:
    chance = random.Random(7)
    for _ in range(60):
        readings = [any_reading(chance) for _ in range(chance.randint(1, 9))]
        at = chance.randrange(len(readings))
        kept = readings_from_text(readings_to_text(Together(readings[:at]).readings))
        assert loss_of([*kept, *readings[at:]]) == loss_of(readings)


def test_what_is_added_up_does_not_grow_with_how_often_it_was_read() -> None:
    reading = any_reading(random.Random(3))
    once, often = Together([reading]), Together([reading] * 500)
    assert len(readings_to_text(often.readings)) < len(readings_to_text(once.readings)) + 50


def charged() -> Budget:
    budget = open_budget(epsilon=10)
    for number, part in enumerate(["", "a", "b", "a"]):
        pay(budget, pure(f"0.{number + 1}"), part=part, now=NOW - number * DAY)
    assert faults() == []
    return budget


@pytest.mark.parametrize(
    "change",
    [
        "charges = charges - 1",
        "number = number + 1",
        "position = position + 1",
        "first_at = first_at + 1",
        "parts = REPLACE(parts, '600000000', '500000000')",
        "parts = '{}'",
        "parts = 'no JSON'",
        "reads = 'x'",
    ],
)
def test_a_total_that_was_changed_is_named(change: str) -> None:
    charged()
    with tampering((f"UPDATE ledger_total SET {change}", [])):  # noqa: S608
        (fault,) = faults()
        column = change.split()[0]
        assert str(fault) == (
            f"row 5: the total of “study:x” is not what its charges add up to: {column}"
        )


def test_a_total_that_is_gone_or_of_nothing_is_named() -> None:
    budget, other = charged(), open_budget("study:y")
    with tampering(("DELETE FROM ledger_total", [])):
        assert [str(fault) for fault in faults()] == ["row 5: “study:x” has no total"]
    for key, said in (
        (other.pk, "row 0: “study:y” has a total, and no charge"),
        (other.pk + 9, f"row 0: a total is of no budget: {other.pk + 9}"),
    ):
        with tampering(
            (
                "INSERT INTO ledger_total "
                "SELECT %s, charges, number, position, first_at, parts, reads FROM ledger_total "
                "WHERE budget_id = %s",
                [key, budget.pk],
            )
        ):
            assert said in [str(fault) for fault in faults()]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_total SET charges = charges - 1",
        "UPDATE ledger_total SET charges = charges + 1, number = number + 1",
        "UPDATE ledger_total SET parts = '{}'",
        "DELETE FROM ledger_total",
    ],
)
def test_the_database_refuses_a_total_that_shrinks(statement: str) -> None:
    charged()
    with (
        pytest.raises(IntegrityError, match="a total"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert faults() == []


def test_an_older_worker_cannot_charge_behind_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code writes rows and knows no totals: the database refuses the row."""
    budget = charged()
    monkeypatch.setattr(services, "_count", lambda budget, entry: None)
    with pytest.raises(IntegrityError, match="counted in the total"), transaction.atomic():
        pay(budget, "0.1")
    assert (Entry.charges.count(), faults()) == (4, [])


def test_a_charge_that_comes_to_nothing_leaves_its_total_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget = charged()
    before = Total.objects.values().get()

    def failing(self: Entry, **how: Any) -> None:
        raise RuntimeError("killed between the total and the row")

    with monkeypatch.context() as patch:
        patch.setattr(Entry, "save", failing)
        with pytest.raises(RuntimeError, match="killed"), transaction.atomic():
            pay(budget, "0.1")
    assert Total.objects.values().get() == before
    pay(budget, "0.1")
    assert faults() == []


def test_the_days_of_a_budget_are_its_rows_by_day() -> None:
    account = selectors.account(charged().pk)
    days = account.days((NOW - 2 * DAY).date())
    assert [(day.day, list(day.sums.parts)) for day in days] == [
        ((NOW - 2 * DAY).date(), ["b"]),
        ((NOW - DAY).date(), ["a"]),
        (NOW.date(), [""]),
    ]
    assert days[-1].until == NOW
