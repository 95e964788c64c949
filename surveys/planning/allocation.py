"""One person's ε, allocated to the questions: by weights, or spent on a few that chance picks.

Split      Everyone answers all q; question i has its part of ε, by weight.
Sample     Each device answers s of q, each with ε/s; a question has n·s/q answers. What was not
           asked gets no report, so that cross-tabs of pairs need s ≥ 2.
Drawn      A draft that says how many each person is asked: of its sets, whose largest loss counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property

from django.utils.translation import gettext as _

from dpengine.privacy import epsilon_above, loss_of_all
from surveys.design.site import MAX_ANSWER_EPSILON
from surveys.guesses import Guess
from surveys.plan.content import largest_loss
from surveys.plan.verification import MAXIMUM_TOTAL
from surveys.planning.precision import Precision
from surveys.planning.scenarios import Scenario
from surveys.planning.solver import STEP
from surveys.planning.wording import epsilon_text

MAX_LISTED = 6  # ± of several questions
MIN_ANSWERS = 2  # of one question, below which no ± is shown


@dataclass(frozen=True, slots=True)
class Part:
    """One question's part."""

    scenario: Scenario
    weight: Decimal
    asked: Decimal  # ε before the channel is rounded
    precision: Precision

    @property
    def name(self) -> str:
        return self.scenario.question.row.name

    @property
    def loss(self) -> Fraction:
        return self.precision.question.loss


@dataclass(frozen=True)
class Allocation:
    """How many questions a person answers, and what comes of it for every one of them."""

    reported: int  # s
    parts: tuple[Part, ...]  # of all q questions
    sets: Sequence[frozenset[str]] = ()  # of which a device draws one; none: any s questions

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of one person, exactly: of the s questions, or of the set, that lose most."""
        if self.sets:
            return largest_loss(self.sets, {part.name: part.loss for part in self.parts})
        return loss_of_all(sorted(part.loss for part in self.parts)[-self.reported :])

    @property
    def epsilon(self) -> Decimal:
        return epsilon_above(self.loss)

    @property
    def guess(self) -> Guess:
        """Return what becomes of an even guess about all of a person's answers."""
        return Guess(50, self.loss)

    @property
    def too_much(self) -> str:
        """Say why browsers refuse a form that asks all of this of one person, and the ways out."""
        if self.loss <= MAXIMUM_TOTAL:
            return ""
        return _(
            "Together ε %(epsilon)s: browsers refuse a study in which one person gives away more "
            "than ε %(most)s. Find more people, accept a rougher answer, or ask fewer questions."
        ) % {"epsilon": epsilon_text(self.epsilon), "most": MAX_ANSWER_EPSILON}

    @property
    def halves(self) -> str:
        """Return the ± of the first questions."""
        halves = [f"± {part.precision.said}" for part in self.parts]
        return ", ".join(halves[:MAX_LISTED]) + (", …" if len(halves) > MAX_LISTED else "")

    @property
    def worst(self) -> float:
        """Return the widest ±, as a part of the question's whole scale."""
        return max(part.precision.half / part.precision.question.reach for part in self.parts)


def parts_of(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Return the ε of every question in thousandths, rounded down: together within the total.

    More than a Plan may hold is parted too: the planner warns of it beside what it would give.
    """
    parts = [(total * weight / sum(weights)).quantize(STEP, ROUND_FLOOR) for weight in weights]
    return [max(part, STEP) for part in parts]


def split(
    scenarios: Sequence[Scenario],
    epsilons: Sequence[Decimal],
    weights: Sequence[Decimal],
    n: int,
    sets: Sequence[frozenset[str]] = (),
) -> Allocation:
    """Return what comes of everyone answering everything, or one of some sets."""
    parts = tuple(
        Part(scenario, weight, epsilon, scenario.precision(n, epsilon))
        for scenario, weight, epsilon in zip(scenarios, weights, epsilons, strict=True)
    )
    return Allocation(max(map(len, sets), default=len(parts)), parts, sets)


def sampled(scenarios: Sequence[Scenario], total: Decimal, n: int) -> Allocation | None:
    """Return the best way to pick fewer than all questions for each person, if there is one."""
    ways = (_sampled(scenarios, total, n, reported) for reported in range(1, len(scenarios)))
    return min(filter(None, ways), key=lambda allocation: allocation.worst, default=None)


def _sampled(
    scenarios: Sequence[Scenario], total: Decimal, n: int, reported: int
) -> Allocation | None:
    epsilon = (total / reported).quantize(STEP, ROUND_FLOOR)
    answers = n * reported // len(scenarios)
    if answers < MIN_ANSWERS or not STEP <= epsilon <= scenarios[0].limits[1]:
        return None
    different = {id(scenario): scenario for scenario in scenarios}  # each but once: it is slow
    parts = {
        key: Part(scenario, Decimal(1), epsilon, _of_asked(scenario).precision(answers, epsilon))
        for key, scenario in different.items()
    }
    return Allocation(reported, tuple(parts[id(scenario)] for scenario in scenarios))


def _of_asked(scenario: Scenario) -> Scenario:
    """Return the same, for answers of people who all are asked."""
    return replace(scenario, asked=Fraction(1))
