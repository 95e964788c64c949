"""Faults of the wire to the database: at the k-th statement, or commit, before or after it took
effect.

killed     the process ends there: nothing of it runs any more, and the server rolls back what was
           not committed. After a commit, it has no chance to say so.
lost       the server ends, or the wire: the process sees an error, and does not know whether what it
           had sent took effect.
refused    the server says no, and the transaction is over: a deadlock, a full disk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from django.db import OperationalError, connection, connections

KINDS = {"sqlite": ("killed", "refused"), "postgresql": ("killed", "killed", "lost", "refused")}
WRITES = ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "CREATE", "ALTER", "DROP", "LOCK", "BEGIN")
REFUSAL = "DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '40P01'; END $$"
PATIENCE = 2_000  # turns that a statement waits for a lock


class Killed(BaseException):
    """The process is gone: no handler of errors runs in it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, at which statement; or at which that writes, commits included."""

    kind: str
    at: int
    is_after: bool
    of_writes: bool

    def __str__(self) -> str:
        what = "write" if self.of_writes else "statement"
        return f"{self.kind} {'after' if self.is_after else 'before'} {what} {self.at}"


@dataclass(slots=True)
class Seen:
    """How many statements an act took."""

    statements: int = 0
    writes: int = 0


def drawn(chance: Random, usual: Seen, vendor: str) -> Fault:
    """Draw a fault of an act that usually takes so many statements: most of them only read."""
    of_writes = chance.random() < 0.6
    at = chance.randint(1, max(1, usual.writes if of_writes else usual.statements))
    kind, is_after = chance.choice(KINDS[vendor]), chance.random() < 0.5
    return Fault(kind, at, is_after, of_writes)


class Line:
    """This thread's connection while one act uses it."""

    def __init__(self, fault: Fault | None = None, turn: Callable[..., None] | None = None) -> None:
        self.fault, self.turn = fault, turn
        self.seen, self.struck, self.is_dead = Seen(), False, False

    def run(self, act: Callable[[], Any]) -> Any:
        """Act; raise Killed if that was its end. What the connection was is forgotten then."""
        here: Any = connections["default"]
        commit = here._commit
        here._commit = lambda: self.step(commit, writes=True)
        try:
            with connection.execute_wrapper(self._around):
                return act()
        except Exception:  # of what still ran, on a wire that is gone
            if self.is_dead:
                raise Killed from None
            raise
        finally:
            here.__dict__.pop("_commit", None)
            if self.is_dead:
                del connections["default"]
            elif self.struck:
                here.close_if_unusable_or_obsolete()

    def _around(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        writes = str(sql).lstrip().startswith(WRITES)
        return self.step(lambda: execute(sql, params, many, context), writes)

    def step(self, act: Callable[[], Any], writes: bool) -> Any:
        """Take a step, unless it is the one that fails."""
        if self.is_dead:
            raise Killed
        if self.turn:
            self.turn()
        self.seen.statements += 1
        self.seen.writes += writes
        fault = self.fault if self.fault and self._is_now(self.fault, writes) else None
        if fault and (not fault.is_after or fault.kind == "refused"):
            self._strike(fault.kind)
        result = self._patiently(act)
        if fault:
            self._strike(fault.kind)
        return result

    def _is_now(self, fault: Fault, writes: bool) -> bool:
        if fault.of_writes:
            return writes and fault.at == self.seen.writes
        return fault.at == self.seen.statements

    def _patiently(self, act: Callable[[], Any]) -> Any:
        """Wait for SQLite's lock by letting others go on; PostgreSQL's wait by themselves."""
        for _ in range(PATIENCE):
            try:
                return act()
            except OperationalError as error:
                if self.turn is None or "locked" not in str(error):
                    raise
                self.turn(waits=True)
        raise RuntimeError("a lock was never free")

    def _strike(self, kind: str) -> None:
        self.struck = True
        wire: Any = connection
        if kind == "refused":
            if connection.vendor == "postgresql" and connection.in_atomic_block:
                with wire.wrap_database_errors, wire.connection.cursor() as cursor:
                    cursor.execute(REFUSAL)
            raise OperationalError("database or disk is full")
        if wire.connection is not None:
            wire.connection.rollback()  # SQLite keeps a closed one while a cursor is there
            wire.connection.close()
        if kind == "killed":
            self.is_dead = True
            raise Killed
        wire.errors_occurred = True  # as Django notes of every error
        raise OperationalError("server closed the connection unexpectedly")
