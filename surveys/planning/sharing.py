"""One person's ε, shared between the questions: by weights, or spent on a few that chance picks.

Split      Everyone answers all q; question i has its part of ε, by weight.
Sample     Each device answers s of q, each with ε/s; a question has n·s/q answers. What was not asked gets no report,
           so that cross-tabs of pairs need s ≥ 2. For comparison: the form asks everyone everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from dpengine.local import budget
from dpengine.privacy import epsilon_above
from surveys.planning.dials import STEP, Setting
from surveys.planning.topics import Drawn
from surveys.planning.widths import Width, width_of

FEWEST = 2  # answers of one question, below which no ± is shown


@dataclass(frozen=True, slots=True)
class Share:
    """One question's part."""

    setting: Setting
    weight: Decimal
    drawn: Drawn
    width: Width
    asked: Decimal  # ε before the channel is rounded

    @property
    def name(self) -> str:
        return self.setting.topic.question.name


@dataclass(frozen=True, slots=True)
class Way:
    """How often a person is asked, and what comes of it for every question."""

    reported: int  # s
    questions: int  # q
    shares: tuple[Share, ...]
    loss: Fraction  # of one person, exactly

    @property
    def epsilon(self) -> Decimal:
        return epsilon_above(self.loss)

    @property
    def worst(self) -> float:
        """Return the widest ±, as a part of the question's whole scale."""
        return max(share.width.half / share.width.reach for share in self.shares)


def parts_of(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Return the ε of every question, in thousandths: rounded down, so that together they stay within the total.

    More than a Plan may hold is parted too: who plans it is told so, beside what it would give.
    """
    found = [(total * weight / sum(weights)).quantize(STEP, ROUND_FLOOR) for weight in weights]
    return [max(part, STEP) for part in found]


def split(settings: Sequence[Setting], parts: Sequence[Decimal], weights: Sequence[Decimal], n: int) -> Way:
    """Return what comes of everyone answering everything."""
    shares = tuple(_share(*each, n) for each in zip(settings, weights, parts, strict=True))
    loss = budget.sampled([share.drawn.loss for share in shares], len(shares))
    return Way(len(shares), len(shares), shares, loss)


def sampled(settings: Sequence[Setting], total: Decimal, n: int) -> Way | None:
    """Return the best number of questions to pick for each person, fewer than all; None if there is none."""
    ways = [way for reported in range(1, len(settings)) if (way := _picked(settings, total, n, reported))]
    return min(ways, key=lambda way: way.worst, default=None)


def _picked(settings: Sequence[Setting], total: Decimal, n: int, reported: int) -> Way | None:
    each = (total / reported).quantize(STEP, ROUND_FLOOR)
    answers = n * reported // len(settings)
    if answers < FEWEST or each < STEP or each > settings[0].limits[1]:
        return None
    found = {
        id(setting): _share(setting, Decimal(1), each, answers) for setting in settings
    }  # each but once: it is slow
    shares = tuple(found[id(setting)] for setting in settings)
    loss = budget.sampled([share.drawn.loss for share in shares], reported)
    return Way(reported, len(settings), shares, loss)


def _share(setting: Setting, weight: Decimal, epsilon: Decimal, n: int) -> Share:
    drawn = setting.topic.at(epsilon)
    return Share(setting, weight, drawn, width_of(drawn, setting.law(drawn), n, setting.at), epsilon)
