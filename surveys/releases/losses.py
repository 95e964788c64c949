"""What a release tells of one person, as a random variable: from its query, before any draw."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import log, prod
from operator import add

from dpengine.central.counts import AsTheyCame
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Mean
from dpengine.losses import LossLaw
from surveys.releases.queries.base import Engine, Query
from surveys.releases.queries.crosstab import Crosstab
from surveys.releases.queries.shares import Shares

ROUNDING = 1 + 1e-6  # of a cost
Block = frozenset[str]


def loss_of(query: Query) -> LossLaw:
    """Return the law of the loss of one release, by itself: its own, or the worst that its cost
    allows where its own depends on the answers, and of a household. Noises over the same reports go
    through the chance of those devices together.
    """
    cost = query.cost
    if query.plan.content.people > 1 and cost.epsilon is not None:
        return LossLaw.coin(float(cost.epsilon))
    everything = frozenset[str]().union(*(noise.reports for noise in query.noises))
    held = cost.reading.held() if cost.reading else [everything]
    found = max((_of_person(query, each) for each in held), key=lambda law: law.greatest)
    if cost.epsilon is None or cost.delta or found.greatest <= float(cost.epsilon) * ROUNDING:
        return found
    return LossLaw.coin(float(cost.epsilon))


def _of_person(query: Query, held: Block) -> LossLaw:
    """Return the law for a person who sent these of the reports that it reads."""
    blocks: dict[Block, list[LossLaw | None]] = {}
    for law, noise in zip(_laws(query), query.noises, strict=True):
        if reports := noise.reports & held:
            blocks.setdefault(reports, []).append(law)
    return reduce(add, (_through_devices(query, block, laws) for block, laws in blocks.items()))


def is_noisy(query: Query) -> bool:
    """Tell whether any noise is added to what the devices sent."""
    return any(law is not None for law in _laws(query))


def _laws(query: Query) -> list[LossLaw | None]:
    """Return the law of each noise; None where nothing was added."""
    match query:
        case Shares():
            moved = [(part.tally.moved.l1, part.tally.moved.squared) for part in query.parts]
        case Crosstab():
            moved = [(query.tally.moved, query.tally.moved)]
        case _:
            return [_of_engine(engine) for engine in query.engines]
    return [_of_tally(noise, *by) for noise, by in zip(query.engines, moved, strict=True)]


def _through_devices(query: Query, block: Block, laws: Sequence[LossLaw | None]) -> LossLaw:
    """Return the law of some noises over the same reports, of answers where their devices' chance
    counts.
    """
    noises = [law for law in laws if law is not None]
    losses = query.cost.reading.losses if query.cost.reading else {}
    known = [loss for name in block if (loss := losses.get(name)) is not None]
    if len(noises) < len(laws):  # the devices' own chance is all there is
        return LossLaw.coin(log(prod(known)))
    law = _together(noises)
    return law.through(float(prod(known))) if len(known) == len(block) else law


def _of_tally(noise: Engine, l1: int, squared: int) -> LossLaw | None:
    """Return the law where a person moves l1²/squared counts, each by squared/l1."""
    if isinstance(noise, DiscreteLaplace):
        return LossLaw.laplace(noise.scale, squared // l1).times(l1**2 // squared)
    return _of_engine(noise)


def _together(laws: Sequence[LossLaw]) -> LossLaw:
    """Return the law of several noises over the same answers: a bound, since no one change of an
    answer is the worst for each.
    """
    law = reduce(add, laws)
    return law if len(laws) == 1 else replace(law, is_exact=False)


def _of_engine(engine: Engine) -> LossLaw | None:
    """Return the law of its noise; the worst, where one person may move several numbers together,
    or where only its cost is known: of a ρ, the law of Gaussian noise in its stead.
    """
    match engine:
        case AsTheyCame():
            return None
        case DiscreteGaussian():
            return LossLaw.gaussian(float(engine.rho))
        case DiscreteLaplace():
            return replace(LossLaw.laplace(engine.scale, engine.sensitivity), is_exact=False)
        case Mean():
            noises = filter(None, (engine.total, engine.people, engine.moment))
            return _together([LossLaw.laplace(each.scale, each.sensitivity) for each in noises])
    cost = engine.cost
    if cost.epsilon is None:
        return replace(LossLaw.gaussian(float(cost.rho)), is_exact=False)
    return LossLaw.coin(float(cost.epsilon), float(cost.delta))
