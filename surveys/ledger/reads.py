"""What a charge read of people's reports, as its row says it: public, hashed, and enough to add up
by anyone what answers have lost (dpengine.contraction).

    {"losses": {report: "e^ε₀, a fraction" or null, …},
     "noises": [{"epsilon": "ε, a fraction" or null, "reports": [report, …]}, …]}

Where most reports are as likely after one answer as after another, `common` says how likely (c of
the proof sheet, a fraction); it is 0 of a report that is not named there:

     "common": {report: "c", …}

A report is named by its study's address, its wave and its question. Where devices draw what they
ask, a third part says which reports of a study one person can have sent, each set by the places of
its reports in a list; a report that is not in it, everybody sends:

     "drawn": {"reports": [report, …], "sets": [[place, …], …]}
"""

import json
from fractions import Fraction
from typing import Any

from dpengine.contraction import Noise, Reading


def to_text(reading: Reading, *, in_order: bool = False) -> str:
    """Return canonical JSON: keys sorted, no spaces. Or reports in the order in which they came."""
    noises = [
        {"epsilon": _written(noise.epsilon), "reports": sorted(noise.reports)}
        for noise in reading.noises
    ]
    losses = {name: _written(loss) for name, loss in reading.losses.items()}
    document: dict[str, Any] = {"losses": losses, "noises": noises}
    if reading.sets:
        reports = sorted(reading.drawn)
        sets = [[at for at, name in enumerate(reports) if name in each] for each in reading.sets]
        document["drawn"] = {"reports": reports, "sets": sets}
    if reading.common:
        document["common"] = {name: str(common) for name, common in reading.common.items()}
    return json.dumps(document, sort_keys=not in_order, separators=(",", ":"), ensure_ascii=False)


def from_text(text: str) -> Reading:
    """Return what a row says that it read. ValueError, KeyError or TypeError if it is damaged."""
    document = json.loads(text)
    losses = {name: _fraction(loss) for name, loss in document["losses"].items()}
    noises = [
        Noise(frozenset(each["reports"]), _fraction(each["epsilon"])) for each in document["noises"]
    ]
    drawn = document.get("drawn", {"reports": [], "sets": []})
    sets = [frozenset(drawn["reports"][at] for at in each) for each in drawn["sets"]]
    common = {name: Fraction(each) for name, each in document.get("common", {}).items()}
    return Reading(losses, noises, tuple(sets), common)


def _written(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _fraction(written: str | None) -> Fraction | None:
    return None if written is None else Fraction(written)
