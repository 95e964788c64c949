"""What a release tells of one person, as a random variable: from its query, before any draw."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce, singledispatch
from math import log, prod
from operator import add

from dpengine.central.counts import AsTheyCame
from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Mean
from dpengine.losses import LossLaw
from surveys.releases.queries.base import Engine, Query
from surveys.releases.queries.crosstab import Crosstab
from surveys.releases.queries.shares import Shares

ROUNDING = 1 + 1e-6  # of a cost
Block = frozenset[str]


def loss_of(query: Query) -> LossLaw:
    """Return the law of the loss of one release, by itself; the worst that its cost allows, where
    its own one depends on answers. What reads the same reports goes through the devices together.
    """
    blocks: dict[Block, list[LossLaw | None]] = {}
    for law, noise in zip(_laws(query), query.noises, strict=True):
        blocks.setdefault(noise.reports, []).append(law)
    found = reduce(add, (_sent_on(query, block, laws) for block, laws in blocks.items()))
    cost = query.cost
    if cost.epsilon is None or cost.delta or found.greatest <= float(cost.epsilon) * ROUNDING:
        return found
    return LossLaw.coin(float(cost.epsilon))


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


def _sent_on(query: Query, block: Block, laws: Sequence[LossLaw | None]) -> LossLaw:
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


@singledispatch
def _of_engine(engine: Engine) -> LossLaw | None:
    """Return the worst law of what it costs."""
    cost = engine.cost
    if cost.epsilon is None:
        return LossLaw.gaussian(float(cost.rho))
    return LossLaw.coin(float(cost.epsilon), float(cost.delta))


@_of_engine.register
def _of_no_noise(engine: AsTheyCame) -> None:
    return None


@_of_engine.register
def _of_laplace(noise: DiscreteLaplace) -> LossLaw:
    """Return the worst law: a person may move several numbers, together by this much."""
    return replace(LossLaw.laplace(noise.scale, noise.sensitivity), is_exact=False)


@_of_engine.register
def _of_mean(mean: Mean) -> LossLaw:
    noises = (mean.total, mean.people, mean.moment)
    return _together([LossLaw.laplace(noise.scale, noise.sensitivity) for noise in noises if noise])
