"""Plans of every kind of question, sound and broken, for `generate.py`: both verifications must
judge them alike.
"""

import random
from copy import deepcopy
from decimal import Decimal
from typing import Any

from dpengine.local.channel import Channel
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import loss_of_all
from dpengine.randomness import WORD
from tests.plans import planned

# of the grid 0, 3, 6 each report is worth −3, 3 and 9 steps
BY_HAND = Table(((5, 2, 1), (3, 2, 3), (1, 2, 5)))
LARGE = 2**60 + 1  # a factor of decoder and scale that no double holds
PICTURE = {
    "sha256": "0123456789abcdef" * 4,
    "type": "image/png",
    "width": 640,
    "height": 1,
    "text": "A bottle.",
}
EVERY = {"epsilon": "1", "hours": 24, "rho": "0.01", "rule": "every", "smallest_batch": 100}
OF_MEANS = {"name": "m3", "text": "How much?"}
Change = tuple[str, list[Any], Any]


def question(name: str, kind: str, channel: Channel, **more: Any) -> dict[str, Any]:
    shown = {
        "decline": 0,
        "help": "",
        "label": name,
        "text": f"{name}?",
        "protection": "device",
        "choices": [],
    }
    loss = [part if part < 2**53 else str(part) for part in channel.loss.as_integer_ratio()]
    return {
        "name": name,
        "kind": kind,
        **shown,
        "channel": channel.document(),
        "loss": loss,
        **more,
    }


def plan(*questions: dict[str, Any]) -> dict[str, Any]:
    total = loss_of_all(planned(each).channel.loss for each in questions if "channel" in each)
    return {
        "caps": {"central_epsilon": "1"},
        "format": 1,
        "loss": [part if part < 2**53 else str(part) for part in total.as_integer_ratio()],
        "publication": {"epsilon": "1", "rule": "when-closed", "smallest_batch": 100},
        "questions": list(questions),
    }


def options(count: int) -> list[str]:
    return [f"option {place}" for place in range(count)]


def several(name: str = "several", **more: Any) -> dict[str, Any]:
    return question(
        name, "multiple", OneOf.for_epsilon(5, Decimal(1)), **{"choices": options(5), **more}
    )


def in_twos(**more: Any) -> dict[str, Any]:
    channel = OneOf.for_epsilon(5, Decimal(2), 2)
    return question("in_twos", "multiple", channel, **{"choices": options(5), **more})


def mean(**more: Any) -> dict[str, Any]:
    channel = NumberChannel(Decimal(-2), Decimal(4), BY_HAND, (0, 3, 6), (-3, 3, 9), 1)
    bounds = {"least": -2, "most": 4, "unit": "days", "wanted": "mean"}
    return question("mean", "number", channel, **{**bounds, **more})


def designed(epsilon: str, least: int, most: int, kind: str = "number") -> dict[str, Any]:
    channel = NumberChannel.for_epsilon(
        Decimal(epsilon), Decimal(least), Decimal(most), most - least
    )
    return question("designed", kind, channel, least=least, most=most, unit="", wanted="mean")


def scored(name: str = "scored", **more: Any) -> dict[str, Any]:
    """Return a scale of five points whose mean is wanted."""
    channel = NumberChannel.for_epsilon(Decimal(1), Decimal(1), Decimal(5), 4)
    bounds = {"least": 1, "most": 5, "unit": "", "wanted": "mean", "choices": options(5)}
    return question(name, "number", channel, **{**bounds, **more})


def spread(bins: int = 5, least: int = 0, most: int = 9, kind: str = "number") -> dict[str, Any]:
    channel = Distribution.for_epsilon(Decimal(1), Decimal(least), Decimal(most + 1), bins)
    bounds = {"least": least, "most": most, "unit": "", "wanted": "distribution"}
    return question("spread", kind, channel, bins=bins, **bounds)


def asked() -> dict[str, Any]:
    return question("asked", "yes_no", Table.coin(), choices=["No", "Yes"])


def follows(name: str = "follows", on: str = "asked", **more: Any) -> dict[str, Any]:
    three = {
        "choices": ["No", "Yes", "Not asked"],
        "skipped": 1,
        "asked_if": {"question": on, "answers": [1]},
    }
    return question(name, "yes_no", Subset.for_epsilon(3, Decimal(1)), **{**three, **more})


def follows_all(name: str = "asked", **more: Any) -> dict[str, Any]:
    """Return a follow-up that everybody is asked: its last choice says that it does not apply."""
    three = {"choices": ["No", "Yes", "Does not apply"], "skipped": 1}
    return question(name, "yes_no", Subset.for_epsilon(3, Decimal(1)), **{**three, **more})


def row(name: str, group: str = "m1", text: str = "How much?", **more: Any) -> dict[str, Any]:
    scale = {"choices": ["low", "middle", "high"], "group": {"name": group, "text": text}}
    return question(name, "likert", Subset.for_epsilon(3, Decimal("0.5")), **{**scale, **more})


def given(of: dict[str, Any]) -> dict[str, Any]:
    kept = {part: value for part, value in of.items() if part not in ("channel", "loss")}
    return {**kept, "protection": "publication"}


def enlarged(of: dict[str, Any]) -> dict[str, Any]:
    """Return the question with decoder and scale so large that they are strings, and mean the
    same.
    """
    large = deepcopy(of)
    channel = large["channel"]
    channel["decoder"] = [str(number * LARGE) for number in channel["decoder"]]
    channel["scale"] = str(channel["scale"] * LARGE)
    return large


def changed(base: dict[str, Any], path: list[Any], value: Any) -> dict[str, Any]:
    copy = deepcopy(base)
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


def without(base: dict[str, Any], part: str, place: int = 0) -> dict[str, Any]:
    copy = deepcopy(base)
    del copy["questions"][place][part]
    return copy


def whole() -> dict[str, Any]:
    """Return a Plan with the parts that few have, around its questions and in them."""
    pictured = {**row("r1"), "picture": PICTURE}
    said = {"choices": ["低", "中", "高"], "group": "多少", "picture": "一个瓶子。", "text": "一行"}
    texts = {"organisation": "大学", "purpose": "了解。", "title": "好像"}
    translations = {
        "zh-hans": {
            **texts,
            "questions": {"r1": said, "asked": {"help": "", "label": "问", "unit": ""}},
        }
    }
    base = plan(pictured, asked())
    base["caps"] |= {
        "central_delta": "0.000001",
        "central_rho": "0.017857142857",
        "panel": "people",
    }
    base["publication"] |= {"rho": "0.01", "rule": "continual", "hours": 24, "horizon": 52}
    about = {
        "contact": "a@example.org",
        "neighbours": "change-one",
        "organisation": "U",
        "purpose": "To know.",
        "title": "As if",
    }
    where = {
        "language": "en",
        "layout": "page",
        "results": "public",
        "slug": "whole",
        "unit": "respondent-in-study",
        "wave": 1,
    }
    return {**base, **about, **where, "translations": translations}


def sound() -> list[tuple[str, dict[str, Any]]]:
    wide = question("wide", "multiple", OneOf.for_epsilon(50, Decimal(2), 1), choices=options(50))
    in_tens = question(
        "tens", "multiple", OneOf.for_epsilon(50, Decimal(4), 10), choices=options(50)
    )
    all_two = question("two", "multiple", OneOf(2, 2**30 + 1, 2), choices=options(2))
    alone = plan(several())
    alone["questions"][0]["channel"] |= {"together": 1}
    twice = follows("twice", "follows", asked_if={"question": "follows", "answers": [0, 1]})
    hidden = follows("hidden", "asked", asked_if={"question": "asked", "answers": [0]})
    ticks = several(
        name="ticks", skipped=1, decline=1, asked_if={"question": "asked", "answers": [1]}
    )
    scale = [
        row("r1"),
        row("r2"),
        question("alone", "likert", Subset.for_epsilon(3, Decimal(1)), choices=options(3)),
    ]
    four = {"choices": ["low", "middle", "high", "Not asked"], "skipped": 1}
    later = {**four, "asked_if": {"question": "asked", "answers": [1]}}
    rows = [
        question(
            name,
            "likert",
            Subset.for_epsilon(4, Decimal("0.5")),
            group={"name": "m2", "text": ""},
            **later,
        )
        for name in ("r3", "r4")
    ]
    return [
        ("several ticks", plan(several())),
        (
            "several ticks, two options",
            plan(question("two", "multiple", OneOf(2, 3 * 2**30), choices=options(2))),
        ),
        ("several ticks, fifty options", plan(wide)),
        ("several ticks, and declining", plan(several(decline=1))),
        ("several ticks, two told of", plan(in_twos())),
        ("several ticks, both told of, as little as can be", plan(all_two)),
        ("several ticks, ten of fifty told of", plan(in_tens)),
        ("several ticks, one told of, in words", alone),
        ("several ticks, two told of, and declining", plan(in_twos(decline=1))),
        ("a mean by hand", plan(mean())),
        ("a mean by hand, in integers that no double holds", plan(enlarged(mean()))),
        ("the mean of a number of 121 values", plan(designed("1", 0, 120))),
        ("the mean of a number of 10,001 values", plan(designed("0.5", -5000, 5000))),
        ("the mean of a number of 2 values", plan(designed("1", 0, 1))),
        ("the mean of a month", plan(designed("1", 24_000, 24_311, "month"))),
        ("the mean of a date", plan(designed("1", 105_000, 105_311, "date"))),
        ("the spread of a date", plan(spread(bins=12, least=52, most=9_000, kind="date"))),
        ("the spread of a number", plan(spread())),
        ("the spread of a number, a bin a value", plan(spread(bins=2, least=-1, most=0))),
        ("the spread of a month", plan(spread(bins=12, least=24_000, most=24_011, kind="month"))),
        (
            "the spread of a month since year 1",
            plan(spread(bins=8, least=12, most=9_000, kind="month")),
        ),
        ("a follow-up that everybody is asked", plan(asked(), follows_all("all"))),
        (
            "a follow-up that counts as one answer with what it follows from",
            plan(asked(), follows_all("all", follows="asked")),
        ),
        (
            "a follow-up that everybody is asked, sent as given",
            plan(asked(), given(follows_all("all"))),
        ),
        ("ticks that may not apply", plan(several(skipped=1, decline=1))),
        ("a question after one that everybody is asked", plan(follows_all(), follows())),
        ("a question that is not always asked", plan(asked(), follows())),
        ("a question after one that is not always asked", plan(asked(), follows(), twice)),
        ("a question after an answer of No", plan(asked(), hidden)),
        ("ticks that are not always asked for", plan(asked(), ticks)),
        ("a question after one sent as given", plan(given(asked()), follows())),
        (
            "a question sent as given after one sent as given",
            plan(given(asked()), given(follows())),
        ),
        ("a matrix, and a scale of its own", plan(*scale)),
        ("two matrices", plan(row("r1"), row("r2"), row("r3", "m2"), row("r4", "m2"))),
        ("a matrix that is not always asked", plan(asked(), *rows)),
        ("a picture", plan({**asked(), "picture": PICTURE})),
        ("a picture of an answer sent as given", plan({**given(asked()), "picture": PICTURE})),
        ("every part that few Plans have", whole()),
        (
            "texts in languages that pages may not speak",
            {**whole(), "translations": {key: {} for key in ("ar", "pt-br", "zh-hant-tw")}},
        ),
        ("a publication every so many hours", {**whole(), "publication": EVERY}),
        ("the mean of a scale", plan(scored())),
        ("codes of choices", plan({**asked(), "codes": ["2", "1"]})),
        ("codes of ticks, and of declining", plan(several(decline=1, codes=[*"abcd", "-99"]))),
        ("codes of ticks, and none of declining", plan(several(decline=1, codes=[*"abcd"]))),
        ("codes of a question not always asked", plan(asked(), follows(codes=["no", "yes.1"]))),
        ("the means of a matrix", plan(scored("s1", group=OF_MEANS), scored("s2", group=OF_MEANS))),
    ]


def broken() -> list[tuple[str, dict[str, Any], list[Change]]]:
    """Return sound Plans, each with changes that make it unsound: the first question is the one
    that is changed.
    """
    first = ["questions", 0]
    channel = [*first, "channel"]
    second = ["questions", 1]
    coin = Table.coin().document()
    keep = OneOf.for_epsilon(5, Decimal(1)).keep
    of_ticks: list[Change] = [
        ("a keep one too large for its loss", [*channel, "keep"], keep + 1),
        ("a keep that tells nothing", [*channel, "keep"], 2**31),
        ("a keep that favours the other bit", [*channel, "keep"], WORD - keep),
        ("a keep that always tells", [*channel, "keep"], WORD),
        ("a keep in a string", [*channel, "keep"], str(keep)),
        ("more options than choices", [*channel, "options"], 6),
        ("fewer options than choices", [*channel, "options"], 4),
        ("a table where several may be ticked", channel, coin),
        (
            "a subset where several may be ticked",
            channel,
            Subset.for_epsilon(5, Decimal(1)).document(),
        ),
        ("a smaller loss than declared", [*first, "loss"], [2718, 1000]),
        ("a decoder of ticks", [*channel, "decoder"], {"rows": [[1]], "scale": 1}),
        ("one option", [*first, "choices"], ["a"]),
        ("options alike", [*first, "choices"], ["a", "b", "c", "d", "a"]),
        ("an option without words", [*first, "choices"], ["a", "b", "c", "d", ""]),
        ("options that are numbers", [*first, "choices"], [0, 1, 2, 3, 4]),
        ("options that are none", [*first, "choices"], []),
        ("a single choice with the channel of several ticks", [*first, "kind"], "single"),
        ("a code too few", [*first, "codes"], [*"abcd"]),
        ("a code too many", [*first, "codes"], [*"abcdef"]),
        ("codes alike", [*first, "codes"], [*"abcda"]),
        ("a code of no letter", [*first, "codes"], [*"abcd", ""]),
        ("a code with a space", [*first, "codes"], [*"abcd", "e f"]),
        ("a code in another alphabet", [*first, "codes"], [*"abcd", "\u0665"]),
        ("a code with a line’s end", [*first, "codes"], [*"abcd", "e\n"]),
        ("a code that is long", [*first, "codes"], [*"abcd", "e" * 33]),
        ("codes that are numbers", [*first, "codes"], [1, 2, 3, 4, 5]),
        ("codes in a string", [*first, "codes"], "abcde"),
        ("free text", [*first, "kind"], "text"),
    ]
    twos = OneOf.for_epsilon(5, Decimal(2), 2).keep
    of_twos: list[Change] = [
        ("a keep of two one too large for its loss", [*channel, "keep"], twos + 1),
        ("a keep of two that tells nothing", [*channel, "keep"], 2**30),
        ("a keep of two that always tells", [*channel, "keep"], WORD),
        ("three told of with the keep of two", [*channel, "together"], 3),
        ("more told of than there are", [*channel, "together"], 6),
        ("none told of", [*channel, "together"], 0),
        ("two told of, in a string", [*channel, "together"], "2"),
        ("a fraction told of", [*channel, "together"], 1.5),
        ("told of, and not how many", [*channel, "together"], None),
        ("more options than choices, two told of", [*channel, "options"], 6),
    ]
    worth = [*channel, "decoder"]
    of_mean: list[Change] = [
        ("codes of a mean", [*first, "codes"], [*"abcdefg"]),
        ("a decoder off by one", [*worth, 0], -2),
        ("a decoder off by one at the end", [*worth, 2], 10),
        ("a decoder turned round", worth, [9, 3, -3]),
        ("a decoder that is right in the middle only", worth, [3, 3, 3]),
        ("a decoder with a report too few", worth, [-3, 3]),
        ("a decoder with a report too many", worth, [-3, 3, 9, 9]),
        ("a decoder in fractions", worth, [-3.5, 3, 9.5]),
        ("a decoder with a number that no double holds", [*worth, 1], 2**53),
        ("a decoder with a sign too many", [*worth, 0], "--3"),
        ("a decoder with a zero before", [*worth, 0], "-03"),
        ("a decoder with nothing in it", worth, []),
        ("no decoder", worth, None),
        ("a scale twice as large", [*channel, "scale"], 2),
        ("a scale of nothing", [*channel, "scale"], 0),
        ("a scale below nothing", [*channel, "scale"], -1),
        ("no scale", [*channel, "scale"], None),
        ("a grid that begins at 1", [*channel, "grid"], [1, 3, 6]),
        ("a grid that ends before the last step", [*channel, "grid"], [0, 3, 5]),
        ("a grid that does not rise", [*channel, "grid"], [0, 0, 6]),
        ("a grid with a point off", [*channel, "grid"], [0, 2, 6]),
        ("a grid with a point too few", [*channel, "grid"], [0, 6]),
        ("a grid that is one number", [*channel, "grid"], 6),
        ("a row that tells more than its loss", [*channel, "weights", 0], [6, 1, 1]),
        ("rows of different sums", [*channel, "weights", 0], [5, 2, 2]),
        ("a report that an answer rules out", [*channel, "weights", 0], [5, 3, 0]),
        ("a row of another length", [*channel, "weights", 0], [5, 3]),
        ("a table of one row", [*channel, "weights"], [[5, 2, 1]]),
        ("no table", [*channel, "weights"], None),
        ("a channel of choices", channel, coin),
        ("a channel of ticks", channel, OneOf(2, 3 * 2**30).document()),
        ("no channel", channel, None),
        ("a smaller loss than declared", [*first, "loss"], [4, 1]),
        ("bounds of another scale", [*first, "most"], 5),
        ("bounds the wrong way round", [*first, "most"], -3),
        ("a bound that is no integer", [*first, "least"], -2.5),
        ("a bound beyond 2^31", [*first, "least"], -(2**31) - 1),
        ("a number that can be declined", [*first, "decline"], 1),
        ("a number with choices", [*first, "choices"], ["a", "b"]),
        ("a number without a unit", [*first, "unit"], None),
        ("nothing wanted", [*first, "wanted"], ""),
        ("a median wanted", [*first, "wanted"], "median"),
        ("a spread wanted of the channel of a mean", [*first, "wanted"], "distribution"),
        ("a number that is not always asked", [*first, "skipped"], 1),
        ("a question of choices with the channel of a mean", [*first, "kind"], "single"),
    ]
    of_scale: list[Change] = [
        ("fewer words than numbers", [*first, "choices"], options(4)),
        ("more words than numbers", [*first, "choices"], options(6)),
        ("words alike", [*first, "choices"], ["a", "b", "c", "d", "a"]),
        ("a number without its word", [*first, "choices"], ["a", "b", "c", "d", ""]),
        ("words that are numbers", [*first, "choices"], [1, 2, 3, 4, 5]),
        ("words in one", [*first, "choices"], "abcde"),
        ("no list of words", [*first, "choices"], None),
        ("a mean that can be declined", [*first, "decline"], 1),
        ("a mean of who is asked only", [*first, "skipped"], 1),
        ("numbers of another length", [*first, "most"], 6),
        ("a spread wanted of the channel of a mean", [*first, "wanted"], "distribution"),
        ("shares wanted of the channel of a mean", [*first, "kind"], "likert"),
        ("a month in words", [*first, "kind"], "month"),
        ("sent as given", [*first, "protection"], "publication"),
    ]
    waves = spread()["channel"]["weights"]
    uneven = [[*waves[0]], *waves[1:-1], [*waves[0]]]
    of_spread: list[Change] = [
        ("more bins than its table has", [*first, "bins"], 6),
        ("fewer bins than its table has", [*first, "bins"], 4),
        ("bins in a string", [*first, "bins"], "5"),
        ("no bins", [*first, "bins"], None),
        ("more bins than numbers", [*first, "most"], 3),
        ("a row that is not the one before it, moved", [*channel, "weights"], uneven),
        ("rows that are moved the other way", [*channel, "weights"], [waves[0], *waves[:0:-1]]),
        ("rows alike", [*channel, "weights"], [[1] * 5] * 5),
        ("rows in one number", [*channel, "weights"], 5),
        ("a larger weight than its loss allows", [*channel, "weights", 0, 0], waves[0][0] + 1),
        ("a decoder of bins", [*channel, "decoder"], {"rows": [[1] * 5], "scale": 1}),
        ("a subset of bins", channel, Subset.for_epsilon(5, Decimal(1)).document()),
        ("a channel of a mean", channel, mean()["channel"]),
        ("a smaller loss than declared", [*first, "loss"], [2, 1]),
        ("a mean wanted of the channel of a spread", [*first, "wanted"], "mean"),
        ("bounds the wrong way round", [*first, "least"], 10),
        ("more than 10,000 steps", [*first, "most"], 10_001),
        ("a spread with choices", [*first, "choices"], ["a"]),
    ]
    of_month: list[Change] = [
        ("a month before year 1", [*first, "least"], 11),
        ("a month after year 9999", [*first, "most"], 120_000),
        ("a month sent as given", [*first, "protection"], "publication"),
        ("a month in words", [*first, "least"], "2000-01"),
        ("a month without a unit", [*first, "unit"], None),
        ("a month that can be declined", [*first, "decline"], 1),
        ("months the wrong way round", [*first, "most"], 23_999),
        ("one month", [*first, "most"], 24_000),
    ]
    condition = [*second, "asked_if"]
    of_condition: list[Change] = [
        ("a condition without an answer for who is not asked", [*second, "skipped"], 0),
        ("a condition whose answer for who is not asked is a truth", [*second, "skipped"], True),
        ("a condition on no question", [*condition, "question"], "nobody"),
        ("a condition on itself", [*condition, "question"], "follows"),
        ("a condition on a name of an object's own parts", [*condition, "question"], "__proto__"),
        ("a condition on a question's number", [*condition, "question"], 0),
        ("a condition on no answer", [*condition, "answers"], []),
        ("a condition on an answer that there is not", [*condition, "answers"], [2]),
        ("a condition on an answer below the first", [*condition, "answers"], [-1]),
        ("a condition on answers in falling order", [*condition, "answers"], [1, 0]),
        ("a condition on an answer twice", [*condition, "answers"], [1, 1]),
        ("a condition on a truth", [*condition, "answers"], [True]),
        ("a condition on answers in words", [*condition, "answers"], "1"),
        ("a condition of nothing", condition, None),
        ("a condition in a list", condition, [1]),
        (
            "a condition on the first question",
            [*first, "asked_if"],
            {"question": "asked", "answers": [1]},
        ),
        ("an answer that it does not apply, twice", [*first, "skipped"], 2),
        ("one choice beside declining and not being asked", [*second, "decline"], 1),
        (
            "a yes or no with a third answer",
            [*second, "choices"],
            ["No", "Yes", "Maybe", "Not asked"],
        ),
    ]
    of_follow_up: list[Change] = [
        ("what follows from no question", [*second, "follows"], "nobody"),
        ("what follows from itself", [*second, "follows"], "of_all"),
        ("what follows from a question's number", [*second, "follows"], 0),
        ("what follows from nothing", [*second, "follows"], None),
        ("what follows from a list", [*second, "follows"], ["asked"]),
        ("what follows and always applies", [*second, "skipped"], None),
        ("a first question that follows", [*first, "follows"], "of_all"),
        (
            "what follows and is passed over",
            [*second, "asked_if"],
            {"question": "asked", "answers": [1]},
        ),
    ]
    group = [*first, "group"]
    of_group: list[Change] = [
        ("a group of yes and no", [*first, "kind"], "single"),
        ("a group without a name", [*group, "name"], ""),
        ("a group whose name is a number", [*group, "name"], 1),
        ("a group without words", [*group, "text"], None),
        ("a group of nothing", group, None),
        ("a row with another text above", [*second, "group", "text"], "How often?"),
        ("a row with other choices", [*second, "choices"], ["low", "middle", "higher"]),
        ("a row that may be declined", [*second, "decline"], 1),
        (
            "a row apart from its group",
            ["questions", 2, "group"],
            {"name": "m1", "text": "How much?"},
        ),
    ]
    picture = [*first, "picture"]
    of_picture: list[Change] = [
        ("a picture of nothing", picture, None),
        ("a picture with a short digest", [*picture, "sha256"], "0123"),
        ("a picture with a digest in capitals", [*picture, "sha256"], "A" * 64),
        ("a picture that can run scripts", [*picture, "type"], "image/svg+xml"),
        ("a picture that is a page", [*picture, "type"], "text/html"),
        ("a picture without a width", [*picture, "width"], 0),
        ("a picture with a height in words", [*picture, "height"], "1"),
        ("a picture wider than any screen", [*picture, "width"], 10_001),
        ("a picture without words", [*picture, "text"], None),
    ]
    said = ["translations", "zh-hans"]
    of_parts: list[Change] = [
        ("a part of no Plan", ["keep"], 2**31),
        ("a cap on nothing we know", ["caps", "researcher"], "20"),
        ("a publication with a part of its own", ["publication", "delta"], "1"),
        ("hours of a rule that has none", ["publication", "rule"], "when-closed"),
        ("a rule in a list", ["publication", "rule"], ["continual"]),
        (
            "a table with a keep, which the page would tell",
            ["questions", 1, "channel", "keep"],
            2**31 + 1,
        ),
        (
            "a table with a decoder",
            ["questions", 1, "channel", "decoder"],
            {"rows": [[1, 0], [0, 1]], "scale": 1},
        ),
        ("bins of a yes or no", ["questions", 1, "bins"], 2),
        ("a spread wanted of a yes or no", ["questions", 1, "wanted"], "distribution"),
        ("a least of a yes or no", ["questions", 1, "least"], 0),
        ("a subset with weights", [*channel, "weights"], [[3, 1], [1, 3]]),
        ("a part of an object's own", [*first, "constructor"], 1),
        ("a part without a name", [*first, ""], 1),
        ("a group with a channel", [*first, "group", "channel"], coin),
        ("a picture with an address", [*first, "picture", "src"], "https://example.org/"),
        ("a language with a channel", [*said, "channel"], coin),
        ("a language without a name", ["translations", ""], {}),
        ("a language that is none", ["translations", "__proto__"], {}),
        ("a language in capitals", ["translations", "pt-BR"], {}),
        ("a language of many parts", ["translations", "zh-hans-cn-x-y"], {}),
        ("a language that ends with a line", ["translations", "en\n"], {}),
        ("texts of no question", [*said, "questions", "r2"], {}),
        ("a loss in another language", [*said, "questions", "r1", "loss"], [1, 1]),
        ("texts that are a list", [*said, "questions", "r1"], []),
        ("languages that are none", ["translations"], None),
    ]
    matrix = plan(row("r1"), row("r2"), row("r3", "m2"), row("r4", "m2"))
    return [
        ("several ticks", plan(several()), of_ticks),
        ("several ticks, two told of", plan(in_twos()), of_twos),
        ("a mean", plan(mean()), of_mean),
        ("a spread", plan(spread()), of_spread),
        ("a month", plan(spread(bins=12, least=24_000, most=24_011, kind="month")), of_month),
        ("a condition", plan(asked(), follows()), of_condition),
        ("a follow-up", plan(asked(), follows_all("of_all", follows="asked")), of_follow_up),
        ("a group", matrix, [*of_group[:-1]]),
        ("a group", plan(row("r1"), row("r2", "m2"), row("r3", "m2")), [of_group[-1]]),
        ("a picture", plan({**asked(), "picture": PICTURE}), of_picture),
        ("every part", whole(), of_parts),
        ("a scale", plan(scored()), of_scale),
    ]


def lacking() -> list[tuple[str, dict[str, Any]]]:
    """Return Plans without a part that a question of their kind has."""
    cases = [
        (mean(), ("least", "most", "unit", "wanted", "loss", "channel")),
        (spread(), ("bins", "least", "wanted")),
    ]
    found = [
        (f"a {case['name']} without {part}", without(plan(case), part))
        for case, parts in cases
        for part in parts
    ]
    backwards = plan(asked(), follows())
    backwards["questions"].reverse()
    on_ticks = plan(several(), follows(asked_if={"question": "several", "answers": [1]}))
    on_number = plan(mean(), follows(asked_if={"question": "mean", "answers": [1]}))
    of_all = {"question": "asked", "answers": [2]}
    words = {"choices": options(5)}
    on_skipped = plan(
        asked(), follows(), follows("twice", asked_if={"question": "follows", "answers": [2]})
    )
    return [
        *found,
        (
            "a condition, and no answer for who is not asked",
            without(plan(follows_all(), follows()), "skipped", 1),
        ),
        ("a condition on a question that comes later", backwards),
        ("a condition on ticks", on_ticks),
        ("a condition on a number", on_number),
        ("a condition on not being asked", on_skipped),
        ("a condition on what does not apply", plan(follows_all(), follows(asked_if=of_all))),
        (
            "a question sent as given after one that is not: being asked would tell",
            plan(asked(), given(follows())),
        ),
        (
            "a choice of which a spread is wanted: some answers would have no bin",
            plan(_spread_of_choices()),
        ),
        ("a choice of which a mean is wanted", plan({**asked(), "wanted": "mean"})),
        ("the spread of a scale", plan({**spread(), "choices": options(10)})),
        (
            "the mean of a month with words",
            plan({**designed("1", 24_000, 24_004, "month"), **words}),
        ),
        ("the mean of a scale sent as given", plan(_scored_in_clear())),
        ("a number without words in a matrix", plan({**mean(), "group": OF_MEANS})),
        (
            "a mean in a matrix of other words",
            plan(scored("s1", group=OF_MEANS), row("r1", "m3")),
        ),
        (
            "ticks of which a spread is wanted",
            plan(several(wanted="distribution", bins=5, least=0, most=4)),
        ),
        ("ticks sent as given", plan(given(several()))),
        (
            "a month sent as given",
            plan(given(spread(bins=12, least=24_000, most=24_011, kind="month"))),
        ),
        ("free text sent as given", plan({**given(asked()), "kind": "text"})),
    ]


def _scored_in_clear() -> dict[str, Any]:
    shown = given(scored())
    del shown["wanted"]
    return shown


def _spread_of_choices() -> dict[str, Any]:
    """Return a question whose second answer falls into a bin beyond its table: no message would
    come of it.
    """
    return {**asked(), "wanted": "distribution", "bins": 4, "least": 0, "most": 1}


def plans() -> list[dict[str, Any]]:
    good = [{"name": name, "plan": made, "accepted": True, "why": ""} for name, made in sound()]
    bad = [
        {
            "name": f"{of}: {name}",
            "plan": changed(made, path, value),
            "accepted": False,
            "why": name,
        }
        for of, made, changes in broken()
        for name, path, value in changes
    ]
    less = [
        {"name": name, "plan": made, "accepted": False, "why": name} for name, made in lacking()
    ]
    return [*good, *bad, *less, *far_apart()]


def far_apart() -> list[dict[str, Any]]:
    """Return two means whose reports stand for numbers so far apart that an interval can just be
    found, or not.
    """
    return [_four_reports(1024, accepted=True), _four_reports(1025, accepted=False)]


def _four_reports(far: int, *, accepted: bool) -> dict[str, Any]:
    """Two rare reports far from the middle, and two common ones next to it: all in one unit,
    half a step.
    """
    rows = ((far, 3 * far, far, far), (far, far, 3 * far, far))
    worth = _worth(rows, far)
    channel = NumberChannel(Decimal(0), Decimal(1), Table(rows), (0, 1), worth[0], worth[1])
    of = question("mean", "number", channel, least=0, most=1, unit="", wanted="mean")
    why = "" if accepted else "reports worth small numbers"
    return {
        "name": f"reports {far} units from the middle",
        "plan": plan(of),
        "accepted": accepted,
        "why": why,
    }


def _worth(rows: tuple[tuple[int, ...], ...], far: int) -> tuple[tuple[int, ...], int]:
    """Return a decoder in which the ends lie so far away: from the middle −far, −1, 1, far in one
    unit.

    The mean after row 0 is (−far·f − 3f + f + far·f)/6f = −1/3 units, after row 1 it is 1/3: a step
    is 2/3 of a unit.
    """
    # y = ½ step + z units, a unit being 3/2 steps: doubled, y = (1 + 3z)/2
    return tuple(1 + 3 * z for z in (-far, -1, 1, far)), 2


# Draws of whole questions, from a true answer as the form holds it to what is sent

DRAWS = 40  # a question


def draws(stream: random.Random) -> list[dict[str, Any]]:
    found = []
    for name, of, answers in drawn():
        for number in range(DRAWS):
            answer = answers[number % len(answers)]
            found.append({"name": f"{name} {number + 1}", **recorded(of, answer, stream)})
    return found


def drawn() -> list[tuple[str, dict[str, Any], list[Any]]]:
    ticks = several(decline=1)
    every_other = spread(bins=3, least=-4, most=5)
    month = designed("1", 24_000, 24_311, "month")
    months = spread(bins=12, least=24_000, most=24_311, kind="month")
    return [
        ("ticks", ticks, [[], [0], [4], [1, 2, 3], [0, 1, 2, 3]]),
        ("a question that is not always asked", follows(), [0, 1, 2]),
        ("a mean by hand", mean(), [*range(7)]),
        ("the mean of a month", month, [0, 1, 155, 156, 310, 311]),
        ("a spread, ten numbers in three bins", every_other, [*range(10)]),
        ("the spread of a month", months, [0, 25, 26, 27, 155, 156, 311]),
        ("the mean of a date", designed("1", 105_000, 105_311, "date"), [0, 155, 311]),
    ]


def recorded(of: dict[str, Any], answer: Any, stream: random.Random) -> dict[str, Any]:
    used: list[int] = []

    def words() -> int:
        used.append(stream.choice([0, WORD - 1, stream.randrange(WORD)]))
        return used[-1]

    return {
        "question": of,
        "answer": answer,
        "report": planned(of).randomise(answer, words),
        "words": used,
    }
