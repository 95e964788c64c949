"""What the kinds of questions are made of: their limits, their words, and the channel that a Plan's question holds.

Choices stand in one order: those that were written, then declining, then "Does not apply" or "Not asked". A number or
a month is counted in whole steps from the least one that the question takes; a month is year × 12 + (month − 1).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dpengine.local.channels import PlanChannel, channel_from
from dpengine.local.decoder import read_whole, written
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.table import Table

DEVICE, PUBLICATION = "device", "publication"  # what protects an answer: chance there, or only in what is published
MULTIPLE, NUMBER, MONTH, TEXT = "multiple", "number", "month", "text"
MEAN, DISTRIBUTION = "mean", "distribution"
WITH_STEPS = (NUMBER, MONTH)
CONDITIONS = ("yes_no", "single", "likert")  # kinds on whose answers others may depend
LEAST_CHOICES = {"yes_no": 2, "single": 2, "multiple": 2, "likert": 3}
MOST_CHOICES = {"yes_no": 2, "single": 1000, "multiple": 50, "likert": 11}
MOST_OPTIONS = {DEVICE: 1000, PUBLICATION: 256}  # with “Prefer not to say”: files number them 0 to 999; a byte each
GREATEST_ANSWER = 2**31  # that a number question may take, either side of 0
FIRST_MONTH, LAST_MONTH = 12, 119_999  # January of year 1, December of year 9999
MOST_STEPS = 10_000  # of a number that is changed on the device
MOST_BINS = 64
MOST_ROWS = 64  # of a table
FARTHEST = 1024  # units from the middle that a report may stand for: the interval's sums are over a lattice of them
NAME = re.compile("[a-z][a-z0-9_]{0,19}")


@dataclass(frozen=True, slots=True)
class Said:
    """What every form says in one language."""

    decline: str
    not_asked: str  # which nobody chooses: it stands for who was not asked
    does_not_apply: str
    only_if: str
    either: str  # between answers
    usual: dict[str, list[str]]  # choices that need not be written


SAID = {
    "en": Said(
        decline="Prefer not to say",
        not_asked="Not asked",
        does_not_apply="Does not apply",
        only_if="Only if you answered %(answers)s to “%(question)s”. If not, choose “Does not apply”.",
        either=" or ",
        usual={
            "yes_no": ["No", "Yes"],
            "likert": ["Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"],
        },
    ),
    "zh-hans": Said(
        decline="不愿回答",
        not_asked="未问及",
        does_not_apply="不适用",
        only_if="仅当您对“%(question)s”回答%(answers)s时作答，否则请选“不适用”。",  # noqa: RUF001
        either="或",
        usual={"yes_no": ["否", "是"], "likert": ["非常不同意", "不同意", "中立", "同意", "非常同意"]},
    ),
}


def said_in(language: str) -> Said:
    return SAID.get(language, SAID["en"])


def channel_of(question: dict[str, Any]) -> PlanChannel:
    """Return the channel that a Plan's question holds. ValueError names what is wrong with it."""
    if question["kind"] not in WITH_STEPS:
        return channel_from(question["channel"])
    if question["wanted"] == DISTRIBUTION:
        return _distribution_of(question)
    return _number_of(question)


def _distribution_of(question: dict[str, Any]) -> Distribution:
    table = channel_from(question["channel"])
    if not isinstance(table, Table) or table.decoder is not None or table.choices != question["bins"]:
        raise ValueError(f"channel must be a table of {question['bins']} bins, without a decoder")
    return Distribution(Decimal(question["least"]), Decimal(question["most"] + 1), table)


def _number_of(question: dict[str, Any]) -> NumberChannel:
    document = question["channel"]
    if document["kind"] != NUMBER:
        raise ValueError(f"kind of its channel must be number, got {document['kind']!r}")
    table = channel_from({"kind": "table", "weights": document["weights"]})
    if not isinstance(table, Table) or any(type(point) is not int for point in document["grid"]):
        raise ValueError("grid must hold whole numbers")
    decoder = tuple(read_whole(number) for number in document["decoder"])
    least, most = Decimal(question["least"]), Decimal(question["most"])
    return NumberChannel(least, most, table, tuple(document["grid"]), decoder, read_whole(document["scale"]))


def document_of(channel: PlanChannel) -> dict[str, Any]:
    """Return a channel as a Plan holds it: the bounds of a number are its question's."""
    if not isinstance(channel, NumberChannel):
        return channel.document()
    whole = channel.document()
    return {
        "decoder": [written(number) for number in channel.decoder],
        "grid": whole["grid"],
        "kind": NUMBER,
        "scale": written(channel.scale),
        "weights": whole["weights"],
    }


def beside(question: Mapping[str, Any]) -> int:
    """Return how many of the last choices answer nothing: declining, and that it does not apply or was not asked."""
    return int(question["decline"]) + int(question.get("skipped", 0))


def input_of(question: dict[str, Any], answer: Any) -> Any:
    """Return what of a true answer its channel takes: of a number whose spread is wanted, the bin that holds it.

    An answer is the index of a choice, the ticked options, or whole steps from the least number. Twin of channel.js.
    """
    if question.get("wanted") != DISTRIBUTION:
        return answer
    return answer * question["bins"] // (question["most"] - question["least"] + 1)


def randomise(question: dict[str, Any], answer: Any, words: Callable[[], int] | None = None) -> Any:
    """Return what a browser sends in place of a true answer to a question that is changed on the device."""
    channel: Any = channel_of(question)
    given = input_of(question, answer)
    return channel.randomise(given) if words is None else channel.randomise(given, words)


def bin_ends(question: dict[str, Any], first: int, last: int) -> tuple[int, int]:
    """Return the least and the greatest whole number in the bins from `first` to `last`."""
    span, bins, least = question["most"] - question["least"] + 1, question["bins"], question["least"]
    return least - (-first * span // bins), least - (-(last + 1) * span // bins) - 1
