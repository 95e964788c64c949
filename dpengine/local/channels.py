"""The registry of channels: read one from a Plan, or make one for an ε."""

from decimal import Decimal
from typing import Any

from dpengine.checks import require
from dpengine.local.channel import Bounds, Channel, Learns
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table

CHANNELS: dict[Learns, dict[str, type[Channel]]] = {
    Learns.SHARES: {"table": Table, "subset": Subset},
    Learns.TICKS: {"one_of": OneOf},
    Learns.MEAN: {"number": NumberChannel},
    Learns.DISTRIBUTION: {"table": Distribution},
}


def channel_from(
    document: Any, learns: Learns = Learns.SHARES, bounds: Bounds | None = None
) -> Channel:
    """Return the channel that a Plan's JSON describes. ValueError names what is wrong with it.

    `bounds` are those of a question about a number, which its channel does not repeat.
    """
    kinds = CHANNELS[learns]
    kind: Any = document.get("kind") if isinstance(document, dict) else None
    require(
        isinstance(kind, str) and kind in kinds,
        "kind must be {} for {}, got {!r}",
        " or ".join(kinds),
        learns,
        kind,
    )
    return kinds[kind].from_document(document, bounds)


def channel_for(choices: int, epsilon: Decimal | float) -> Table | Subset:
    """Return the most precise channel for so many choices whose loss is at most e^ε.

    Answers are numbered from 0; of two choices yes is 1.
    """
    most = Decimal(str(epsilon))
    return Table.binary(most) if choices == 2 else Subset.for_epsilon(choices, most)


def number_for(least: int, most: int, epsilon: Decimal | float) -> NumberChannel:
    """Return the most precise channel for the mean of whole numbers, whose loss is at most e^ε.

    Answers are counted from the least one: `channel.randomise(age - least)`.
    """
    bounds = Decimal(least), Decimal(most)
    return NumberChannel.for_epsilon(Decimal(str(epsilon)), *bounds, most - least)
