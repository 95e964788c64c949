"""Write the vectors of numbers that Python and the browser must both obey: `python -m
tests.vectors.generate_number`.

The words are drawn once, here, and recorded; among them are words that must be rejected, and words
on both sides of every decision. A vector that changes is a change of the protocol.
"""

import json
import random
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any

from dpengine.local.number import NumberChannel
from dpengine.local.table import Table
from dpengine.randomness import WORD

FILE = Path(__file__).parent / "number.json"
CASES = 210
# of the grid 0, 3, 6: the decoder's mean is exact by hand
EVERY_OTHER = Table(((5, 2, 1), (3, 2, 3), (1, 2, 5)))
CHANNELS = [
    NumberChannel.for_epsilon(Decimal(1), Decimal(0), Decimal(120), 120),
    NumberChannel.for_epsilon(Decimal("0.5"), Decimal(0), Decimal(24), 96),
    NumberChannel.for_epsilon(Decimal(2), Decimal(0), Decimal(1), 7),
    NumberChannel.for_scale(5, Decimal(1)),
    NumberChannel.for_scale(2, Decimal(1)),
    NumberChannel(Decimal(-1), Decimal(1), EVERY_OTHER, (0, 3, 6), (-3, 3, 9), 1),
]


def recorded(channel: NumberChannel, answer: int, stream: random.Random) -> dict[str, Any]:
    used: list[int] = []
    edges = thresholds(channel, answer)

    def words() -> int:
        used.append(stream.choice(edges) if stream.random() < 0.3 else stream.randrange(WORD))
        return used[-1]

    report = channel.randomise(answer, words)
    document = channel.document() | {"low": str(channel.low), "high": str(channel.high)}
    return {"channel": document, "answer": answer, "words": used, "report": report}


def thresholds(channel: NumberChannel, answer: int) -> list[int]:
    """Return the words on both sides of every decision: who errs by one must be found."""
    place = max(place for place, point in enumerate(channel.grid) if point <= answer)
    gap = channel.grid[min(place + 1, len(channel.grid) - 1)] - channel.grid[place] or 1
    limits = [*accumulate(channel.table.weights[place])][:-1]
    ends = [WORD - WORD % gap, WORD - WORD % channel.table.total, answer - channel.grid[place]]
    return [word for limit in [*limits, *ends] for word in (limit - 1, limit) if 0 <= word < WORD]


def cases(stream: random.Random) -> list[dict[str, Any]]:
    found = []
    for number in range(CASES):
        channel = CHANNELS[number % len(CHANNELS)]
        answer = stream.choice(
            [0, channel.steps, stream.randrange(channel.steps + 1), stream.choice(channel.grid)]
        )
        name = f"number {number + 1}, {channel.steps} steps on {len(channel.grid)} rows"
        found.append({"name": name, **recorded(channel, answer, stream)})
    return found


if __name__ == "__main__":
    # recorded words
    lines = ",\n".join(json.dumps(case, sort_keys=True) for case in cases(random.Random(20261122)))
    FILE.write_text(f"[\n{lines}\n]\n")
