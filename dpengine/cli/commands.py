"""The commands by name: their options, and what they answer. ValueError names the option."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpengine.checks import require
from dpengine.cli import plan_size, specs, terminal
from dpengine.cli.analyse import Request, analyse
from dpengine.cli.files import Reading, read_missing
from dpengine.cli.plan_size import Plan
from dpengine.cli.privatise import privatised
from dpengine.cli.specs import Asked, number, parse, parse_asked
from dpengine.cli.weighting import split_option
from dpengine.inference.power import Target
from dpengine.local import channel_for, number_for
from dpengine.local.channel import Channel
from dpengine.privacy import epsilon_above

Options = Mapping[str, Any]  # of a command, by name
FILE = {
    "metavar": "FILE",
    "help": "CSV with a line of names, .xlsx, .sav, .dta, or one in .gz; - is standard input",
}
MISSING = {
    "action": "append",
    "default": [],
    "metavar": "9,99",
    "help": "codes that stand for no answer, in all columns or in one (age=999)",
}
YES = {"default": "", "metavar": "WORD", "help": "the word for yes, such as Ja"}
JSON = {"action": "store_true", "help": "print JSON"}


@dataclass(frozen=True, slots=True)
class Command:
    help: str
    options: Mapping[str, Mapping[str, Any]]  # as argparse takes them
    answer: Callable[[Options], str]  # what is printed
    epilog: str = ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = self.epilog
        for name, how in self.options.items():
            parser.add_argument(name, **how)


# analyse


def _analyse(options: Options) -> str:
    request = Request(
        outcome=str(options["outcome"]),
        design=parse(str(options["design"])),
        covariates=str(options["covariates"]),
        by=str(options["by"]),
        weights=str(options["weights"]),
        cross=_asked(options, "cross", is_open=True),
        predictor=_asked(options, "predictor"),
        population=tuple(split_option(text) for text in options["poststratify"]),
        confidence=number_of(options, "confidence"),
        reading=Reading(read_missing(options["missing"]), str(options["yes"])),
        simultaneous=options["simultaneous"],
    )
    results = analyse(options["file"], request)
    if options["json"]:
        return terminal.results_json(results)
    return terminal.results_text(results, options["outcome"], options["design"])


def _asked(options: Options, name: str, is_open: bool = False) -> Asked | None:
    return parse_asked(spelt(name), str(options[name]), is_open) if options[name] else None


ANALYSE = Command(
    """Analyse a table of randomised answers collected elsewhere.

  analyse FILE.csv --outcome smoked --design forced:p=2/3,yes=1/6,no=1/6
  analyse FILE.csv --outcome smoked --design crosswise:p=1/4 --by wave \\
      --covariates "age/10,(age/10)^2,education"
  analyse FILE.csv --outcome smoked --design coin --cross "drank:crosswise:p=1/4" \\
      --poststratify sex=sex.csv --poststratify age=age.csv

The outcome is 0 or 1, no or yes, false or true; a question of k choices has codes 0 to k - 1, or
1 to k with first=1. Files of --poststratify have two columns: values, and their shares of the
population. Rows with a blank or NA in any column that is used are left out, and counted.

""",
    {
        "file": FILE,
        "--outcome": {"required": True, "metavar": "COL", "help": "the column of the reports"},
        "--design": {"required": True, "metavar": "SPEC", "help": "how it was asked: see below"},
        "--covariates": {
            "default": "",
            "metavar": "A,B",
            "help": "columns, or arithmetic such as (age/10)^2",
        },
        "--by": {"default": "", "metavar": "COL", "help": "also analyse each value of this column"},
        "--weights": {"default": "", "metavar": "COL", "help": "survey weights"},
        "--cross": {
            "default": "",
            "metavar": "COL[:SPEC]",
            "help": "the table with a second column, asked as SPEC says; openly without",
        },
        "--predictor": {
            "default": "",
            "metavar": "COL:SPEC",
            "help": "an open outcome (--design direct) on this randomised column, linear or "
            "logistic",
        },
        "--poststratify": {
            "action": "append",
            "default": [],
            "metavar": "COL=shares.csv",
            "help": "weight to the population's shares of this column's values; several are raked",
        },
        "--missing": MISSING,
        "--yes": YES,
        "--confidence": {"default": "0.95", "help": "of the intervals (0.95)"},
        "--simultaneous": {
            "action": "store_true",
            "help": "widen the intervals so that all of them hold at once (Bonferroni)",
        },
        "--json": JSON,
    },
    _analyse,
    specs.__doc__ or "",
)

# plan-size

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


def _plan_size(options: Options) -> str:
    plan = _planned(options)
    return terminal.plan_json(plan) if options["json"] else terminal.plan_text(plan)


def _planned(options: Options) -> Plan:
    """Return the plan for the one goal that is given."""
    given = [goal for goal, names in GOALS.items() if any(options[n] is not None for n in names)]
    came = " and ".join(given) or "none"
    require(len(given) == 1, "expected one of {}, got {}", ", ".join(GOALS), came)
    (goal,) = given
    specs = [options["design"]] if isinstance(options["design"], str) else options["design"]
    if options["n"] is not None:
        options = _meant(options, EPSILON)
        require(
            goal == WIDTH and not specs,
            "--n finds an epsilon: it goes with --half-width, and without --design",
        )
    elif not specs:
        raise ValueError("--design is missing: how are people asked?")
    else:
        options = _meant(options, goal)
    if goal == POWER:
        return _power(options, specs)
    at = None if options["at"] is None else _share(options, "at")
    if options["n"] is not None:
        n, choices = whole_of(options, "n"), whole_of(options, "choices")
        width, confidence = _width(options, "half_width"), number_of(options, "confidence")
        return plan_size.plan_epsilon(width, n, at, choices, confidence)
    require(len(specs) <= 1, "{} is of one design, got {}", goal, len(specs))
    if goal == ERROR:
        return plan_size.plan_standard_error(specs[0], _width(options, "standard_error"), at)
    width, confidence = _width(options, "half_width"), number_of(options, "confidence")
    return plan_size.plan_half_width(specs[0], width, at, confidence)


def _meant(options: Options, goal: str) -> Options:
    """Return the options, with what was left out. Refuse those that have no meaning with this
    goal.
    """
    for name in dict.fromkeys(name for names in MEANT.values() for name in names):
        require(
            name in MEANT[goal] or options[name] in (None, False),
            "{} has no meaning with {}",
            spelt(name),
            goal,
        )
    return {**options, **{name: value for name, value in LEFT_OUT.items() if options[name] is None}}


def _power(options: Options, specs: list[str]) -> Plan:
    parts = [] if options["shares"] is None else str(options["shares"]).split(",")
    return plan_size.plan_power(
        specs,
        _share(options, "null"),
        _share(options, "alternative"),
        Target(
            number_of(options, "power"), number_of(options, "alpha"), whole_of(options, "sides")
        ),
        two_sample=options["two_sample"],
        ratio=number_of(options, "ratio"),
        shares=[float(number("--shares", part)) for part in parts],
        exact=options["exact"],
    )


def _share(options: Options, name: str) -> float:
    share = number_of(options, name)
    require(0 <= share <= 1, "{} must be a share, from 0 to 1, got {}", spelt(name), options[name])
    return share


def _width(options: Options, name: str) -> float:
    """Return how far a share may be off: from a half on, anything would do."""
    width = number_of(options, name)
    require(
        0 < width < WIDEST,
        "{} must be a share, above 0 and below {}, got {}",
        spelt(name),
        WIDEST,
        options[name],
    )
    return width


PLAN_SIZE = Command(
    """Say how many people a study needs: the smallest n for a power, an interval or an error.

  plan-size --design forced:p=2/3,yes=1/6,no=1/6 --from 0.10 --to 0.15 --power 0.80
  plan-size --design coin --half-width 0.03 --at 0.10
  plan-size --half-width 0.03 --at 0.10 --n 2000 --choices 5      (the least epsilon)

Numbers may be fractions. The designs are those of `analyse`: see `analyse --help`.""",
    {
        "--design": {
            "action": "append",
            "metavar": "SPEC",
            "help": "how people are asked; several times for several arms",
        },
        "--shares": {
            "metavar": "A,B",
            "help": "of the people in each arm; equal if left out",
        },
        "--from": {
            "dest": "null",
            "metavar": "SHARE",
            "help": "under the null; of the first sample with --two-sample",
        },
        "--to": {
            "dest": "alternative",
            "metavar": "SHARE",
            "help": "under the alternative; of the second sample",
        },
        "--power": {"help": "chance to find the difference (0.80)"},
        "--alpha": {"help": "chance to find one that is not there (0.05)"},
        "--sides": {"help": "of the test: 1 or 2 (2)"},
        "--two-sample": {
            "action": "store_true",
            "help": "compare two groups instead of one group with a known share",
        },
        "--ratio": {"help": "people in the second group for each in the first (1)"},
        "--exact": {
            "action": "store_true",
            "help": "power by the binomial itself, without approximation; half-widths always are",
        },
        "--half-width": {"metavar": "WIDTH", "help": "of the interval, as a share: 0.03"},
        "--standard-error": {
            "metavar": "ERROR",
            "help": "of the estimated share, or of one choice's",
        },
        "--at": {
            "metavar": "SHARE",
            "help": "the true share that is planned for; the worst one if left out",
        },
        "--confidence": {"help": "of the interval (0.95)"},
        "--n": {
            "metavar": "N",
            "help": "with --half-width and no design: the people there are; gives the least "
            "epsilon",
        },
        "--choices": {"help": "of the question, with --n (2)"},
        "--json": JSON,
    },
    _plan_size,
)

# privatise


def _privatise(options: Options) -> str:
    epsilon = number_of(options, "epsilon")
    reading = Reading(read_missing(options["missing"]), str(options["yes"]))
    ends = [name for name in ("least", "most") if options[name] is not None]
    channel: Channel
    if ends:
        for name in ("choices", "first"):
            require(options[name] is None, "--{} has no meaning with {}", name, spelt(ends[0]))
        first = whole_of(options, "least")
        channel = number_for(first, whole_of(options, "most"), epsilon)
        use = "the mean of these numbers is that of the answers"
    else:
        first = 0 if options["first"] is None else whole_of(options, "first")
        choices = 2 if options["choices"] is None else whole_of(options, "choices")
        require(choices == 2 or not options["yes"], "--yes is of two choices, got {}", choices)
        channel = channel_for(choices, epsilon)
        keep = channel.margins()[0].truth
        spec = f"subset:k={channel.answers},size={channel.held},keep={keep},first={first}"
        use = f"analyse them with --design {spec}"
    reports = privatised(options["file"], options["column"], channel, first, reading)
    print(f"ε = {epsilon_above(channel.loss, 6)} a report; {use}", file=sys.stderr)
    return reports


PRIVATISE = Command(
    """Randomise answers: write a report for each, drawn by the operating system's generator.

  privatise FILE.csv --column smoked --epsilon 1 > reports.csv
  privatise FILE.csv --column drug --choices 5 --epsilon 2
  privatise FILE.csv --column age --least 18 --most 99 --epsilon 1
  printf 'yes\nno\n' | dpengine privatise - --epsilon 1

An answer is 0 or 1, no or yes, false or true; one of so many choices, 0 to k - 1, or 1 to k with
--first 1; or a whole number from least to most. Of many choices a report may hold several: 1 3. Of
numbers a report is a number whose mean is that of the answers.

Do it once for each answer: a second report of the same answer tells as much again. Reports keep the
order of the file.

""",
    {
        "file": FILE,
        "--column": {
            "default": "",
            "metavar": "COL",
            "help": "the column of the answers; without, each line is one",
        },
        "--epsilon": {"required": True, "help": "what a report tells at most"},
        "--choices": {"metavar": "K", "help": "of the question (2: yes or no)"},
        "--first": {"metavar": "F", "help": "code of the first choice (0)"},
        "--least": {"metavar": "A", "help": "the least number"},
        "--most": {"metavar": "B", "help": "the greatest number"},
        "--missing": MISSING,
        "--yes": YES,
    },
    _privatise,
)


def whole_of(options: Options, name: str) -> int:
    value = number_of(options, name)
    require(value == int(value), "{} must be a whole number, got {}", spelt(name), options[name])
    return int(value)


def number_of(options: Options, name: str) -> float:
    """Return an option's number, of which a fraction is one too."""
    require(options[name] is not None, "{} is missing", spelt(name))
    return float(number(spelt(name), str(options[name])))


def spelt(name: str) -> str:
    return SPELT.get(name, f"--{name.replace('_', '-')}")


COMMANDS = {"analyse": ANALYSE, "plan-size": PLAN_SIZE, "privatise": PRIVATISE}
