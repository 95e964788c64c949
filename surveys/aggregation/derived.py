"""What follows from one question's published counts: shares, a mean, or a distribution. Post-processing, and free.

Every number has an interval. Where a standard error means something it is split by where the doubt comes from; a
distribution's limits hold without one, and are wider than its errors. What a release keeps is in English: it is drawn
once, by a worker, for readers of any language; pages say it in theirs from the same numbers.
"""

from itertools import pairwise
from math import ceil, floor
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from dpengine.estimates import Estimate, Noise, plain_answers, simplex
from dpengine.local.distribution import Bounded, Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from surveys.aggregation.tallies import PublicTally
from surveys.design import documents

Found = dict[str, Any]
RANGES = 8  # into which the bins of a distribution are put together for people to read
QUARTERS = (25, 50, 75)


def found(question: Found, tally: PublicTally, noisy: list[int], n: int, noise: Noise) -> Found:
    """Return what is known of people's answers to one question, ready for JSON."""
    if isinstance(tally.channel, NumberChannel):
        return _mean(question, tally.channel, noisy, n, noise)
    if isinstance(tally.channel, Distribution):
        return _distribution(question, tally.channel, noisy, n, noise)
    estimates = tally.estimates(noisy, n, noise)
    if isinstance(tally.channel, OneOf):
        return {**_several(estimates), "choices": _choices(question, noisy, estimates, _clipped(estimates))}
    return {
        "as_precise_as": plain_answers(estimates) or None,  # nothing to compare with when all is said to be one answer
        "choices": _choices(question, noisy, estimates, simplex([estimate.value for estimate in estimates])),
    }


def _choices(question: Found, noisy: list[int], estimates: list[Estimate], projected: list[float]) -> list[Found]:
    rows = zip(question["choices"], noisy, estimates, projected, strict=True)
    return [_choice(index, *row) for index, row in enumerate(rows)]


def _choice(index: int, text: str, noisy: int, estimate: Estimate, projected: float) -> Found:
    return {
        "choice": text,
        "index": index,
        "noisy_count": noisy,
        "projected": projected,
        **_number(estimate),
    }


def _number(estimate: Estimate) -> Found:
    return {
        "estimate": estimate.value,
        "interval": [estimate.low, estimate.high],
        "standard_error": estimate.standard_error,
        "variance": estimate.variance.document(),
    }


# Several options


def _several(estimates: list[Estimate]) -> Found:
    """Return what is said of options that can go together: each is a share of its own."""
    shares = _clipped(estimates)
    spread = sum(share * (1 - share) for share in shares)
    total = sum(estimate.variance.total for estimate in estimates)
    return {"as_precise_as": int(spread / total) or None, "kind": "multiple"}


def _clipped(estimates: list[Estimate]) -> list[float]:
    return [min(max(estimate.value, 0.0), 1.0) for estimate in estimates]


# Numbers


def _frame(question: Found, noisy: list[int]) -> Found:
    months = {"is_month": True} if question["kind"] == "month" else {}
    return {"noisy_counts": noisy, "unit": question["unit"], **months}


def _mean(question: Found, channel: NumberChannel, noisy: list[int], n: int, noise: Noise) -> Found:
    estimate = channel.mean(noisy, n, noise)
    plain = int(n * estimate.variance.sampling / estimate.variance.total)
    return {
        **_frame(question, noisy),
        "as_precise_as": plain or None,
        "kind": "mean",
        "mean": {**_number(estimate), "unit": question["unit"]},
    }


def _distribution(question: Found, channel: Distribution, noisy: list[int], n: int, noise: Noise) -> Found:
    below = channel.cdf(noisy, n, noise)
    return {
        **_frame(question, noisy),
        "as_precise_as": None,  # no plain survey has limits like these
        "kind": "distribution",
        "quartiles": [{"part": part, **_whole(channel.quantile_of(part / 100, below))} for part in QUARTERS],
        "ranges": [_range(question, channel, ends, noisy, n, noise) for ends in _ranges(channel.bins)],
    }


def _ranges(bins: int) -> list[tuple[int, int]]:
    """Return the first and last bin of each range: as many ranges as there can be, up to RANGES, as even as can be."""
    many = min(bins, RANGES)
    edges = [place * bins // many for place in range(many + 1)]
    return [(first, after - 1) for first, after in pairwise(edges)]


def _range(
    question: Found, channel: Distribution, ends: tuple[int, int], noisy: list[int], n: int, noise: Noise
) -> Found:
    least, most = documents.bin_ends(question, *ends)
    share = channel.share_within(*ends, noisy, n, noise)
    doubt = channel.doubt(*ends, noisy, n, noise)
    return {
        "estimate": share.value,
        "interval": [share.low, share.high],
        "least": least,
        "most": most,
        "standard_error": None,
        "variance": doubt.document(),
    }


def _whole(bounded: Bounded) -> Found:
    """Return a quartile as a whole number: a bin from 3 up to 5 holds 3 and 4."""
    low, high = ceil(bounded.low), ceil(bounded.high) - 1
    return {"estimate": min(max(floor(bounded.value), low), high), "interval": [low, high], "standard_error": None}


# Tables for people


def tables(question: Found, numbers: Found) -> list[Found]:
    """Return the same numbers as tables with a caption."""
    with override("en"):
        return _tables(question, numbers)


def _tables(question: Found, numbers: Found) -> list[Found]:
    if "choices" in numbers:
        rows = [_row(choice["choice"], choice, 100, "percent") for choice in numbers["choices"]]
        return [{"caption": question["label"], "rows": rows}]
    said, unit = _said(numbers), numbers["unit"]
    if numbers["kind"] == "mean":
        return [{"caption": question["label"], "rows": [_said_row("Mean", numbers["mean"], said, unit)]}]
    shares = [_row(_span(each, said), each, 100, "percent") for each in numbers["ranges"]]
    quarters = [_said_row(_below(each["part"]), each, said, unit) for each in numbers["quartiles"]]
    return [
        {"caption": f"{question['label']}: shares of people", "rows": shares},
        {"caption": f"{question['label']}: quartiles", "rows": quarters},
    ]


def _said(numbers: Found) -> Any:
    return documents.said_month if numbers.get("is_month") else None


def _span(each: Found, said: Any) -> str:
    least, most = (said(each[end]) if said else f"{each[end]:,}" for end in ("least", "most"))
    return least if least == most else f"{least} to {most}"


def _below(part: int) -> str:
    names = {25: "A quarter of people are at most", 50: "Half of people are at most"}
    return names.get(part, "Three quarters of people are at most")


def _said_row(label: str, found: Found, said: Any, unit: str) -> Found:
    """Return a number as a row; a month in words, for nobody reads months since year 0."""
    if said is None:
        return _row(label, found, 1, unit)
    low, high = found["interval"]
    return {"label": label, "value": said(found["estimate"]), "low": said(low), "high": said(high),
            "standard_error": found["standard_error"], "unit": "months"}  # fmt: skip


def _row(label: str, found: Found, times: int, unit: str) -> Found:
    low, high = found["interval"]
    error = found["standard_error"]
    return {
        "label": label,
        "value": times * found["estimate"],
        "low": times * low,
        "high": times * high,
        "standard_error": None if error is None else times * error,
        "unit": unit,
    }


# Before anything is drawn


def expected(question: Found, tally: PublicTally, n: int, noise: Noise) -> tuple[float, float, str]:
    """Return half an interval's width, how much of it the publication adds, and its unit: from public values only.

    For the answers that are the least certain: half say yes, or half of people are at each end of a number's scale.
    """
    if isinstance(tally.channel, Distribution):
        return _half_of_distribution(tally.channel, n, noise)
    even = _even(tally, n)
    if isinstance(tally.channel, NumberChannel):
        estimate, scale = tally.channel.mean(even, n, noise), 1.0
        unit = _("months") if question["kind"] == "month" else question["unit"]
    else:
        estimate, scale, unit = tally.estimates(even, n, noise)[0], 100.0, ""
    half = HALF_WIDTH * scale
    return half * estimate.standard_error, half * estimate.variance.publication**0.5, unit


HALF_WIDTH = 1.96  # standard errors on each side of 95 of 100


def _even(tally: PublicTally, n: int) -> list[int]:
    """Return about the counts that answers would give that are the least certain, with n reports in all."""
    if isinstance(tally.channel, OneOf):
        return [0] * tally.published  # as many yes as no
    if isinstance(tally.channel, NumberChannel):
        ends = (tally.channel.table.weights[0], tally.channel.table.weights[-1])
        chances = [(one + other) / (2 * tally.channel.table.total) for one, other in zip(*ends, strict=True)]
        return [round(n * chance) for chance in chances]
    return [round(n * (margin.lie + (margin.truth - margin.lie) / 2)) for margin in tally.margins()]


def _half_of_distribution(channel: Distribution, n: int, noise: Noise) -> tuple[float, float, str]:
    """Return the half-width of the share below the middle, if answers are spread evenly, in points."""
    even = [n // channel.bins + (place < n % channel.bins) for place in range(channel.bins)]
    middle = channel.bins // 2 - 1
    share = channel.share_within(0, middle, even, n, noise)
    without = channel.share_within(0, middle, even, n)
    half = 50 * (share.high - share.low)
    return half, max(half - 50 * (without.high - without.low), 0.0), ""
