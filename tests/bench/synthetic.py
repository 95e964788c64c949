"""Synthetic data of seven columns, 201,684 combinations of answers: how far its tables are from
the real ones, beside a peer.

Real       UCI drug consumption, 1,885 people: alcohol, cannabis, coke, ecstasy, nicotine (7
           classes each), age (6), gender (2).
Ours       dpengine.central.synopsis: chosen pairs, a model on a junction tree, exact discrete
           Gaussian noise.
Peer       MST (McKenna, Miklau and Sheldon 2021) with the estimation and the rows of mbi, the
           authors' library: a third of ρ each for columns, choosing a tree of pairs, and pairs; rare
           cells put together at 3σ. Its noise is normal and floating point. Left out where mbi is
           not installed.
Distance   Half of Σ|synthetic share − real share| (total variation), the mean over the 7 columns,
           the 21 pairs and the 35 triples; and over RUNS runs, with the standard error of that.

Both at the same ρ for the same neighbours: one person more or less, which are the peer's.

    python -m tests.bench.synthetic
"""

import csv
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpengine.central import synopsis
from dpengine.central.marginals import Marginals
from dpengine.privacy import Neighbours
from tests.bench.report import save, table

SEED = 20261123  # of the peer's noise, not of ours
FILE = Path(__file__).parent.parent / "data" / "uci_drug_consumption_dq.csv"
COLUMNS = ["alcohol", "cannabis", "coke", "ecstasy", "nicotine", "age", "gender"]
CLASSES = 7  # of a substance
RHOS = ("0.005", "0.05", "0.5")
RUNS = 8
SELECT_STEPS, LAST_STEPS = 2500, 10_000  # of the peer's fits, as its authors have them

Ints = npt.NDArray[np.int64]
Rows = Callable[[str], Ints]


def real() -> tuple[Ints, tuple[int, ...]]:
    """Return the people, a row each, and how many answers each column has."""
    with FILE.open(newline="") as file:
        people = list(csv.DictReader(file))
    columns, sizes = [], []
    for name in COLUMNS:
        values = [row[name] for row in people]
        levels = sorted(set(values), key=float)
        is_substance = name not in ("age", "gender")
        columns.append([int(each) if is_substance else levels.index(each) for each in values])
        sizes.append(CLASSES if is_substance else len(levels))
    return np.array(columns).T, tuple(sizes)


def ours(people: Ints, sizes: tuple[int, ...]) -> Rows:
    data = Counter(map(tuple, people.tolist()))

    def rows(rho: str) -> Ints:
        marginals = Marginals.for_rho(Fraction(rho), sizes, Neighbours.ADD_REMOVE)
        found = synopsis.draw(marginals, data).rows
        return np.repeat(np.array(list(found)), list(found.values()), axis=0)

    return rows


def peer(people: Ints, sizes: tuple[int, ...]) -> Rows:
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)
    from mbi import Dataset, Domain, LinearMeasurement, estimation

    chance = np.random.default_rng(SEED)
    names = [str(place) for place in range(len(sizes))]
    whole = Dataset(dict(zip(names, people.T, strict=True)), Domain(names, sizes))
    fit = estimation.MirrorDescent().estimate

    def measured(data: Any, tables: list[tuple[str, ...]], rho: float) -> list[Any]:
        sigma = np.sqrt(len(tables) / (2 * rho))
        return [
            LinearMeasurement(counts + chance.normal(scale=sigma, size=counts.size), columns, sigma)
            for columns in tables
            for counts in [data.project(columns).datavector()]
        ]

    def tree(data: Any, log: list[Any], rho: float) -> list[tuple[str, ...]]:
        model = fit(data.domain, log, iters=SELECT_STEPS)
        off = {
            pair: float(
                np.abs(data.project(pair).datavector() - model.project(pair).datavector()).sum()
            )
            for pair in combinations(names, 2)
        }
        part, chosen = {name: name for name in names}, []
        epsilon = np.sqrt(8 * rho / (len(names) - 1))
        while len(chosen) < len(names) - 1:
            apart = [pair for pair in off if part[pair[0]] != part[pair[1]]]
            chances = special.softmax([epsilon / 2 * off[pair] for pair in apart])
            one, other = apart[chance.choice(len(apart), p=chances)]
            chosen.append((one, other))
            joined = part[other]
            part = {name: part[one] if own == joined else own for name, own in part.items()}
        return chosen

    def rows(rho: str) -> Ints:
        third = float(rho) / 3
        singles = measured(whole, [(name,) for name in names], third)
        together = {}  # what is rare goes to one cell, the last
        for single in singles:
            often = np.asarray(single.noisy_measurement) >= 3 * single.stddev
            if not often.all():
                places = np.where(often, np.cumsum(often) - 1, often.sum())
                together[single.clique[0]] = places.astype(np.int64)
        data = whole.compress(together)
        log = [single.compress(together, whole.domain) for single in singles]
        log += measured(data, tree(data, log, third), third)
        made = fit(data.domain, log, iters=LAST_STEPS).synthetic_data().decompress(together)
        return np.stack([made.data[name] for name in names], axis=1).astype(np.int64)

    return rows


def distances(people: Ints, made: Ints, sizes: tuple[int, ...]) -> list[float]:
    """Return the mean distances of tables of one, two and three columns."""

    def shares(rows: Ints, columns: tuple[int, ...]) -> npt.NDArray[np.float64]:
        counts = np.zeros([sizes[column] for column in columns])
        np.add.at(counts, tuple(rows[:, column] for column in columns), 1)
        return counts / max(len(rows), 1)

    return [
        float(
            np.mean(
                [
                    np.abs(shares(people, columns) - shares(made, columns)).sum() / 2
                    for columns in combinations(range(len(sizes)), many)
                ]
            )
        )
        for many in (1, 2, 3)
    ]


def main() -> None:
    people, sizes = real()
    ways, found = {"ours": ours(people, sizes)}, []
    if find_spec("mbi"):
        ways["mbi, MST"] = peer(people, sizes)
    for rho in RHOS:
        for name, rows in ways.items():
            started = time.perf_counter()
            off = np.array([distances(people, rows(rho), sizes) for _ in range(RUNS)])
            error = off.std(axis=0, ddof=1) / np.sqrt(RUNS)
            row: dict[str, Any] = {"ρ": rho, "by": name}
            for many in (1, 2, 3):
                row[f"{many}-way"] = float(off[:, many - 1].mean())
                row[f"± {many}"] = float(error[many - 1])
            found.append(row | {"s a set": round((time.perf_counter() - started) / RUNS, 1)})
    table("Seven columns of UCI drug consumption: distance of tables", found)
    save("synthetic", found)
    for rho in RHOS if len(ways) > 1 else ():
        one, other = (row for row in found if row["ρ"] == rho)
        for many in (2, 3):
            if one[f"{many}-way"] > other[f"{many}-way"]:
                raise AssertionError(f"at ρ = {rho} {many}-way tables are farther off")


if __name__ == "__main__":
    main()
