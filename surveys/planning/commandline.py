"""From the words of a command line to what is asked of `analyse` and `plan_size`. ValueError
names the option.
"""

from dpengine.inference.power import Target
from surveys.planning import plan_size
from surveys.planning.analyse import Request, analyse
from surveys.planning.files import Reading, read_missing
from surveys.planning.help import Options
from surveys.planning.plan_size import Plan
from surveys.planning.published import (
    MEANINGLESS,
    SPEC,
    Published,
    analysed as published_numbers,
)
from surveys.planning.results import Results
from surveys.planning.specs import Asked, number, parse, parse_asked
from surveys.planning.weighting import split_option

POWER, WIDTH, ERROR, EPSILON = "--from and --to", "--half-width", "--standard-error", "--n"
GOALS = {POWER: ("null", "alternative"), WIDTH: ("half_width",), ERROR: ("standard_error",)}
MEANT = {  # what goes with each goal; anything else would be passed over in silence
    POWER: ("power", "alpha", "sides", "two_sample", "ratio", "shares", "exact"),
    WIDTH: ("at", "confidence", "exact"),  # which half-widths always are
    ERROR: ("at",),
    EPSILON: ("at", "confidence", "choices"),
}
WIDEST = 0.5  # of half an interval of shares
LEFT_OUT = {"power": 0.80, "alpha": 0.05, "sides": 2, "ratio": 1, "confidence": 0.95, "choices": 2}
SPELT = {"null": "--from", "alternative": "--to"}


def analysed(options: Options) -> Results:
    """Return what the file says."""
    request = Request(
        outcome=str(options["outcome"]),
        design=parse(str(options["design"])),
        covariates=str(options["covariates"]),
        by=str(options["by"]),
        weights=str(options["weights"]),
        cross=_asked(options, "cross", is_open=True),
        predictor=_asked(options, "predictor"),
        population=tuple(split_option(text) for text in options["poststratify"]),
        confidence=_number(options, "confidence"),
        reading=Reading(read_missing(options["missing"]), str(options["yes"])),
        simultaneous=options["simultaneous"],
    )
    return analyse(options["file"], request)


def published_again(options: Options) -> Published:
    """Return what a study published, estimated again; options about rows of people are refused."""
    for name in MEANINGLESS:
        if options[name]:
            raise ValueError(f"{_spelt(name)} has no meaning with --design {SPEC}")
    confidence = _number(options, "confidence")
    return published_numbers(str(options["file"]), str(options["outcome"]), confidence)


def _asked(options: Options, name: str, is_open: bool = False) -> Asked | None:
    return parse_asked(_spelt(name), str(options[name]), is_open) if options[name] else None


def planned(options: Options) -> Plan:
    """Return the plan for the one goal that is given."""
    given = [goal for goal, names in GOALS.items() if any(options[n] is not None for n in names)]
    if len(given) != 1:
        came = " and ".join(given) or "none"
        raise ValueError(f"expected one of {', '.join(GOALS)}, got {came}")
    (goal,) = given
    specs = [options["design"]] if isinstance(options["design"], str) else options["design"]
    if options["n"] is not None:
        options = _meant(options, EPSILON)
        if goal != WIDTH or specs:
            raise ValueError(
                "--n finds an epsilon: it goes with --half-width, and without --design"
            )
    elif not specs:
        raise ValueError("--design is missing: how are people asked?")
    else:
        options = _meant(options, goal)
    if goal == POWER:
        return _power(options, specs)
    at = None if options["at"] is None else _share(options, "at")
    if options["n"] is not None:
        n, choices = _whole(options, "n"), _whole(options, "choices")
        width, confidence = _width(options, "half_width"), _number(options, "confidence")
        return plan_size.plan_epsilon(width, n, at, choices, confidence)
    if len(specs) > 1:
        raise ValueError(f"{goal} is of one design, got {len(specs)}")
    if goal == ERROR:
        return plan_size.plan_standard_error(specs[0], _width(options, "standard_error"), at)
    width, confidence = _width(options, "half_width"), _number(options, "confidence")
    return plan_size.plan_half_width(specs[0], width, at, confidence)


def _meant(options: Options, goal: str) -> Options:
    """Return the options, with what was left out. Refuse those that have no meaning with this
    goal.
    """
    for name in dict.fromkeys(name for names in MEANT.values() for name in names):
        if name not in MEANT[goal] and options[name] not in (None, False):
            raise ValueError(f"{_spelt(name)} has no meaning with {goal}")
    return {**options, **{name: value for name, value in LEFT_OUT.items() if options[name] is None}}


def _power(options: Options, specs: list[str]) -> Plan:
    parts = [] if options["shares"] is None else str(options["shares"]).split(",")
    return plan_size.plan_power(
        specs,
        _share(options, "null"),
        _share(options, "alternative"),
        Target(_number(options, "power"), _number(options, "alpha"), _whole(options, "sides")),
        two_sample=options["two_sample"],
        ratio=_number(options, "ratio"),
        shares=[float(number("--shares", part)) for part in parts],
        exact=options["exact"],
    )


def _share(options: Options, name: str) -> float:
    share = _number(options, name)
    if not 0 <= share <= 1:
        raise ValueError(f"{_spelt(name)} must be a share, from 0 to 1, got {options[name]}")
    return share


def _width(options: Options, name: str) -> float:
    """Return how far a share may be off: from a half on, anything would do."""
    width = _number(options, name)
    if not 0 < width < WIDEST:
        raise ValueError(
            f"{_spelt(name)} must be a share, above 0 and below {WIDEST}, got {options[name]}"
        )
    return width


def _whole(options: Options, name: str) -> int:
    value = _number(options, name)
    if value != int(value):
        raise ValueError(f"{_spelt(name)} must be a whole number, got {options[name]}")
    return int(value)


def _number(options: Options, name: str) -> float:
    """Return an option's number, of which a fraction is one too."""
    if options[name] is None:
        raise ValueError(f"{_spelt(name)} is missing")
    return float(number(_spelt(name), str(options[name])))


def _spelt(name: str) -> str:
    return SPELT.get(name, f"--{name.replace('_', '-')}")
