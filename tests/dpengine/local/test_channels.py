from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.central.counts import AsTheyCame
from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import KnownSum
from dpengine.local.channel import Learns
from dpengine.local.channels import channel_for, channel_from
from dpengine.local.cleartext import Cleartext
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import Neighbours
from tests.vectors import load

CHANNELS = [
    Table.coin(),
    Subset.for_epsilon(5, Decimal(1)),
    OneOf.for_epsilon(5, Decimal(1)),
]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_a_channel_written_down_reads_as_itself(channel):
    assert channel_from(channel.document(), channel.learns) == channel


def test_a_question_with_one_answer_has_no_channel_for_sets():
    with pytest.raises(ValueError, match=r"kind must be table or .* for shares, got 'one_of'"):
        channel_from(CHANNELS[-1].document())


@pytest.mark.parametrize("case", load("losses.json"), ids=lambda case: case["name"])
def test_losses_agree_with_the_browser(case):
    written = case["channel"]
    if written["kind"] == "number":  # its loss is its table's
        written = {"kind": "table", "weights": written["weights"]}
    learns = Learns.TICKS if written["kind"] == "one_of" else Learns.SHARES
    assert channel_from(written, learns).loss == Fraction(*(int(part) for part in case["loss"]))


NOISE = DiscreteLaplace(8.0, 2)


@pytest.mark.parametrize(
    "channel",
    [
        Table.coin(),
        Table(((4, 1, 1), (1, 4, 1), (1, 1, 4))),
        Subset.for_epsilon(7, Decimal(1)),
        OneOf.for_epsilon(5, Decimal(1)),
        Cleartext.of_choices(3),
        NumberChannel.for_scale(5, Decimal(1)),
        Distribution.for_epsilon(Decimal(1), Decimal(0), Decimal(16), 16),
    ],
    ids=lambda channel: f"{type(channel).__name__} of {channel.cells}",
)
def test_a_sum_is_used_where_it_is_public_and_three_counts_of_choices_have_it(channel):
    used = channel.learns is Learns.SHARES and channel.cells > 2
    expected = KnownSum(NOISE, channel.cells) if used else NOISE
    assert channel.noise_left(NOISE, Neighbours.CHANGE_ONE) == expected
    assert channel.noise_left(NOISE, Neighbours.ADD_REMOVE) == NOISE
    assert channel.noise_left(AsTheyCame(), Neighbours.CHANGE_ONE) == AsTheyCame()


@pytest.mark.parametrize(
    "channel",
    [Subset(5, 2, 3 * 2**30), Table(((4, 1, 1), (1, 4, 1), (1, 1, 4))), Cleartext.of_choices(4)],
    ids=str,
)
def test_shares_add_up_to_1_where_the_sum_is_used_and_a_share_is_that_of_its_own_count(channel):
    noisy, n = [43, -5, 20, 31, 9][: channel.cells], 60
    law = channel.noise_left(NOISE, Neighbours.CHANGE_ONE)
    found = channel.estimates(noisy, n, law)
    assert sum(each.value for each in found) == pytest.approx(1)
    beyond = (sum(noisy) - channel.held * n) / channel.cells
    for count, margin, each in zip(noisy, channel.margins(), found, strict=True):
        value = ((count - beyond) / n - float(margin.lie)) / margin.contrast
        assert each.value == pytest.approx(value)
        assert each.low <= each.value <= each.high
        part = NOISE.variance * (1 - 1 / channel.cells) / (n * margin.contrast) ** 2
        assert each.variance.publication == pytest.approx(part)


def test_two_choices_get_a_table_and_more_a_subset():
    assert isinstance(channel_for(2, Decimal(1)), Table)
    assert isinstance(channel_for(3, Decimal(1)), Subset)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "kind must be table or .* for shares, got None"),
        ({"kind": "plain"}, "got 'plain'"),
        ({"kind": "table"}, "weights must be a list of lists"),
        ({"kind": "table", "weights": [1, 2]}, "weights must be a list of lists"),
        (
            {"kind": "subset", "choices": 3, "size": "1", "keep": 9},
            "size must be an integer, got a str",
        ),
        (
            {"kind": "subset", "choices": 3, "size": True, "keep": 9},
            "size must be an integer, got a bool",
        ),
        ({"kind": "subset", "choices": 3, "size": 1}, "keep must be an integer, got a NoneType"),
        ({"kind": "one_of", "options": 3, "keep": "1"}, "keep must be an integer, got a str"),
        ({"kind": "one_of", "keep": 3 * 2**30}, "options must be an integer, got a NoneType"),
    ],
)
def test_a_document_that_is_no_channel_is_refused_by_name(document, message):
    ticks = document is not None and document.get("kind") == "one_of"
    with pytest.raises(ValueError, match=message):
        channel_from(document, Learns.TICKS if ticks else Learns.SHARES)


def test_what_a_channel_has_no_answer_to_it_says():
    number = NumberChannel.for_scale(5, Decimal(1))
    with pytest.raises(ValueError, match="has no bins"):
        Table.coin().within(0, 1, [5, 5], 10, NOISE)
    with pytest.raises(ValueError, match="has no table with another question"):
        number.features()


@pytest.mark.parametrize("channel", [NumberChannel, Distribution])
def test_a_channel_of_numbers_is_read_with_their_bounds(channel):
    written = channel.for_epsilon(Decimal(1), Decimal(0), Decimal(16), 16).document()
    with pytest.raises(ValueError, match="must have bounds"):
        channel.from_document(written)


def test_an_answer_in_the_clear_is_written_down_and_has_no_loss():
    years = Cleartext.of_numbers(1900, 2010)
    assert Cleartext.from_document(years.document()) == years
    assert years.answers == 111
    with pytest.raises(ValueError, match="no finite loss"):
        _ = years.loss


def test_counts_as_they_came_have_no_cost_of_their_own():
    with pytest.raises(ValueError, match="count what answers lose"):
        _ = AsTheyCame().cost


def test_of_ticks_an_option_is_a_choice():
    assert CHANNELS[-1].choices == CHANNELS[-1].answers == 5
