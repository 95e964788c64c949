"""Every central mechanism: error against formula, audit against claim, and the time of a large
histogram.

    python -m tests.bench.mechanisms

The error is measured on fresh draws at n = 1,000 and 100,000; the ratio to the formula should be
within 5 %. The audit is that of tests/dpengine/central/audit.py: a bound from below on the ε that
two neighbours give away.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpengine.central import counts as tallies
from dpengine.central.laplace import DiscreteLaplace
from dpengine.privacy import Neighbours
from tests.bench import report
from tests.central_cases import Case, all_cases
from tests.dpengine.central.audit import audited, claim_of

SIZES = (1_000, 100_000)
CELLS = 10_000


def row_of(case: Case) -> dict[str, Any]:
    epsilon, delta = claim_of(case)
    started = time.perf_counter()
    proved = audited(case.draws(False, case.many), case.draws(True, case.many), delta)
    row: dict[str, Any] = {
        "mechanism": case.name,
        "claim": round(epsilon, 4),
        "delta": float(delta),
        "audit": round(proved, 3),
        "of claim": round(proved / epsilon, 2),
        "tight": case.tight,
    }
    for n in SIZES:
        measured, formula = case.errors(n) if case.errors else (None, None)
        row[f"error at {n:,}"] = "" if measured is None else round(measured, 4)
        row[f"ratio at {n:,}"] = (
            "" if not formula or measured is None else round(measured / formula, 3)
        )
    return {**row, "seconds": round(time.perf_counter() - started, 1)}


def histograms() -> list[dict[str, Any]]:
    """Time one draw of a histogram of 10,000 cells, for either noise, the choice of it included."""
    tally, people = tallies.Tally(CELLS, Neighbours.CHANGE_ONE, held=1), [[10] * CELLS]
    makers: dict[str, Callable[[], tallies.Choice]] = {
        "pure, ε = 1": lambda: tallies.for_epsilon([tally], Fraction(1)),
        "ρ = 1/2": lambda: tallies.for_rho([tally], Fraction(1, 2)),
    }
    return [_timed(budget, make, people) for budget, make in makers.items()]


def _timed(
    budget: str, make: Callable[[], tallies.Choice], people: list[list[int]]
) -> dict[str, Any]:
    started = time.perf_counter()
    choice = make()
    made = time.perf_counter()
    choice.release(people, CELLS * 10)
    drawn = time.perf_counter()
    name = "Laplace" if isinstance(choice.mechanism, DiscreteLaplace) else "Gaussian"
    return {
        "budget": budget,
        "noise": name,
        "standard error": round(choice.mechanism.variance**0.5, 3),
        "choose, ms": round(1000 * (made - started), 2),
        "draw, ms": round(1000 * (drawn - made), 1),
    }


def main() -> None:
    for name, title, rows in (
        (
            "mechanisms",
            "Every central mechanism: errors and audit",
            [row_of(case) for case in all_cases()],
        ),
        ("histograms", f"One draw of a histogram of {CELLS:,} cells", histograms()),
    ):
        report.table(title, rows)
        report.save(name, rows)


if __name__ == "__main__":
    main()
