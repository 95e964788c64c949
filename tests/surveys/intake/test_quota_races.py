"""Doors that commit at once at the edge of a limit: sound, and slightly more at most."""

import threading

import pytest
from django.db import connection

from surveys.aggregation import selectors as counted, services as aggregation
from surveys.design.models import Plan
from surveys.intake.group import Acceptance, accept_all
from surveys.intake.models import Receipt
from tests.conftest import TODAY
from tests.surveys.intake.test_quotas import entries, opened

DOORS, GROUP, MOST = 4, 10, 100


@pytest.mark.engine("postgresql")
@pytest.mark.django_db(transaction=True)
def test_doors_at_once_take_a_group_each_too_many_at_most_and_nothing_is_lost():
    plan = opened(closes_at=MOST)
    groups = [entries(plan, GROUP, start=GROUP * number) for number in range(4 * MOST // GROUP)]
    taken = []

    def door(own):
        try:
            for group in own:
                taken.extend(isinstance(each, Acceptance) for each in accept_all(group))
        finally:
            connection.close()

    doors = [threading.Thread(target=door, args=(groups[at::DOORS],)) for at in range(DOORS)]
    for each in doors:
        each.start()
    while any(each.is_alive() for each in doors):
        aggregation.sweep_all(today=TODAY)
    for each in doors:
        each.join()
    aggregation.sweep_all(today=TODAY)
    closed = Plan.objects.get(pk=plan.pk)
    assert not closed.is_open
    assert MOST <= sum(taken) < MOST + DOORS * GROUP
    assert sum(taken) == Receipt.objects.count() == counted.sealed_reports(closed)
