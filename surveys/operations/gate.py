"""Door and pages load while `up` prepares the site, and begin when it is prepared: not a request
meets tables, static files or a demo that are being changed.

Who prepares holds a file alone, and says in it at last that it went well. A server that is started
later, or again, finds it so.
"""

import contextlib
import fcntl
import sys
from collections.abc import Iterator

from django.conf import settings

GATE = settings.DATA_DIR / "prepared"
OPEN = "yes"


@contextlib.contextmanager
def closed() -> Iterator[None]:
    """Keep servers that start inside waiting until the block ends; if it fails, for good."""
    with GATE.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
        file.write(OPEN)
        file.flush()


def wait() -> None:
    """Wait until the site is prepared; end this process if it was not. Without `up` there is
    nobody to wait for.
    """
    if not GATE.exists():
        return
    with GATE.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        if file.read() != OPEN:
            sys.exit("the site is not prepared")
