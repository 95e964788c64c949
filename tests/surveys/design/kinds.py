"""Draft questions of every kind, never saved, and the exact law of what a browser sends: for
tests of several rooms.
"""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any

from dpengine import randomness
from dpengine.local import number, one_of, table
from dpengine.randomness import WORD
from surveys.design.models import Question
from surveys.design.questions import content_of
from surveys.plan.content import PlanQuestion

ASKED = {"text": "Asked?", "label": "Asked", "epsilon": Decimal(1)}


def draft(kind: str, **fields: Any) -> Question:
    return Question(**{"name": "q1", "kind": kind, **ASKED, **fields})


def question(kind: str, **fields: Any) -> PlanQuestion:
    return content_of(draft(kind, **fields))


class Branch(Exception):
    """A draw that has not been decided: what can fall, with its chance."""

    def __init__(self, ways: list[tuple[int, Fraction]]) -> None:
        super().__init__("a draw")
        self.ways = ways


def law(content: PlanQuestion, answer: Any, monkeypatch: Any) -> dict[Any, Fraction]:
    """Return Pr[report | answer] exactly: the shipped code run once for each way that its draws
    can fall.
    """
    cuts = _cuts(content.channel_document)
    found: Counter[Any] = Counter()
    open_ends: list[list[tuple[int, Fraction]]] = [[]]
    while open_ends:
        way = open_ends.pop()
        try:
            report = _run(content, answer, way, cuts, monkeypatch)
        except Branch as branch:
            open_ends.extend([*way, one] for one in branch.ways)
        else:
            chance = Fraction(1)
            for _, part in way:
                chance *= part
            found[tuple(report) if isinstance(report, list) else report] += chance  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


def _run(
    content: PlanQuestion,
    answer: Any,
    way: list[tuple[int, Fraction]],
    cuts: list[int],
    patch: Any,
) -> Any:
    left = list(way)

    def below(n: int, words: Any = None) -> int:
        if n == 1:
            return 0
        if left:
            return left.pop(0)[0]
        limits = [cut for cut in cuts if cut < n] if n > 64 else list(range(n))
        raise Branch(list(_parts(limits, n)))

    def words() -> int:
        if left:
            return left.pop(0)[0]
        raise Branch(list(_parts(cuts, WORD)))

    for module in (randomness, table, number, one_of):
        patch.setattr(module, "below", below)
    return content.randomise(answer, words)


def _parts(starts: list[int], n: int) -> list[tuple[int, Fraction]]:
    """Return the first number of each part between two cuts, and how much of all numbers below n
    the part has.
    """
    ends = [*starts[1:], n]
    return [(start, Fraction(end - start, n)) for start, end in zip(starts, ends, strict=True)]


def _cuts(channel: dict[str, Any]) -> list[int]:
    """Return every number at which a decision of this channel changes."""
    rows: list[list[int]] = channel.get("weights", [])
    limits = {limit for row in rows for limit in [*accumulate(row)][:-1]}
    return sorted({0, *limits, *([channel["keep"]] if "keep" in channel else [])})


def worst_ratio(laws: list[dict[Any, Fraction]]) -> Fraction:
    """Return how much likelier one answer makes a report than another, at most; a report that
    one rules out fails.
    """
    reports = {report for each in laws for report in each}
    return max(
        max(each[report] for each in laws) / min(each[report] for each in laws)
        for report in reports
    )


Laws = Callable[[dict[str, Any], list[Any]], list[dict[Any, Fraction]]]
