"""Every central mechanism as a case: for the audit of its privacy, the fit of its error formula,
and the bench.

A module of this folder lists its cases as `CASES`. tests/dpengine/central/test_audit.py audits
every one, tests/bench/mechanisms.py measures errors and times; the test of the floor of each case
also checks that a user reaches it on the screen it names.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from dpengine.privacy import Cost


@dataclass(frozen=True)
class Case:
    """A mechanism at one setting."""

    name: str
    screen: str  # where a user reaches it: "ask: most_common", "rule: continual", …
    cost: Cost
    # Audit: draws of an output on two neighbouring data sets, as whole numbers to be compared event
    # by event.
    # (on the neighbour?, how many) → 1-d array of outputs
    draws: Callable[[bool, int], npt.NDArray[Any]]
    tight: bool  # whether the audit's bound should reach 0.6 of the claim
    # Error at n people: (measured root mean square or mean absolute error over fresh draws, what
    # the formula says)
    errors: Callable[[int], tuple[float, float]] | None = None
    # What is claimed, as (ε, δ); without one, what `cost` says: its ε, or what its ρ comes to at δ
    # = 0.001 more
    claim: tuple[float, float] | None = None
    # The exact law of `draws` on the data and on the neighbour, where it is known: chances by
    # output
    law: Callable[[bool], Mapping[int, float]] | None = None
    # draws on each of the two data sets: half to choose an event, half to bound its chances
    many: int = 40_000


def all_cases() -> list[Case]:
    """Return the cases of all modules of this folder."""
    modules = (
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    )
    return [case for module in modules for case in module.CASES]
