"""A cap (ε, δ) holds by the sum of ε, or by those of ρ and δ."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import IntegrityError, transaction
from django.utils import translation

from dpengine.accounting.concentrated import epsilon_of, rho_of
from dpengine.accounting.filters import ConcentratedFilter, EitherFilter
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.privacy import Cost
from surveys.ledger import selectors, services, terms
from surveys.ledger.models import Budget, Entry
from surveys.ledger.selectors import Statement, account_of
from surveys.ledger.verification import faults
from surveys.messages import is_known, translate
from tests.surveys.ledger.small import DAY, NOW, OWNER, open_budget, pay, tampering

pytestmark = pytest.mark.django_db
HALF = Fraction(1, 2 * 10**6)  # of δ = 10⁻⁶
WHY = {"why": "the board decided", **OWNER}


@pytest.fixture
def budget():
    return open_budget(epsilon=1, delta=HALF)


def count_of(epsilon: str) -> Cost:
    """Return the cost of one count with Laplace noise."""
    return DiscreteLaplace.for_epsilon(Fraction(epsilon), 1).cost


def gaussian(rho: str) -> Cost:
    return DiscreteGaussian.for_rho(Fraction(rho), 1).cost


def paid_for(budget: Budget, cost: Cost) -> int:
    """Charge until the ledger refuses; return how many rows there are."""
    expected = account_of(budget).pays_for(cost)
    while True:
        try:
            with transaction.atomic():
                pay(budget, cost)
        except services.Overspent:
            paid = Entry.charges.filter(budget=budget).count()
            assert paid == expected
            return paid


def test_a_cap_with_a_delta_is_kept_as_either_and_its_row_says_so(budget):
    assert (budget.epsilon, budget.pure_epsilon, budget.delta) == (None, 1, Decimal("0.0000005"))
    assert budget.rho == rho_of(Fraction(1), HALF)
    assert epsilon_of(Fraction(budget.rho), HALF) <= 1
    assert Entry.objects.get().new.endswith("; ε 1 or ρ 0.022937446, δ 0.0000005")
    assert isinstance(budget.filter, EitherFilter)
    assert faults() == []


def test_an_older_budget_keeps_the_filter_that_it_was_opened_with():
    older = open_budget(rho=Fraction("0.0237"), delta=HALF)
    assert older.pure_epsilon is None
    assert type(older.filter) is ConcentratedFilter
    with pytest.raises(services.Overspent):
        pay(older, count_of("0.25"))
    share = services.open_share(
        study_id=older.pk, holder="person 7f3a", cap=Fraction("0.01"), why="hers", **OWNER
    )
    assert (share.pure_epsilon, share.rho, share.delta) == (None, Decimal("0.01"), older.delta)
    assert Statement(account_of(older)).or_left == ""


@pytest.mark.parametrize(
    ("cap", "epsilon", "least"),
    [(1, "0.1", 10), (1, "0.25", 4), (1, "0.5", 2), (4, "0.1", 59), (4, "0.25", 16), (4, "0.5", 8)],
)
def test_it_pays_for_as_many_counts_as_a_pure_cap_and_often_for_more(cap, epsilon, least):
    budget = open_budget(epsilon=cap, delta=HALF)
    assert paid_for(budget, count_of(epsilon)) >= least
    assert faults() == []


def test_once_rho_is_passed_epsilon_alone_pays(budget):
    for _ in range(3):
        pay(budget, count_of("0.25"))
    account = account_of(budget)
    assert account.spent.rho > account.left.rho + account.spent.rho
    assert (account.measure, account.amount_left, account.other_than(account.measure)) == (
        "ε",
        Decimal(".25"),
        None,
    )
    with pytest.raises(services.Overspent, match=r"costs ρ 0\.001; ε 0\.25 is left"):
        pay(budget, gaussian("0.001"))
    with pytest.raises(services.Overspent, match=r"costs ε 0\.3, or ρ 0\.0"):
        pay(budget, count_of("0.3"))
    pay(budget, count_of("0.25"))
    assert account_of(budget).amount_left == 0
    assert faults() == []


def test_gaussian_noise_ends_the_sum_of_epsilon(budget):
    pay(budget, gaussian("0.01"))
    account = account_of(budget)
    assert (account.measure, account.left.epsilon, account.other_than(account.measure)) == (
        "ρ",
        None,
        None,
    )
    assert account.cap == budget.rho
    assert account.pays_for(gaussian("0.01")) == 1
    with pytest.raises(services.Overspent, match=r"is left"):
        pay(budget, count_of("0.25"))
    pay(budget, count_of("0.1"))
    assert account_of(budget).measure == "ρ"


def test_what_is_left_is_said_in_the_measure_that_leaves_more_and_in_the_other():
    budget = open_budget(epsilon=4, delta=HALF)
    new = Statement(account_of(budget))
    assert (new.measure, str(new.left), str(new.cap)) == ("ε", "4.00", "4.00")
    assert new.or_left == "or ρ 0.2961 of 0.2961"
    assert new.signed_left == "ε 4.00 or ρ 0.2961"
    for _ in range(5):
        pay(budget, count_of("0.1"))
    small = Statement(account_of(budget))  # many small ones: ρ adds up to less
    assert (small.measure, small.or_left) == ("ρ", "or ε 3.50 of 4.00")
    assert str(small.rows[0].total) == "0.0250"
    assert small.width == "8.44%"


def test_both_caps_fall_together_and_never_rise(budget):
    services.lower_cap(budget_id=budget.pk, epsilon=Fraction(1, 2), **WHY)
    budget.refresh_from_db()
    assert (budget.pure_epsilon, budget.rho) == (Decimal("0.5"), rho_of(Fraction(1, 2), HALF))
    assert budget.delta == Decimal("0.0000005")
    pay(budget, count_of("0.4"))
    for cap in ({"epsilon": Fraction(3, 5)}, {"epsilon": Fraction(1, 3)}, {"rho": 0}, {"delta": 0}):
        with pytest.raises(services.BadAmount):
            services.lower_cap(budget_id=budget.pk, **cap, **WHY)
    with pytest.raises(services.BadAmount, match="ρ of the cap must be above 0"):
        services.lower_cap(budget_id=budget.pk, epsilon=Fraction(1, 10**6), **WHY)
    services.lower_cap(budget_id=budget.pk, epsilon=Fraction("0.4"), **WHY)  # Σε holds
    assert budget.filter.holds(account_of(budget).charges)
    assert faults() == []


@pytest.mark.parametrize(
    "change", [{"pure_epsilon": 2}, {"pure_epsilon": None}, {"pure_epsilon": 0}]
)
def test_the_database_keeps_it_from_rising_and_from_going(budget, change):
    with pytest.raises(IntegrityError, match="a cap may only fall"), transaction.atomic():
        Budget.objects.filter(pk=budget.pk).update(**change)


def test_the_database_keeps_an_older_budget_from_becoming_one():
    older = open_budget(rho=Fraction(1, 2), delta=HALF)
    with pytest.raises(IntegrityError, match="a cap may only fall"), transaction.atomic():
        Budget.objects.filter(pk=older.pk).update(pure_epsilon=1)
    half = Budget(name="study:y", unit="u", neighbours="change-one", epsilon=1, pure_epsilon=1)
    with pytest.raises(IntegrityError, match="has an ε, a ρ and a δ"), transaction.atomic():
        half.save()


@pytest.mark.parametrize(
    ("cap", "found"), [(2 * 10**9, "it has “ε 2 or ρ"), (None, "it has “ρ 0.02")]
)
def test_a_cap_that_was_changed_behind_the_ledger_is_found(budget, cap, found):
    with tampering(("UPDATE ledger_budget SET pure_epsilon = %s", [cap])):
        assert any(found in fault.text for fault in faults())


def test_rows_that_neither_sum_holds_are_found(budget):
    for _ in range(4):
        pay(budget, count_of("0.25"))
    old = terms.cap_of(budget)
    with tampering(("UPDATE ledger_budget SET pure_epsilon = 900000000", [])):
        budget.pure_epsilon = Decimal("0.9")
        said = {"what": terms.LOWERED, "old": old, "new": terms.cap_of(budget)}
        services._act(budget, **said, **WHY)
        assert [fault.text for fault in faults()] == ["more than the cap of “study:x” is spent"]


def test_a_share_of_it_is_one_of_its_kind(budget):
    share = services.open_share(
        study_id=budget.pk, holder="person 7f3a", cap=Fraction(1, 2), why="hers", **OWNER
    )
    assert (share.pure_epsilon, share.rho) == (Decimal("0.5"), rho_of(Fraction(1, 2), HALF))
    cost = count_of("0.25")
    services.charge(
        budget_ids=[budget.pk, share.pk],
        cost=cost,
        statistic="0" * 64,
        reason="shares",
        mechanism="discrete Laplace",
        sensitivity="1 answer",
        **OWNER,
    )
    assert account_of(share).can_pay(cost)
    assert not account_of(share).can_pay(count_of("0.3"))


def test_a_week_of_it_is_limited_in_epsilon():
    budget = open_budget(epsilon=4, delta=HALF)
    services.set_weekly_limit(budget_id=budget.pk, weekly=Fraction("0.3"), why="slowly", **OWNER)
    pay(budget, count_of("0.25"))
    with pytest.raises(services.TooFast, match=r"ε 0\.3 in any seven days.*costs ε 0\.1, or ρ"):
        pay(budget, count_of("0.1"))
    with pytest.raises(services.TooFast):  # 0.3 is ρ 0.0022 in a week
        pay(budget, gaussian("0.005"))
    (alert,) = selectors.account(budget.pk).alerts(NOW)
    assert alert.startswith("ε 0.25 was spent in the last seven days, and ε 0.3 is the limit")
    pay(budget, gaussian("0.001"), now=NOW + 8 * DAY)
    services.set_weekly_limit(budget_id=budget.pk, weekly=Fraction(1, 10**9), why="0", **OWNER)
    with pytest.raises(services.TooFast):
        pay(budget, count_of("0.1"), now=NOW + 9 * DAY)


def test_its_texts_are_known(budget):
    opening = Entry.objects.get().new
    refusal = ""
    try:
        pay(budget, count_of("2"))
    except services.Overspent as error:
        refusal = str(error)
    assert is_known(opening)
    assert is_known(refusal)
    with translation.override("zh-hans"):
        assert translate(opening) != opening
    assert selectors.account(budget.pk).entries == []
