"""No page reads a budget's whole history, nor all rows of the ledger."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models.signals import post_init
from django.test import Client

from surveys.ledger import selectors
from surveys.ledger.models import Entry
from surveys.results.views import registry
from tests.costs import pure
from tests.surveys.results import kinds
from tests.surveys.results.small import NOW

pytestmark = pytest.mark.django_db
CHARGES = 40


@pytest.fixture
def read() -> Iterator[list[Any]]:
    """The rows that are made into objects."""
    found: list[Any] = []

    def keep(instance: Entry, **about: Any) -> None:
        found.append(instance.position)

    post_init.connect(keep, sender=Entry)
    yield found
    post_init.disconnect(keep, sender=Entry)


def charged() -> int:
    """Open a study, charge it so often, and return its budget."""
    plan = kinds.unpublished()
    for number in range(CHARGES):
        kinds.charge(plan, pure("0.01"), number, NOW - number * datetime.timedelta(hours=7))
    assert plan.study.budget_id is not None
    return plan.study.budget_id


def test_a_charge_reads_the_last_row_and_no_other(read: list[Any]) -> None:
    charged()
    read.clear()
    kinds.charge(kinds.Plan.objects.get(), pure("0.01"), 99, NOW)
    assert len(read) <= 3  # the last row, and the one that is written


def test_a_page_shows_the_newest_rows_and_says_where_all_are(
    client: Client, read: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    budget_id = charged()
    monkeypatch.setattr(registry, "SHOWN", 10)
    read.clear()
    page = client.get("/registry/small/").content.decode()
    # ten charges, the acts of the opening, and one object a cost
    assert len(read) < 20
    assert "The newest 10 rows of a kind are shown." in page
    assert 'href="/ledger/?study=small"' in page
    assert f"{CHARGES} entries" in page
    account = selectors.account(budget_id)
    shown = selectors.Statement(account).newest(10)
    assert [(line.entry.pk, line.exact_total) for line in shown] == [
        (line.entry.pk, line.exact_total) for line in selectors.Statement(account).rows[:10]
    ]


def test_the_registry_reads_no_row_at_all(client: Client, read: list[Any]) -> None:
    charged()
    read.clear()
    assert client.get("/registry/").status_code == 200
    assert client.get("/registry/ledger/index.json").status_code == 200
    assert read == []
