"""How many people a study needs: from a SPEC and what it is to achieve to the smallest n.

    power          --from .10 --to .15 --power .80   one sample, two, or arms (a design each)
    half-width     --half-width .03 [--at .10]       of the 95 % interval that an analysis prints:
                                                     its mean; without --at, at worst
    standard error --standard-error .015 [--at .10]
    ε              --half-width .03 --n 2000 [--at .10] [--choices k]   the least ε, in place of n

A design of k choices is planned by one of them: a report of its own counts as yes, with the
channel's margins a and b.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.checks import require
from dpengine.cli.specs import AnyDesign, number, parse
from dpengine.designs import Design
from dpengine.inference import precision
from dpengine.inference.power import (
    Arm,
    Response,
    Size,
    Target,
    arms,
    one_sample,
    two_samples,
)
from dpengine.inference.power_exact import exact_power, exact_size

CHECKED = 100_000  # people up to whom the normal approximation is held against the exact test
SHORT = 0.01  # of power: what an approximation may promise too much without a word

NORMAL = "normal approximation: null variance in the threshold, alternative variance in the tail"
EXACT = "exact binomial test: from this n on every n has the power"


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked, the answer, and how it was found."""

    design: str
    method: str
    result: dict[str, object]
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        return {
            "design": self.design,
            **self.result,
            "method": self.method,
            "warnings": list(self.warnings),
        }


def plan_power(
    specs: Sequence[str],
    null: float,
    alternative: float,
    target: Target,
    *,
    two_sample: bool = False,
    ratio: float = 1.0,
    shares: Sequence[float] = (),
    exact: bool = False,
) -> Plan:
    """Return the smallest n that tells one share from another."""
    responses = [response_of(parse(spec)) for spec in specs]
    require(
        not exact or (len(responses) == 1 and not two_sample),
        "the exact test is for one sample through one design",
    )
    require(
        not two_sample or len(responses) <= 1,
        "two samples are asked through one design, got {}",
        len(responses),
    )
    require(ratio == 1 or two_sample, "ratio is of two samples: add --two-sample")
    asked = {
        "from": null,
        "to": alternative,
        "alpha": target.alpha,
        "sides": target.sides,
        "target_power": target.power,
    }
    if exact:
        exactly = exact_size(responses[0], null, alternative, target)
        return Plan(specs[0], EXACT, {**_sizes(exactly), "first_n": exactly.first, **asked})
    if two_sample:
        size = two_samples(responses[0], null, alternative, ratio).smallest(target)
        # n is of the first sample, as power software has it
        samples = [size.n, math.ceil(size.n * ratio)]
        both = {"n_total": sum(samples), "samples": samples, "ratio": ratio}
        return Plan(specs[0], NORMAL, {**_sizes(size), **both, **asked})
    require(
        not shares or len(shares) == len(specs),
        "shares must be one for each of {} designs, got {}",
        len(specs),
        len(shares),
    )
    if len(specs) > 1:
        weights = shares or [1.0] * len(specs)
        parts = [Arm(*part) for part in zip(responses, weights, strict=True)]
        size = arms(parts, null, alternative).smallest(target)
        # Rounded up, so that together they may be a few more than n
        people = [math.ceil(size.n * weight / sum(weights)) for weight in weights]
        split = [{"design": spec, "n": n} for spec, n in zip(specs, people, strict=True)]
        return Plan(" + ".join(specs), NORMAL, {**_sizes(size), **asked, "arms": split})
    size = one_sample(responses[0], null, alternative).smallest(target)
    power, notes = _check(responses[0], null, alternative, size, target)
    return Plan(specs[0], NORMAL, {**_sizes(size), **asked, "exact_power": power}, notes)


def plan_half_width(spec: str, wanted: float, at: float | None, confidence: float) -> Plan:
    """Return the smallest n with an interval this narrow, at a share or at the worst one."""
    response = response_of(parse(spec))
    size = precision.size_for_half_width(response, wanted, at, confidence)
    mean = "largest half-width" if at is None else "mean half-width"
    result = {
        "n": size.n,
        "half_width": size.value,
        "half_width_at_n_minus_1": size.value_at_n_minus_1,
    }
    return Plan(
        spec,
        f"Clopper-Pearson interval, {mean}",
        {**result, "at": at, "confidence": confidence},
    )


def plan_standard_error(spec: str, wanted: float, at: float | None) -> Plan:
    """Return the smallest n whose standard error is as small as wanted."""
    size = precision.size_for_standard_error(response_of(parse(spec)), wanted, at)
    result = {
        "n": size.n,
        "standard_error": size.value,
        "standard_error_at_n_minus_1": size.value_at_n_minus_1,
    }
    return Plan(spec, "standard error of the moment estimate", {**result, "at": at})


def plan_epsilon(wanted: float, n: int, at: float | None, choices: int, confidence: float) -> Plan:
    """Return the least ε at which n people give the half-width, through the channel of least
    variance.
    """
    epsilon = precision.epsilon_for(wanted, n, at, choices, confidence)
    reached = precision.half_width_for(float(epsilon), n, at, choices, confidence)
    result = {"epsilon": float(epsilon), "n": n, "half_width": reached, "choices": choices}
    kind = "randomised response" if choices == 2 else "subset selection"
    method = f"{kind}, the channel of least variance; epsilon rounded up to three decimals"
    return Plan(
        f"least variance, {choices} choices", method, {**result, "at": at, "confidence": confidence}
    )


def response_of(design: AnyDesign) -> Response:
    """Return how often people report yes, or one choice of several."""
    if isinstance(design, Design):
        c0, c1 = design.affine
        return Response(float(c0), float(c1))
    if design.kind == "affine":
        try:
            c0, c1 = (number(name, text) for name, text in design.parts.items())
        except ValueError:
            raise ValueError(
                "design affine: a plan needs numbers, as in affine:c0=1/6,c1=2/3; columns are for "
                "data"
            ) from None
        return Response(float(c0), float(c1))
    raise ValueError(
        f"design {design.kind} can be analysed, not planned: its error depends on more than one "
        f"share"
    )


def _sizes(size: Size) -> dict[str, object]:
    return {"n": size.n, "power": size.power, "power_at_n_minus_1": size.power_at_n_minus_1}


def _check(
    response: Response, null: float, alternative: float, size: Size, target: Target
) -> tuple[float | None, tuple[str, ...]]:
    """Return the exact test's power with n people, and a warning where it is clearly less."""
    if size.n > CHECKED:
        return None, ()
    power = exact_power(response, null, alternative, size.n, target)
    if power >= target.power - SHORT:
        return power, ()
    return power, (
        f"The exact binomial test has power {power:.3f} with n = {size.n}: plan with --exact.",
    )
