"""What is left, how fast it goes, and when an owner should hear of it."""

import datetime
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.accounting import concentrated
from dpengine.accounting.filters import PureFilter
from dpengine.privacy import Cost
from surveys.ledger import selectors, services
from surveys.ledger.selectors import Statement
from tests.surveys.ledger.small import DAY, NOW, OWNER, open_budget, pay, pure

pytestmark = pytest.mark.django_db

WEEK = 7 * DAY


@pytest.fixture
def budget():
    return open_budget(epsilon=10)


def account_of(budget):
    return selectors.account(budget.pk)


def test_an_untouched_budget_is_not_burning(budget):
    account = account_of(budget)
    assert (account.spent, account.amount_left, account.left.epsilon) == (
        None,
        Decimal(10),
        Fraction(10),
    )
    burn = account.burn(NOW)
    assert (burn.per_week, {week.amount for week in burn.weeks}) == (0, {0})
    assert account.days_left(NOW) is None
    assert account.alerts(NOW, NOW.date() + DAY) == []


def test_the_weeks_of_a_chart_are_the_last_twelve_and_end_now(budget):
    for weeks, amount in ((12, "4"), (11, "2"), (1, "0.5"), (0, "1")):
        pay(budget, amount, now=NOW - weeks * WEEK)
    burn = account_of(budget).burn(NOW)
    assert [str(week.amount) for week in burn.weeks] == ["2", *["0"] * 9, "0.5", "1"]
    assert burn.weeks[-1].ends == NOW


def test_the_rate_is_that_of_four_weeks_or_since_the_first_charge(budget):
    pay(budget, "1", now=NOW - 2 * WEEK)
    assert account_of(budget).burn(NOW).per_week == Fraction(1, 2)
    pay(budget, "1", now=NOW)
    account = account_of(budget)
    assert (account.burn(NOW).per_week, account.days_left(NOW)) == (1, 56)
    assert account.burn(NOW + 8 * WEEK).per_week == 0


def test_a_first_charge_counts_for_a_week_not_for_an_instant(budget):
    pay(budget, "1")
    assert account_of(budget).burn(NOW).per_week == 1


def test_who_would_reach_the_cap_before_the_end_of_the_study_hears_it(budget):
    pay(budget, "1", now=NOW - WEEK)
    pay(budget, "1", now=NOW)
    account = account_of(budget)
    end = NOW.date() + datetime.timedelta(days=40)
    assert account.days_left(NOW) == 28
    [alert] = account.alerts(NOW, end)
    assert alert == f"At this rate the cap is used up in 28 days, 12 before {end}."
    assert account.alerts(NOW, NOW.date() + 28 * DAY) == account.alerts(NOW) == []


def test_one_day_is_said_as_one(budget):
    pay(budget, "5", now=NOW - WEEK)
    pay(budget, "3", now=NOW)
    end = NOW.date() + datetime.timedelta(days=9)
    [alert] = account_of(budget).alerts(NOW, end)
    assert alert == f"At this rate the cap is used up in 1 day, 8 before {end}."


def test_who_comes_near_the_week_s_limit_hears_it(budget):
    services.set_weekly_limit(budget_id=budget.pk, weekly=1, why="slowly", **OWNER)
    pay(budget, "0.4")
    assert account_of(budget).alerts(NOW) == []
    pay(budget, "0.4")
    [alert] = account_of(budget).alerts(NOW)
    assert alert.startswith("ε 0.8 was spent in the last seven days, and ε 1 is the limit:")
    assert account_of(budget).alerts(NOW + WEEK) == []


def test_a_retired_budget_alerts_nobody(budget):
    pay(budget, "9")
    services.retire_budget(budget_id=budget.pk, why="over", **OWNER)
    assert account_of(budget).alerts(NOW, NOW.date() + 90 * DAY) == []


def test_whether_a_charge_can_be_paid_is_asked_of_what_would_be_written(budget):
    pay(budget, "9.999999999")
    account = account_of(budget)
    assert account.can_pay(Cost.pure(Fraction(1, 10**9)))
    assert not account.can_pay(Cost.pure(Fraction(1, 10**9) + Fraction(1, 10**15)))
    assert not account.can_pay(Cost.concentrated(Fraction(1, 10**12)))


def test_a_statement_rounds_against_the_reader_s_hopes(budget):
    pay(budget, "0.001")
    pay(budget, "1.001")
    statement = Statement(account_of(budget))
    assert (statement.spent, statement.cap, statement.left) == (
        Decimal("1.01"),
        Decimal(10),
        Decimal("8.99"),
    )
    assert (statement.width, statement.measure) == ("10.02%", "ε")
    assert [(str(row.amount), str(row.total)) for row in statement.rows] == [
        ("1.01", "1.01"),
        ("0.01", "0.01"),
    ]
    assert [str(row.exact_total) for row in statement.rows] == ["1.002", "0.001"]


@pytest.mark.parametrize(
    "terms", [{"epsilon": 10}, {"epsilon": 10, "fixed_parts": True}, {"rho": 50, "delta": 0}]
)
def test_each_total_of_a_statement_is_that_of_the_charges_so_far(terms):
    budget = open_budget("study:parts", **terms)
    for number, part in enumerate(["", "a", "b", "a", "c", "", "b"], start=1):
        pay(budget, pure(f"0.{number}"), part=part)
    entries = account_of(budget).entries
    so_far = [[entry.charge for entry in entries[:count]] for count in range(1, len(entries) + 1)]
    totals = [
        selectors.in_measure(budget.measure, budget.filter.total(charges)) for charges in so_far
    ]
    assert [row.exact_total for row in Statement(account_of(budget)).rows] == totals[::-1]


def test_the_totals_of_a_statement_are_not_added_up_anew_for_every_row(budget, monkeypatch):
    for _ in range(9):
        pay(budget, "0.1")
    added = []
    total = PureFilter.total

    def counting(self, spent):
        kept = list(spent)
        added.extend(kept)
        return total(self, kept)

    monkeypatch.setattr(PureFilter, "total", counting)
    assert len(Statement(account_of(budget)).rows) == len(added) == 9


def test_a_concentrated_statement_counts_rho_in_four_places():
    budget = open_budget(rho=Fraction("0.1"), delta=Fraction(1, 10**6))
    pay(budget, Cost.concentrated(Fraction("0.00123"), Fraction(1, 10**7)))
    statement = Statement(account_of(budget))
    assert (str(statement.spent), str(statement.left), statement.measure) == (
        "0.0013",
        "0.0987",
        "ρ",
    )


def test_all_accounts_take_one_query(budget, django_assert_num_queries):
    other = open_budget("study:y")
    pay(budget), pay(other), pay(other)
    with django_assert_num_queries(1):
        accounts = selectors.accounts([budget.pk, other.pk])
    assert [len(accounts[pk].entries) for pk in (budget.pk, other.pk)] == [1, 2]
    assert accounts[other.pk].can_pay(pure("0.9"))


def test_small_amounts_have_the_places_that_say_them_well_up_to_nine():
    assert [selectors.places_for(Fraction(1, 10**digits)) for digits in (1, 4, 12)] == [2, 4, 9]


def test_what_is_left_has_its_sign(budget):
    assert Statement(account_of(budget)).signed_left == "ε 10.00"


def test_a_cost_without_an_epsilon_is_compared_by_that_at_a_delta():
    rho, delta = Fraction(1, 2), Fraction(1, 10**6)
    assert selectors.epsilon_for_people(pure("0.3"), delta) == Decimal("0.3")
    found = selectors.epsilon_for_people(Cost.concentrated(rho), delta)
    assert found == concentrated.epsilon_of(rho, delta)
