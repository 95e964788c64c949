"""A charge fits under every cap it touches, exactly, or nothing is written."""

import datetime
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction

from dpengine.contraction import Noise, Reading
from dpengine.privacy import Cost
from surveys.ledger import selectors, services
from surveys.ledger.models import Budget, Entry
from surveys.ledger.refusals import BadAmount
from surveys.ledger.selectors import account_of
from tests.surveys.ledger.small import DAY, NOW, OWNER, open_budget, pay, pure

pytestmark = pytest.mark.django_db


@pytest.fixture
def budget():
    return open_budget()


def test_charges_are_numbered_and_add_up_exactly(budget):
    for _ in range(4):
        pay(budget)
    account = selectors.account(budget.pk)
    # 1 is the row of the opening
    assert [entry.number for entry in account.entries] == [2, 3, 4, 5]
    assert account.spent == Cost(epsilon=Fraction("1.8"), rho=4 * Fraction("0.45") ** 2 / 2)
    assert (account.amount_spent, account.amount_left) == (Decimal("1.8"), Decimal(0))


def test_a_charge_beyond_the_cap_is_refused_with_what_is_left_and_nothing_written(budget):
    pay(budget, "1.7")
    with pytest.raises(
        services.Overspent,
        match=r"^“study:x”: this costs ε 0\.2; ε 0\.1 is left\. Nothing was publ",
    ):
        pay(budget, "0.2")
    assert Entry.charges.count() == 1
    pay(budget, "0.1")


def test_a_charge_is_rounded_up_so_that_thirds_of_a_cap_do_not_fit_thrice(budget):
    third = Cost.pure(Fraction(6, 10) + Fraction(1, 10**12))
    assert pay(budget, third).epsilon == Decimal("0.600000001")
    pay(budget, third)
    with pytest.raises(services.Overspent):
        pay(budget, third)


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "Infinity"])  # 0: only of answers, below
def test_a_charge_that_is_none_cannot_be_made(budget, amount):
    with pytest.raises((ValueError, OverflowError, services.BadAmount)):
        pay(budget, Cost.pure(Fraction(Decimal(amount))))
    assert not Entry.charges.exists()


@pytest.mark.parametrize("amount", [float("nan"), 0.5, Decimal("0.5")])
@pytest.mark.parametrize("name", ["rho", "delta", "epsilon"])
def test_a_charge_that_is_not_exact_is_refused(budget, name, amount):
    """A NaN passes every comparison that a refusal could be made of."""
    parts = {"rho": Fraction(1, 8), "delta": Fraction(0), "epsilon": Fraction(1, 2), name: amount}
    with pytest.raises((services.BadAmount, ValueError), match="must be"):
        pay(budget, Cost(**parts))
    assert not Entry.charges.exists()


def test_a_pure_budget_pays_for_pure_epsilon_only(budget):
    for cost in (
        Cost.concentrated(Fraction(1, 100)),
        Cost.approximate(Fraction(1, 10), Fraction(1, 10**6)),
    ):
        with pytest.raises(services.BadAmount, match="pays for pure ε only"):
            pay(budget, cost)
    assert not Entry.charges.exists()


def test_a_concentrated_budget_keeps_both_caps():
    budget = open_budget(rho=Fraction("0.1"), delta=Fraction(1, 10**6))
    pay(budget, Cost.concentrated(Fraction("0.06"), Fraction(6, 10**7)))
    with pytest.raises(
        services.Overspent, match=r"costs ρ 0\.05; ρ 0\.04 and δ 0\.0000004 is left"
    ):
        pay(budget, Cost.concentrated(Fraction("0.05")))
    with pytest.raises(services.Overspent, match=r"costs ρ 0\.01 and δ 0\.0000005"):
        pay(budget, Cost.concentrated(Fraction("0.01"), Fraction(5, 10**7)))
    pay(budget, Cost.pure(Fraction("0.2")))  # ρ = 0.02
    account = selectors.account(budget.pk)
    assert (account.amount_spent, account.left.delta) == (Decimal("0.08"), Fraction(4, 10**7))
    assert account.spent == Cost(rho=Fraction("0.08"), delta=Fraction(6, 10**7))


def test_a_rho_and_a_delta_are_rounded_up_too():
    budget = open_budget(rho=Fraction("0.1"), delta=Fraction(1, 10**17))
    part = Fraction(1, 10**20)
    entry = pay(budget, Cost.concentrated(Fraction("0.01") + part, Fraction(4, 10**18) + part))
    assert (entry.rho, entry.delta) == (Decimal("0.010000000001"), Decimal(5).scaleb(-18))
    pay(budget, Cost.concentrated(Fraction("0.01"), Fraction(5, 10**18)))
    with pytest.raises(services.Overspent, match="and δ 0 is left"):
        pay(budget, Cost.concentrated(Fraction("0.01"), part))


@pytest.mark.engine("postgresql")  # SQLite lets one transaction write at a time
def test_a_charge_holds_its_budgets_in_order_and_then_the_end_of_the_chain(
    budget, django_assert_max_num_queries
):
    other = open_budget("researcher:mira@study:x")
    both = {
        "budget_ids": [other.pk, budget.pk],
        "reason": "r",
        "mechanism": "m",
        "sensitivity": "s",
        **OWNER,
    }
    with django_assert_max_num_queries(20) as asked:
        services.charge(cost=pure("0.1"), statistic="a" * 64, **both)
    locks = [query["sql"] for query in asked.captured_queries if "FOR UPDATE" in query["sql"]]
    assert ["ledger_budget" in sql for sql in locks] == [True, False, False]
    assert 'ORDER BY "ledger_budget"."id" ASC FOR UPDATE' in locks[0]
    assert "ledger_head" in locks[1]


def test_a_delta_of_one_in_n_or_more_is_refused_where_n_is_public():
    budget = open_budget(rho=Fraction(1), delta=Fraction(1, 100))
    with pytest.raises(
        services.BadAmount, match=r"below 1 in 1,000 people; it is 0\.001\. Nothing was published"
    ):
        pay(budget, Cost.concentrated(Fraction(1, 100), Fraction(1, 1000)), n=1000)
    pay(budget, Cost.concentrated(Fraction(1, 100), Fraction(999, 10**6)), n=1000)


def test_one_charge_to_several_budgets_is_written_to_all_or_none(budget):
    researcher = open_budget("researcher:mira@study:x", epsilon=Fraction("0.5"))
    both = {
        "budget_ids": [researcher.pk, budget.pk],
        "reason": "r",
        "mechanism": "m",
        "sensitivity": "s",
        **OWNER,
    }
    entries = services.charge(cost=pure("0.45"), statistic="a" * 64, **both)
    assert [entry.budget for entry in entries] == [budget, researcher]
    with pytest.raises(
        services.Overspent, match=r"“researcher:mira@study:x”: this costs ε 0\.1; ε 0\.05 is left"
    ):
        services.charge(cost=pure("0.1"), statistic="b" * 64, **both)
    assert Entry.charges.count() == 2


@pytest.mark.parametrize(
    "other", [{"unit": "respondent-in-wave"}, {"neighbours": "add-remove"}, {"side": "local"}]
)
def test_budgets_that_count_otherwise_do_not_share_a_charge(budget, other):
    foreign = open_budget("panel:y", **other)
    with pytest.raises(services.Mismatch, match="One cost cannot be both"):
        services.charge(
            budget_ids=[budget.pk, foreign.pk],
            cost=pure("0.1"),
            statistic="a" * 64,
            reason="r",
            mechanism="m",
            sensitivity="s",
            **OWNER,
        )
    assert not Entry.charges.exists()


def test_a_panel_shares_the_charges_of_its_studies(budget):
    panel = open_budget("panel:y", unit="respondent-in-panel")
    entries = services.charge(
        budget_ids=[budget.pk, panel.pk],
        cost=pure("0.1"),
        statistic="a" * 64,
        reason="r",
        mechanism="m",
        sensitivity="s",
        **OWNER,
    )
    assert len(entries) == 2


def test_a_charge_needs_a_budget_that_exists(budget):
    more = {
        "cost": pure("0.1"),
        "statistic": "a" * 64,
        "reason": "r",
        "mechanism": "m",
        "sensitivity": "s",
        **OWNER,
    }
    with pytest.raises(services.Mismatch, match="needs a budget"):
        services.charge(budget_ids=[], **more)
    with pytest.raises(Budget.DoesNotExist):
        services.charge(budget_ids=[budget.pk, budget.pk + 1], **more)


def test_a_local_budget_is_charged_for_what_answers_lose_and_says_that_nothing_was_opened():
    panel = open_budget("panel:y", side="local", epsilon=2)
    pay(panel, "1.5")
    with pytest.raises(services.Overspent, match="Nothing was opened"):
        pay(panel, "0.6")


def test_the_same_statistic_is_not_charged_twice(budget):
    pay(budget, statistic="a" * 64)
    with pytest.raises(IntegrityError), transaction.atomic():
        pay(budget, statistic="a" * 64)


def test_parts_that_neighbours_cannot_leave_are_charged_side_by_side():
    fixed = open_budget(fixed_parts=True, epsilon=1)
    free = open_budget("study:free", epsilon=1)
    for arm in ("left", "middle", "right"):
        pay(fixed, "0.9", part=arm)
    pay(free, "0.5", part="left")
    pay(free, "0.5", part="middle")
    with pytest.raises(services.Overspent):
        pay(free, "0.6", part="right")
    pay(free, "0.5", part="right")  # a person can move between two parts, never be in three
    assert selectors.account(fixed.pk).amount_left == Decimal("0.1")
    assert selectors.account(free.pk).amount_left == 0


def test_a_weekly_limit_refuses_what_comes_too_fast_and_forgets_after_seven_days(budget):
    services.set_weekly_limit(budget_id=budget.pk, weekly=Fraction("0.5"), why="slowly", **OWNER)
    pay(budget, "0.3")
    with pytest.raises(
        services.TooFast,
        match=r"may spend ε 0\.5 in any seven days\. This costs ε 0\.3; ε 0\.2 is le",
    ):
        pay(budget, "0.3", now=NOW + 6 * DAY)
    assert not selectors.account(budget.pk).can_pay(pure("0.3"), now=NOW + 6 * DAY)
    assert selectors.account(budget.pk).can_pay(pure("0.3"))
    pay(budget, "0.3", now=NOW + 7 * DAY)


def test_a_weekly_limit_counts_the_parts_that_a_person_can_be_in():
    budget = open_budget(fixed_parts=True)
    services.set_weekly_limit(budget_id=budget.pk, weekly=Fraction("0.5"), why="slowly", **OWNER)
    pay(budget, "0.4", part="wave:1")
    pay(budget, "0.4", part="wave:2")
    with pytest.raises(services.TooFast):
        pay(budget, "0.4", part="wave:2")


def test_a_weekly_limit_counts_rho_where_the_cap_does():
    budget = open_budget(rho=Fraction("0.1"))
    services.set_weekly_limit(
        budget_id=budget.pk, weekly=Fraction("0.000000000001"), why="slowly", **OWNER
    )
    with pytest.raises(services.TooFast, match=r"ρ 0\.01; ρ 0\.000000000001 is left of that"):
        pay(budget, Cost.concentrated(Fraction("0.01")))


def test_a_retired_budget_pays_nothing_ever_again(budget):
    services.retire_budget(budget_id=budget.pk, why="its day came", **OWNER)
    with pytest.raises(
        services.Retired, match=r"“study:x” was retired on 11 May 2026: nothing is charged to it"
    ):
        pay(budget, "0.1", now=NOW + 400 * DAY)
    assert not selectors.account(budget.pk).can_pay(pure("0.1"))
    assert not Entry.charges.exists()


@pytest.mark.parametrize("long", ["reason", "mechanism", "sensitivity", "part", "who", "statistic"])
def test_what_does_not_fit_into_its_column_is_refused_not_cut(budget, long):
    with pytest.raises(ValidationError):
        pay(budget, **{long: "x" * 201})
    assert not Entry.charges.exists()


def test_amounts_are_stored_as_whole_numbers():
    budget = open_budget(rho=Fraction(1), delta=Fraction(1, 2))
    cost = Cost(
        Fraction("0.123456789012"), Fraction("0.123456789012345678"), Fraction("0.987654321")
    )
    entry = pay(budget, cost)
    with connection.cursor() as cursor:
        cursor.execute("SELECT epsilon, rho, delta, at FROM ledger_entry WHERE kind = 'charge'")
        moment = int(NOW.timestamp()) * 10**6
        assert cursor.fetchone() == (987654321, 123456789012, 123456789012345678, moment)
    assert Entry.charges.get().cost == cost
    assert (entry.at, entry.day) == (NOW, NOW.date())


def test_a_moment_is_kept_in_utc_wherever_it_was_said(budget):
    there = NOW.astimezone(datetime.timezone(datetime.timedelta(hours=14)))
    assert pay(budget, now=there).at == NOW
    assert Entry.charges.get().at.tzinfo is datetime.UTC


@pytest.mark.parametrize(
    "change", [{"epsilon": Decimal("0.1")}, {"who": "nobody"}, {"position": 7}, {"digest": "b"}]
)
def test_the_database_itself_refuses_to_change_an_entry(budget, change):
    pay(budget)
    with (
        pytest.raises(DatabaseError, match="ledger rows are only ever added"),
        transaction.atomic(),
    ):
        Entry.charges.update(**change)


def test_the_database_itself_refuses_to_delete_an_entry(budget):
    pay(budget)
    with (
        pytest.raises(DatabaseError, match="ledger rows are only ever added"),
        transaction.atomic(),
    ):
        Entry.charges.all()._raw_delete("default")


def test_an_entry_cannot_be_replaced_either(budget):
    """On SQLite, REPLACE deletes a row without firing its triggers."""
    entry = pay(budget)
    verb = "INSERT OR REPLACE" if connection.vendor == "sqlite" else "INSERT"
    kept = [field.column for field in Entry._meta.concrete_fields]
    forged = ["1" if name == "epsilon" else name for name in kept]
    query = (
        f"{verb} INTO ledger_entry ({', '.join(kept)}) SELECT {', '.join(forged)} FROM ledger_entry"  # noqa: S608
    )
    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(query)
    assert Entry.charges.get().epsilon == entry.epsilon


def test_the_delta_of_a_cap_is_below_one():
    with pytest.raises(BadAmount, match="from 0 to below 1; it is 1"):
        open_budget(rho=1, delta=1)


def test_an_amount_of_more_places_than_its_column_has_is_not_stored():
    with pytest.raises(ValidationError, match="an ε has at most 9 decimals"):
        Budget.objects.create(
            name="x", unit="u", neighbours="change-one", epsilon=Decimal("0.0000000001")
        )


def reading(count: int, loss: Fraction | None = Fraction(3)) -> Cost:
    """Return a cost that says what it reads: so many reports, through a noise of a tenth."""
    reports = [f"study/1/question_number_{at}" for at in range(count)]
    noise = Noise(frozenset(reports), None if loss is None else Fraction(1, 10))
    return replace(pure("0.1"), reading=Reading(dict.fromkeys(reports, loss), [noise]))


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (pure("0.1"), "expected which reports are read, and none are named"),
        (reading(1, None), "pays for pure ε only"),
        (reading(3000), "takes more than 100,000 characters to say"),
    ],
)
def test_a_budget_of_what_answers_lose_is_told_what_is_read(cost, words):
    budget = open_budget(counts="answers", epsilon=1)
    with pytest.raises(BadAmount, match=words):
        pay(budget, cost)
    assert not Entry.charges.filter(budget=budget).exists()


def test_losses_of_answers_are_counted_in_epsilon_of_all_people():
    with pytest.raises(BadAmount, match="counted in ε, of all people, change-one only"):
        open_budget(counts="answers", epsilon=1, fixed_parts=True)


def test_a_charge_of_what_answers_lose_says_what_it_read_and_costs_nothing_again():
    budget, cost = open_budget(counts="answers", epsilon=2), reading(1)
    first = pay(budget, cost)
    assert first.again.reading is not None
    assert first.again.reading.losses == cost.reading.losses
    assert account_of(budget).is_all_lost  # ln 3, all that the device allows
    assert account_of(budget).pays_for(cost) > 1000
    exact = replace(cost, reading=replace(cost.reading, noises=()))
    assert not pay(budget, exact).epsilon


def test_a_day_lasts_until_the_last_charge_to_any_part():
    budget = open_budget(fixed_parts=True)
    pay(budget, "0.1", part="a"), pay(budget, "0.2", part="b", now=NOW + DAY / 4)
    (day,) = account_of(budget).days(NOW.date())
    assert day.until == NOW + DAY / 4
