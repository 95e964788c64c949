"""Shares of one question weighted to the known margins of another, from a table that was published.

Estimate   Σ_b T_b·θ_b with θ_b = p[a, b] / Σ_a p[a, b], the share of a in group b as the table has
           it, and T_b the population's share of that group, known from elsewhere: post-
           stratification (Holt and Smith 1979). A mean of scores is one of scores that go from 0 to
           1. Groups of no known share are left out.
Variance   Σ T_b T_c Cov(θ_b, θ_c) of the linearised ratios (contrasts.py): sampling, the devices'
           chance in both questions, and publication. Groups told by what devices changed share
           their errors, which is why no sum of single variances would do.
Interval   Each θ_b has Fieller's limits l_b and u_b (crosstabs.Within), put together for a sum of
           them (MOVER; Zou, Huang and Zhang 2009), R being the errors' correlations:

               Σ T_b θ_b − √(d'Rd), d_b = T_b(θ_b − l_b), and the like above

           from shares and limits as they came out, then within what is possible.
Free       Post-processing of one release. The margins are public, and come from whoever asks.
By hand    Nothing changed by chance, no noise: yes 10 of 40 and 30 of 60, population ½ and ½: the
           share is .375, its variance ¼(.25·.75/40 + .5·.5/60); as they came it is .4.
"""

from collections.abc import Mapping

import numpy as np

from dpengine.estimates import CONFIDENCE, Floats
from surveys.aggregation.contrasts import linearised
from surveys.aggregation.crosstabs import Sum, Table, Within

Population = Mapping[int, float]  # the shares of groups, adding up to 1, by their places


def weighted_share(
    table: Table, answer: int, population: Population, confidence: float = CONFIDENCE
) -> Within:
    """Return the share of an answer to the left question in that population."""
    withins = {group: table.within(answer, group, confidence) for group in population}
    return _weighted(table, (table.left.first[answer], table.left.one), withins, population)


def weighted_mean(
    table: Table, scores: Floats, population: Population, confidence: float = CONFIDENCE
) -> Within:
    """Return the mean score, from 0 to 1, of those whose answer has one: the first answers."""
    part, whole = _scored(table, scores)
    every = {
        group: table.mean((part, table.right.first[group]), (whole, table.right.first[group]))
        for group in population
    }
    return _weighted(table, (part, whole), every, population)


def plain_share(table: Table, answer: int, confidence: float = CONFIDENCE) -> Within:
    """Return the share of an answer to the left question, as it came."""
    one = table.right.one
    return table.ratio((table.left.first[answer], one), (table.left.one, one), confidence)


def plain_mean(table: Table, scores: Floats) -> Within:
    """Return the mean score, from 0 to 1, as it came."""
    part, whole = _scored(table, scores)
    return table.mean((part, table.right.one), (whole, table.right.one))


def _scored(table: Table, scores: Floats) -> Sum:
    """Return the sum of scores, and of those who have one, as sums of the left features."""
    answered = table.left.first[: len(scores)]
    return scores @ answered, answered.sum(axis=0)


def _weighted(
    table: Table, ratio: Sum, withins: Mapping[int, Within], population: Population
) -> Within:
    if any(within.value is None for within in withins.values()):
        return Within(None, 0.0, 1.0, None)
    parts = np.array([population[group] for group in withins])
    covariance = table.covariances([linearised(table, *ratio, group) for group in withins])
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    sizes, alike = np.outer(errors, errors), np.eye(len(parts))
    np.divide(covariance, sizes, out=alike, where=sizes > 0)
    values, lows, highs = np.array([within.came_out for within in withins.values()]).T
    value = float(parts @ values)
    below, above = (
        float(np.sqrt(max(reach @ alike @ reach, 0.0)))
        for reach in (parts * (values - lows), parts * (highs - values))
    )
    inside, low, high = np.clip([value, value - below, value + above], 0.0, 1.0).tolist()
    error = float(np.sqrt(max(parts @ covariance @ parts, 0.0)))
    return Within(inside, low, high, error, (value, value - below, value + above))
