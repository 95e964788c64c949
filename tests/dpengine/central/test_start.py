"""What every process of the site loads at its start."""

import subprocess
import sys

# most of a second each, where they are installed
SLOW = ("opendp.prelude", "pandas", "scipy.stats", "sklearn")


def test_mechanisms_load_nothing_that_makes_every_start_slow():
    """opendp.prelude imports scikit-learn and pandas if it finds them, for parts of OpenDP that
    nothing here uses.
    """
    code = (
        "import sys, dpengine.central.gaussian, dpengine.central.laplace, "
        "dpengine.central.selection; "
        f"print([name for name in {SLOW} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
