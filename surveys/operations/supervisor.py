"""Keeps the processes of one site alive, and ends them together.

It has one thread, for two reasons: the kernel's death signal follows the thread that
started a child, and signals are then handled where the loop waits.

Two things keep a killed process from leaving orphans. Each child leads a process group,
which is killed as a whole before the child is started again. And on Linux the kernel
kills the child when its parent dies, however the parent dies; the web server's and
Celery's own children ask for the same (`web.py`; Celery does it itself).
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

FIRST_DELAY, MAX_DELAY = 0.2, 30.0  # seconds before a service that ended is started again
STEADY = 60.0  # seconds after which earlier endings no longer count
POLITE, LAST = 7.0, 2.0  # seconds to end when asked: all but the first service, then the first
NICENESS = 10  # a tenth of the weight of a process that does not give way
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(parent: int | None = None) -> None:
    """Have the kernel kill this process when its parent dies; end at once if `parent` is already
    gone.
    """
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def give_way() -> None:
    """Leave processors to others where they are few. Linux may weigh whole sessions rather than
    processes (autogroup, sched(7)): so this process's session gives way too.
    """
    os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))


@dataclass(frozen=True, slots=True)
class Service:
    """What to run, and how a person calls it."""

    name: str
    command: Sequence[str]
    socket: Path | None = None  # that it listens on: one killed leaves it in the way of the next


class Child:
    """A running service."""

    def __init__(self, service: Service, folder: Path, output: IO[str] | None = None) -> None:
        parent = os.getpid()
        self.service = service
        if service.socket:
            service.socket.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            service.command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            # Ctrl-C reaches the supervisor only, which then ends its children in order
            start_new_session=True,
            preexec_fn=lambda: die_with_parent(parent),
        )

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def ending(self) -> str:
        """Say how it ended, for a person."""
        code = self.process.returncode
        return (
            f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )

    def kill(self) -> None:
        """Kill it and all processes of its group, which may still be there when it is not."""
        with contextlib.suppress(
            ProcessLookupError, PermissionError
        ):  # macOS: EPERM for a group of zombies
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class Kept:
    """A service, its process, and when to start it again if it has none."""

    service: Service
    child: Child | None = None
    started: float = 0.0
    due: float = 0.0
    endings: int = 0


@dataclass
class Supervisor:
    """Starts services in order, and ends them in reverse: the first is what the others lean on."""

    folder: Path
    say: Callable[[str], None]
    kept: list[Kept] = field(default_factory=list)
    stopping: bool = False
    impatient: bool = False  # asked a second time
    wake: int = -1

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Turn signals into a wake-up of `wait`: a first SIGINT, SIGTERM or SIGHUP asks for the
        end, a second kills.
        """
        self.wake, write = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)  # only to wake up
        try:
            yield
        finally:
            self.stop()

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        self.impatient = self.stopping
        self.stopping = True

    def start(self, service: Service) -> None:
        kept = Kept(service)
        self.kept.append(kept)
        self._launch(kept)

    def _launch(self, kept: Kept) -> None:
        kept.started = time.monotonic()
        kept.child = Child(kept.service, self.folder)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, at most so long, and look after the services."""
        select.select([self.wake], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, 4096)
        if not self.stopping:
            self.look_after()

    def look_after(self) -> None:
        now = time.monotonic()
        for kept in self.kept:
            if kept.child is not None and not kept.child.is_running:
                kept.child.kill()  # what it started may still be there
                # the delay is longer each time, and short again after a steady while
                kept.endings = 1 if now - kept.started > STEADY else kept.endings + 1
                delay = min(FIRST_DELAY * 2.0 ** (kept.endings - 1), MAX_DELAY)
                kept.due = now + delay
                self.say(
                    f"{kept.service.name} {kept.child.ending}; starting it again in {delay:.1f} s"
                )
                kept.child = None
            elif kept.child is None and now >= kept.due:
                self._launch(kept)

    def wait_until(
        self, ready: Callable[[], bool], seconds: float, give_up: Callable[[], bool]
    ) -> bool:
        """Wait until something is ready, looking after the services. Being asked to end is no
        failure.
        """
        deadline = time.monotonic() + seconds
        while not self.stopping and not ready():
            if time.monotonic() > deadline or give_up():
                return False
            self.wait(0.05)
        return True

    def do(self, service: Service, output: IO[str]) -> bool:
        """Do something to its end and look after the services meanwhile; tell whether it went well.
        Being asked to end kills it.
        """
        child = Child(service, self.folder, output)
        try:
            while child.is_running and not self.stopping:
                self.wait(self.until_due)
        finally:
            child.kill()
        return child.process.returncode == 0

    def endings(self, name: str) -> int:
        return sum(kept.endings for kept in self.kept if kept.service.name == name)

    def run(self) -> None:
        """Look after the services until asked to end."""
        while not self.stopping:
            self.wait(self.until_due)

    @property
    def until_due(self) -> float:
        """Return the seconds until a service is to be started again."""
        due = [kept.due for kept in self.kept if kept.child is None]
        return max(0.0, min(due) - time.monotonic()) if due else 3600.0

    def stop(self) -> None:
        """End all services: the later ones first and together, the first one last."""
        self.stopping = True
        children = [kept.child for kept in self.kept if kept.child is not None]
        self._end(children[1:], POLITE)
        self._end(children[:1], LAST)
        self.kept.clear()

    def _end(self, children: list[Child], seconds: float) -> None:
        for child in children:
            if child.is_running:
                child.process.terminate()
        deadline = time.monotonic() + seconds
        while any(child.is_running for child in children) and not self.impatient:
            if (left := deadline - time.monotonic()) <= 0:
                break
            self.wait(left)
        for child in children:
            if child.is_running and not self.impatient:
                self.say(f"{child.service.name} did not end in {seconds:.0f} s: killed")
            child.kill()
