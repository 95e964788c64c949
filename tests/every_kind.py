"""A study that asks everybody every kind of question: the demo's, before its devices drew."""

from decimal import Decimal
from typing import Any

from surveys.demo.kinds import SLEEP, SLEEP_QUESTIONS

EVERY: dict[str, Any] = {
    **SLEEP,
    "asked": None,
    "cap": Decimal(6),
    "release_epsilon": Decimal(3),
    "expected": 1000,
}
EPSILONS = {
    "drowsy": 1,
    "awake": "0.9",
    "boss": "0.8",
    "rest": "0.8",
    "overtime": "1.2",
    "started": "0.6",
    "holiday": "0.6",
}
EVERY_QUESTIONS: list[dict[str, Any]] = [
    {**each, "epsilon": Decimal(EPSILONS.get(str(each["name"]), 1))} for each in SLEEP_QUESTIONS
]
