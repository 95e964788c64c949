"""One child process: it cannot outlive its parent, and it takes its own children with it.

Two things keep a killed process from leaving orphans. Each child leads a process group,
which is killed as a whole before the child is started again. And on Linux the kernel
kills the child when its parent dies, however the parent dies; the web server's and
Celery's own children ask for the same (`web.py`; Celery does it itself).
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(parent: int | None = None) -> None:
    """Have the kernel kill this process when its parent dies; end at once if `parent` is already gone."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


@dataclass(frozen=True, slots=True)
class Service:
    """What to run, and how a person calls it."""

    name: str
    command: Sequence[str]


class Child:
    """A running service."""

    def __init__(self, service: Service, folder: Path) -> None:
        parent = os.getpid()
        self.service = service
        self.process = subprocess.Popen(
            service.command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the supervisor only, which then ends its children in order
            preexec_fn=lambda: die_with_parent(parent),
        )

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def ending(self) -> str:
        """Say how it ended, for a person."""
        code = self.process.returncode
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def ask_to_end(self) -> None:
        if self.is_running:
            self.process.terminate()

    def kill(self) -> None:
        """Kill it and all processes of its group, which may still be there when it is not."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for a group of zombies
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
