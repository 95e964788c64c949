"""Write the vectors of draws by a key, as tests/waves.py makes them: `python -m
tests.vectors.generate_waves`.
"""

import json
import random
from typing import Any

from dpengine.local.channel import Channel
from tests.vectors import generate
from tests.waves import words

CASES = 200
# Written alike by both languages.
TEXTS = [
    "Yes?",
    "“Ja” — 你好吗？",  # noqa: RUF001
    'a "b" \\ /',
    "line\nand\ttab",
    "\u2028 \u007f \u0001",
    "🂡 é e\u0301",
]
CHANNELS: list[Channel] = [*generate.TABLES, *generate.SUBSETS, *generate.ONE_OFS]


def main() -> None:
    stream = random.Random(20260511)
    cases = [case(stream, number) for number in range(CASES)]
    (generate.HERE / "waves.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


def case(stream: random.Random, number: int) -> dict[str, Any]:
    channel = CHANNELS[number % len(CHANNELS)]
    key, name, answer = stream.randbytes(32), f"q{stream.randrange(20)}", answer_of(channel, stream)
    document = channel.document()
    question = {"text": TEXTS[number % len(TEXTS)], "name": name, "channel": document}
    drawn = words(key, question, answer)
    return {
        "name": f"{document['kind']} {number}",
        "key": key.hex(),
        "question": question,
        "answer": answer,
        "first": [drawn() for _ in range(16)],
        "report": channel.randomise(answer, words(key, question, answer)),
    }


def answer_of(channel: Channel, stream: random.Random) -> int | list[int]:
    document = channel.document()
    if document["kind"] == "one_of":
        return [option for option in range(document["options"]) if stream.random() < 0.4]
    return stream.randrange(document.get("choices") or len(document["weights"]))


if __name__ == "__main__":
    main()
