"""dpengine/README.md: its five lines work, and its commands have the options that it names."""

import ast
import math
import re
import shlex
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpengine
from dpengine.cli.commands import COMMANDS
from dpengine.local import channel_for, number_for

PAGE = Path(dpengine.__file__).with_name("README.md").read_text(encoding="utf-8")
(LINES,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_five_lines_lead_from_an_epsilon_to_an_interval_and_an_exact_loss(capsys):
    names: dict[str, object] = {}
    exec(LINES, names)  # noqa: S102
    _import, _answers, *five = ast.parse(LINES).body
    assert len(five) == 5
    assert sum(names["counts"]) == len(names["reports"]) == 1000
    value, low, high, loss = capsys.readouterr().out.split()
    assert 0 <= float(low) < float(high) <= 1
    assert math.isfinite(float(value))
    assert math.e - 1e-6 < Fraction(loss) <= Fraction(math.e)


@pytest.mark.parametrize("line", re.findall(r"^    dpengine (.*)$", PAGE, re.MULTILINE))
def test_its_commands_have_the_options_that_it_names(line):
    name, *words = shlex.split(line)
    assert {word for word in words if word.startswith("--")} <= set(COMMANDS[name].options)


def test_reports_are_counted_from_a_list_and_from_an_array():
    assert channel_for(2, 1).count([1, 0, 1]) == [1, 2]
    assert channel_for(2, 1).count(np.array([1, 0, 1])) == [1, 2]
    several = channel_for(5, 0.5)
    assert several.held == 2
    assert several.count([[0, 3], [0, 4]]) == several.count(np.array([[0, 3], [0, 4]]))
    assert several.count([[0, 3], [0, 4]]) == [2, 0, 0, 1, 1]


@pytest.mark.parametrize("reports", [[0, 2], [0, -1], [0, 0.5], [0, "1"], np.array([0.0, 1.0])])
def test_what_is_no_report_is_refused_and_not_repeated(reports):
    with pytest.raises(ValueError, match=r"reports: expected each to be an integer from 0 to 1$"):
        channel_for(2, 1).count(reports)


def test_a_mean_of_numbers_has_its_interval_in_their_own_unit():
    channel = number_for(18, 20, 1.5)
    counts = channel.count([0, channel.reports - 1] * 50)
    (mean,) = channel.estimates(counts, 100)
    assert mean.value == pytest.approx(19)
    assert 18 <= mean.low < 19 < mean.high <= 20
