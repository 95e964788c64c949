"""Servers begin when the site is prepared, and never on one that is not."""

import subprocess
import sys
from pathlib import Path

import pytest

from surveys.operations import gate
from tests.patience import PATIENCE, became

HOUSE = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(gate, "GATE", tmp_path / "prepared")
    return tmp_path / "prepared"


def waits(pid: int) -> bool:
    """Tell whether a process waits for a lock, as the kernel says it."""
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f" {pid} " in line for line in lines)


def test_a_server_waits_until_the_site_is_prepared(path):
    path.touch()
    code = "from surveys.operations import gate; gate.wait()"
    environment = {
        "CANDOR_DATA": str(path.parent),
        "DJANGO_SETTINGS_MODULE": "surveys.settings",
        "PATH": "/usr/bin:/bin",
    }
    with gate.closed():
        process = subprocess.Popen([sys.executable, "-c", code], cwd=HOUSE, env=environment)
        assert became(lambda: waits(process.pid))
        assert process.poll() is None
    assert process.wait(PATIENCE) == 0


def test_none_begins_on_a_site_that_could_not_be_prepared(path):
    with pytest.raises(RuntimeError), gate.closed():
        raise RuntimeError
    with pytest.raises(SystemExit, match="not prepared"):
        gate.wait()


def test_a_start_that_fails_takes_back_what_an_earlier_one_said(path):
    with gate.closed():
        pass
    gate.wait()
    with pytest.raises(RuntimeError), gate.closed():
        raise RuntimeError
    with pytest.raises(SystemExit):
        gate.wait()
