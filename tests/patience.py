"""How long a test waits, at most, for what comes at a moment of its own: one setting for every
wait.

A wait looks again and again and ends as soon as what it waits for is there, so patience costs
nothing while all is well. On a slower machine, or a busier one:

    CANDOR_TEST_PATIENCE=900 make test     # seconds
"""

import os
import time
from collections.abc import Callable
from typing import Any

PATIENCE = float(os.environ.get("CANDOR_TEST_PATIENCE", "180"))


def became(true: Callable[[], Any], pause: float = 0.05) -> Any:
    """Return what a question answers once that is true, or what it answers when patience ends."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(pause)
    return found
