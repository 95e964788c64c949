"""What a charge read of people's reports, as its row says it: public, hashed, and enough to add up
by anyone what answers have lost (dpengine.accounting.contraction).

    {"losses": {report: [e^ε₀ as a fraction] or null, …},
     "noises": [{"epsilon": [ε as a fraction] or null, "reports": [report, …]}, …]}

A report is named by its study's address, its wave and its question. Numbers above 2⁵³ − 1 are
decimal strings, as in a Plan.
"""

import json
from fractions import Fraction
from typing import Any

from dpengine.accounting.contraction import Noise, Reading
from surveys.plan.content import fraction, pair


def to_text(reading: Reading) -> str:
    """Return canonical JSON: keys sorted, no spaces."""
    noises = [
        {"epsilon": _pair(noise.epsilon), "reports": sorted(noise.reports)}
        for noise in reading.noises
    ]
    losses = {name: _pair(loss) for name, loss in reading.losses.items()}
    document = {"losses": losses, "noises": noises}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def from_text(text: str) -> Reading:
    """Return what a row says that it read. ValueError, KeyError or TypeError if it is damaged."""
    document = json.loads(text)
    losses = {name: _fraction(loss) for name, loss in document["losses"].items()}
    noises = [
        Noise(frozenset(each["reports"]), _fraction(each["epsilon"])) for each in document["noises"]
    ]
    return Reading(losses, noises)


def _pair(value: Fraction | None) -> list[int | str] | None:
    return None if value is None else pair(value)


def _fraction(written: Any) -> Fraction | None:
    return None if written is None else fraction(written)
