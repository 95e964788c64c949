import datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction

from surveys.ledger import queries, services
from surveys.ledger.models import Budget, Entry

DAY = datetime.date(2026, 5, 11)


@pytest.fixture
def budget(db):
    return services.open_budget(name="study:x", unit="respondent-in-study", neighbours="change-one", cap=Decimal("1.8"))


def charge(budget, epsilon="0.45", statistic="a" * 64):
    return services.charge(
        budget_id=budget.pk,
        epsilon=Decimal(epsilon),
        statistic=statistic,
        reason="shares",
        mechanism="discrete Laplace",
        who="rule",
        day=DAY,
    )


def test_charges_are_numbered_and_add_up_exactly(budget):
    for i in range(4):
        charge(budget, statistic=f"{i}" * 64)
    account = queries.account(budget.pk)
    assert [entry.number for entry in account.entries] == [1, 2, 3, 4]
    assert (account.spent, account.left) == (Decimal("1.8"), Decimal(0))


def test_a_charge_beyond_the_cap_is_refused_with_what_is_left_and_nothing_written(budget):
    charge(budget, "1.7")
    with pytest.raises(services.Overspent, match=r"costs 0\.2; 0\.1 is left\. Nothing was published"):
        charge(budget, "0.2", "b" * 64)
    assert Entry.objects.count() == 1
    charge(budget, "0.1", "b" * 64)


@pytest.mark.parametrize("epsilon", ["0", "-1", "NaN", "Infinity"])
def test_a_charge_that_is_none_is_refused(budget, epsilon):
    with pytest.raises(ValueError, match="charge must be above 0"):
        charge(budget, epsilon)
    assert not Entry.objects.exists()


def test_an_amount_finer_than_the_ledger_is_refused_not_rounded(budget):
    with pytest.raises(ValidationError, match="at most 9 decimals"):
        charge(budget, "0.0000000001")


def test_the_same_statistic_is_not_charged_twice(budget):
    charge(budget)
    with pytest.raises(IntegrityError), transaction.atomic():
        charge(budget)


@pytest.mark.parametrize("change", [{"epsilon": Decimal("0.1")}, {"who": "nobody"}, {"number": 7}])
def test_the_database_itself_refuses_to_change_an_entry(budget, change):
    charge(budget)
    with pytest.raises(DatabaseError, match="ledger rows are only ever added"), transaction.atomic():
        Entry.objects.update(**change)


def test_the_database_itself_refuses_to_delete_an_entry_or_a_budget(budget):
    charge(budget)
    with pytest.raises(DatabaseError, match="ledger rows are only ever added"), transaction.atomic():
        Entry.objects.all()._raw_delete("default")
    with pytest.raises(DatabaseError, match="a budget stays"), transaction.atomic():
        Budget.objects.all()._raw_delete("default")


@pytest.mark.parametrize("change", [{"unit": "household"}, {"neighbours": "add-remove"}, {"cap": Decimal("1.9")}])
def test_a_budget_keeps_its_terms(budget, change):
    with pytest.raises(DatabaseError), transaction.atomic():
        Budget.objects.update(**change)


def test_a_cap_may_fall(budget):
    Budget.objects.update(cap=Decimal("1.7"))
    assert queries.account(budget.pk).cap == Decimal("1.7")


def test_a_budget_is_opened_once(budget):
    with pytest.raises(IntegrityError), transaction.atomic():
        services.open_budget(name="study:x", unit="u", neighbours="n", cap=Decimal(9))


def test_an_entry_cannot_be_replaced_either(budget):
    """On SQLite, REPLACE deletes a row without firing its triggers."""
    entry = charge(budget)
    verb = "INSERT OR REPLACE" if connection.vendor == "sqlite" else "INSERT"
    forged = (
        f"{verb} INTO ledger_entry (id, budget_id, number, epsilon, statistic, reason, mechanism, who, day) "  # noqa: S608
        "SELECT id, budget_id, number, 1, statistic, reason, mechanism, who, day FROM ledger_entry"
    )
    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(forged)
    assert Entry.objects.get().epsilon == entry.epsilon


@pytest.mark.parametrize("cap", ["0", "-1", "NaN"])
def test_a_cap_that_is_none_is_refused(db, cap):
    with pytest.raises(ValueError, match="cap must be above 0"):
        services.open_budget(name="study:y", unit="u", neighbours="n", cap=Decimal(cap))


def test_an_epsilon_is_stored_as_a_whole_number_of_billionths(budget):
    charge(budget, "0.123456789")
    with connection.cursor() as cursor:
        cursor.execute("SELECT epsilon FROM ledger_entry")
        assert cursor.fetchone() == (123456789,)
    assert Entry.objects.get().epsilon == Decimal("0.123456789")
