"""One schedule from its seed: what happens, then every task until nothing changes, and what does
not hold.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.db import OperationalError, connection
from django.db.transaction import TransactionManagementError

from surveys.design.models import Study
from surveys.releases.models import Release
from tests.simulator import acts, clock, faults, invariants, world as worlds
from tests.simulator.databases import Database
from tests.simulator.faults import Fault, Killed, Line, Seen
from tests.simulator.stage import Part, Stage
from tests.simulator.world import World

STEPS = 24
FAULTY, TOGETHER = 0.5, 0.12  # chance that an act meets a fault; that several come side by side
RIVALS, PAUSED = 0.4, 0.4  # chance that those want one budget, where they can; that one pauses
USUAL = Seen(20, 7)  # statements of an act, at least: most sweeps find nothing, and take two
# What a fault ends an act with: the second where Django was taking a savepoint back, and goes on.
LOST = OperationalError, TransactionManagementError
ROUNDS = 12  # in which everything must have come to rest


@dataclass
class Outcome:
    """What became of a schedule."""

    seed: int
    acts: int = 0
    together: int = 0
    rivals: int = 0  # of those that came together, who wanted one budget
    faults: int = 0
    drawn: int = 0  # before every task ran to its end
    retired: int = 0  # studies
    said: list[str] = field(default_factory=list)  # what happened, in order
    broken: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)


class Schedule:
    """The acts of one seed."""

    def __init__(self, seed: int, closely: bool = False) -> None:
        self.chance, self.outcome, self.closely = Random(seed), Outcome(seed), closely
        clock.start()
        self.usual: dict[str, Seen] = {}  # the most that an act of this name took
        self.world = World(self.chance)
        worlds.catch_tasks(self.world)
        worlds.forget_caches()

    def play(self) -> Outcome:
        """Play it to its end, or to the first thing that is broken."""
        for step in (*[self._step] * STEPS, self._end):
            clock.Clock.step += 1
            try:
                step()
                invariants.see(self.world)
                wrong = invariants.broken(self.world) if self.closely or step == self._end else []
            except AssertionError as failure:
                wrong = [str(failure)]
            if wrong or self.outcome.broken:
                self.outcome.broken += wrong
                break
        return self.outcome

    def _step(self) -> None:
        if self.chance.random() < TOGETHER:
            self._together(self.chance.choice([2, 2, 3]))
            return
        name, happening = acts.some(self.world)
        if not happening:
            self.outcome.say(name)
        for number, act in enumerate(happening):
            self._do(f"{name} {number}", act, self._fault(f"{name} {number}"))

    def _together(self, many: int) -> None:
        """Let so many things happen side by side."""
        rivals = self._rivals(many) if self.chance.random() < RIVALS else []
        self.outcome.rivals += bool(rivals)
        both = rivals or [acts.some(self.world) for _ in range(many)]
        self.outcome.together += 1
        self.outcome.say("side by side: " + ", ".join(name for name, _ in both))

        def part_of(name: str, happening: list[acts.Act]) -> Any:
            names = [f"{name} {number}" for number in range(len(happening))]
            planned = [
                (each, act, self._fault(each)) for each, act in zip(names, happening, strict=True)
            ]

            def play(part: Part) -> None:
                for each, act, fault in planned:
                    self._do(each, act, fault, part)

            return play

        pause = self._pause(*both[0]) if self.chance.random() < PAUSED else None
        Stage(self.chance).play(*(part_of(*each) for each in both), pause=pause)

    def _rivals(self, many: int) -> list[tuple[str, list[acts.Act]]]:
        """Let so many want one budget; first there must be something to ask about."""
        if not (found := acts.rivals(self.world, many)):
            for number, act in enumerate(acts.answers_to_ask_about(self.world)):
                self._do(f"answers {number}", act, None)
            found = acts.rivals(self.world, many)
        return found

    def _pause(self, name: str, happening: list[acts.Act]) -> int:
        """Draw one of the statements that these acts usually take."""
        names = [f"{name} {number}" for number in range(len(happening))]
        usual = sum(self.usual.get(each, USUAL).statements for each in names)
        return self.chance.randint(1, max(1, usual))

    def _fault(self, name: str) -> Fault | None:
        if self.chance.random() >= FAULTY:
            return None
        return faults.drawn(self.chance, self.usual.get(name, USUAL), connection.vendor)

    def _do(self, name: str, act: acts.Act, fault: Fault | None, part: Part | None = None) -> None:
        line, said = Line(fault, part and part.turn), ""
        self.outcome.acts += 1
        try:
            result = line.run(act)
            said = str(result) if isinstance(result, int) else ""
            if result == 503 and not line.struck:
                self.outcome.broken.append(f"{name}: 503, and nothing was wrong")
        except Killed:
            worlds.forget_caches()
        except acts.REFUSALS as refusal:
            said = type(refusal).__name__
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            if name.split()[0] in acts.POSTS or not (line.struck and isinstance(error, LOST)):
                self.outcome.broken.append(f"{name}: {said}")
        met = f" [{fault}]" if line.struck else ""
        self.outcome.faults += line.struck
        self.outcome.say(f"{name}{met} {said}".rstrip())
        before = self.usual.get(name, USUAL)
        self.usual[name] = Seen(
            max(before.statements, line.seen.statements), max(before.writes, line.seen.writes)
        )

    def _end(self) -> None:
        """Let every task run until nothing changes, soon or on the next day."""
        self.outcome.drawn = Release.objects.count()
        clock.forward(**self.chance.choice([{"seconds": 20}, {"days": 1}]))
        self._rest()
        self.outcome.retired = Study.objects.exclude(retired_on=None).count()
        self.outcome.broken += invariants.half_done()

    def _rest(self) -> None:
        before = ""
        for _ in range(ROUNDS):
            for name in acts.beats():
                self._do(name, lambda name=name: acts.do_task(name), None)
            while self.world.sent:
                task = self.world.next_task()
                self._do(task[0], lambda task=task: acts.do_task(*task), None)
            if (after := invariants.fingerprint()) == before:
                return
            before = after
            clock.forward(seconds=20)
        self.outcome.broken.append("it never came to rest")


def run(seed: int, database: Database, *, closely: bool = False) -> Outcome:
    """Play a schedule on a database that is as new; look at everything after each step if `closely`."""
    database.renew()
    return Schedule(seed, closely).play()
