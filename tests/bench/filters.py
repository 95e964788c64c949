"""The filters against an accountant that is not ours: 1,000 people who choose each request by what
came out before.

What a filter admitted is composed again by dp-accounting (privacy loss distributions of the same
releases). "used" is the exact ε at δ = 10⁻⁶ over the ε that the cap promises there: above 1, a cap
has been passed.
"""

import sys
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


def main() -> None:
    counts = admitted_counts()
    report.table("counts that a cap (ε, 10⁻⁶) pays for", counts)
    report.save("admitted counts", counts)
    small, rows = thousand_small(), sequences()
    report.table("1000 releases at ε = 0.05, δ = 10⁻⁶", small)
    report.table(f"{SEQUENCES} adaptive sequences, composed again by dp-accounting", rows)
    report.save("accounting", small)
    report.save("filters", rows)
    if any(row["passed"] for row in rows):
        sys.exit("a filter admitted a sequence that passes its cap")


if __name__ == "__main__":
    main()
