"""An expression takes seconds, so its groups are computed before anything is locked."""

import pytest

from surveys import messages
from surveys.ledger import services as budgets
from surveys.ledger.models import Entry
from surveys.releases import sandbox, selectors, services
from surveys.releases.models import Release
from surveys.releases.queries.expression import NOT_STARTED
from tests.surveys.releases.conftest import NOW, answer
from tests.surveys.releases.queries.scored_plans import computed_here

MEAN = {"expression": "mean(hours)", "least": 0, "most": 80, "groups": 10, "epsilon": "1"}


def ask(plan, **changes):
    return services.ask_for(
        plan=plan, kind="expression", parameters=MEAN | changes, who="mira", now=NOW
    )


@pytest.fixture
def computed(monkeypatch):
    """What is computed, in order: how many people, and whether a budget was held."""
    found: list[tuple[int, bool]] = []
    held: list[int] = []
    lock = budgets.lock

    def noted_lock(*budget_ids):
        held.extend(budget_ids)
        return lock(*budget_ids)

    def compute(formula, columns, groups):
        found.append((sum(map(len, groups)), bool(held)))
        return computed_here(formula, columns, groups)

    monkeypatch.setattr(sandbox, "compute", compute)
    monkeypatch.setattr(budgets, "lock", noted_lock)
    return found


def test_it_is_computed_once_and_before_a_budget_is_held(asked, computed):
    request = ask(asked)
    release = services.publish(request_id=request.pk, now=NOW)
    assert computed == [(60, False)]
    assert services.publish(request_id=request.pk, now=NOW) == release
    assert computed == [(60, False)]


def test_what_was_computed_for_one_request_is_never_drawn_for_another(asked, computed, monkeypatch):
    old = ask(asked)
    answer(asked, 20)
    new = ask(asked)
    before = services._counted(old, NOW)
    assert before.keys() == {old.digest} != {new.digest}
    monkeypatch.setattr(services, "_counted", lambda request, now: before)
    services.publish(request_id=new.pk, now=NOW)
    assert [people for people, _ in computed] == [60, 80]
    services.publish(request_id=old.pk, now=NOW)
    assert [people for people, _ in computed] == [60, 80]


def test_nothing_is_computed_that_cannot_be_paid(asked, computed):
    for number in range(2):
        services.publish(request_id=ask(asked, most=81 + number).pk, now=NOW)
    third = ask(asked)
    computed.clear()
    assert services.try_to_publish(request_id=third.pk, now=NOW) is None
    third.refresh_from_db()
    assert "is left" in third.refused
    assert computed == []


def test_a_program_that_does_not_start_is_a_refusal_and_costs_nothing(asked, monkeypatch):
    monkeypatch.setattr(sandbox.sys, "executable", "/bin/false")
    request = ask(asked)
    assert services.try_to_publish(request_id=request.pk, now=NOW) is None
    request.refresh_from_db()
    assert request.refused == NOT_STARTED()
    assert messages.is_known(request.refused)
    assert list(selectors.waiting_requests()) == []
    assert not Entry.charges.exists()
    assert not Release.objects.exists()
    monkeypatch.undo()
    monkeypatch.setattr(sandbox, "compute", computed_here)
    assert services.confirm(request_id=request.pk, who="mira", now=NOW).refused == ""
    assert services.try_to_publish(request_id=request.pk, now=NOW)
    assert Entry.charges.count() == 1
