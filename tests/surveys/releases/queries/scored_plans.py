"""Small Plans for the kinds that calculate with numbers."""

import json
from collections import Counter

import numpy as np

from dpengine import expressions
from surveys.design.models import Plan
from tests.plans import whole
from tests.surveys.releases.queries import plans

HOURS = {
    "name": "hours",
    "kind": "number",
    "label": "Hours",
    "text": "How many hours?",
    "choices": [],
    "decline": 0,
    "least": 0,
    "most": 60,
    "unit": "hours",
    "protection": "publication",
}
AGE = {
    "name": "age",
    "kind": "number",
    "label": "Age",
    "text": "How old?",
    "choices": [],
    "decline": 0,
    "least": 18,
    "most": 99,
    "unit": "years",
    "protection": "publication",
}
FAIR = {
    "name": "fair",
    "kind": "likert",
    "label": "Fair",
    "text": "Fair?",
    "choices": ["No", "Hardly", "Quite", "Yes"],
    "decline": 0,
    "protection": "publication",
}
SHY = {
    "name": "shy",
    "kind": "likert",
    "label": "Shy",
    "text": "Shy?",
    "choices": ["No", "Some", "Yes", "Not said"],
    "decline": 1,
    "protection": "publication",
}
EVERYTHING = (
    plans.given("colour", plans.COLOURS),
    plans.device("team", plans.COLOURS),
    plans.given("side", ["Left", "Right"], kind="yes_no"),
    plans.number("cost", 0, 100),
    HOURS,
    AGE,
    FAIR,
)
PURE = {"central_epsilon": "2"}
CONCENTRATED = {"central_rho": "0.5", "central_delta": "0.000001"}


def device(choices, channel, decline=0, kind="likert"):
    """Return a question whose answers are changed on the device by this channel."""
    return {
        "name": "device",
        "kind": kind,
        "label": "Changed",
        "text": "Changed?",
        "choices": choices,
        "decline": decline,
        "protection": "device",
        "channel": channel.document(),
    }


def plan_with(*questions, caps=PURE, neighbours="change-one"):
    return Plan(document=whole(neighbours=neighbours, questions=questions, caps=caps))


def everything(*, rho=False, neighbours="change-one"):
    """Return a Plan in which every kind of query has something to ask."""
    return plans.plan_with(*EVERYTHING, rho=rho, neighbours=neighbours)


def stored(asked):
    """Return its parameters as they come back from the database."""
    return json.loads(json.dumps(asked.document()))


def people(*rows):
    """Return joint counts of these rows, 40 people each."""
    return Counter({tuple(row): 40 for row in rows})


def computed_here(formula, columns, groups):
    """Compute an expression without walls and without waiting: test_sandbox.py has both."""
    read = expressions.read(formula, dict.fromkeys(columns), of_all=True)
    tables = [np.array(rows, dtype=float).reshape(-1, len(columns)).T for rows in groups]
    return [read.of_all(dict(zip(columns, table, strict=True)), table.shape[1]) for table in tables]


def rows_of(numbers):
    return [row for table in numbers.tables for row in table.rows]
