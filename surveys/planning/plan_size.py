"""How many people a study needs: from a SPEC and what it is to achieve to the smallest n.

    power          --from .10 --to .15 --power .80      one sample, two, or several arms (a design each)
    half-width     --half-width .03 [--at .10]          of the 95 % interval; at the worst share without --at
    standard error --standard-error .015 [--at .10]
    ε              --half-width .03 --n 2000 [--at .10] [--choices k]   the least ε, in place of n

A design of k choices is planned by one of them: a report of its own counts as yes, with the channel's margins a and b.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpengine.inference import precision
from dpengine.inference.power import Arm, Response, Separation, Size, Target, arms, one_sample, two_samples
from dpengine.inference.power_exact import exact_power, exact_size
from surveys.planning.specs import Affine, Channel, Design, number, parse

CHECKED = 100_000  # people up to whom the normal approximation is held against the exact test
SHORT = 0.01  # of power: what an approximation may promise too much without a word

NORMAL = "normal approximation: null variance in the threshold, alternative variance in the tail"
EXACT = "exact binomial test: from this n on every n has the power"
NO_EXACT = "the exact test is for one sample through one design"


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked, the answer, and how it was found."""

    design: str
    method: str
    result: dict[str, Any]
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return {"design": self.design, **self.result, "method": self.method, "warnings": list(self.warnings)}


def plan_power(
    specs: Sequence[str], null: float, alternative: float, target: Target, *, two_sample: bool = False,
    ratio: float = 1.0, shares: Sequence[float] = (), exact: bool = False,
) -> Plan:  # fmt: skip
    """Return the smallest n that tells one share from another."""
    responses = [response_of(parse(spec)) for spec in specs]
    if exact and (two_sample or len(responses) > 1):
        raise ValueError(NO_EXACT)
    if two_sample and len(responses) > 1:
        raise ValueError(f"two samples are asked through one design, got {len(responses)}")
    if ratio != 1 and not two_sample:
        raise ValueError("ratio is of two samples: add --two-sample")
    asked = {
        "from": null,
        "to": alternative,
        "alpha": target.alpha,
        "sides": target.sides,
        "target_power": target.power,
    }
    if exact:
        found = exact_size(responses[0], null, alternative, target)
        return Plan(specs[0], EXACT, {**_sizes(found), "first_n": found.first, **asked})
    if two_sample:
        size = two_samples(responses[0], null, alternative, ratio).smallest(target)
        return Plan(specs[0], NORMAL, {**_two(size, ratio), **asked})
    weights = _shares(shares, len(responses))
    separation = _separation(responses, weights, null, alternative)
    size = separation.smallest(target)
    result = {**_sizes(size), **asked}
    if len(responses) > 1:
        result["arms"] = [{"design": spec, "n": n} for spec, n in zip(specs, _split(size.n, weights), strict=True)]
        return Plan(" + ".join(specs), NORMAL, result)
    exactly, notes = _check(responses[0], null, alternative, size, target)
    return Plan(specs[0], NORMAL, {**result, "exact_power": exactly}, notes)


def plan_half_width(spec: str, wanted: float, at: float | None, confidence: float, exact: bool = False) -> Plan:
    """Return the smallest n whose interval is as narrow as wanted, at a share or at the worst one."""
    response = response_of(parse(spec))
    find = precision.exact_size_for_half_width if exact else precision.size_for_half_width
    found = find(response, wanted, at, confidence)
    method = "normal interval of the estimate"
    if exact:
        method = "Clopper-Pearson interval, " + ("mean half-width" if at is not None else "largest half-width")
    result = {"n": found.n, "half_width": found.value, "half_width_at_n_minus_1": found.value_at_n_minus_1}
    return Plan(spec, method, {**result, "at": at, "confidence": confidence})


def plan_standard_error(spec: str, wanted: float, at: float | None) -> Plan:
    """Return the smallest n whose standard error is as small as wanted."""
    found = precision.size_for_standard_error(response_of(parse(spec)), wanted, at)
    result = {"n": found.n, "standard_error": found.value, "standard_error_at_n_minus_1": found.value_at_n_minus_1}
    return Plan(spec, "standard error of the moment estimate", {**result, "at": at})


def plan_epsilon(wanted: float, n: int, at: float | None, choices: int, confidence: float) -> Plan:
    """Return the least ε at which n people give the half-width, through the channel of least variance."""
    epsilon = precision.epsilon_for(wanted, n, at, choices, confidence)
    reached = precision.half_width_for(float(epsilon), n, at, choices, confidence)
    result = {"epsilon": float(epsilon), "n": n, "half_width": reached, "choices": choices}
    kind = "randomised response" if choices == 2 else "subset selection"
    method = f"{kind}, the channel of least variance; epsilon rounded up to three decimals"
    return Plan(f"least variance, {choices} choices", method, {**result, "at": at, "confidence": confidence})


def response_of(design: Design) -> Response:
    """Return how often people report yes, or one choice of several."""
    if isinstance(design, Channel):
        c0, c1 = design.affine if design.is_binary else _margins(design)
        return Response(float(c0), float(c1))
    if isinstance(design, Affine):
        try:
            c0, c1 = (number(name, text) for name, text in (("c0", design.c0), ("c1", design.c1)))
        except ValueError:
            raise ValueError(
                "design affine: a plan needs numbers, as in affine:c0=1/6,c1=2/3; columns are for data"
            ) from None
        return Response(float(c0), float(c1))
    raise ValueError(f"design {design.kind} can be analysed, not planned: its error depends on more than one share")


def _margins(design: Channel) -> tuple[Fraction, Fraction]:
    """Return b and a − b of a design whose choices are all treated alike."""
    rows = design.chances
    truths = {row[choice] for choice, row in enumerate(rows)} if len(rows) == len(rows[0]) else set()
    lies = {chance for i, row in enumerate(rows) for j, chance in enumerate(row) if i != j}
    if len(truths) != 1 or len(lies) != 1:
        raise ValueError(f"design {design.spec}: a plan needs one report per choice, and all choices treated alike")
    truth, lie = truths.pop(), lies.pop()
    return lie, truth - lie


def _separation(responses: list[Response], weights: Sequence[float], null: float, alternative: float) -> Separation:
    if len(responses) == 1:
        return one_sample(responses[0], null, alternative)
    return arms([Arm(*part) for part in zip(responses, weights, strict=True)], null, alternative)


def _shares(shares: Sequence[float], designs: int) -> Sequence[float]:
    if shares and len(shares) != designs:
        raise ValueError(f"shares must be one for each of {designs} designs, got {len(shares)}")
    return shares or [1.0] * designs


def _split(n: int, weights: Sequence[float]) -> list[int]:
    """Return how many people each arm needs: rounded up, so that together they may be a few more than n."""
    total = sum(weights)
    return [math.ceil(n * weight / total) for weight in weights]


def _sizes(size: Size) -> dict[str, Any]:
    return {"n": size.n, "power": size.power, "power_at_n_minus_1": size.power_at_n_minus_1}


def _two(size: Size, ratio: float) -> dict[str, Any]:
    """Return n of the first sample, as power software does, and of both; a ratio makes the second from it."""
    samples = [size.n, math.ceil(size.n * ratio)]
    return {**_sizes(size), "n_total": sum(samples), "samples": samples, "ratio": ratio}


def _check(
    response: Response, null: float, alternative: float, size: Size, target: Target
) -> tuple[float | None, tuple[str, ...]]:
    """Return the power that the exact test has with n people, and a warning where it is clearly less."""
    if size.n > CHECKED:
        return None, ()
    power = exact_power(response, null, alternative, size.n, target)
    if power >= target.power - SHORT:
        return power, ()
    return power, (f"The exact binomial test has power {power:.3f} with n = {size.n}: plan with --exact.",)
