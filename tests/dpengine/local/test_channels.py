from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.local.channel import Learns
from dpengine.local.channels import channel_for, channel_from
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
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
