"""The outcome and a second column: the table that `analyse --cross` shows."""

from pathlib import Path

import numpy as np
import pytest

from dpengine.cli.crossing import cross_table_of
from dpengine.cli.files import read_csv
from dpengine.cli.specs import parse, parse_asked
from dpengine.cli.weighting import Weighting
from dpengine.inference.cross_tables import Question, cross_table

WADA = Path(__file__).parents[2] / "data" / "wada_monkey.csv"


def table(path, outcome, second, weights=None):
    column, spec = outcome
    return cross_table_of(
        read_csv(path),
        (column, parse(spec)),
        parse_asked("--cross", second, is_open=True),
        Weighting(weights),
        0.95,
    )


def test_the_table_is_the_librarys(write):
    reports, school = [0, 1, 1, 0, 1, 1] * 20, ["arts", "law", "law", "arts", "arts", "law"] * 20
    weights = np.linspace(1, 2, 120)
    found, _ = table(write({"y": reports, "school": school}), ("y", "coin"), "school", weights)
    channel = [[0.75, 0.25], [0.25, 0.75]]
    coded = [int(value == "law") for value in school]
    expected = cross_table(Question(reports, [channel]), Question(coded, [np.eye(2)]), weights)
    assert [(cell.outcome, cell.column) for cell in found.cells] == [
        ("0", "arts"), ("0", "law"), ("1", "arts"), ("1", "law"),
    ]  # fmt: skip
    assert [cell.estimate for cell in found.cells] == pytest.approx(expected.cells.moments)
    assert [cell.interval for cell in found.cells] == list(expected.cells.intervals)
    assert (found.odds_ratio, found.independence) == (expected.odds_ratio, expected.independence)
    assert found.epsilon == pytest.approx(np.log(3))  # an open column is no report


def test_two_items_of_the_doping_survey():
    """Margins are each item's own share (tests/bench/wada.py: .1425 and .4834, of both halves)."""
    design = "affine:c0=1-{0}_p,c1=2*{0}_p-1"
    found, notes = table(
        str(WADA),
        ("doping_same", design.format("doping")),
        "supplements_same:" + design.format("supplements"),
    )
    shares = np.reshape([cell.estimate for cell in found.cells], (2, 2))
    assert shares.sum() == pytest.approx(1)
    assert shares[1].sum() == pytest.approx(0.1425, abs=1e-3)
    assert shares[:, 1].sum() == pytest.approx(0.4834, abs=1e-3)
    assert found.epsilon == pytest.approx(2 * np.log(4))
    assert found.odds_ratio.interval[0] < 1 < found.odds_ratio.interval[1]
    assert any("non-compliance may be at work" in note for note in notes)


def test_warnings_call_cells_by_their_answers(write):
    path = write({"y": [1] * 30 + [0] * 30, "z": [1] * 30 + [0] * 30})
    _, notes = table(path, ("y", "coin"), "z:coin")
    assert any("4 of 4 choices lie outside 0 to 1 (y 0 & z 0, y 0 & z 1," in note for note in notes)


def test_subsets_of_choices_are_crossed_too(write):
    """Who says 1 2 as often as 1 3 has 1 for an answer, most likely."""
    path = write({"s": ["1 2", "1 3"] * 30, "z": ["a", "b"] * 30})
    found, _ = table(path, ("s", "subset:k=3,size=2,keep=9/10,first=1"), "z")
    assert [(cell.outcome, cell.column) for cell in found.cells][:2] == [("1", "a"), ("1", "b")]
    likeliest = [cell.maximum_likelihood for cell in found.cells]
    assert likeliest == pytest.approx([0.5, 0.5, 0, 0, 0, 0], abs=1e-4)
    assert found.odds_ratio is None
