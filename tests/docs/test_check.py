"""docs/check.md: what it says to run is there, by the Python that the checkout has."""

import importlib.util
import io
import re
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands

TEXT = (Path(__file__).parent.parent.parent / "docs" / "check.md").read_text()
PLAIN = re.sub(r"\s+", " ", TEXT)
MODULES = sorted(set(re.findall(r"python -m ([\w.]+)", PLAIN)))
COMMANDS = sorted(set(re.findall(r"python manage\.py (\w+)", PLAIN)))


def test_every_command_is_for_the_python_of_the_checkout():
    assert len(MODULES) >= 6
    assert not re.findall(r"(?<!\.venv/bin/)python (?:-m|manage)", PLAIN)
    assert not re.findall(r"python$", TEXT, re.MULTILINE)  # a command that is pasted in halves


@pytest.mark.parametrize("module", MODULES)
def test_each_module_that_is_run_is_there(module):
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_that_is_run_is_there(command):
    assert command in get_commands()


def test_the_check_of_the_ledger_says_what_stands_there(plan):
    said = io.StringIO()
    call_command("verify_ledger", stdout=said)
    expected = re.search(r"# (The ledger is whole: … rows\. Head …)", TEXT)[1]
    pattern = re.escape(expected).replace("…", r"[\w,]+")
    assert re.match(pattern, said.getvalue())
