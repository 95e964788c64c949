"""The filters against an accountant that is not ours: 1,000 people who choose each request by what
came out before.

What a filter admitted is composed again by dp-accounting (privacy loss distributions of the same
releases). "used" is the exact ε at δ = 10⁻⁶ over the ε that the cap promises there: above 1, a cap
has been passed.

    python -m tests.bench.filters             everything
    python -m tests.bench.filters ledger      how many counts the ledger pays for, with its own rows
"""

import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from typing import Any

import numpy as np

from dpengine.accounting import composition
from dpengine.accounting.comparison import compare
from dpengine.accounting.concentrated import rho_of
from dpengine.accounting.filters import (
    EVERYONE,
    Charge,
    ConcentratedFilter,
    EitherFilter,
    Filter,
    PureFilter,
)
from dpengine.central.laplace import DiscreteLaplace
from dpengine.privacy import Cost
from tests.bench import report
from tests.dpengine.accounting import exact

SEQUENCES = 1000
SEED = 20260101


def sequences() -> list[dict[str, Any]]:
    rng = np.random.default_rng(SEED)
    found: dict[str, list[tuple[float, int]]] = {"pure": [], "concentrated": [], "either": []}
    for _ in range(SEQUENCES):
        cap = exact.caps(rng)
        events = exact.admitted(cap, rng)
        found[_name(cap)].append((exact.exact_epsilon(events) / exact.promised(cap), len(events)))
    return [_row(name, uses) for name, uses in found.items()]


def _name(cap: Filter) -> str:
    if isinstance(cap, EitherFilter):
        return "either"
    return "pure" if isinstance(cap, PureFilter) else "concentrated"


def _row(name: str, uses: list[tuple[float, int]]) -> dict[str, Any]:
    shares = [share for share, _ in uses]
    return {
        "cap": name,
        "sequences": len(uses),
        "releases each": float(np.mean([count for _, count in uses])),
        "used, mean": float(np.mean(shares)),
        "used, most": max(shares),
        "passed": sum(share > 1 for share in shares),
    }


def admitted_counts() -> list[dict[str, Any]]:
    """How many counts with Laplace noise a cap (ε, 10⁻⁶) pays for, of those that would keep it."""
    rows = []
    for cap in (1, 4):
        rho = Fraction(rho_of(Fraction(cap), exact.DELTA))
        either = EitherFilter(rho, epsilon=Fraction(cap))
        for epsilon in ("0.1", "0.25", "0.5"):
            cost = Cost.pure_exactly(Fraction(epsilon))
            rows.append(
                {
                    "cap": cap,
                    "ε of a count": epsilon,
                    "by Σρ": _how_many(ConcentratedFilter(rho), cost),
                    "by either": _how_many(either, cost),
                    "would keep the cap": _exactly(cap, cost),
                }
            )
    return rows


def ledger_counts() -> list[dict[str, Any]]:
    """The same by the ledger, on an SQLite of its own: rows are charged until one is refused. Half
    of δ is for mechanisms there.
    """
    with tempfile.TemporaryDirectory(prefix="candor-") as folder:
        place = {"CANDOR_DATA": folder, "DATABASE_URL": f"sqlite:///{folder}/filters.sqlite3"}
        command = [sys.executable, "-m", "tests.bench.filters", "here"]
        settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "surveys.settings", **place}
        done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def ledger_here() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return [
        {"cap": cap, "ε of a count": epsilon, "rows": _charged(cap, epsilon)}
        for cap in (1, 4)
        for epsilon in ("0.1", "0.25", "0.5")
    ]


def _charged(cap: int, epsilon: str) -> int:
    """Return how many counts a new budget pays for, and that its rows hold."""
    from surveys.ledger import selectors, services
    from surveys.ledger.verification import faults
    from tests.surveys.ledger.small import open_budget, pay

    name, half = f"study:{cap}-{epsilon}", exact.DELTA / 2
    budget = open_budget(name, epsilon=cap, delta=half)
    cost = DiscreteLaplace.for_epsilon(Fraction(epsilon), 1).cost
    try:
        while True:
            pay(budget, cost)
    except services.Overspent:
        pass
    if found := faults():
        raise ValueError(f"expected a ledger that holds, got {found}")
    return len(selectors.account(budget.pk).entries)


def _how_many(cap: Filter, cost: Cost) -> int:
    spent: list[Charge] = []
    while cap.admits(cost, spent):
        spent.append(Charge(EVERYONE, cost))
    return len(spent)


def _exactly(cap: int, cost: Cost) -> int:
    count = 1
    while exact.exact_epsilon([("laplace", cost)] * count) <= cap:
        count += 1
    return count - 1


def thousand_small() -> list[dict[str, Any]]:
    """1000 × ε = 0.05 at δ = 10⁻⁶, by every accountant."""
    small = Cost.pure(Fraction("0.05"))
    found = compare([small] * 1000, exact.DELTA)
    closed = composition.closed_form([Fraction("0.05")] * 1000, exact.DELTA)
    figures = {
        "basic": found.basic,
        "advanced": found.advanced,
        "optimal, closed form": closed,
        "zCDP": found.concentrated,
        "Rényi": found.renyi,
        "optimal, exact": found.optimal,
    }
    return [{"accountant": name, "ε": float(epsilon or 0)} for name, epsilon in figures.items()]


def by_ledger() -> None:
    rows = ledger_counts()
    report.table("counts that a study's cap (ε, 10⁻⁶) pays for, by its ledger", rows)
    report.save("counts by the ledger", rows)
    if any(
        row["rows"] < row["cap"] / float(row["ε of a count"]) for row in rows if row["cap"] == 1
    ):
        sys.exit("the ledger paid for fewer counts than a pure cap does")


def main() -> None:
    counts = admitted_counts()
    report.table("counts that a cap (ε, 10⁻⁶) pays for", counts)
    report.save("admitted counts", counts)
    by_ledger()
    small, rows = thousand_small(), sequences()
    report.table("1000 releases at ε = 0.05, δ = 10⁻⁶", small)
    report.table(f"{SEQUENCES} adaptive sequences, composed again by dp-accounting", rows)
    report.save("accounting", small)
    report.save("filters", rows)
    if any(row["passed"] for row in rows):
        sys.exit("a filter admitted a sequence that passes its cap")


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        print(json.dumps(ledger_here()))
    else:
        by_ledger() if sys.argv[1:] == ["ledger"] else main()
