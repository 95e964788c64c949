"""Shares of every question, published again and again while answers come in, and paid for on the first day.

The rule *continual* of a Plan, {"rule": "continual", "hours": …, "horizon": T, "rho": …}: at most T publications. Each
question has a continual counter of its own (dpengine.central.counter) with an equal part of ρ; one person's report
arrives in one step and is in the tally of every question, so the parts add up. Nobody asks: there is no form.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self, cast

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.counter import UNIT, ContinualCounter, RoundedNormal
from dpengine.privacy import Cost, plain, round_up
from surveys.aggregation import queries as aggregation
from surveys.aggregation.queries import PublicTally, Totals
from surveys.design.models import Plan
from surveys.releases import statistics
from surveys.releases.asked.base import Numbers, Refused, State
from surveys.releases.asked.shares import tables_of
from surveys.releases.statistics import RHO_PLACES, Part

METHOD = (
    "Chance was added once for the whole study, so that every refresh is paid for already: the counts so far are sums "
    "with noise that is shared between refreshes, and they drift less than counts with fresh noise each time. From "
    "each count the share of people was estimated; the intervals count sampling, devices and publication."
)


@dataclass(frozen=True, slots=True)
class Kept:
    """One question, its tally, and the counter that keeps it."""

    question: dict[str, Any]
    tally: PublicTally
    counter: ContinualCounter

    @property
    def name(self) -> str:
        return self.tally.name

    def at(self, step: int) -> "Shown":
        return Shown(self, step)


@dataclass(frozen=True, slots=True)
class Shown:
    """The same, as one step publishes it: what `statistics.Part` is to a release."""

    kept: Kept
    step: int

    @property
    def name(self) -> str:
        return self.kept.name

    @property
    def question(self) -> dict[str, Any]:
        return self.kept.question

    @property
    def tally(self) -> PublicTally:
        return self.kept.tally

    @property
    def mechanism(self) -> RoundedNormal:
        """Return the law of the noise in each count at this step."""
        return self.kept.counter.noise(self.step)

    @property
    def parameters(self) -> dict[str, Any]:
        counter = self.kept.counter
        return {
            "horizon": counter.horizon,
            "name": "continual counter, discrete Gaussian",
            "rho": str(plain(round_up(counter.gaussian.rho, RHO_PLACES))),
            "scale": counter.gaussian.scale / UNIT,  # people, of the noise before it is spread over the steps
            "standard_error": math.sqrt(self.mechanism.variance),  # people
            "step": self.step,
        }


@dataclass(frozen=True)
class Continual:
    """All refreshes of one Plan."""

    names: tuple[str, ...]
    epsilon: str
    rho: str
    horizon: int
    kept: tuple[Kept, ...]

    kind: ClassVar[str] = "continual"
    title: ClassVar[str | Promise] = gettext_lazy("Shares of each answer, refreshed")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "The shares of every answer so far, again and again, all paid for on the first day."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        """Return no form: it is a rule of the study, not a question of a researcher."""
        return None

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        rule, rho = plan.content["publication"], str(parameters.get("rho", ""))
        if rule["rule"] != cls.kind:
            raise Refused("rule", _("expected %(kind)s, got %(got)s") % {"kind": cls.kind, "got": rule["rule"]})
        if not rho:
            raise Refused("rho", _("expected an amount: this noise has no finite ε, so a pure cap cannot pay for it"))
        tallies = [tally for tally in aggregation.public_tallies(plan) if tally.name in parameters["questions"]]
        if not tallies:
            raise Refused("questions", _("expected one or more whose answers can be counted"))
        questions = {question["name"]: question for question in plan.content["questions"]}
        each = Fraction(rho) / len(tallies)
        kept = tuple(Kept(questions[tally.name], tally, _counter(tally, each, rule["horizon"])) for tally in tallies)
        return cls(tuple(tally.name for tally in tallies), str(parameters["epsilon"]), rho, rule["horizon"], kept)

    def document(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "horizon": self.horizon, "questions": list(self.names), "rho": self.rho}

    @property
    def questions(self) -> tuple[str, ...]:
        return self.names

    @property
    def cost(self) -> Cost:
        """Return what the whole horizon costs."""
        return reduce(add, (kept.counter.cost for kept in self.kept))

    @property
    def mechanism(self) -> str:
        return f"continual counter, discrete Gaussian, {self.horizon} refreshes"

    @property
    def sensitivity(self) -> str:
        most = max(kept.tally.sensitivity for kept in self.kept)
        return f"{most} count{'s' * (most > 1)} by 1 in each tally, in one refresh"

    def expected(self, n: int) -> list[str]:
        return [
            f"{kept.question['label']}: chance moves each count by {kept.counter.mean_absolute_error:,.1f} people on "
            f"average, over {self.horizon} refreshes."
            for kept in self.kept
        ]

    def draw(self, counts: Counter[tuple[Any, ...]], n: int) -> Numbers:
        """Return the first refresh alone, with the noise of the whole horizon."""
        return self.step(self.start(), counts, n)[1]

    def question_form(self, plan: Plan) -> type[forms.Form] | None:
        return None

    def start(self, counts: Counter[tuple[Any, ...]] | None = None, n: int = 0) -> State:
        """Return the state before the first refresh: nothing has been drawn."""
        return {kept.name: kept.counter.start() for kept in self.kept}

    def step(
        self, state: State, counts: Counter[tuple[Any, ...]], n: int, question: Mapping[str, Any] | None = None
    ) -> tuple[State, Numbers]:
        """Return the state after one more refresh and its numbers, from joint counts of all who answered so far."""
        parts = cast(Sequence[Part], [kept.at(1) for kept in self.kept])
        exact = {part.name: statistics.marginal(counts, at, part) for at, part in enumerate(parts)}
        return self.refresh(state, exact, n)

    def refresh(self, state: State, exact: Mapping[str, list[int]], n: int) -> tuple[State, Numbers]:
        """Return the same from the tallies themselves. Drawn anew at every call: keep the state that is returned."""
        after: State = {}
        noisy: dict[str, list[int]] = {}
        for kept in self.kept:
            after[kept.name], drawn = kept.counter.step(state[kept.name], kept.tally.vector(exact[kept.name]))
            noisy[kept.name] = kept.tally.counts(drawn, n)
        taken = len(after[self.names[0]]["noisy"])
        if taken == self.horizon:
            after["over"] = True
        return after, self._numbers(noisy, n, taken)

    def _numbers(self, noisy: dict[str, list[int]], n: int, taken: int) -> Numbers:
        parts = cast(tuple[Part, ...], tuple(kept.at(taken) for kept in self.kept))
        numbers = statistics.derived(parts, noisy, n)
        left = self.horizon - taken
        return {
            **numbers,
            **tables_of(numbers, parts),
            "method": METHOD,
            "notes": [f"Refresh {taken:,} of {self.horizon:,}; {left:,} more are paid for."],
            "refresh": taken,
        }


def _counter(tally: PublicTally, rho: Fraction, horizon: int) -> ContinualCounter:
    """Return one question's counter. What one person moves counts by, in one step, enters squared."""
    signed, moves = tally.published < tally.cells and not tally.is_one_count, tally.sensitivity_squared
    return ContinualCounter.for_rho(rho, horizon=horizon, counts=tally.published, moves=moves, signed=signed)


def of(plan: Plan) -> Continual:
    """Return what the rule of a Plan publishes."""
    rule = plan.content["publication"]
    names = statistics.public_names(plan)
    return Continual.read(plan, {"epsilon": rule["epsilon"], "questions": names, "rho": rule.get("rho", "")})


def cost(plan: Plan) -> Cost:
    """Return what all refreshes cost together: charged on the first day."""
    return of(plan).cost


def start(plan: Plan) -> State:
    return of(plan).start()


def step(plan: Plan, state: State, totals: Totals) -> tuple[State, Numbers]:
    """Return the state after one more refresh, and the numbers of all who answered so far."""
    return of(plan).refresh(state, totals.counts, totals.reports)
