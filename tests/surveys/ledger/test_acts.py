"""Every act that touches ε is a row; a cap only falls; an end is an end."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from dpengine.privacy import Cost
from surveys.ledger import selectors, services
from surveys.ledger.models import Budget, Entry
from surveys.ledger.verification import faults
from tests.surveys.ledger.small import DAY, NOW, OWNER, open_budget, pay, rows

pytestmark = pytest.mark.django_db

WHY = {"why": "the board decided", **OWNER}


@pytest.fixture
def budget():
    return open_budget()


@pytest.fixture
def concentrated():
    return open_budget("study:rho", rho=Fraction(1, 2), delta=Fraction(1, 10**6))


def acts_of(budget):
    return [(row.what, row.old, row.new) for row in rows(budget.pk) if row.kind == "act"]


def test_opening_a_budget_is_a_row_that_says_its_terms(budget, concentrated):
    assert acts_of(budget) == [("opened", "", "central, respondent-in-study, change-one; ε 1.8")]
    assert (
        acts_of(concentrated)[0][2] == "central, respondent-in-study, change-one; ρ 0.5, δ 0.000001"
    )
    local = open_budget("panel:z", side="local", fixed_parts=True, neighbours="add-remove")
    assert acts_of(local)[0][2] == "local, respondent-in-study, add-remove, fixed parts; ε 1.8"


@pytest.mark.parametrize("weekly", [0, -1, 1000, Decimal("1e30"), Decimal("NaN"), 0.5])
def test_a_weekly_limit_that_no_column_holds_is_refused(budget, weekly):
    with pytest.raises(services.BadAmount, match="weekly limit must be"):
        services.set_weekly_limit(budget_id=budget.pk, weekly=weekly, **WHY)
    assert Budget.objects.get().weekly is None


def test_a_cap_is_rounded_down(budget):
    assert open_budget("a", epsilon=Fraction(2, 3)).cap == Decimal("0.666666666")
    assert open_budget("b", rho=Fraction(2, 3)).cap == Decimal("0.666666666666")


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": Fraction(1, 10**10)},
        {"epsilon": Decimal("NaN")},
        {"epsilon": Decimal("Infinity")},
        {"epsilon": 1000},
        {"epsilon": 10**30},
        {"epsilon": Decimal("1e999999")},
        {"epsilon": None, "rho": Fraction(10**9)},
        {"rho": 1, "delta": Decimal("-1e40")},
        {"epsilon": 0.5},
        {"epsilon": None, "rho": 0},
        {"epsilon": 1, "rho": 1},
        {"epsilon": None, "rho": None},
        {"epsilon": 1, "delta": 1},
        {"epsilon": Fraction(1, 10**6), "delta": Fraction(1, 10**6)},
        {"epsilon": 1, "rho": 1, "delta": Fraction(1, 10)},
        {"rho": 1, "delta": 1},
        {"rho": 1, "delta": -1},
    ],
    ids=str,
)
def test_a_cap_that_is_none_is_refused(db, terms):
    with pytest.raises(services.BadAmount):
        open_budget("study:y", **terms)
    assert not Budget.objects.exists()
    assert not Entry.objects.exists()


@pytest.mark.parametrize("terms", [{"side": "both"}, {"neighbours": "n"}])
def test_terms_that_mean_nothing_are_refused(db, terms):
    with pytest.raises(ValueError, match="is not a valid"):
        open_budget("study:y", **terms)


def test_a_budget_is_opened_once(budget):
    with pytest.raises(IntegrityError), transaction.atomic():
        open_budget(budget.name)
    assert Entry.objects.count() == 1


def test_a_share_is_found_by_whose_it_is_and_keeps_its_holder(budget):
    share = services.open_share(
        study_id=budget.pk, holder="person 7f3a", cap=1, why="her share", **OWNER
    )
    assert selectors.share_of("person 7f3a", budget.pk) == share
    assert (
        selectors.share_of("person 7f3a", share.pk)
        is selectors.share_of("person 7f3b", budget.pk)
        is None
    )
    for change in ({"holder": "person 7f3b"}, {"holder": None}, {"within": share}):
        with pytest.raises(IntegrityError, match="keeps its holder"), transaction.atomic():
            Budget.objects.filter(pk=share.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        open_budget("researcher:another name", within=budget, holder="person 7f3a")


def test_a_cap_falls_and_the_row_says_from_where_to_where_and_why(budget):
    row = services.lower_cap(budget_id=budget.pk, epsilon=Decimal("1.5000000009"), **WHY)
    assert (row.what, row.old, row.new, row.why, row.who) == (
        "lowered the cap",
        "ε 1.8",
        "ε 1.5",
        "the board decided",
        "ada",
    )
    assert selectors.account(budget.pk).cap == Decimal("1.5")
    assert faults() == []


def test_either_cap_of_a_concentrated_budget_falls_alone(concentrated):
    services.lower_cap(budget_id=concentrated.pk, rho=Fraction(1, 4), **WHY)
    services.lower_cap(budget_id=concentrated.pk, delta=0, **WHY)
    assert [act[1:] for act in acts_of(concentrated)[1:]] == [
        ("ρ 0.5, δ 0.000001", "ρ 0.25, δ 0.000001"),
        ("ρ 0.25, δ 0.000001", "ρ 0.25, δ 0"),
    ]
    assert faults() == []


@pytest.mark.parametrize(
    ("cap", "message"),
    [
        ({"epsilon": Fraction(19, 10)}, r"can only fall: that of ε is 1\.8; 1\.9 was asked for"),
        ({"epsilon": Decimal("1.8")}, r"The cap is ε 1\.8 already"),
        ({}, r"The cap is ε 1\.8 already"),
        ({"epsilon": 0}, "must be above 0"),
        ({"epsilon": Decimal("NaN")}, "exact, finite"),
        ({"epsilon": Fraction(4, 10)}, r"More than ε 0\.4 is used already"),
        ({"rho": Fraction(1, 10)}, "has its cap in ε"),
        ({"delta": Fraction(1, 10)}, "has its cap in ε"),
    ],
    ids=str,
)
def test_a_cap_does_not_rise_nor_fall_below_what_is_spent(budget, cap, message):
    pay(budget, "0.45")
    with pytest.raises(services.BadAmount, match=message):
        services.lower_cap(budget_id=budget.pk, **cap, **WHY)
    assert selectors.account(budget.pk).cap == Decimal("1.8")
    assert len(acts_of(budget)) == 1


@pytest.mark.parametrize(
    ("cap", "message"),
    [
        ({"epsilon": 1}, "has its cap in ρ and δ"),
        ({"delta": -1}, "can only fall"),
        ({"delta": Fraction(1, 10**8)}, r"More than ρ 0\.5, δ 0\.00000001 is used already"),
    ],
    ids=str,
)
def test_the_same_holds_for_a_concentrated_cap(concentrated, cap, message):
    pay(concentrated, Cost.concentrated(Fraction(1, 10), Fraction(1, 10**7)))
    with pytest.raises(services.BadAmount, match=message):
        services.lower_cap(budget_id=concentrated.pk, **cap, **WHY)


def test_a_weekly_limit_may_change_and_go(budget):
    for weekly in (Fraction(1, 2), Decimal("0.7"), None):
        services.set_weekly_limit(budget_id=budget.pk, weekly=weekly, **WHY)
    assert [act[1:] for act in acts_of(budget)[1:]] == [
        ("no limit", "ε 0.5 in any seven days"),
        ("ε 0.5 in any seven days", "ε 0.7 in any seven days"),
        ("ε 0.7 in any seven days", "no limit"),
    ]
    assert faults() == []
    with pytest.raises(services.BadAmount, match="weekly limit must be above 0"):
        services.set_weekly_limit(budget_id=budget.pk, weekly=0, **WHY)


def test_a_budget_is_retired_once_and_for_good(budget):
    first = services.retire_budget(budget_id=budget.pk, **WHY)
    assert (
        services.retire_budget(budget_id=budget.pk, who="otto", why="again", now=NOW + DAY) == first
    )
    assert acts_of(budget)[1:] == [("retired", "no end", "retired on 2026-05-11")]
    for act in (
        lambda: services.lower_cap(budget_id=budget.pk, epsilon=1, **WHY),
        lambda: services.set_weekly_limit(budget_id=budget.pk, weekly=1, **WHY),
    ):
        with pytest.raises(services.Retired):
            act()
    assert faults() == []


def test_any_act_of_an_admin_is_written_down_with_a_reason(budget):
    row = services.record(what="lowered the ceiling", old="8", new="7", why=" caution ", **OWNER)
    assert (row.budget, row.number, row.why) == (None, None, "caution")
    assert (
        services.record(what="changed a rule", old="a", new="b", budget_id=budget.pk, **WHY).number
        == 2
    )
    for why in ("", "  "):
        with pytest.raises(services.Refused, match="Say why"):
            services.record(what="lowered the ceiling", old="7", new="6", why=why, **OWNER)
    with pytest.raises(ValueError, match="which the ledger writes itself"):
        services.record(what="retired", old="", new="", budget_id=budget.pk, **WHY)
    assert Entry.objects.count() == 3


def test_a_refused_opening_leaves_no_budget(db):
    with pytest.raises(services.Refused, match="Say why"):
        open_budget(why="")
    assert not Budget.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "b"},
        {"unit": "household"},
        {"neighbours": "add-remove"},
        {"side": "local"},
        {"fixed_parts": True},
        {"epsilon": Decimal("1.9")},
        {"epsilon": None, "rho": Decimal(1)},
    ],
    ids=str,
)
def test_the_database_itself_keeps_a_budget_s_terms(budget, change):
    with pytest.raises(DatabaseError), transaction.atomic():
        Budget.objects.update(**change)


@pytest.mark.parametrize("change", [{"rho": Decimal("0.6")}, {"delta": Decimal("0.1")}], ids=str)
def test_the_database_itself_lets_no_concentrated_cap_rise(concentrated, change):
    with pytest.raises(DatabaseError, match="a cap may only fall"), transaction.atomic():
        Budget.objects.update(**change)


def test_the_database_itself_keeps_what_is_retired_retired(budget):
    services.retire_budget(budget_id=budget.pk, **WHY)
    for day in (None, NOW.date() + DAY):
        with pytest.raises(DatabaseError, match="stays retired"), transaction.atomic():
            Budget.objects.update(retired_on=day)


def test_the_database_itself_deletes_no_budget_and_takes_nothing_off_the_chain(budget):
    with pytest.raises(DatabaseError, match="a budget stays"), transaction.atomic():
        Budget.objects.all()._raw_delete("default")
    head = Entry._meta.apps.get_model("ledger", "Head").objects
    with pytest.raises(DatabaseError, match="the chain only grows"), transaction.atomic():
        head.update(length=0)
    with pytest.raises(DatabaseError, match="the chain only grows"), transaction.atomic():
        head.all()._raw_delete("default")


@pytest.mark.engine("sqlite")  # PostgreSQL has no REPLACE
@pytest.mark.parametrize("table", ["ledger_budget", "ledger_head"])
def test_sqlite_replaces_neither_a_budget_nor_the_end_of_the_chain(budget, table):
    with pytest.raises(DatabaseError, match=r"(a budget stays|only grows)"), transaction.atomic():
        connection.cursor().execute(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")  # noqa: S608
