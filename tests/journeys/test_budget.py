"""Twelve processes at once, one budget that can pay four of them; then 200 requests, and a
budget for 17.
"""

from surveys.releases import sandbox
from tests.bench import budget_races, expression_waits
from tests.journeys.site import own_environment

MAKE = """
import datetime, json
from decimal import Decimal
from surveys.ledger import services
budget = services.open_budget(name="study:race", unit="u", neighbours="change-one", epsilon=Decimal("1.8"),
                              who="ada", now=datetime.datetime.now(datetime.UTC))
print(json.dumps(budget.pk))
"""
RACE = """
import datetime, json, multiprocessing
from fractions import Fraction
from django.db import connections
from dpengine.privacy import Cost
from surveys.ledger import services
context = multiprocessing.get_context("fork")
line, said = context.Barrier({processes}), context.Queue()
def race(number):
    line.wait()  # all begin at once
    try:
        services.charge(budget_ids=[{budget}], cost=Cost.pure(Fraction("0.45")), statistic=f"{{number:02d}}" * 32,
                        reason="race", mechanism="none", sensitivity="1", who="race",
                        now=datetime.datetime.now(datetime.UTC))
        said.put("paid")
    except services.Overspent:
        said.put("refused")
    except BaseException as error:
        said.put(repr(error))
        raise
connections.close_all()  # none is shared with a child
racers = [context.Process(target=race, args=(number,), daemon=True) for number in range({processes})]
for racer in racers:
    racer.start()
found = [said.get() for _ in racers]
for racer in racers:
    racer.join()
print(json.dumps(found))
"""
ENTRIES = """
import json
from surveys.ledger.selectors import account
from surveys.ledger.verification import faults
found = account({budget})
assert not faults()
print(json.dumps([str(found.amount_left), [entry.number for entry in found.entries]]))
"""
PROCESSES, PAID = 12, 4


def test_a_budget_is_not_overspent_by_twelve_at_once(site):
    budget = site.python(MAKE)
    said = site.python(RACE.format(budget=budget, processes=PROCESSES))
    assert (said.count("paid"), said.count("refused")) == (PAID, PROCESSES - PAID)
    assert site.python(ENTRIES.format(budget=budget)) == ["0", [2, 3, 4, 5]]


def test_two_hundred_requests_at_once_are_paid_seventeen_times_and_none_by_half(folder, bare):
    """One round of tests/bench/budget_races.py: real requests, real draws."""
    found = budget_races.race_on(own_environment(folder, like=bare), rounds=1, delta="0")
    assert found["surprises"] == []
    assert found["rounds with exactly so many paid"] == 1
    assert found["half-done"] == found["rounds with a fault in the chain"] == 0


def test_nobody_waits_while_an_expression_is_computed(folder, bare):
    """Whoever sends a report or publishes another number is done before it is."""
    found = expression_waits.publish_on(own_environment(folder, like=bare), groups=10)
    assert found["n"] == expression_waits.PEOPLE
    assert found["publication, s"] > sandbox.budget(10)
    assert found["meanwhile"] >= 2
