"""Twelve processes at once, one budget that can pay four of them."""

MAKE = """
import json
from decimal import Decimal
from surveys.ledger import services
budget = services.open_budget(name="study:race", unit="u", neighbours="n", cap=Decimal("1.8"))
print(json.dumps(budget.pk))
"""
CHARGE = """
import datetime, sys
from decimal import Decimal
from surveys.ledger import services
print("ready", flush=True)
input()
try:
    services.charge(budget_id={budget}, epsilon=Decimal("0.45"), statistic="{number}" * 32, reason="race",
                    mechanism="none", who="race", day=datetime.date.today())
    print("paid")
except services.Overspent:
    print("refused")
"""
ENTRIES = """
import json
from surveys.ledger.queries import account
found = account({budget})
print(json.dumps([str(found.left.normalize()), [entry.number for entry in found.entries]]))
"""
PROCESSES, PAID = 12, 4


def test_a_budget_is_not_overspent_by_twelve_at_once(site):
    budget = site.python(MAKE)
    racers = [site.begin(CHARGE.format(budget=budget, number=f"{number:02d}")) for number in range(PROCESSES)]
    for racer in racers:
        assert racer.stdout.readline().strip() == "ready"
    for racer in racers:  # all wait at the same line
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate()[0].strip() for racer in racers]
    assert (said.count("paid"), said.count("refused")) == (PAID, PROCESSES - PAID)
    assert site.python(ENTRIES.format(budget=budget)) == ["0", [1, 2, 3, 4]]
