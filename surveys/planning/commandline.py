"""From the words of a command line to what is asked of `analyse` and `plan_size`. ValueError names the option."""

from collections.abc import Mapping
from typing import Any

from dpengine.inference.power import Target
from surveys.planning import plan_size
from surveys.planning.analyse import analyse, request_for
from surveys.planning.findings import Findings
from surveys.planning.plan_size import Plan
from surveys.planning.specs import number

Options = Mapping[str, Any]

GOALS = ("--from and --to", "--half-width", "--standard-error")
EPSILON = "--n"
MEANT = {  # what goes with each goal; anything else would be passed over in silence
    GOALS[0]: ("power", "alpha", "sides", "two_sample", "ratio", "shares", "exact"),
    GOALS[1]: ("at", "confidence", "exact"),
    GOALS[2]: ("at",),
    EPSILON: ("at", "confidence", "choices"),
}
WIDEST = 0.5  # of half an interval of shares
LEFT_OUT = {"power": 0.80, "alpha": 0.05, "sides": 2, "ratio": 1, "confidence": 0.95, "choices": 2}


def analysed(options: Options) -> Findings:
    """Return what the file says."""
    outcome, design, covariates, by, weights = (
        str(options[name]) for name in ("outcome", "design", "covariates", "by", "weights")
    )
    confidence = _required(options, "confidence", "--confidence")
    return analyse(options["file"], request_for(outcome, design, covariates, by, weights, confidence))


def planned(options: Options) -> Plan:
    """Return the plan for the one goal that is given."""
    given = [goal for goal, is_there in zip(GOALS, _goals(options), strict=True) if is_there]
    if len(given) != 1:
        came = " and ".join(given) or "none"
        raise ValueError(f"expected one of {', '.join(GOALS)}, got {came}")
    if options["n"] is not None:
        return _epsilon(_meant(options, EPSILON), given[0])
    specs = [options["design"]] if isinstance(options["design"], str) else options["design"]
    if not specs:
        raise ValueError("--design is missing: how are people asked?")
    options = _meant(options, given[0])
    if given[0] == GOALS[0]:
        return _power(options, specs)
    if len(specs) > 1:
        raise ValueError(f"{given[0]} is of one design, got {len(specs)}")
    at = _share(options, "at")
    if given[0] == GOALS[1]:
        wanted, confidence = _width(options, "half_width"), _required(options, "confidence")
        return plan_size.plan_half_width(specs[0], wanted, at, confidence, exact=options["exact"])
    return plan_size.plan_standard_error(specs[0], _width(options, "standard_error"), at)


def _meant(options: Options, goal: str) -> Options:
    """Return the options, with what was left out. Refuse those that have no meaning with this goal."""
    for name in dict.fromkeys(name for names in MEANT.values() for name in names):
        if name not in MEANT[goal] and options[name] not in (None, False):
            raise ValueError(f"{_spelt(name)} has no meaning with {goal}")
    return {**options, **{name: value for name, value in LEFT_OUT.items() if options[name] is None}}


def _goals(options: Options) -> list[bool]:
    pair = options["null"] is not None or options["alternative"] is not None
    return [pair, options["half_width"] is not None, options["standard_error"] is not None]


def _power(options: Options, specs: list[str]) -> Plan:
    target = Target(_required(options, "power"), _required(options, "alpha"), _whole(options, "sides"))
    shares = options["shares"]
    return plan_size.plan_power(
        specs,
        _given(_share(options, "null", "--from"), "--from"),
        _given(_share(options, "alternative", "--to"), "--to"),
        target,
        two_sample=options["two_sample"],
        ratio=_required(options, "ratio"),
        shares=[float(number("--shares", part)) for part in str(shares).split(",")] if shares is not None else (),
        exact=options["exact"],
    )


def _epsilon(options: Options, goal: str) -> Plan:
    if goal != GOALS[1] or options["design"]:
        raise ValueError("--n finds an epsilon: it goes with --half-width, and without --design")
    return plan_size.plan_epsilon(
        _width(options, "half_width"),
        _whole(options, "n"),
        _share(options, "at"),
        _whole(options, "choices"),
        _required(options, "confidence"),
    )


def _share(options: Options, name: str, shown: str = "") -> float | None:
    share = _optional(options, name, shown)
    if share is not None and not 0 <= share <= 1:
        raise ValueError(f"{shown or _spelt(name)} must be a share, from 0 to 1, got {options[name]}")
    return share


def _width(options: Options, name: str) -> float:
    """Return how far a share may be off: it lies between 0 and 1, so from a half on anything would do."""
    width = _required(options, name)
    if not 0 < width < WIDEST:
        raise ValueError(f"{_spelt(name)} must be a share, above 0 and below {WIDEST}, got {options[name]}")
    return width


def _optional(options: Options, name: str, shown: str = "") -> float | None:
    """Return an option's number, of which a fraction is one too."""
    if options[name] is None:
        return None
    return float(number(shown or _spelt(name), str(options[name])))


def _required(options: Options, name: str, shown: str = "") -> float:
    return _given(_optional(options, name, shown), shown or _spelt(name))


def _given(value: float | None, shown: str) -> float:
    if value is None:
        raise ValueError(f"{shown} is missing")
    return value


def _whole(options: Options, name: str) -> int:
    value = _required(options, name)
    if value != int(value):
        raise ValueError(f"{_spelt(name)} must be a whole number, got {options[name]}")
    return int(value)


def _spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"
