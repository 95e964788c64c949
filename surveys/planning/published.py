"""Numbers that a study published, estimated again from its own JSON file: the counts, the law of
their noise, and the Plan, whose channel turns counts into people.

What comes out is what the dashboard shows, of questions alone and of those sent as one answer, of
whom some devices were asked or all; of a list, its groups weighted as the file says. Errors name
the part, what was expected and what came.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import Estimate, Noise, NoNoise, averaged
from dpengine.local.channel import Channel, Learns
from dpengine.privacy import Neighbours, epsilon_above
from surveys.plan.content import PlanContent, PlanQuestion, Unsound, canonical, read

SPEC = "plan"  # as --design
MEANINGLESS = (
    "covariates",
    "by",
    "weights",
    "cross",
    "predictor",
    "poststratify",
    "simultaneous",
    "missing",
    "yes",
)


@dataclass(frozen=True, slots=True)
class Published:
    """A question's published shares, estimated again."""

    question: str
    n: int
    choices: Sequence[str]
    estimates: Sequence[Estimate]
    epsilon: float
    noise: str

    def document(self) -> dict[str, Any]:
        each = self.estimates
        return {
            "question": self.question,
            "n": self.n,
            "choices": [*self.choices],
            "estimate": [estimate.value for estimate in each],
            "standard_error": [estimate.standard_error for estimate in each],
            "interval": [[estimate.low, estimate.high] for estimate in each],
            "confidence": each[0].confidence,
            "epsilon": self.epsilon,
            "noise": self.noise,
        }

    def text(self) -> str:
        width = max(len(choice) for choice in self.choices)
        lines = [f"{self.question}: {self.n} reports, ε = {self.epsilon:.4g}, {self.noise}"]
        lines += [
            f"{choice:<{width}}  {each.value:7.4f}  {each.low:7.4f} to {each.high:7.4f}"
            for choice, each in zip(self.choices, self.estimates, strict=True)
        ]
        return "\n".join(lines)


def analysed(path: str, name: str, confidence: float) -> Published:
    """Return the newest published shares of a question of this file."""
    if not 0 < confidence < 1:
        raise ValueError(f"--confidence must be above 0 and below 1, got {confidence}")
    document = _file(path)
    plan = _plan(document["plan"])
    names = [each.name for each in plan.questions]
    if name not in names:
        raise ValueError(f"--outcome: expected a question, {', '.join(names)}; got {name!r}")
    if not plan.n_is_public:
        raise ValueError("plan: expected one where the number of answers is public")
    question = plan.question(name)
    if question.channel.learns not in (Learns.SHARES, Learns.TICKS):
        raise ValueError(f"--outcome: expected a question of choices, got {name!r}")
    rows = _newest(document["rows"], name)
    strata: dict[str, list[dict[str, Any]]] = {}  # one, "", of a study that asked no list
    for row in rows:
        strata.setdefault(str(row.get("stratum") or ""), []).append(row)
    found = [_estimated(question, own, confidence) for own in strata.values()]
    n = sum(int(own[0]["n"]) for own in strata.values())
    weights = [float(own[0].get("weight") or 1) for own in strata.values()]
    shares = [weight / sum(weights) for weight in weights]
    estimates = (
        [averaged(column, shares) for column in zip(*found, strict=True)]
        if len(found) > 1
        else found[0]
    )
    noise = _noise(rows[0], question.channel)
    loss = question.loss
    epsilon = float("inf") if loss is None else float(epsilon_above(loss))
    said = rows[0]["noise"] + (f", scale {rows[0]['noise_scale']:g}" if noise.variance else "")
    return Published(name, n, question.choices, estimates, epsilon, said)


def _estimated(
    question: PlanQuestion, rows: Sequence[dict[str, Any]], confidence: float
) -> list[Estimate]:
    """Return the share of each choice, of all or of one group of a list."""
    if [row["choice"] for row in rows] != list(range(len(question.choices))):
        raise ValueError(f"rows: expected a published count of each choice of {question.name!r}")
    counts, n = [int(row["noisy_count"]) for row in rows], int(rows[0]["n"])
    return question.channel.estimates(counts, n, _noise(rows[0], question.channel), confidence)


def _file(path: str) -> Any:
    try:
        document = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        document = None
    rows = document.get("rows") if isinstance(document, dict) else None
    is_whole = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    if not is_whole or "plan" not in document:
        raise ValueError(f"{Path(path).name}: expected a study’s published numbers as JSON")
    return document


def _plan(document: Any) -> PlanContent:
    try:
        return read(canonical(document))
    except (ValueError, Unsound) as error:
        raise ValueError(f"plan: {error}") from None


def _newest(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the rows of a question in the last release, or refresh of it, that has some."""
    named = [row for row in rows if row.get("question") == name]
    own = [row for row in named if row.get("noisy_count") is not None]
    if not own:
        raise ValueError(f"rows: expected published counts of {name!r}, got none")

    def at(row: dict[str, Any]) -> tuple[int, int]:
        return int(row["release"]), int(row["step"] or 0)

    newest = max(map(at, own))
    return [row for row in own if at(row) == newest]


def _noise(row: dict[str, Any], channel: Channel) -> Noise:
    """Return the law of the noise in the counts that people are estimated from."""
    scale = row.get("noise_scale")
    drawn: Noise
    if row.get("noise") == "no noise":
        drawn = NoNoise()
    elif row.get("noise") == "discrete Laplace" and scale:
        drawn = DiscreteLaplace(scale, 1)
    elif row.get("noise") == "discrete Gaussian" and scale:
        drawn = DiscreteGaussian(scale, 1)
    else:
        text = "noise: expected no noise, or discrete Laplace or Gaussian with its scale; got"
        raise ValueError(f"{text} {row.get('noise')!r}")
    return channel.noise_left(drawn, Neighbours.CHANGE_ONE) if row.get("known_sum") else drawn
