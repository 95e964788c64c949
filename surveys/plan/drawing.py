"""Prove of a Plan whose devices draw what they ask that each set can be drawn, and what one loses.

A block is some questions that are drawn as one; a set, some blocks that one person is asked. The
device draws one set by whole weights without looking at an answer, so that the chance of the set
cancels and a person loses what the set that loses most does: the header of dpengine.local.blocks.
Twin of intake/drawn.js, which makes none. A block whose questions are sent as one answer is
refused: its parts, `channel` and `loss`, belong here once it can be counted.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dpengine.local.blocks import MAX_BLOCKS, MAX_SETS, MAX_WEIGHT, subsets
from dpengine.privacy import Neighbours
from surveys.plan.content import Block, DrawnSet, Unsound, largest_loss
from surveys.plan.kinds import DEVICE


def sets_of(blocks: int, asked: int) -> list[DrawnSet]:
    """Return sets of so many of the blocks, alike in weight, that hold each block equally often."""
    return [DrawnSet(blocks=list(each), weight=1) for each in subsets(blocks, asked)]


def parts_of(plan: Any) -> Iterator[tuple[str, Any, type]]:
    """Yield every block and set: its place, itself, and the value that it is."""
    for name, kind in (("blocks", Block), ("drawn", DrawnSet)):
        for number, part in enumerate(plan.get(name, ()), 1):
            yield f"{name} {number}", part, kind


def verify(plan: Any, losses: Mapping[str, Fraction]) -> Fraction:
    """Return the e^ε of a person at most, from the losses of the questions by name."""
    if "blocks" not in plan and "drawn" not in plan:
        return largest_loss([losses], losses)
    is_fixed = plan["neighbours"] == Neighbours.CHANGE_ONE
    _expect(is_fixed, "drawn", "change-one neighbours: how many are asked a question is public")
    blocks, sets = plan["blocks"], plan["drawn"]
    text = f"1 to {MAX_BLOCKS} blocks of questions"
    _expect(isinstance(blocks, list) and 0 < len(blocks) <= MAX_BLOCKS, "blocks", text)
    text = f"1 to {MAX_SETS} sets of blocks"
    _expect(isinstance(sets, list) and 0 < len(sets) <= MAX_SETS, "drawn", text)
    changed = [each["name"] for each in plan["questions"] if each["protection"] == DEVICE]
    places = [_places(number, each["questions"], changed) for number, each in enumerate(blocks, 1)]
    block_of = {changed[place]: at for at, block in enumerate(places) for place in block}
    for name in changed:
        times = sum(name in each["questions"] for each in blocks)
        _expect(times == 1, name, f"its question in one block, got {times}")
    for question in plan["questions"]:
        parent = question["asked_if"]["question"] if "asked_if" in question else None
        apart = parent in block_of and block_of[parent] != block_of[question["name"]]
        _expect(not apart, question["name"], f"the block of {parent}, which it depends on")
    for number, each in enumerate(sets, 1):
        _verify_set(f"drawn {number}", each, len(blocks))
    held = [tuple(each["blocks"]) for each in sets]
    _expect(len(set(held)) == len(held), "drawn", "sets that differ")
    for at in range(len(blocks)):
        _expect(any(at in each for each in held), f"blocks {at + 1}", "a set that holds it")
    asked = [[name for at in each for name in blocks[at]["questions"]] for each in held]
    return largest_loss(asked, losses)


def _places(number: int, names: Any, changed: list[str]) -> list[int]:
    """Return where the questions of a block stand among those that are changed on the device."""
    place = f"blocks {number}"
    _expect(isinstance(names, list) and len(names) > 0, place, "one question or more")
    for name in names:
        known = isinstance(name, str) and name in changed
        _expect(known, place, "names of questions that are changed on the device")
    places = [changed.index(name) for name in names]
    _expect(places == sorted(set(places)), place, "each question once, in the Plan's order")
    return places


def _verify_set(place: str, each: Any, count: int) -> None:
    blocks, weight = each["blocks"], each["weight"]
    _expect(isinstance(blocks, list) and len(blocks) > 0, place, "one block or more")
    known = all(type(at) is int and 0 <= at < count for at in blocks)
    _expect(known, place, f"blocks from 0 to {count - 1}")
    _expect(blocks == sorted(set(blocks)), place, "blocks in rising order")
    is_weight = type(weight) is int and 1 <= weight <= MAX_WEIGHT
    _expect(is_weight, place, f"a weight from 1 to {MAX_WEIGHT:,}")


def _expect(holds: bool, name: str, expected: str) -> None:
    if not holds:
        raise Unsound(f"{name}: expected {expected}")
