"""Small Plans, and what the browsers of people would send for them."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from dpengine.local.channels import channel_for
from dpengine.local.table import Table
from surveys.design.models import Plan
from tests.plans import whole

COLOURS = ["Red", "Green", "Blue", "Yellow", "Black"]
Question = dict[str, Any]


def device(name: str, choices: Sequence[str], epsilon: str = "2", kind: str = "single") -> Question:
    """Return a question whose answers are changed on the device."""
    channel = channel_for(len(choices), Decimal(epsilon))
    return _question(name, kind, choices) | {"protection": "device", "channel": channel.document()}


def given(name: str, choices: Sequence[str], decline: int = 0, kind: str = "single") -> Question:
    """Return a question whose answers are sent as given."""
    return _question(name, kind, choices) | {"protection": "publication", "decline": decline}


def number(name: str, least: int, most: int, unit: str = "cents") -> Question:
    """Return a number that is sent as given."""
    bounds = {"least": least, "most": most, "unit": unit}
    return _question(name, "number", []) | {"protection": "publication", **bounds}


def plan_with(*questions: Question, neighbours: str = "change-one", rho: bool = False) -> Plan:
    """Return a Plan of these questions, not stored, whose cap is pure or counts ρ."""
    caps = {"central_epsilon": "20"} | (
        {"central_rho": "20", "central_delta": "0.000001"} if rho else {}
    )
    return Plan(document=whole(neighbours=neighbours, questions=questions, caps=caps))


def reported(plan: Plan, names: Sequence[str], people: Any, seed: int) -> Counter[tuple[Any, ...]]:
    """Return the joint counts of what people with these answers, a row each, send. People may
    have a seed.
    """
    draw = np.random.default_rng(seed)
    questions = {question.name: question for question in plan.content.questions}
    columns = [
        _sent(questions[name], column, draw)
        for name, column in zip(names, np.transpose(people), strict=True)
    ]
    return Counter(zip(*columns, strict=True))


def _sent(question: Question, answers: Any, draw: np.random.Generator) -> list[Any]:
    if question.protection == "publication":
        return [int(answer) for answer in answers]
    reports, law = _law(question)
    limits = np.cumsum(law, axis=1)[answers]
    places = np.minimum((draw.random(len(answers))[:, None] > limits).sum(axis=1), len(reports) - 1)
    return [reports[place] for place in places]


def _law(question: Question) -> tuple[list[Any], Any]:
    """Return all reports, and the chance of each after every answer."""
    channel = question.channel
    if isinstance(channel, Table):
        weights = np.array(channel.weights, dtype=np.float64)
        return list(range(channel.reports)), weights / weights.sum(axis=1, keepdims=True)
    sets = list(combinations(range(channel.choices), channel.size))
    return sets, np.array(channel.probabilities(sets), dtype=np.float64)


def _question(name: str, kind: str, choices: Sequence[str]) -> Question:
    label = name.capitalize()
    return {
        "name": name,
        "kind": kind,
        "label": label,
        "text": f"{label}?",
        "help": "",
        "choices": list(choices),
        "decline": 0,
    }
