"""Real columns through drawn blocks, 200 times: eight drugs of 1,885 people (tests/data).

As in real_columns.py the answers are fixed, and limits are the same: means within 4.5 standard
errors of the truth of these people, spreads within 23 % of the formula. What chance does here is
draw the sets (`Drawn.draw`) and change the answers (`randomise`), both as on a device. Of m of n
people who are asked, the formula has

    (π·V₁ + (1 − π)·V₀)/(a − b)²·E[1/m] + π(1 − π)·(E[1/m] − 1/n)·n/(n − 1)

for devices and for who of them is asked; E[1/m] ≈ 1/(np) + (1 − p)/(np)², p the chance to be asked.

Triples      whether each drug was ever used: cyclic triples of yes/no questions sent as one, ε = 3;
             every question pooled from three blocks, every pair that meets from its one block.
By need      four drugs ever used, four by their seven classes: what `cheapest` says at ε = 2.
A condition  cannabis ever used, and how lately if so (five choices, and “does not apply”), each
             through its own channel and kept in one block beside three other drugs; the pair of
             both from reports that came together (surveys.aggregation.crosstabs).

    python -m tests.bench.drawn_columns
"""

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from dpengine.estimates import NoNoise
from dpengine.local.budget import cheapest, together
from dpengine.local.channel import Channel, Features
from dpengine.local.joint import Joint, pooled
from dpengine.local.ways import Question, Way
from surveys.aggregation.crosstabs import Table, together as counted_together
from tests.bench.real_columns import DATA, MEAN_WITHIN, RUNS, SPREAD_WITHIN, Case, measure
from tests.bench.report import save, table

DRUGS = ("alcohol", "amphet", "benzos", "cannabis", "coke", "ecstasy", "mushrooms", "nicotine")
NONE = NoNoise()
Reports = list[list[tuple[Any, ...]]]  # of each block, by its channels


def main() -> None:
    rows, worst = [], []
    for case in cases():
        measured = measure(case)
        rows += measured
        off = max(abs(row["off"]) for row in measured)
        spread = max(abs(row["spread/formula"] - 1) for row in measured)
        worst.append(
            {
                "kind": case.kind,
                "estimates": len(measured),
                "worst |off|, SE of the mean": off,
                "worst |spread/formula − 1|": spread,
                "held": "yes" if off <= MEAN_WITHIN and spread <= SPREAD_WITHIN else "NO",
            }
        )
    table(f"Drugs through drawn blocks, {RUNS} randomisations each", worst)
    save("drawn_columns", rows)
    save("drawn_columns_worst", worst)


def cases() -> Iterator[Case]:
    with (DATA / "uci_drug_consumption_dq.csv").open(newline="") as file:
        classes = np.array([[int(row[drug]) for drug in DRUGS] for row in csv.DictReader(file)])
    ever = (classes > 0).astype(np.int64)
    triples = together(Decimal(3), [Question(2)] * 8, 3)
    yield case("triples of yes/no, ε = 3", triples, ever)
    both = np.column_stack([ever[:, :4], classes[:, 4:]])
    needed = cheapest(Decimal(2), [Question(2)] * 4 + [Question(7)] * 4, len(both)).way
    yield case("four of two and four of seven, by need, ε = 2", needed, both)
    lately = np.where(classes[:, 3] > 0, np.maximum(classes[:, 3], 2) - 2, 5)
    asked = np.column_stack([ever[:, 3], lately, ever[:, [0, 1, 7]]])
    questions = [Question(2), Question(6), *[Question(2)] * 3]
    kept = cheapest(Decimal(3), questions, len(asked), kept=[(0, 1)]).way
    yield case("a condition and its parent, ε = 3", kept, asked)


def case(kind: str, way: Way, answers: np.ndarray) -> Case:
    """Return every question's shares, and those of every pair that is met in a block."""
    n, names = len(answers), []
    truth, spread, estimators = [], [], []
    pairs = [
        pair
        for pair in combinations(range(len(way.questions)), 2)
        if any(set(pair) <= set(block.questions) for block in way.blocks)
    ]
    for looked in [*((question,) for question in range(len(way.questions))), *pairs]:
        shape = [way.questions[question].choices for question in looked]
        cells = np.ravel_multi_index(answers[:, looked].T, shape)
        shares = np.bincount(cells, minlength=math.prod(shape)) / n
        blocks = [
            place for place, each in enumerate(way.blocks) if set(looked) <= set(each.questions)
        ]
        chance = sum(float(way.drawn.chance(block)) for block in blocks)
        one = 1 / (n * chance) + (1 - chance) / (n * chance) ** 2
        device, estimate = inverse(way, blocks, looked, shares)
        truth += shares.tolist()
        drawn = shares * (1 - shares) * (one - 1 / n) * n / (n - 1)
        spread += np.sqrt(device * one + drawn).tolist()
        names += [
            "+".join(DRUGS[q] for q in looked) + f" {answer}" for answer in range(len(shares))
        ]
        estimators.append(estimate)

    def once() -> list[float]:
        reports = collected(way, answers.tolist())
        return [value for estimate in estimators for value in estimate(reports)]

    return Case(kind, names, np.array(truth), np.array(spread), once)


def collected(way: Way, answers: Sequence[Sequence[int]]) -> Reports:
    """Return what everybody's device sends."""
    found: Reports = [[] for _ in way.blocks]
    for own in answers:
        for number in way.drawn.sets[way.drawn.draw()]:
            block = way.blocks[number]
            held = [own[question] for question in block.questions]
            inputs: Sequence[Any] = [held] if block.is_joint else held
            found[number].append(
                tuple(
                    channel.randomise(each)
                    for channel, each in zip(block.channels, inputs, strict=True)
                )
            )
    return found


def inverse(
    way: Way, blocks: Sequence[int], looked: tuple[int, ...], shares: np.ndarray
) -> tuple[np.ndarray, Callable[[Reports], list[float]]]:
    """Return the device's variance of one report, and how shares are estimated from all."""
    block = way.blocks[blocks[0]]
    places = [block.questions.index(question) for question in looked]
    if block.is_joint:
        views = {}
        for number in blocks:
            (joint,) = way.blocks[number].channels
            assert isinstance(joint, Joint)
            views[number] = joint.view(*(way.blocks[number].questions.index(q) for q in looked))

        def pool(reports: Reports) -> list[float]:
            parts = [
                (
                    view,
                    view.tally(view.pack([each for (each,) in reports[number]])),
                    len(reports[number]),
                )
                for number, view in views.items()
            ]
            return [each.value for each in pooled(parts, NONE)]

        return device_of(views[blocks[0]].features(), shares), pool
    sides = [block.channels[place] for place in places]
    if len(sides) == 1:

        def alone(reports: Reports) -> list[float]:
            found = [each[places[0]] for each in reports[blocks[0]]]
            counts = sides[0].tally(sides[0].pack(found))
            return [each.value for each in sides[0].estimates(counts, len(found), NONE)]

        return device_of(sides[0].features(), shares), alone
    return device_of_pair(sides, shares), lambda reports: pair_of(sides, places, reports[blocks[0]])


def device_of(features: Features, shares: np.ndarray) -> np.ndarray:
    """Return Σ π_t·Var(u | t), a number an answer."""
    squares = features.second @ features.chances.T
    return squares @ shares - shares


def device_of_pair(sides: Sequence[Channel], shares: np.ndarray) -> np.ndarray:
    left, right = (side.features() for side in sides)
    squares = np.kron(left.second @ left.chances.T, right.second @ right.chances.T)
    return squares @ shares - shares


def pair_of(
    sides: Sequence[Channel], places: Sequence[int], reports: Sequence[tuple[Any, ...]]
) -> list[float]:
    left, right = (side.features() for side in sides)
    found = Counter(
        tuple(tuple(each) if isinstance(each, list) else each for each in (row[p] for p in places))
        for row in reports
    )
    counts = counted_together(found, left, right)
    return Table.of(counts, left, right, NONE, len(reports)).shares.ravel().tolist()


if __name__ == "__main__":
    main()
