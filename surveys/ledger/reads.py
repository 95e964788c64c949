"""What a charge read of people's reports, as its row says it: public, hashed, and enough to add up
by anyone what answers have lost (dpengine.contraction).

    {"losses": {report: "e^ε₀, a fraction" or null, …},
     "noises": [{"epsilon": "ε, a fraction" or null, "reports": [report, …]}, …]}

A report is named by its study's address, its wave and its question.
"""

import json
from fractions import Fraction

from dpengine.contraction import Noise, Reading


def to_text(reading: Reading) -> str:
    """Return canonical JSON: keys sorted, no spaces."""
    noises = [
        {"epsilon": _written(noise.epsilon), "reports": sorted(noise.reports)}
        for noise in reading.noises
    ]
    losses = {name: _written(loss) for name, loss in reading.losses.items()}
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


def _written(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _fraction(written: str | None) -> Fraction | None:
    return None if written is None else Fraction(written)
