"""Keeps the processes of one site alive, and ends them together.

It has one thread, for two reasons: the kernel's death signal follows the thread that
started a child, and signals are then handled where the loop waits.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from surveys.operations.child import Child, Service

FIRST_DELAY, LONGEST_DELAY = 0.2, 30.0  # seconds before a service that ended is started again
STEADY = 60.0  # seconds after which earlier endings no longer count
POLITE, LAST = 7.0, 2.0  # seconds to end when asked: all but the first service, then the first

Say = Callable[[str], None]


@dataclass
class Kept:
    """A service, its process, and when to start it again if it has none."""

    service: Service
    child: Child | None = None
    started: float = 0.0
    due: float = 0.0
    endings: int = 0

    def note_ending(self, now: float) -> float:
        """Return the delay until the next start: longer each time, short again after a steady while."""
        self.endings = 1 if now - self.started > STEADY else self.endings + 1
        delay = min(FIRST_DELAY * 2.0 ** (self.endings - 1), LONGEST_DELAY)
        self.due = now + delay
        return delay


@dataclass
class Supervisor:
    """Starts services in order, and ends them in reverse: the first is what the others lean on."""

    folder: Path
    say: Say
    kept: list[Kept] = field(default_factory=list)
    stopping: bool = False
    impatient: bool = False  # asked a second time
    wake: int = -1

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Turn signals into a wake-up of `wait`: a first SIGINT, SIGTERM or SIGHUP asks for the end, a second kills."""
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
                delay = kept.note_ending(now)
                self.say(f"{kept.service.name} {kept.child.ending}; starting it again in {delay:.1f} s")
                kept.child = None
            elif kept.child is None and now >= kept.due:
                self._launch(kept)

    def wait_until(self, ready: Callable[[], bool], seconds: float, give_up: Callable[[], bool]) -> bool:
        """Wait until something is ready, looking after the services. Being asked to end is no failure."""
        deadline = time.monotonic() + seconds
        while not self.stopping and not ready():
            if time.monotonic() > deadline or give_up():
                return False
            self.wait(0.05)
        return True

    def endings(self, name: str) -> int:
        return sum(kept.endings for kept in self.kept if kept.service.name == name)

    def run(self) -> None:
        """Look after the services until asked to end."""
        while not self.stopping:
            due = [kept.due for kept in self.kept if kept.child is None]
            self.wait(max(0.0, min(due) - time.monotonic()) if due else 3600.0)

    def stop(self) -> None:
        """End all services: the later ones first and together, the first one last."""
        self.stopping = True
        children = [kept.child for kept in self.kept if kept.child is not None]
        self._end(children[1:], POLITE)
        self._end(children[:1], LAST)
        self.kept.clear()

    def _end(self, children: list[Child], seconds: float) -> None:
        for child in children:
            child.ask_to_end()
        deadline = time.monotonic() + seconds
        while any(child.is_running for child in children) and not self.impatient:
            if (left := deadline - time.monotonic()) <= 0:
                break
            self.wait(left)
        for child in children:
            if child.is_running and not self.impatient:
                self.say(f"{child.service.name} did not end in {seconds:.0f} s: killed")
            child.kill()
