"""Write the vectors that Python and the browser must both obey: `python -m tests.vectors.generate`.

The words are drawn once, here, and recorded; among them are words that must be rejected.
A vector that changes is a change of the protocol, to be looked at line by line.
"""

import json
import random
from collections.abc import Sequence
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

from dpengine import designs
from dpengine.local.blocks import MAX_SETS, MAX_WEIGHT, Drawn
from dpengine.local.channel import Channel
from dpengine.local.joint import Joint
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_above, loss_of_all
from dpengine.randomness import WORD
from surveys.guesses import even_guess
from surveys.plan.content import Unsound, pair as written
from surveys.plan.verification import MAXIMUM_TOTAL, verify
from tests.tables import kary
from tests.vectors import kinds

HERE = Path(__file__).parent
CASES = 200  # a kind
TABLES = [
    Table.coin(),
    Table.binary(Decimal(1)),
    Table.binary(Decimal("0.25")),
    Table(((5, 1, 1), (1, 5, 1), (1, 1, 5))),
    Table(((2, 1, 1, 1), (1, 2, 1, 1), (1, 1, 2, 1), (1, 1, 1, 2))),
    Table(((3 * 2**30 - 1, 1), (2**30, 2**31))),  # a sum that leaves a quarter of all words over
    Table(((1, 2, 3), (3, 2, 1))),
]
SUBSETS = [
    Subset.for_epsilon(k, Decimal(e))
    for k in (2, 3, 4, 5, 7, 10, 33, 100, 1024)
    for e in ("0.5", "1", "2")
]
ONE_OFS = [
    OneOf.for_epsilon(m, Decimal(e), 1) for m in (2, 3, 5, 8, 33, 1024) for e in ("0.5", "1", "4")
]
SOME_OFS = [
    OneOf.for_epsilon(m, Decimal(e), s)
    for m, s in ((2, 2), (3, 2), (5, 3), (8, 8), (50, 10), (1024, 6))
    for e in ("0.5", "2", "4")
]
NUMBERS = [
    NumberChannel.for_epsilon(Decimal(e), Decimal(0), Decimal(s), s)
    for s in (1, 7, 120)
    for e in ("0.5", "1", "3")
]
MADE = [
    Table.of(designs.coin()),
    Table.of(designs.warner("3/4")),
    Table.of(designs.forced("2/3", "1/6", "1/6")),
    Table.of(designs.forced_choices("1/2", ["1/4", "1/8", "1/8"])),
    Table.of(designs.crosswise("1/4")),
    Table.of(designs.unrelated("1/2", "1/12")),
    Table.of(designs.disguised("4/5", "3/10")),
    kary(7, Decimal(2)),
    Table(((21, 14, 7), (6, 18, 18))),
]


def recorded(channel: Channel, answer: Any, stream: random.Random) -> dict[str, Any]:
    used: list[int] = []

    def words() -> int:
        used.append(stream.choice(edges) if stream.random() < 0.3 else stream.randrange(WORD))
        return used[-1]

    edges = [0, WORD - 1, WORD - 2, *thresholds(channel, answer)]

    report = channel.randomise(answer, words)
    return {"channel": channel.document(), "answer": answer, "words": used, "report": report}


def thresholds(channel: Channel, answer: Any) -> list[int]:
    """Return the words on both sides of every decision: who errs by one must be found."""
    if isinstance(channel, OneOf):
        # the first words that draw no option, and no other pattern
        drawn = {channel.options, channel.patterns - 1} - {1}
        limits = [channel.keep, *(WORD - WORD % many for many in sorted(drawn))]
        return [word for limit in limits for word in (limit - 1, limit) if word < WORD]
    if isinstance(channel, Subset):
        return [channel.keep - 1, channel.keep]
    whole = WORD - WORD % channel.total  # the first word to be rejected, if any is
    limits = [*accumulate(channel.weights[answer])][:-1]
    return [word for limit in [*limits, whole] for word in (limit - 1, limit) if word < WORD]


def cases(channels: list[Any], stream: random.Random) -> list[dict[str, Any]]:
    found = []
    for number in range(CASES):
        channel = channels[number % len(channels)]
        case = recorded(channel, stream.randrange(channel.choices), stream)
        found.append(
            {"name": f"{case['channel']['kind']} {number + 1}, {channel.choices} choices", **case}
        )
    return found


def ticks(options: int, stream: random.Random) -> list[int]:
    """Return a set of ticked options: none and all of them too, now and then."""
    share = stream.choice([0.0, 0.2, 0.5, 1.0])
    return [option for option in range(options) if stream.random() < share]


def cases_of_sets(channels: Sequence[OneOf], stream: random.Random) -> list[dict[str, Any]]:
    found = []
    for number in range(CASES):
        channel = channels[number % len(channels)]
        case = recorded(channel, ticks(channel.options, stream), stream)
        found.append(
            {
                "name": f"one_of {number + 1}, {len(case['answer'])} of {channel.options} ticked"
                + (f", {channel.together} told of" if channel.together > 1 else ""),
                **case,
            }
        )
    return found


def of_blocks(stream: random.Random) -> list[dict[str, Any]]:
    """Return draws of sets by their weights, and cells of joint answers."""
    found: list[dict[str, Any]] = []
    for number in range(CASES // 2):
        count = (1, 2, 3, 7, 28, MAX_SETS)[number % 6]
        largest = (1, 5, 1000, MAX_WEIGHT)[number % 4]
        weights = [stream.randint(max(1, largest // 2), largest) for _ in range(count)]
        found.append({"name": f"sets {number + 1}, {count} of them", **set_drawn(weights, stream)})
    for number in range(CASES // 2):
        choices = ([2, 2], [2, 3, 4], [5, 5], [7, 2], [2] * 10, [32, 32], [4, 4, 4, 4, 4])[
            number % 7
        ]
        joint = Joint.for_epsilon(choices, Decimal(1))
        answers = [stream.choice([0, each - 1, stream.randrange(each)]) for each in choices]
        found.append(
            {
                "name": f"joint answer {number + 1}",
                "choices": choices,
                "answers": answers,
                "cell": joint.encode(answers),
            }
        )
    for number in range(CASES // 4):
        sizes, declining = (
            ([2, 2], [2, 2]),
            ([2, 3, 4], [2, 2, 4]),
            ([5, 5], [5, 4]),
            ([2] * 9, [2] * 9),
        )[number % 4]
        joint = Joint.for_epsilon(sizes, Decimal(1), declining)
        answers = [stream.randrange(each + 1) for each in sizes]
        if number % 8 > 3:  # which nobody declined
            pairs = zip(answers, declining, strict=True)
            answers = [each + 1 - 2 * (each > 0) if each == at else each for each, at in pairs]
        found.append(
            {
                "name": f"joint answer that can be declined {number + 1}",
                "choices": [each + 1 for each in sizes],
                "declining": declining,
                "answers": answers,
                "cell": joint.encode(answers),
            }
        )
    return found


def set_drawn(weights: list[int], stream: random.Random) -> dict[str, Any]:
    used: list[int] = []
    whole = WORD - WORD % sum(weights)  # the first word that draws no set
    ends = [end for limit in accumulate(weights) for end in (limit - 1, limit)]
    edges = [0, WORD - 1, *ends, *(word for word in (whole - 1, whole) if word < WORD)]

    def words() -> int:
        used.append(stream.choice(edges) if stream.random() < 0.5 else stream.randrange(WORD))
        return used[-1]

    sets = Drawn(tuple((place,) for place in range(len(weights))), tuple(weights))
    drawn = sets.draw(words)
    return {"weights": weights, "words": used, "drawn": drawn}


def pair(channel: Channel) -> list[int | str]:
    return [part if part < 2**53 else str(part) for part in channel.loss.as_integer_ratio()]


def losses() -> list[dict[str, Any]]:
    channels: list[Any] = [*TABLES, *SUBSETS, *ONE_OFS, *MADE, *SOME_OFS, *NUMBERS]
    documents = [c.document() for c in channels]
    for document, channel in zip(documents[-len(NUMBERS) :], NUMBERS, strict=True):
        document |= {"low": str(channel.low), "high": str(channel.high)}
    return [
        {"name": f"{document['kind']} {number}", "channel": document, "loss": pair(channel)}
        for number, (document, channel) in enumerate(zip(documents, channels, strict=True), 1)
    ]


def bounds() -> list[dict[str, Any]]:
    """Return what is said to be at most of an even guess, by its loss."""
    exact = [Fraction(each) for each in ("1", "3", "4", "9", "99", "100", "199", "3/2", "57/43")]
    grown = [exponential_above(Decimal(each) / 20) for each in range(1, 161)]
    return [
        {"bound": even_guess(loss), "loss": [str(part) for part in loss.as_integer_ratio()]}
        for loss in (*exact, *grown, Fraction(10**40))
    ]


def plan(channels: list[Channel]) -> dict[str, Any]:
    questions = [
        {
            "channel": channel.document(),
            "choices": [f"choice {choice}" for choice in range(channel.choices)],
            "decline": 0,
            "help": "",
            "kind": "yes_no" if channel.choices == 2 else "single",
            "label": f"question {number}",
            "loss": pair(channel),
            "name": f"q{number}",
            "protection": "device",
            "text": f"Question {number}?",
        }
        for number, channel in enumerate(channels, start=1)
    ]
    total = loss_of_all(channel.loss for channel in channels)
    return {
        "caps": {"central_epsilon": "1"},
        "contact": "a@example.org",
        "format": 1,
        "language": "en",
        "loss": [part if part < 2**53 else str(part) for part in total.as_integer_ratio()],
        "neighbours": "change-one",
        "organisation": "An organisation",
        "publication": {"epsilon": "1", "rule": "when-closed", "smallest_batch": 100},
        "purpose": "To be verified.",
        "questions": questions,
        "results": "public",
        "slug": "vectors",
        "title": "Vectors",
        "unit": "respondent-in-study",
        "wave": 1,
    }


def with_given(base: dict[str, Any]) -> dict[str, Any]:
    """Return the Plan with two more questions, sent as given."""
    shared = {"decline": 0, "help": "", "protection": "publication", "text": "Another?"}
    choice = {
        "choices": ["a", "b", "c"],
        "kind": "single",
        "label": "Choice",
        "name": "choice",
        **shared,
    }
    number = {"choices": [], "kind": "number", "label": "Hours", "name": "hours", **shared}
    return {
        **base,
        "questions": [
            *base["questions"],
            choice,
            {**number, "least": 0, "most": 60, "unit": "hours"},
        ],
    }


def changed(base: dict[str, Any], path: list[Any], value: Any) -> dict[str, Any]:
    copy = deepcopy(base)
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


def plans() -> list[dict[str, Any]]:
    base = plan([Table.coin(), Subset.for_epsilon(5, Decimal(1)), Table.binary(Decimal(1))])
    first = ["questions", 0]
    keep = base["questions"][1]["channel"]["keep"]
    decoded = {**Table.coin().document(), "decoder": {"rows": [[3, -1], [-1, 3]], "scale": 2}}
    bad = [
        (
            "a question that declares a smaller loss than its channel has",
            [*first, "loss"],
            [299, 100],
        ),
        (
            "a subset whose keep is one too large for its declared loss",
            ["questions", 1, "channel", "keep"],
            keep + 1,
        ),
        ("a total smaller than the product", ["loss"], [3, 1]),
        (
            "a report that only one answer can make",
            [*first, "channel", "weights"],
            [[4, 0], [1, 3]],
        ),
        ("a report that no answer can make", [*first, "channel", "weights"], [[4, 0], [4, 0]]),
        ("rows with different sums", [*first, "channel", "weights"], [[3, 1], [1, 2]]),
        ("more reports than choices", [*first, "channel", "weights"], [[1, 2, 3], [3, 2, 1]]),
        ("a loss of a thousand digits and one", [*first, "loss"], ["1" * 1001, "1"]),
        ("a total of a thousand digits", ["loss"], ["9" * 1000, "1"]),
        ("equal rows", [*first, "channel", "weights"], [[2, 2], [2, 2]]),
        ("a negative weight", [*first, "channel", "weights"], [[5, -1], [1, 3]]),
        ("a weight that is no integer", [*first, "channel", "weights"], [[3.5, 0.5], [1, 3]]),
        ("fewer rows than choices", [*first, "choices"], ["a", "b", "c"]),
        (
            "a sum above 2^32",
            [*first, "channel", "weights"],
            [[3 * 2**31, 2**31], [2**31, 3 * 2**31]],
        ),
        ("an unknown kind", [*first, "channel"], {"kind": "plain"}),
        (
            "a set of ticks where one answer is asked for",
            [*first, "channel"],
            OneOf(2, 3 * 2**30).document(),
        ),
        ("a decoder that a question of choices has no use for", [*first, "channel"], decoded),
        ("a decoder of nothing", ["questions", 1, "channel", "decoder"], None),
        ("a keep that reveals the truth", ["questions", 1, "channel", "keep"], WORD),
        ("a keep that favours nothing", ["questions", 1, "channel", "keep"], WORD // 5),
        ("a size as large as the choices", ["questions", 1, "channel", "size"], 5),
        ("a protection that is not the device's", [*first, "protection"], "publication"),
        ("no questions", ["questions"], []),
        ("a loss of nothing", [*first, "loss"], [0, 1]),
        ("a loss with a blank", [*first, "loss"], [" 3", "1"]),
        ("a loss that is a truth", [*first, "loss"], [True, 1]),
        ("a loss of three parts", [*first, "loss"], [3, 1, 1]),
        ("an unknown format", ["format"], 2),
        ("an unknown kind of question", [*first, "kind"], "open"),
        ("a name with a capital", [*first, "name"], "Q1"),
        ("a name that stands twice", [*first, "name"], "q2"),
        ("a name of an object's own parts", [*first, "name"], "__proto__"),
        ("a decline that is neither", [*first, "decline"], 2),
        ("yes or no with one choice beside declining", [*first, "decline"], 1),
        ("an empty choice", [*first, "choices"], ["", "b"]),
        ("equal choices", [*first, "choices"], ["a", "a"]),
        ("choices that are one text", [*first, "choices"], "ab"),
        ("no caps", ["caps"], {}),
        ("a cap without end", ["caps", "central_epsilon"], "Infinity"),
        ("a cap of nothing", ["caps", "central_epsilon"], "0"),
        ("a cap beyond reason", ["caps", "central_epsilon"], "20.000000001"),
        ("a cap with more places than the ledger has", ["caps", "central_epsilon"], "1.0000000001"),
        ("a publication that costs nothing", ["publication", "epsilon"], "0"),
        ("a publication beyond the cap", ["publication", "epsilon"], "1.000000001"),
        ("a smallest batch of nobody", ["publication", "smallest_batch"], 0),
    ]
    uneven = plan([Table(((4, 1, 1), (1, 4, 1), (2, 1, 3)))])
    mixed = with_given(base)
    number, choice = ["questions", 4], ["questions", 3]
    caps = {"central_delta": "0.000001", "central_epsilon": "1", "central_rho": "0.017857142857"}
    concentrated = changed(changed(base, ["caps"], caps), ["publication", "rho"], "0.01")
    bad_given = [
        ("a number that has a channel", [*number, "channel"], Table.coin().document()),
        ("a number that has no channel, and says so", [*number, "channel"], None),
        ("an answer sent as given that declares a loss", [*choice, "loss"], [1, 1]),
        ("a number protected on the device", [*number, "protection"], "device"),
        (
            "a choice sent as given under another name of protection",
            [*choice, "protection"],
            "none",
        ),
        ("a number without a least", [*number, "least"], None),
        ("bounds the wrong way round", [*number, "least"], 61),
        ("bounds alike", [*number, "least"], 60),
        ("a bound beyond 2^31", [*number, "most"], 2**31 + 1),
        ("a bound that is no integer", [*number, "most"], 1.5),
        ("a number with choices", [*number, "choices"], ["a", "b"]),
        ("a number that can be declined", [*number, "decline"], 1),
        ("a number without a unit", [*number, "unit"], None),
        ("a number with a capital in its name", [*number, "name"], "Hours"),
        ("a number named like another question", [*number, "name"], "q1"),
        ("an unknown kind sent as given", [*choice, "kind"], "text"),
        ("257 choices sent as given", [*choice, "choices"], [str(number) for number in range(257)]),
        ("one choice sent as given", [*choice, "choices"], ["a"]),
    ]
    bad_terms = [
        ("a δ of nothing", ["caps", "central_delta"], "0"),
        ("a δ of 1", ["caps", "central_delta"], "1.0"),
        ("a δ in a number", ["caps", "central_delta"], 0.1),
        ("a ρ with more places than there are", ["caps", "central_rho"], "0.0178571428571"),
        ("a ρ beyond reason", ["caps", "central_rho"], "200.000000000001"),
        ("a publication's ρ beyond the cap", ["publication", "rho"], "0.017857142858"),
        ("a publication's ρ of nothing", ["publication", "rho"], "0"),
    ]
    nothing_lost = [1, 1]
    large = plan([Subset.for_epsilon(3, Decimal(3)) for _ in range(3)])
    return [
        {"name": "a sound plan", "plan": base, "accepted": True, "why": ""},
        {"name": "one coin", "plan": plan([Table.coin()]), "accepted": True, "why": ""},
        {
            "name": "a declared loss above the channel's",
            "plan": changed(changed(base, [*first, "loss"], [4, 1]), ["loss"], [40, 1]),
            "accepted": True,
            "why": "",
        },
        {"name": "some questions sent as given", "plan": mixed, "accepted": True, "why": ""},
        {
            "name": "all questions sent as given",
            "plan": changed({**mixed, "questions": mixed["questions"][3:]}, ["loss"], nothing_lost),
            "accepted": True,
            "why": "",
        },
        {
            "name": "a number within the widest bounds",
            "plan": changed(changed(mixed, [*number, "least"], -(2**31)), [*number, "most"], 2**31),
            "accepted": True,
            "why": "",
        },
        {"name": "a concentrated cap", "plan": concentrated, "accepted": True, "why": ""},
        *(
            {"name": name, "plan": changed(case, path, value), "accepted": False, "why": name}
            for case, found in ((base, bad), (mixed, bad_given), (concentrated, bad_terms))
            for name, path, value in found
        ),
        {
            "name": "a concentrated cap without its ρ",
            "plan": changed(
                concentrated,
                ["caps"],
                {name: caps[name] for name in ("central_delta", "central_epsilon")},
            ),
            "accepted": False,
            "why": "all three amounts, or none",
        },
        {
            "name": "a publication's ρ under a pure cap",
            "plan": changed(base, ["publication", "rho"], "0.01"),
            "accepted": False,
            "why": "all three amounts, or none",
        },
        {
            "name": "more than e^8 in all",
            "plan": large,
            "accepted": False,
            "why": "the maximum compiled into the script",
        },
        {
            "name": "a report that comes from one wrong answer more often than from another",
            "plan": uneven,
            "accepted": False,
            "why": "shares are estimated from two chances a choice",
        },
    ]


def counting() -> list[dict[str, Any]]:
    """Return Plans whose publications count what answers lose."""
    base = plan([Table.coin(), Subset.for_epsilon(5, Decimal(1))])
    base["publication"] |= {"counts": "answers"}
    shared = {**base, "publication": {**base["publication"], "accounting": 2}}
    delta = {"central_delta": "0.000001", "central_epsilon": "1", "central_rho": "0.02"}
    of_wave = changed(base, ["unit"], "respondent-in-wave")
    of_answers = changed(base, ["unit"], "answer-in-study")
    wrong = [
        ("losses of reports by name", changed(base, ["publication", "counts"], "reports")),
        ("losses of answers by a number", changed(base, ["publication", "counts"], 1)),
        ("losses of answers in a later wave", changed(base, ["wave"], 2)),
        ("an accounting that nobody knows", changed(shared, ["publication", "accounting"], 3)),
        ("an accounting by a truth", changed(shared, ["publication", "accounting"], True)),
        ("an accounting of nothing", changed(shared, ["publication", "accounting"], None)),
        (
            "an accounting of what reports have in common, of what reports lose",
            {**base, "publication": {**plan([Table.coin()])["publication"], "accounting": 2}},
        ),
        ("losses of answers of a wave", of_wave),
        ("losses of answers of who takes part", changed(base, ["neighbours"], "add-remove")),
        (
            "losses of answers beside a δ",
            {**base, "caps": delta, "publication": {**base["publication"], "rho": "0.01"}},
        ),
        ("one answer of who takes part", changed(of_answers, ["neighbours"], "add-remove")),
        (
            "one answer beside a δ",
            {
                **of_answers,
                "caps": delta,
                "publication": {**plan([Table.coin()])["publication"], "rho": "0.01"},
            },
        ),
    ]
    return [
        {"name": "losses of answers", "plan": base, "accepted": True, "why": "a first wave"},
        {
            "name": "losses of answers, with what reports have in common",
            "plan": shared,
            "accepted": True,
            "why": "its channels say it",
        },
        {
            "name": "losses of answers, beside some sent as given",
            "plan": with_given(base),
            "accepted": True,
            "why": "what is sent as given loses what its noise lets out",
        },
        {
            "name": "losses of one answer",
            "plan": of_answers,
            "accepted": True,
            "why": "no more than one answer can change",
        },
        {
            "name": "one answer, in a later wave",
            "plan": {**of_answers, "publication": plan([Table.coin()])["publication"], "wave": 2},
            "accepted": True,
            "why": "its losses are those of reports",
        },
        *(
            {"name": name, "plan": wrong, "accepted": False, "why": "no proof of what is lost"}
            for name, wrong in wrong
        ),
    ]


def in_waves() -> list[dict[str, Any]]:
    """Return Plans that say how many waves are planned, and how chance falls in them."""
    old = plan([Table.coin(), Subset.for_epsilon(5, Decimal(1))])
    base = {**old, "waves": 3, "draws": "fresh"}
    kept = {**base, "draws": "kept"}
    counted = {**base, "publication": {**base["publication"], "counts": "answers"}}
    of_kept = {**counted, "draws": "kept"}
    sound = [
        ("one wave", {**base, "waves": 1}),
        ("the last of three waves, with fresh draws", {**base, "wave": 3}),
        ("the first of three waves, with a kept key", kept),
        ("the last of three waves, with a kept key", {**kept, "wave": 3}),
        ("as many waves as can be", {**base, "waves": 99}),
        ("losses of answers in a later wave with fresh draws", {**counted, "wave": 2}),
        ("losses of answers in a first wave with a kept key", of_kept),
    ]
    wrong = [
        ("a wave beyond those that are planned", {**base, "wave": 4}),
        ("waves without a word of chance", {**old, "waves": 3}),
        ("a word of chance without waves", {**old, "draws": "fresh"}),
        ("no wave", {**base, "waves": 0}),
        ("more waves than can be", {**base, "waves": 100}),
        ("waves in words", {**base, "waves": "3"}),
        ("draws by another name", {**base, "draws": "stale"}),
        ("draws that are no word", {**base, "draws": ["fresh"]}),
        ("a key for one wave", {**kept, "waves": 1}),
        ("losses of answers in a later wave with a kept key", {**of_kept, "wave": 2}),
    ]
    return [
        *(
            {"name": name, "plan": case, "accepted": True, "why": "of waves"}
            for name, case in sound
        ),
        *(
            {"name": name, "plan": case, "accepted": False, "why": "of waves"}
            for name, case in wrong
        ),
    ]


def drawing() -> list[dict[str, Any]]:
    """Return Plans whose devices draw what they ask."""
    channels = [Table.coin(), Table.coin(), Subset.for_epsilon(5, Decimal(1)), Table.coin()]
    base = with_given(plan(channels))
    four, five = base["questions"][3], base["questions"][2]
    base["questions"][3] = {
        **four,
        "asked_if": {"answers": [0, 1], "question": five["name"]},
        "kind": "single",
        "choices": ["a", "b", "Not asked"],
        "channel": {"kind": "table", "weights": [[3, 1, 1], [1, 3, 1], [1, 1, 3]]},
        "skipped": 1,
    }
    # ε of the subset is 1, rounded towards privacy; the others are coins of 3 to 1
    base["blocks"] = [{"questions": ["q1"]}, {"questions": ["q2"]}, {"questions": ["q3", "q4"]}]
    base["drawn"] = [
        {"blocks": [0, 1], "weight": 1},
        {"blocks": [2], "weight": 2},
        {"blocks": [0], "weight": 2**20},
    ]
    base["loss"] = [9, 1]
    top, bottom = (int(part) for part in base["questions"][0]["loss"])
    less = [top * top * 10**6 - 1, bottom * bottom * 10**6]
    first, block = ["drawn", 0], ["blocks", 0]
    pairs = [{"blocks": [0, 2], "weight": 1}, {"blocks": [1], "weight": 1}]
    many = [{"blocks": [0, 1], "weight": 1} for _ in range(101)]
    without = {name: part for name, part in base.items() if name != "drawn"}
    wrong = [
        ("a Plan that understates the loss of a set", changed(base, ["loss"], less)),
        ("the loss of another set than the largest", changed(base, ["drawn"], pairs)),
        ("sets that are not there", without),
        ("no sets", changed(base, ["drawn"], [])),
        ("no blocks", changed(base, ["blocks"], [])),
        ("nobody asked anything", changed(base, [*first, "blocks"], [])),
        ("more sets than a phone looks through", changed(base, ["drawn"], many)),
        ("more blocks than a phone looks through", changed(base, ["blocks"], base["blocks"] * 34)),
        ("a block of nothing", changed(base, [*block, "questions"], [])),
        ("a block that is never drawn", changed(base, ["drawn"], base["drawn"][::2])),
        ("a set that is there twice", changed(base, ["drawn", 2, "blocks"], [0, 1])),
        ("a block twice in a set", changed(base, [*first, "blocks"], [0, 0, 1])),
        ("blocks that fall", changed(base, [*first, "blocks"], [1, 0])),
        ("a block that there is not", changed(base, [*first, "blocks"], [0, 3])),
        ("a block before the first", changed(base, [*first, "blocks"], [-1, 1])),
        ("a question in two blocks", changed(base, [*block, "questions"], ["q1", "q2"])),
        ("a question twice in a block", changed(base, [*block, "questions"], ["q1", "q1"])),
        ("a question in no block", changed(base, ["blocks", 2, "questions"], ["q3"])),
        ("a name that no question has", changed(base, [*block, "questions"], ["q9"])),
        ("a number for a name", changed(base, [*block, "questions"], [1])),
        ("one sent as given in a block", changed(base, [*block, "questions"], ["q1", "choice"])),
        ("questions in another order", changed(base, ["blocks", 2, "questions"], ["q4", "q3"])),
        (
            "a condition whose parent is in another block",
            changed(base, ["questions", 3, "asked_if", "question"], "q1"),
        ),
        ("a weight of nothing", changed(base, [*first, "weight"], 0)),
        ("a weight that is a part", changed(base, [*first, "weight"], 1.5)),
        ("a weight that is a truth", changed(base, [*first, "weight"], True)),
        ("a weight above 2^20", changed(base, [*first, "weight"], 2**20 + 1)),
        ("a weight in words", changed(base, [*first, "weight"], "1")),
        ("a block sent as one answer", changed(base, [*block, "channel"], {"kind": "table"})),
        ("sets where taking part is hidden", changed(base, ["neighbours"], "add-remove")),
    ]
    one = plan([Table.coin()])
    alone = {"blocks": [{"questions": ["q1"]}], "drawn": [{"blocks": [0], "weight": 1}]}
    counted = {**base, "publication": {**base["publication"], "counts": "answers"}}
    sound = [
        ("drawn questions, a block of two, and some sent as given", base),
        ("one set of all", {**one, **alone}),
        ("drawn questions whose losses are counted", counted),
    ]
    return [
        *(
            {"name": name, "plan": case, "accepted": True, "why": "a person loses the largest"}
            for name, case in sound
        ),
        *({"name": name, "plan": case, "accepted": False, "why": name} for name, case in wrong),
    ]


def sent_together() -> list[dict[str, Any]]:
    """Return Plans with blocks whose questions are sent as one answer."""
    base = plan([Table.coin(), Table.coin(), Subset.for_epsilon(5, Decimal(1)), Table.coin()])
    base["questions"][1] |= {
        "asked_if": {"answers": [1], "question": "q1"},
        "kind": "single",
        "choices": ["a", "b", "Not asked"],
        "skipped": 1,
    }
    for question in base["questions"][:3]:
        del question["channel"], question["loss"]
    joint = Subset.for_epsilon(30, Decimal(2))
    block = {"name": "b1", "channel": joint.document(), "loss": written(joint.loss)}
    base["blocks"] = [{"questions": ["q1", "q2", "q3"], **block}, {"questions": ["q4"]}]
    base["drawn"] = [{"blocks": [0], "weight": 1}, {"blocks": [1], "weight": 1}]
    base["loss"] = written(joint.loss)
    both = changed(base, ["drawn"], [{"blocks": [0, 1], "weight": 1}])
    named = ["blocks", 0, "name"]
    channel = ["blocks", 0, "channel"]
    apart = deepcopy(base)
    apart["blocks"] = [{"questions": ["q1"]}, {"questions": ["q2", "q3"], **block}]
    apart["blocks"].append({"questions": ["q4"]})
    coin = base["questions"][3]
    apart["questions"][0] |= {"channel": coin["channel"], "loss": coin["loss"]}
    apart["questions"][2]["choices"] = [f"c{at}" for at in range(10)]
    apart["drawn"].append({"blocks": [2], "weight": 1})
    large = deepcopy(base)
    large["questions"][2]["choices"] = [f"c{at}" for at in range(171)]
    large["blocks"][0]["channel"] = {"kind": "subset", "choices": 1026, "size": 1, "keep": 2**30}
    numbers = deepcopy(base)
    numbers["questions"][2] |= {"kind": "number", "choices": [], "least": 0, "most": 4, "unit": ""}
    numbers["questions"][2]["wanted"] = "mean"
    alone = deepcopy(base)
    four = Subset.for_epsilon(2, Decimal(1))
    alone["blocks"][1] |= {"name": "b2", "channel": four.document(), "loss": written(four.loss)}
    del alone["questions"][3]["channel"], alone["questions"][3]["loss"]
    given = deepcopy(base)
    given["questions"][2]["protection"] = "publication"
    own = deepcopy(base)
    own["questions"][2] |= {
        "channel": Subset.for_epsilon(5, Decimal(1)).document(),
        "loss": [3, 1],
    }
    less = written(joint.loss - Fraction(1, 10**6))
    wrong = [
        ("a joint block that understates what its answer loses", ["blocks", 0, "loss"], less),
        ("a Plan that understates what a joint block loses", ["loss"], less),
        ("a joint block without a name", named, ""),
        ("a joint block with the name of a question", named, "q4"),
        ("a joint block with a name that is none", named, "B 1"),
        ("a joint channel for other cells", [*channel, "choices"], 31),
        ("a joint channel that tells nothing", [*channel, "keep"], 2**32 * joint.size // 30),
        (
            "a joint channel that is a table",
            channel,
            {"kind": "table", "weights": [[3, 1], [1, 3]]},
        ),
        ("a joint channel with a part of its own", [*channel, "base"], 3),
        ("a joint answer in another order", ["blocks", 0, "questions"], ["q1", "q3", "q2"]),
    ]
    broken = [
        *((name, changed(base, path, value)) for name, path, value in wrong),
        ("a joint answer counted twice as nothing", changed(both, ["loss"], written(joint.loss))),
        ("a condition whose parent is in another joint block", apart),
        ("a joint answer of one question", alone),
        ("1,026 joint answers", large),
        ("a number in a joint answer", numbers),
        ("what is sent as given in a joint answer", given),
        ("a channel of its own in a joint answer", own),
    ]
    for part in ("name", "loss", "channel"):
        without = deepcopy(base)
        del without["blocks"][0][part]
        broken.append((f"a joint block that lacks its {part}", without))
    total = written(joint.loss * 3)
    declined = deepcopy(base)
    declined["questions"][0] |= {"choices": ["No", "Yes", "Prefer not to say"], "decline": 1}
    declined["questions"][1] |= {"choices": ["a", "b", "Rather not", "Not asked"], "decline": 1}
    declined["questions"][2] |= {"choices": [*"abcde", "Rather not"], "decline": 1}
    with_it = Subset.for_epsilon(31, Decimal(2))
    declined["blocks"][0] |= {"channel": with_it.document(), "loss": written(with_it.loss)}
    declined["blocks"][0]["decline"] = 1
    declined["loss"] = written(with_it.loss)
    decline, apart_too = ["blocks", 0, "decline"], deepcopy(declined)
    apart_too["blocks"][1]["decline"] = 1
    each_by_itself = deepcopy(declined)
    del each_by_itself["blocks"][0]["decline"]
    too_large = deepcopy(declined)
    too_large["questions"][2]["choices"] = [*(f"c{at}" for at in range(171)), "Rather not"]
    too_large["blocks"][0]["channel"] = large["blocks"][0]["channel"] | {"choices": 1027}
    third = deepcopy(declined)
    third["questions"][2] |= {"choices": [*"abcde"], "decline": 0}
    broken += [
        ("declining as one of which two things are said", changed(declined, decline, 2)),
        ("declining as one that is said not to be", changed(declined, decline, 0)),
        ("declining as one that is a word", changed(declined, decline, "1")),
        ("declining as one that is true", changed(declined, decline, True)),
        ("declining as one of what is sent apart", apart_too),
        ("declining as one, in a channel for each by itself", each_by_itself),
        ("declining as one where one cannot be declined", third),
        ("declining as one where none can be declined", changed(base, decline, 1)),
        ("1,027 joint answers, declining among them", too_large),
    ]
    return [
        {"name": name, "plan": case, "accepted": True, "why": "one joint answer counts once"}
        for name, case in [
            ("a joint answer of three questions, one of them a follow-up", base),
            ("a joint answer beside another question", {**both, "loss": total}),
            ("a joint answer that is declined as one", declined),
        ]
    ] + [{"name": name, "plan": case, "accepted": False, "why": name} for name, case in broken]


def of_eight() -> list[dict[str, Any]]:
    """Return Plans whose answers lose an ε of 8 in all, and the least more."""
    base = plan([Table.coin(), Subset.for_epsilon(5, Decimal(1))])
    at = [MAXIMUM_TOTAL.numerator, MAXIMUM_TOTAL.denominator]
    one = plan([Subset.for_epsilon(3, Decimal(8))])
    two = plan([Table.binary(Decimal("6.5")), Subset.for_epsilon(4, Decimal("1.5"))])
    return [
        {"name": "an ε of 8, of one answer", "plan": one, "accepted": True, "why": "e⁸"},
        {"name": "an ε of 8, of two answers", "plan": two, "accepted": True, "why": "e⁸"},
        {
            "name": "e⁸, rounded up",
            "plan": changed(base, ["loss"], at),
            "accepted": True,
            "why": "the maximum compiled into the script",
        },
        {
            "name": "a billionth more than e⁸, rounded up",
            "plan": changed(base, ["loss"], [2_980_957_987_043, 10**9]),
            "accepted": False,
            "why": "the maximum compiled into the script",
        },
    ]


def write(name: str, found: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(case, sort_keys=True) for case in found)
    (HERE / name).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    stream = random.Random(20261121)  # recorded words, not protection
    write("table.json", cases(TABLES, stream))
    write("subset.json", cases(SUBSETS, stream))
    of_several = cases_of_sets(SOME_OFS, random.Random(20261125))
    write("one_of.json", cases_of_sets(ONE_OFS, stream) + of_several)
    write("losses.json", losses())
    write("bounds.json", bounds())
    write("blocks.json", of_blocks(random.Random(20261124)))
    found = [*plans(), *kinds.plans(), *counting(), *in_waves()]
    found += [*of_eight(), *drawing(), *sent_together()]
    for case in found:
        try:
            verify(case["plan"])
        except Unsound:
            assert not case["accepted"], case["name"]
        else:
            assert case["accepted"], case["name"]
    write("plans.json", found)
    write("questions.json", kinds.draws(random.Random(20261123)))
