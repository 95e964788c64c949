"""A question's channel as data: read it from a Plan, or make one for an ε."""

from decimal import Decimal
from typing import Any

from dpengine.local.decoder import Decoder, decoder_from
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table

Channel = Table | Subset  # of a question with one answer
AnyChannel = Channel | OneOf  # or with a set of ticked options
PlanChannel = AnyChannel | NumberChannel | Distribution  # or with a number


def channel_from(document: Any) -> AnyChannel:
    """Return the channel that a Plan's JSON describes. ValueError names what is wrong with it."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind == "table":
        return Table(_weights(document), _decoder(document))
    if kind == "subset":
        return Subset(**{name: _whole(document, name) for name in ("choices", "size", "keep")})
    if kind == "one_of":
        return OneOf(**{name: _whole(document, name) for name in ("options", "keep")})
    raise ValueError(f"kind must be table, subset or one_of, got {kind!r}")


def choice_channel_from(document: Any) -> Channel:
    """Return the channel of a question with one answer, as a Plan's JSON describes it."""
    channel = channel_from(document)
    if isinstance(channel, OneOf):
        raise ValueError("kind must be table or subset for a question with one answer, got one_of")
    return channel


def channel_for(choices: int, epsilon: Decimal) -> Channel:
    """Return the most precise channel for so many choices whose loss is at most e^ε."""
    return Table.binary(epsilon) if choices == 2 else Subset.for_epsilon(choices, epsilon)


def _weights(document: dict[str, Any]) -> tuple[tuple[int, ...], ...]:
    rows = document.get("weights")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError("weights must be a list of lists")
    return tuple(tuple(row) for row in rows)


def _decoder(document: dict[str, Any]) -> Decoder | None:
    return decoder_from(document["decoder"]) if "decoder" in document else None


def _whole(document: dict[str, Any], name: str) -> int:
    value = document.get(name)
    if type(value) is not int:
        raise ValueError(f"{name} must be an integer, got a {type(value).__name__}")
    return value
