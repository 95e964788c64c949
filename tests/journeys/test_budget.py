"""Twelve processes at once, one budget that can pay four of them; then 200 requests, and a
budget for 17.
"""

from tests.bench import budget_races
from tests.journeys.site import own_database

MAKE = """
import datetime, json
from decimal import Decimal
from surveys.ledger import services
budget = services.open_budget(name="study:race", unit="u", neighbours="change-one", epsilon=Decimal("1.8"),
                              who="ada", now=datetime.datetime.now(datetime.UTC))
print(json.dumps(budget.pk))
"""
CHARGE = """
import datetime
from fractions import Fraction
from dpengine.privacy import Cost
from surveys.ledger import services
print("ready", flush=True)
input()
try:
    services.charge(budget_ids=[{budget}], cost=Cost.pure(Fraction("0.45")), statistic="{number}" * 32, reason="race",
                    mechanism="none", sensitivity="1", who="race", now=datetime.datetime.now(datetime.UTC))
    print("paid")
except services.Overspent:
    print("refused")
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
    racers = [
        site.begin(CHARGE.format(budget=budget, number=f"{number:02d}"))
        for number in range(PROCESSES)
    ]
    for racer in racers:
        assert racer.stdout.readline().strip() == "ready"
    for racer in racers:  # all wait at the same line
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate()[0].strip() for racer in racers]
    assert (said.count("paid"), said.count("refused")) == (PAID, PROCESSES - PAID)
    assert site.python(ENTRIES.format(budget=budget)) == ["0", [2, 3, 4, 5]]


def test_two_hundred_requests_at_once_are_paid_seventeen_times_and_none_by_half(tmp_path):
    """One round of tests/bench/budget_races.py: real requests, real draws."""
    database = own_database() or {"DATABASE_URL": f"sqlite:///{tmp_path}/races.sqlite3"}
    found = budget_races.race_on({"CANDOR_DATA": str(tmp_path), **database}, rounds=1)
    assert found["surprises"] == []
    assert found["rounds with exactly 17 paid"] == 1
    assert found["half-done"] == found["rounds with a fault in the chain"] == 0
