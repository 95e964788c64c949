"""Plans with channels, not stored, and people who answer them by the channels' own odds."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.local.channels import channel_for
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from surveys.design.models import Plan
from tests.plans import whole

COLOURS = ["Red", "Green", "Blue", "Grey", "Pink"]


def device(
    name: str, choices: Sequence[str], epsilon: str = "2", kind: str = "single"
) -> dict[str, Any]:
    channel = channel_for(len(choices), Decimal(epsilon)).document()
    return {
        "name": name,
        "kind": kind,
        "label": name.title(),
        "choices": list(choices),
        "decline": 0,
        "protection": "device",
        "channel": channel,
    }


def given(name: str, choices: Sequence[str], decline: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "single",
        "label": name.title(),
        "choices": list(choices),
        "decline": decline,
        "protection": "publication",
    }


def number(name: str, least: int, most: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "number",
        "label": name.title(),
        "choices": [],
        "decline": 0,
        "least": least,
        "most": most,
        "unit": "cents",
        "protection": "publication",
    }


def plan_with(
    *questions: dict[str, Any], neighbours: str = "change-one", rho: bool = False
) -> Plan:
    caps = {"central_epsilon": "2", **({"central_rho": "2"} if rho else {})}
    return Plan(document=whole(neighbours=neighbours, questions=questions, caps=caps))


def reported(
    plan: Plan, names: Sequence[str], people: npt.NDArray[np.int64], seed: int
) -> Counter[tuple[Any, ...]]:
    """Count the reports of people, a row of answers each, as browsers would have sent them."""
    draw = np.random.default_rng(seed)
    channels = plan.content.channels
    columns = [_reports(channels.get(name), people[:, at], draw) for at, name in enumerate(names)]
    return Counter(zip(*columns, strict=True))


def _reports(channel: Any, answers: npt.NDArray[np.int64], draw: np.random.Generator) -> list[Any]:
    if isinstance(channel, Table):
        law = np.cumsum(np.array(channel.weights) / channel.total, axis=1)
        return (draw.random(len(answers))[:, None] >= law[answers]).sum(axis=1).tolist()
    if isinstance(channel, Subset):
        kept = draw.random(len(answers)) < channel.keep / 2**32
        order = draw.random((len(answers), channel.choices))
        order[np.arange(len(answers)), answers] = np.where(kept, -1.0, 2.0)
        return [tuple(sorted(row[: channel.size])) for row in np.argsort(order, axis=1).tolist()]
    return answers.tolist()
