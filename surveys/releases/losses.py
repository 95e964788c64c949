"""What a release tells of one person, as a random variable: from its query, before any draw."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce, singledispatch
from math import prod
from operator import add

from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.numeric import Mean
from dpengine.losses import LossLaw
from surveys.releases.queries.base import Engine, Query
from surveys.releases.queries.crosstab import Crosstab
from surveys.releases.queries.shares import Shares


def loss_of(query: Query) -> LossLaw:
    """Return the law of the loss of one release, by itself; the worst that its cost allows, where
    its own one depends on answers.
    """
    match query:
        case Shares():
            laws = [
                _sent_on(
                    query,
                    _of_tally(part.mechanism, part.tally.moved.l1, part.tally.moved.squared),
                    part.name,
                )
                for part in query.parts
            ]
        case Crosstab():
            moved = query.tally.moved
            laws = [_sent_on(query, _of_tally(query.engine, moved, moved), *query.names)]
        case _:
            return _together([_of_engine(engine) for engine in query.engines])
    return reduce(add, laws)


def _sent_on(query: Query, law: LossLaw, *names: str) -> LossLaw:
    """Return the law for answers that devices changed, where the cost counts their chance."""
    losses = query.cost.reading.losses if query.cost.reading else {}
    known = [loss for name in names if (loss := losses.get(name)) is not None]
    return law.through(float(prod(known))) if len(known) == len(names) else law


def _of_tally(noise: Engine, l1: int, squared: int) -> LossLaw:
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
def _of_engine(engine: Engine) -> LossLaw:
    """Return the worst law of what it costs."""
    cost = engine.cost
    if cost.epsilon is None:
        return LossLaw.gaussian(float(cost.rho))
    return LossLaw.coin(float(cost.epsilon), float(cost.delta))


@_of_engine.register
def _of_laplace(noise: DiscreteLaplace) -> LossLaw:
    return LossLaw.laplace(noise.scale, noise.sensitivity)


@_of_engine.register
def _of_mean(mean: Mean) -> LossLaw:
    noises = (mean.total, mean.people, mean.moment)
    return _together([_of_laplace(noise) for noise in noises if noise])
