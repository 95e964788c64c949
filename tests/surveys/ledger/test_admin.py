"""Admins find and read budgets and rows; nobody edits one."""

import pytest

from surveys.ledger.models import Budget
from tests.surveys.ledger.small import open_budget, pay

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


@pytest.fixture
def study():
    return open_budget()


def test_an_admin_reads_budgets_and_all_rows(admin, study):
    pay(study, "0.45")
    shown = admin.get("/admin/ledger/budget/").content.decode()
    assert "ε 1.8" in shown
    assert "ε 1.35" in shown
    page = admin.get(f"/admin/ledger/budget/{study.pk}/change/").content.decode()
    assert "ε 0.45" in page
    assert 'href="/ledger/?q=study%3Ax"' in page
    assert "0.45" in admin.get("/admin/ledger/entry/").content.decode()
    row = admin.get("/admin/ledger/entry/2/change/").content.decode()
    assert "discrete Laplace" in row
    assert 'href="/ledger/2/"' in row


def test_the_list_of_budgets_takes_the_same_queries_for_many(
    admin, study, django_assert_max_num_queries
):
    for number in range(20):
        open_budget(f"study:{number}")
    with django_assert_max_num_queries(12):
        admin.get("/admin/ledger/budget/")


@pytest.mark.parametrize(
    "address", ["budget/add/", "entry/add/", "budget/1/delete/", "entry/1/delete/"]
)
def test_nothing_is_added_or_deleted_by_hand(admin, address):
    open_budget()
    first = Budget.objects.get().pk
    assert (
        admin.post(f"/admin/ledger/{address.replace('budget/1', f'budget/{first}')}").status_code
        == 403
    )


@pytest.mark.parametrize("model", ["budget", "entry"])
def test_nothing_is_changed_by_hand(admin, study, model):
    key = study.pk if model == "budget" else 1
    assert admin.post(f"/admin/ledger/{model}/{key}/change/", {"name": "b"}).status_code == 403
