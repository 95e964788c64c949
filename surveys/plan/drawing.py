"""Prove of a Plan whose devices draw what they ask that each set can be drawn, and what one loses.

A block is some questions that are drawn as one; a set, some blocks that one person is asked. The
device draws one set by whole weights without looking at an answer, so that the chance of the set
cancels and a person loses what the set that loses most does: the header of dpengine.local.blocks.
The answers of a joint block are sent as one: it has a name, a channel over all their combinations
and its loss, and its questions have none. Where it has `decline`, all of its questions can be
declined, and that is one answer beside the combinations of all others. Twin of intake/drawn.js,
which makes none.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dpengine.local.blocks import MAX_BLOCKS, MAX_SETS, MAX_WEIGHT, subsets
from dpengine.local.joint import MAX_JOINT
from dpengine.local.subset import Subset
from dpengine.privacy import Neighbours
from surveys.plan.checks import expect, is_within, matches
from surveys.plan.content import DrawnSet, Unsound, fraction, largest_loss
from surveys.plan.kinds import DEVICE, KINDS, NAME

APART = {"questions"}
JOINT = APART | {"channel", "decline", "loss", "name"}


def sets_of(blocks: int, asked: int) -> list[DrawnSet]:
    """Return sets of so many of the blocks, alike in weight, that hold each block equally often."""
    return [DrawnSet(blocks=list(each), weight=1) for each in subsets(blocks, asked)]


def parts_of(plan: Any) -> Iterator[tuple[str, Any, set[str]]]:
    """Yield every object of blocks and sets: its place, itself, its allowed parts."""
    for number, part in enumerate(plan.get("blocks", ()), 1):
        yield f"blocks {number}", part, JOINT if "channel" in part else APART
        if "channel" in part:
            yield f"blocks {number}, channel", part["channel"], set(Subset.parts.split())
    for number, part in enumerate(plan.get("drawn", ()), 1):
        yield f"drawn {number}", part, {"blocks", "weight"}


def sent_together(plan: Any) -> dict[str, str]:
    """Return the name of the joint block of every question that is in one, as written."""
    blocks = plan.get("blocks", ())
    return {
        name: each["name"] for each in blocks if "channel" in each for name in each["questions"]
    }


def verify(plan: Any, losses: Mapping[str, Fraction]) -> Fraction:
    """Return the e^ε of a person at most, from the losses of questions sent apart, by name."""
    if "blocks" not in plan and "drawn" not in plan:
        return largest_loss([losses], losses)
    is_fixed = plan["neighbours"] == Neighbours.CHANGE_ONE
    expect(is_fixed, "drawn", "change-one neighbours: how many are asked a question is public")
    blocks, sets = plan["blocks"], plan["drawn"]
    text = f"1 to {MAX_BLOCKS} blocks of questions"
    expect(isinstance(blocks, list) and 0 < len(blocks) <= MAX_BLOCKS, "blocks", text)
    text = f"1 to {MAX_SETS} sets of blocks"
    expect(isinstance(sets, list) and 0 < len(sets) <= MAX_SETS, "drawn", text)
    changed = [each["name"] for each in plan["questions"] if each["protection"] == DEVICE]
    places = [_places(number, each["questions"], changed) for number, each in enumerate(blocks, 1)]
    block_of = {changed[place]: at for at, block in enumerate(places) for place in block}
    for name in changed:
        times = sum(name in each["questions"] for each in blocks)
        expect(times == 1, name, f"its question in one block, got {times}")
    for question in plan["questions"]:
        parent = question["asked_if"]["question"] if "asked_if" in question else None
        apart = parent in block_of and block_of[parent] != block_of[question["name"]]
        expect(not apart, question["name"], f"the block of {parent}, which it depends on")
    for number, each in enumerate(sets, 1):
        _verify_set(f"drawn {number}", each, len(blocks))
    held = [tuple(each["blocks"]) for each in sets]
    expect(len(set(held)) == len(held), "drawn", "sets that differ")
    for at in range(len(blocks)):
        expect(any(at in each for each in held), f"blocks {at + 1}", "a set that holds it")
    joint = {at: _verify_joint(plan, at) for at, each in enumerate(blocks) if "channel" in each}
    names = [each["name"] for each in (*plan["questions"], *(blocks[at] for at in joint))]
    expect(len(set(names)) == len(names), "blocks", "joint blocks named once, as no question is")
    known = dict(losses) | {blocks[at]["name"]: loss for at, loss in joint.items()}
    sent = [
        [blocks[at]["name"]] if at in joint else blocks[at]["questions"]
        for at in range(len(blocks))
    ]
    return largest_loss([[name for at in each for name in sent[at]] for each in held], known)


def _verify_joint(plan: Any, at: int) -> Fraction:
    """Return the e^ε of the joint answer of a block, which its channel proves."""
    block, place = plan["blocks"][at], f"blocks {at + 1}"
    expect(matches(block["name"], NAME), place, "a name in small letters, digits and _")
    own = [each for each in plan["questions"] if each["name"] in block["questions"]]
    expect(len(own) > 1, place, "two questions or more that are sent as one answer")
    for each in own:
        can = KINDS[each["kind"]].is_condition
        expect(can, each["name"], "one choice, to be sent in one answer with others")
    declined = "decline" in block
    if declined:
        expect(is_within(block["decline"], 1, 1), place, "decline 1, or nothing said of it")
        text = "each of its questions to be declined, like all of them"
        expect(all(each["decline"] == 1 for each in own), place, text)
    cells = math.prod(len(each["choices"]) - declined for each in own) + declined
    expect(cells <= MAX_JOINT, place, f"at most {MAX_JOINT:,} joint answers, got {cells:,}")
    expect(block["channel"]["kind"] == Subset.kind, place, "a channel of subsets")
    try:
        channel = Subset.from_document(block["channel"])
        channel.check()
    except ValueError as error:
        raise Unsound(f"{place}: {error}") from error
    expect(channel.answers == cells, place, f"{cells} answers in its channel")
    declared = fraction(block["loss"])
    expect(declared >= channel.loss, place, "a declared loss of its channel’s, or more")
    return channel.loss


def _places(number: int, names: Any, changed: list[str]) -> list[int]:
    """Return where the questions of a block stand among those that are changed on the device."""
    place = f"blocks {number}"
    expect(isinstance(names, list) and len(names) > 0, place, "one question or more")
    for name in names:
        known = isinstance(name, str) and name in changed
        expect(known, place, "names of questions that are changed on the device")
    places = [changed.index(name) for name in names]
    expect(places == sorted(set(places)), place, "each question once, in the Plan's order")
    return places


def _verify_set(place: str, each: Any, count: int) -> None:
    blocks, weight = each["blocks"], each["weight"]
    expect(isinstance(blocks, list) and len(blocks) > 0, place, "one block or more")
    known = all(is_within(at, 0, count - 1) for at in blocks)
    expect(known, place, f"blocks from 0 to {count - 1}")
    expect(blocks == sorted(set(blocks)), place, "blocks in rising order")
    is_weight = is_within(weight, 1, MAX_WEIGHT)
    expect(is_weight, place, f"a weight from 1 to {MAX_WEIGHT:,}")
