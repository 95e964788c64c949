"""Three kills of the worker in the middle: never two of the same, and who had none is named; then a
reminder to exactly those without a ticket. On a site of its own, which the kills leave committed.
"""

import os
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).parents[3]


def test_never_two_of_the_same_after_three_kills(db, tmp_path):
    bench = [sys.executable, "-m", "tests.bench.letters", "300"]
    beside = os.environ | {"PYTHONPATH": str(HOUSE)}
    done = subprocess.run(  # it asserts all of that
        bench, cwd=tmp_path, env=beside, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "invitation" in done.stdout
    assert "reminder" in done.stdout
