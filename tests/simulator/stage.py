"""Tasks side by side: each in a thread with a connection of its own, one statement at a time, in an
order that the seed says.

A thread waits before each statement for its turn. One may pause before its k-th, until no other can
go on without it: what it has read by then, others have changed. On PostgreSQL a statement may wait
for another thread's lock: the server tells, and the turn goes on to who is free. A lock that is
given up after half a second (`erasing.hold`) is the one thing there that a seed does not say.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.db import connection, connections

from tests.patience import PATIENCE

BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
A_MOMENT = 0.002  # seconds that a statement takes without a lock, mostly; else the server is asked


@dataclass
class Part:
    """One task on the stage."""

    act: Callable[["Part"], Any]
    stage: "Stage"
    is_ready: bool = False  # waits for its turn
    is_done: bool = False
    waits: bool = False  # for a lock that another held when it tried
    turns: int = 0
    pauses_before: int | None = None  # this turn
    backend: int | None = None
    go: threading.Event = field(default_factory=threading.Event)

    def turn(self, waits: bool = False) -> None:
        """Wait until it is one's turn."""
        stage, wire = self.stage, connections["default"].connection
        if connection.vendor == "postgresql":
            self.backend = wire.info.backend_pid if wire and not wire.closed else None
        with stage.moved:
            self.is_ready, self.waits = True, waits
            stage.moved.notify_all()
        if not self.go.wait(PATIENCE):
            raise RuntimeError("the turn never came")
        self.go.clear()
        self.turns += 1

    @property
    def is_paused(self) -> bool:
        return self.pauses_before is not None and self.turns + 1 >= self.pauses_before

    def play(self) -> None:
        try:
            self.act(self)
        finally:
            with suppress(Exception):
                connection.close()
            with self.stage.moved:
                self.is_done = self.is_ready = True
                self.stage.moved.notify_all()


class Stage:
    def __init__(self, chance: Random) -> None:
        self.chance, self.moved = chance, threading.Condition()
        self.parts: list[Part] = []

    def play(self, *acts: Callable[[Part], Any], pause: int | None = None) -> None:
        """Play these together, to the end of all; the first pauses before this statement of its."""
        self.parts = [Part(act, self) for act in acts]
        self.parts[0].pauses_before = pause
        for part in self.parts:
            threading.Thread(target=part.play, daemon=True).start()
        while True:
            self._settle()
            free = [part for part in self.parts if part.is_ready and not part.is_done]
            if all(part.is_done for part in self.parts):
                return
            if free:
                chosen = self.chance.choice(self._going(free))
                chosen.is_ready = False
                chosen.go.set()

    def _going(self, free: list[Part]) -> list[Part]:
        """Return who goes on; the pause is over when nobody else can."""
        going = [part for part in free if not part.is_paused]
        if not all(part.waits for part in going):
            return going
        self.parts[0].pauses_before = None
        return free

    def _settle(self) -> None:
        """Wait until each is before its next statement, at its end, or behind another's lock."""
        for part in self.parts:
            for _ in range(int(PATIENCE / A_MOMENT)):
                with self.moved:
                    if part.is_ready or self.moved.wait_for(lambda p=part: p.is_ready, A_MOMENT):
                        break
                if self._is_blocked(part):
                    break
            else:
                raise RuntimeError("a statement never ended")

    def _is_blocked(self, part: Part) -> bool:
        if connection.vendor != "postgresql" or part.backend is None:
            return False
        with connection.cursor() as cursor:
            cursor.execute(BLOCKED, [part.backend])
            (is_blocked,) = cursor.fetchone() or (False,)
        return bool(is_blocked)
