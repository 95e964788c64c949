"""`manage.py analyse` and `manage.py plan-size` are the library's commands."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

from django.core.management import call_command, get_commands

HOUSE = Path(__file__).parents[3]
FORCED = "forced:p=2/3,yes=1/6,no=1/6"


def fresh(tmp_path, *words):
    """Run a command as on a fresh clone: no settings, no data, no key, and output that knows
    ASCII only.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "CANDOR_DATA": str(tmp_path / "data"),
        "PYTHONIOENCODING": "ascii",
    }
    command = [sys.executable, str(HOUSE / "manage.py"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )


def test_both_commands_are_listed():
    assert {"analyse", "plan-size"} <= set(get_commands())


def test_python_may_call_it_with_numbers():
    out = StringIO()
    call_command(
        "plan-size", design=FORCED, null=0.10, alternative=0.15, power=0.8, json=True, stdout=out
    )
    assert json.loads(out.getvalue())["n"] == 1299


def test_a_fresh_clone_can_analyse(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("smoked\n" + "1\n" * 52 + "0\n" * 298)
    done = fresh(tmp_path, "analyse", str(path), "--outcome", "smoked", "--design", FORCED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"smoked by {FORCED}: 350 reports, \\u03b5 = 1.609 a report")
    assert not (tmp_path / "data").exists()  # no database, no key


def test_a_fresh_clone_says_what_is_wrong_in_one_line(tmp_path):
    done = fresh(tmp_path, "plan-size", "--design", "coin:p=1", "--from", "0.1", "--to", "0.2")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "CommandError: design coin: expected no parts, got 'p' too\n"
    assert not (tmp_path / "data").exists()


def test_help_tells_of_designs_and_of_a_study_of_ones_own(tmp_path):
    said = fresh(tmp_path, "analyse", "--help").stdout
    assert "crosswise:p=1/4" in said
    assert "analyse export.json --outcome q1 --design plan" in said
