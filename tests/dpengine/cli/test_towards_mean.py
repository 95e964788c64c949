"""Groups of --by, drawn towards their mean: as the library draws them, beside the plain estimates."""

import json

import numpy as np
import pytest

from dpengine.cli.analyse import Request, analyse
from dpengine.cli.specs import parse
from dpengine.cli.terminal import results_json, results_text
from dpengine.inference.shrinkage import shrink

SIZES = (50, 100, 200, 400)
GROUPS = [group for group, size in zip("abcd", SIZES, strict=True) for _ in range(size)]
OPEN = [at < yes for size, yes in zip(SIZES, (20, 40, 65, 100), strict=True) for at in range(size)]


def found(write, design="direct", group=GROUPS, outcome=OPEN, **asked):
    path = write({"g": group, "y": [int(each) for each in outcome], **asked.pop("more", {})})
    return analyse(path, Request("y", parse(design), by="g", **asked))


def test_groups_are_drawn_as_if_a_report_were_as_telling_in_each(write):
    results = found(write)
    yes, sizes = np.array([20, 40, 65, 100]), np.array(SIZES)
    shares = yes / sizes
    errors = np.array([group.standard_error for group in results.groups])
    variance = (errors**2 * sizes**2).sum() / sizes.sum()
    expected = shrink(shares, variance / sizes, possible=(0, 1)).groups
    for group, own in zip(results.groups, expected, strict=True):
        assert group.towards_mean.value == pytest.approx(own.value)
        assert group.towards_mean.high == pytest.approx(own.high)
    assert [group.estimate for group in results.groups] == pytest.approx(shares)
    note = "Groups are also drawn towards the mean of all"
    assert [warning for warning in results.warnings if warning.startswith(note)]


def test_it_stands_beside_in_text_and_json(write):
    results = found(write, design="kary:k=2,keep=3/4")
    assert "moment  std. error" in (text := results_text(results, "y", "kary"))
    assert text.count("drawn   ") == 1
    first = json.loads(results_json(results))["groups"][0]
    assert first["towards_mean"].keys() == {"estimate", "standard_error", "interval"}
    low, high = first["towards_mean"]["interval"]
    assert low < first["towards_mean"]["estimate"] < high


def test_every_choice_is_drawn(write):
    codes = np.random.default_rng(3).integers(0, 3, 750)
    results = found(write, design="kary:k=3,keep=1/2", outcome=codes)
    for group in results.groups:
        assert len(group.towards_mean) == 3
    assert "drawn" in results_text(results, "y", "kary")


@pytest.mark.parametrize(
    ("design", "group", "asked"),
    [
        ("direct", ["a", "b", "c"] * 250, {}),  # fewer than four
        ("direct", GROUPS, {"simultaneous": True}),  # its intervals do not hold all at once
        ("sld:p=p", GROUPS, {"more": {"p": [0.2, 0.4] * 375}}),  # two parameters
    ],
)
def test_where_nothing_is_drawn_nothing_is_said(write, design, group, asked):
    results = found(write, design=design, group=group, **asked)
    assert {each.towards_mean for each in results.groups} == {None}
    assert not [warning for warning in results.warnings if "also drawn" in warning]
    assert "towards_mean" not in results_json(results)


def test_twenty_regions_of_fifty_come_nearer_to_the_truth(write):
    """Answers through a coin, ε = 1: regions' errors fall by a third at least. Seed 4."""
    rng, keep = np.random.default_rng(4), np.e / (1 + np.e)
    truth = np.clip(rng.normal(0.3, 0.05, 20), 0, 1)
    region = np.repeat(np.arange(20), 50)
    yes = rng.random(1000) < truth[region]
    reports = np.where(rng.random(1000) < keep, yes, ~yes)
    results = found(
        write, design="kary:k=2,epsilon=1", group=[f"r{at:02}" for at in region], outcome=reports
    )
    plain, drawn = (
        np.sqrt(np.mean((np.array(each) - truth) ** 2))
        for each in zip(
            *((group.estimate, group.towards_mean.value) for group in results.groups), strict=True
        )
    )
    assert drawn < plain * 2 / 3


def test_who_was_not_asked_has_a_blank_and_counts_in_no_number_of_that_question(write):
    """One of two questions each, drawn: n is of the question, and shares are those of the asked."""
    rng = np.random.default_rng(9)
    asked, y, z = rng.random(4000) < 0.5, rng.random(4000) < 0.3, rng.random(4000) < 0.6
    path = write(
        {
            "y": [str(int(each)) if of else "" for each, of in zip(y, asked, strict=True)],
            "z": ["" if of else str(int(each)) for each, of in zip(z, asked, strict=True)],
        }
    )
    one, other = (analyse(path, Request(name, parse("direct"))) for name in "yz")
    assert (one.n, other.n) == (asked.sum(), 4000 - asked.sum())
    assert one.estimate == pytest.approx(y[asked].mean())
    assert other.estimate == pytest.approx(z[~asked].mean())
