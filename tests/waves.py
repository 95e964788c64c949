"""The words of a draw as the browser makes them (static/intake/waves.js), written again from the
description alone.

Eight words a block: HMAC-SHA-256, under the study's key, of the JSON list [digest of the question,
answer, counter], the question being all of it, in the words of the language it is read in. Nothing
in the house uses this; it is what the vectors and the journeys hold the browser against.
"""

import hashlib
import hmac
import json
import struct
from collections.abc import Iterator
from typing import Any

from dpengine.randomness import Stream
from tests.plans import planned


def words(key: bytes, question: dict[str, Any], answer: int | list[int]) -> Stream:
    """Return the words from which an answer is drawn: as it goes into the channel, so of a
    number its bin.
    """
    stream = _stream(key, [hashlib.sha256(_json(question)).hexdigest(), answer])
    return lambda: next(stream)


def drawn(key: bytes, question: dict[str, Any], answer: int | list[int]) -> Any:
    """Return what a browser with this key sends for a true answer (of a number: its steps from
    the least).
    """
    taken = answer
    if question.get("wanted") == "distribution" and isinstance(answer, int):
        taken = answer * question["bins"] // (question["most"] - question["least"] + 1)
    return planned(question).randomise(answer, words(key, question, taken))


def _stream(key: bytes, about: list[Any]) -> Iterator[int]:
    counter = 0
    while True:
        yield from struct.unpack(">8I", hmac.digest(key, _json([*about, counter]), "sha256"))
        counter += 1


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
