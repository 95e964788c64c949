"""How many took part, with noise: what a study publishes first that protects who took part.

Privacy    Add-remove: one person more or less moves the count by 1. Laplace noise in a pure study,
           in a concentrated one the smaller of Laplace and Gaussian.
After it   Everything that depends on how many took part reads this number: the smallest batch, what
           waits for more, the errors of shares, what pages say.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from django.utils.translation import gettext_lazy

from dpengine.central import counts
from dpengine.central.counts import Mechanism
from dpengine.contraction import Noise
from dpengine.privacy import Cost
from surveys.aggregation import selectors as aggregation
from surveys.design.models import Plan
from surveys.messages import Text, message
from surveys.releases import statistics
from surveys.releases.numbers import Numbers, Row, Table, interval_within
from surveys.releases.queries.base import Query, noise_name, pure_epsilon
from surveys.releases.queries.parameters import Question

TITLE = message("How many took part", fills="title")
HEADING_IN_WAVE = message("How many took part, wave %(wave)s")
ROW = message("People who took part")
METHOD = message(
    "Whether somebody took part is protected: chance was added to their number, once. Everything "
    "else that depends on how many there are uses this number."
)
SENSITIVITY = message("how many took part, by 1")
EXPECTED = message("how many took part is within ± %(off)s, in 95 of 100 such studies")


@dataclass(frozen=True)
class People(Query):
    kind = "people"
    title = TITLE
    sentence = gettext_lazy("How many people took part, with chance added.")

    @staticmethod
    def fits(question: Question) -> bool:
        """Nobody asks for it: the rule of a study publishes it once."""
        return False

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return it, as a Plan has it that protects who took part."""
        return cls.read(plan, {})

    @cached_property
    def engine(self) -> Mechanism:
        mechanism = statistics.noise_in_people(self.plan.content)
        if mechanism is None:
            raise ValueError("expected a Plan that protects who took part")
        return mechanism

    @property
    def noises(self) -> list[Noise]:
        return [Noise(frozenset([self.kind]), pure_epsilon(self.engine))]

    @cached_property
    def cost(self) -> Cost:
        """Return what it loses of a record; it reads no answer."""
        return self.engine.cost.of_group(self.plan.content.people)

    @property
    def mechanism(self) -> str:
        return noise_name(self.engine)

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY()

    def expected(self, n: int) -> list[str]:
        return [EXPECTED(off=f"{counts.largest_error(self.engine, 1):,}")]

    def heading(self, labels: Mapping[str, str], wave: int) -> Text:
        return HEADING_IN_WAVE(wave=wave) if wave > 1 else TITLE()

    def counted(self, batches: int) -> int:
        return aggregation.reports_in(self.plan, batches)

    def draw(self, people: int, n: int) -> Numbers:
        """Return the noisy number; as a number of people, at least one."""
        (noisy,) = self.engine.release([people])
        off = counts.largest_error(self.engine, 1)
        limits = interval_within(noisy - off, noisy + off, 0, math.inf)
        row = Row(ROW(), noisy, *limits, unit="people")
        return Numbers(
            tables=[Table(TITLE(), [row])], method=METHOD(), notes=[], derived=[], n=max(noisy, 1)
        )
