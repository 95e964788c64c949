"""A few of the killed workers of tests/bench/release_kills.py: it fails if one of them leaves
something behind.
"""

import os
import subprocess
import sys

from tests.journeys.site import HOUSE, own_database


def test_workers_killed_at_a_random_moment_of_a_release_leave_one_paid_release_each(bare):
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.release_kills", "--runs", "12"],
        cwd=HOUSE,
        env={**os.environ, **own_database(copied=bare.environment.get("DATABASE_URL", ""))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
