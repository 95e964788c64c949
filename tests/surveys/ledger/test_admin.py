"""Admins read budgets and rows, and act on budgets with a reason; nobody edits a row."""

import datetime
from decimal import Decimal

import pytest
from django.urls import reverse

from surveys.ledger import queries, services
from surveys.ledger.models import Budget, Entry
from surveys.ledger.verification import faults
from surveys.people import services as people
from tests.surveys.ledger.small import open_budget, pay

pytestmark = pytest.mark.django_db

WHY = {"why": "the board decided"}


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


@pytest.fixture
def study():
    return open_budget()


@pytest.fixture
def own():
    return open_budget("researcher:mira@study:x")


def do(admin, budget, act, **data):
    return admin.post(reverse("admin:ledger_act", args=[budget.pk, act]), {**WHY, **data}, follow=True)


def page_after(*args, **data):
    return do(*args, **data).content.decode()


def test_an_admin_reads_budgets_their_rows_and_all_rows(admin, study):
    pay(study, "0.45")
    shown = admin.get("/admin/ledger/budget/").content.decode()
    assert "ε 1.8" in shown
    assert "ε 1.35" in shown
    page = admin.get(f"/admin/ledger/budget/{study.pk}/change/").content.decode()
    assert "shares (discrete Laplace)" in page
    assert "opened: central, respondent-in-study, change-one; ε 1.8" in page
    assert "ε\u00a00.45" in admin.get("/admin/ledger/entry/").content.decode()
    assert admin.get("/admin/ledger/entry/2/change/").status_code == 200


def test_the_list_of_budgets_takes_the_same_queries_for_many(admin, study, django_assert_max_num_queries):
    for number in range(20):
        open_budget(f"study:{number}")
    with django_assert_max_num_queries(12):
        admin.get("/admin/ledger/budget/")


@pytest.mark.parametrize("address", ["budget/add/", "entry/add/", "budget/1/delete/", "entry/1/delete/"])
def test_nothing_is_added_or_deleted_by_hand(admin, address):
    open_budget()
    first = Budget.objects.get().pk
    assert admin.post(f"/admin/ledger/{address.replace('budget/1', f'budget/{first}')}").status_code == 403


@pytest.mark.parametrize("model", ["budget", "entry"])
def test_nothing_is_changed_by_hand(admin, study, model):
    key = study.pk if model == "budget" else 1
    assert admin.post(f"/admin/ledger/{model}/{key}/change/", {"name": "b"}).status_code == 403


def test_a_weekly_limit_is_set_and_lifted_with_a_reason(admin, study):
    assert "done, and written in the ledger" in page_after(admin, study, "limit", weekly="0.5")
    do(admin, study, "limit", weekly="")
    assert [(row.what, row.new, row.who, row.why) for row in queries.rows(study.pk)[1:]] == [
        ("set the weekly limit", "ε 0.5 in any seven days", "ada", "the board decided"),
        ("set the weekly limit", "no limit", "ada", "the board decided"),
    ]


def test_an_act_without_a_reason_is_not_done(admin, study):
    for why in ("", "   "):
        assert "This field is required" in page_after(admin, study, "limit", weekly="0.5", why=why)
    assert Entry.objects.count() == 1


def test_a_researcher_s_budget_has_the_study_s_terms(admin, study, researcher):
    do(admin, study, "researcher", researcher="mira", cap="0.5")
    own = queries.share_of("mira", study.pk)
    assert own is not None
    assert (own.cap, own.unit, own.neighbours, own.side) == (
        Decimal("0.5"), study.unit, study.neighbours, study.side,
    )  # fmt: skip
    assert "has a budget for this study already" in page_after(admin, study, "researcher", researcher="mira", cap="1")
    assert "Select a valid choice" in page_after(admin, study, "researcher", researcher="nobody", cap="1")
    assert faults() == []


def test_a_researcher_s_budget_opens_while_the_study_s_is_held(admin, study, researcher, monkeypatch):
    """So that a charge to the study is either done before, or finds it and is charged to it too."""
    done, lock, opened = [], services.lock, services.open_budget
    monkeypatch.setattr(services, "lock", lambda *ids: done.append(ids) or lock(*ids))
    monkeypatch.setattr(services, "open_budget", lambda **terms: done.append(terms["name"]) or opened(**terms))
    do(admin, study, "researcher", researcher="mira", cap="0.5")
    assert done == [(study.pk,), "researcher:mira@study:x"]


def test_a_researcher_s_budget_counts_rho_where_the_study_does(admin, researcher):
    study = open_budget("study:rho", rho=Decimal("0.5"), delta=Decimal("0.000001"))
    do(admin, study, "researcher", researcher="mira", cap="0.125")
    own = queries.share_of("mira", study.pk)
    assert own is not None
    assert (own.rho, own.delta) == (Decimal("0.125"), Decimal("0.000001"))


def test_a_cap_is_lowered_and_never_raised(admin, own):
    do(admin, own, "lower", cap="1.5")
    assert "A cap can only fall: that of ε is 1.5; 1.6 was asked for" in page_after(admin, own, "lower", cap="1.6")
    assert "Enter a number" in page_after(admin, own, "lower", cap="NaN")
    assert queries.account(own.pk).cap == Decimal("1.5")


def test_a_researcher_s_budget_is_retired_for_good(admin, own):
    do(admin, own, "retire")
    assert Budget.objects.get().retired_on == datetime.datetime.now(datetime.UTC).date()
    assert do(admin, own, "lower", cap="1").status_code == 404


@pytest.mark.parametrize("act", ["lower", "retire", "nonsense"])
def test_what_a_study_s_own_terms_say_is_changed_there(admin, study, act):
    assert do(admin, study, act, cap="1").status_code == 404
    assert f"/{act}/act/" not in admin.get(f"/admin/ledger/budget/{study.pk}/change/").content.decode()


def test_a_page_offers_the_acts_that_fit(admin, own):
    page = admin.get(f"/admin/ledger/budget/{own.pk}/change/").content.decode()
    assert [name for name in ("lower", "limit", "researcher", "retire") if f"/{name}/act/" in page] == [
        "lower",
        "limit",
        "retire",
    ]
    assert admin.get("/admin/ledger/budget/999/change/").status_code == 302


def test_who_may_only_read_does_not_act(client, study):
    from django.contrib.auth.models import Permission

    reader = people.ensure_user(username="rita", password="a long password", is_admin=False)
    reader.is_staff = True
    reader.save()
    reader.user_permissions.set(Permission.objects.filter(codename="view_budget"))
    client.force_login(reader)
    assert "/act/" not in client.get(f"/admin/ledger/budget/{study.pk}/change/").content.decode()
    assert do(client, study, "limit", weekly="0.5").status_code == 403
