"""What one person can move of what is published, for every kind: all neighbours, one by one; and
its estimates.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

from dpengine.estimates import NoNoise
from dpengine.privacy import Neighbours
from surveys.aggregation.tallies import PublicTally, tally_of
from tests.surveys.design.kinds import question

KINDS: dict[str, dict[str, Any]] = {
    "yes or no": question("yes_no"),
    "single": question("single", choices="a\nb\nc"),
    "Likert": question("likert"),
    "ticks": question("multiple", choices="a\nb\nc"),
    "mean": question("number", least=0, most=6, wanted="mean"),
    "mean of two values": question("number", least=0, most=1, wanted="mean"),
    "spread": question("number", least=0, most=4, wanted="distribution"),
    "spread over two values": question("number", least=0, most=1, wanted="distribution"),
    "sent as given": question("single", choices="a\nb\nc", protection="publication"),
}


def reports_of(tally: PublicTally) -> list[Any]:
    """Return every report that a browser can send."""
    channel: Any = tally.channel
    if hasattr(channel, "options"):
        return [[option, bit] for option in range(channel.options) for bit in (0, 1)]
    if hasattr(channel, "size"):
        return [
            list(held)
            for held in product(range(channel.choices), repeat=channel.size)
            if channel.accepts(list(held))
        ]
    return [report for report in range(channel.cells) if channel.accepts(report)]


def vector(tally: PublicTally, reports: list[Any]) -> np.ndarray:
    channel: Any = tally.channel
    counts = channel.tally(channel.pack(reports)) if reports else [0] * tally.channel.cells
    return np.array(tally.vector(counts))


@pytest.mark.parametrize("content", KINDS.values(), ids=KINDS)
def test_one_changed_report_moves_what_is_published_by_no_more_than_is_charged_for(content):
    tally = tally_of(content, Neighbours.CHANGE_ONE)
    vectors = [vector(tally, [report]) for report in reports_of(tally)]
    moves = [one - other for one in vectors for other in vectors]
    assert len(vectors[0]) == tally.moved.numbers
    assert max(int(np.abs(move).sum()) for move in moves) == tally.moved.l1
    assert max(int((move**2).sum()) for move in moves) == tally.moved.squared


@pytest.mark.parametrize("content", KINDS.values(), ids=KINDS)
def test_one_added_report_moves_it_by_no_more_than_is_charged_for(content):
    tally = tally_of(content, Neighbours.ADD_REMOVE)
    moves = [vector(tally, [report]) - vector(tally, []) for report in reports_of(tally)]
    assert max(int(np.abs(move).sum()) for move in moves) == tally.moved.l1
    assert max(int((move**2).sum()) for move in moves) == tally.moved.squared


@pytest.mark.parametrize("name", ["mean of two values", "spread over two values"])
def test_two_reports_of_a_number_are_two_counts_since_its_interval_takes_their_noise_apart(name):
    assert tally_of(KINDS[name], Neighbours.CHANGE_ONE).moved.numbers == 2


@pytest.mark.parametrize("name", ["mean", "spread"])
def test_a_number_has_no_choices_to_estimate_shares_of(name):
    tally = tally_of(KINDS[name], Neighbours.CHANGE_ONE)
    with pytest.raises(ValueError, match=r"a channel for (mean|distribution) has no choices"):
        tally.channel.margins()


def test_shares_of_ticks_are_those_of_the_people_whatever_the_options_chance_chose():
    """Of 3,000 people half tick the first option, all the second, nobody the third; the words
    are always the same.
    """
    words = np.random.default_rng(7)
    content = KINDS["ticks"]
    tally, channel = (
        tally_of(content, Neighbours.CHANGE_ONE),
        content.channel,
    )
    sent = [
        content.randomise([0, 1] if person % 2 else [1], lambda: int(words.integers(2**32)))
        for person in range(3000)
    ]
    estimates = tally.channel.estimates(
        tally.vector(channel.tally(channel.pack(sent))), 3000, NoNoise()
    )
    for truth, estimate in zip((0.5, 1.0, 0.0), estimates, strict=True):
        assert abs(estimate.value - truth) < 4 * estimate.standard_error
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.variance.device > 0
        assert estimate.variance.publication == 0
