"""The planted faults of the benches are of today's code: each line is there once, and parses
when it is broken.
"""

import subprocess
import sys

import pytest

from tests.bench.planted_faults import ASSERTED, FAULTS, PYTEST, failures, planted
from tests.simulator.planted import BUGS


@pytest.mark.parametrize("fault", [*FAULTS, *BUGS], ids=lambda fault: fault.name)
def test_a_fault_can_be_planted_once_and_knows_every_name_that_it_uses(fault):
    text = planted(fault)
    if fault.file.endswith(".py"):
        compile(text, fault.file, "exec")
        checked = [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--select=F821",
            "--stdin-filename",
            fault.file,
            "-",
        ]
        assert (
            "All checks passed"
            in subprocess.run(checked, input=text, capture_output=True, text=True).stdout
        )


def test_only_an_assertion_finds_a_fault(tmp_path):
    tests = """
import pytest
def test_asserted(): assert 1 == 2
def test_raises_nothing():
    with pytest.raises(ValueError): pass
def test_breaks(): missing()
@pytest.fixture
def broken(): assert False
def test_not_set_up(broken): pass
"""
    (tmp_path / "test_it.py").write_text(tests)
    words = [sys.executable, *PYTEST[1:], "-p", "no:django", "test_it.py"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    failed = failures(tmp_path / "found.xml", "")
    assert len(failed) == 3
    assert [said for said in failed if ASSERTED.match(said)] == [failed[0], failed[1]]
