"""Survey weights, post-stratification and raking, for shares that were asked for through a channel.

Every respondent has an unbiased value z: (yes − c0)/c1 of a binary question, a row of the decoder of a categorical one.
Its spread holds sampling and the chance of the device alike, so that everything else is a weighted mean of z:

    Weighted         ẑ = Σ wz / Σ w             V = n/(n − 1) · Σ w²(z − ẑ)² / (Σ w)²
    Post-stratified  ẑ = Σ W_h ẑ_h              V = Σ W_h² V_h, V_h as above within stratum h, given who is there
    Raked            ẑ = Σ wz, Σ w = 1          V = n/(n − p) · Σ w²e²

W_h is the population's share of stratum h. Raking multiplies the weights margin by margin until every margin is the
population's (iterative proportional fitting); e is what a regression of z on the margins' categories, weighted by w,
leaves, and p how many of those are free.
Spread     Where all values are alike V would be 0: one respondent more is counted, half at each end of what z can be.
Design     Kish's effect n·Σ w²/(Σ w)², and n over it, the effective n: what unequal weights alone cost.
Interval   Korn and Graubard 1998: Clopper-Pearson with as many reports as would have this V, cut to [0, 1].
By hand    Direct yes 10 of 40 and 30 of 60, population ½ and ½: ẑ = .375, V = ¼(.25·.75/39 + .5·.5/59).
Sources    Holt and Smith 1979 (conditional variance); Deville and Särndal 1992 (calibration); Deming and Stephan 1940.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.inference.inputs import Ints, coded, weights_of
from dpengine.inference.intervals import clipped, mean_interval
from dpengine.inference.mixture import Array

Shares = Mapping[Hashable, float]

SLACK = 1e-6  # by which printed shares may miss 1
CLOSE = 1e-10  # to its margins ends a raking
ROUNDS = 1000
ALIKE = 1e-12  # values nearer to one another have no spread


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Unbiased values [respondent, share], and the least and greatest a respondent could have had of each share."""

    values: Array
    low: Array
    high: Array


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Shares of the population. Estimates are unprojected; weights are in the rows' order and add up to n."""

    n: int
    estimates: tuple[float, ...]
    standard_errors: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    weights: Array
    design_effect: float
    effective_n: float
    warnings: tuple[str, ...]


def decoded_yes(yes: npt.ArrayLike, c0: npt.ArrayLike, c1: npt.ArrayLike) -> Decoded:
    """Return (yes − c0)/c1: reports yes with chance c0 + c1·π, constants for all or for each respondent."""
    reports = coded(yes, 2, "yes")
    base, slope = (np.asarray(each, dtype=np.float64) for each in (c0, c1))
    for name, column in (("c0", base), ("c1", slope)):
        if column.ndim and column.shape != reports.shape:
            raise ValueError(f"{name} must be one number or one for each of {len(reports)} rows, got {column.shape}")
        if not np.isfinite(column).all():
            raise ValueError(f"{name} must be finite")
    if (slope == 0).any():
        raise ValueError("c1 must not be 0: reports would not depend on the answer")
    ends = np.stack([-base / slope, (1 - base) / slope])
    return Decoded(((reports - base) / slope)[:, np.newaxis], ends.min().reshape(1), ends.max().reshape(1))


def decoded_reports(reports: npt.ArrayLike, decoder: npt.ArrayLike) -> Decoded:
    """Return each report's row of decoder[report, choice]: unbiased, as the inverse of a channel P[answer, report]."""
    table = np.asarray(decoder, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(f"decoder must be a finite table [report, choice], got shape {table.shape}")
    return Decoded(table[coded(reports, len(table), "reports")], table.min(axis=0), table.max(axis=0))


def weighted(asked: Decoded, weights: npt.ArrayLike | None = None, confidence: float = 0.95) -> Weighted:
    """Return the weighted shares."""
    weight = weights_of(weights, len(asked.values), positive=True)
    mean, variance, flat = _mean(asked.values, weight, asked)
    return _result(asked, mean, variance, weight, _flat_notes({"the sample": flat}), confidence)


def poststratify(asked: Decoded, strata: npt.ArrayLike, population_shares: Shares,
                 weights: npt.ArrayLike | None = None, confidence: float = 0.95) -> Weighted:  # fmt: skip
    """Return the shares of a population whose strata have these shares; `weights` are those before."""
    weight = weights_of(weights, len(asked.values), positive=True)
    index, targets = _margin("strata", strata, population_shares, len(weight))
    parts = [_mean(asked.values[index == h], weight[index == h], asked) for h in range(len(targets))]
    means, variances = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    flats = dict(zip(population_shares, (part[2] for part in parts), strict=True))
    final = weight * (targets / np.bincount(index, weight))[index] * len(weight)
    return _result(asked, targets @ means, targets**2 @ variances, final, _flat_notes(flats), confidence)


def rake(asked: Decoded, margins: Mapping[str, tuple[npt.ArrayLike, Shares]], weights: npt.ArrayLike | None = None,
         confidence: float = 0.95) -> Weighted:  # fmt: skip
    """Return the shares of a population with these margins: each a column of labels and the labels' shares."""
    if not margins:
        raise ValueError("margins must name at least one column")
    rows = len(asked.values)
    weight = weights_of(weights, rows, positive=True)
    known = {name: _margin(f"margin {name}", *margin, rows) for name, margin in margins.items()}
    final = _raked(weight / rows, known)
    dummies = np.hstack([np.eye(len(targets))[index] for index, targets in known.values()])
    mean, variance, flat = _residual_mean(asked, final, dummies)
    return _result(asked, mean, variance, final * rows, _flat_notes({"the sample": flat}), confidence)


def design_effect(weights: npt.ArrayLike) -> float:
    """Return Kish's n·Σ w²/(Σ w)²: 1 when all weights are equal."""
    weight = weights_of(weights, np.size(weights), positive=True)
    return float(len(weight) * (weight @ weight) / weight.sum() ** 2)


def _mean(values: Array, weight: Array, asked: Decoded) -> tuple[Array, Array, bool]:
    """Return the weighted means, their variances, and whether some column had no spread."""
    share, n = weight / weight.sum(), len(weight)
    mean = share @ values
    flat = np.ptp(values, axis=0) < ALIKE
    variance = share**2 @ (values - mean) ** 2 * (n / max(n - 1, 1))
    return mean, np.where(flat, _flat_variance(mean, 1 / float(share @ share), asked), variance), bool(flat.any())


def _flat_variance(value: Array, n: float, asked: Decoded) -> Array:
    """Return the variance of the mean of n like values and one more respondent, half at each end."""
    ends = (asked.low + asked.high) / 2
    centre = (n * value + ends) / (n + 1)
    around = n * (value - centre) ** 2 + ((asked.low - centre) ** 2 + (asked.high - centre) ** 2) / 2
    return np.asarray(around / (n + 1) ** 2, dtype=np.float64)


def _residual_mean(asked: Decoded, share: Array, dummies: Array) -> tuple[Array, Array, bool]:
    """Return the mean of calibrated shares of respondents, with the variance of what the margins do not explain."""
    n, free = len(share), int(np.linalg.matrix_rank(dummies))
    if n <= free:
        raise ValueError(f"raking to {free} free categories needs more respondents than that, got {n}")
    root = np.sqrt(share)[:, np.newaxis]
    effects = np.linalg.lstsq(dummies * root, asked.values * root, rcond=None)[0]
    left = asked.values - dummies @ effects
    mean = share @ asked.values
    flat = np.ptp(left, axis=0) < ALIKE * n
    variance = share**2 @ left**2 * (n / (n - free))
    return mean, np.where(flat, _flat_variance(mean, 1 / float(share @ share), asked), variance), bool(flat.any())


def _margin(name: str, labels: npt.ArrayLike, shares: Shares, rows: int) -> tuple[Ints, Array]:
    """Return each respondent's place among the shares, and the shares, adding up to 1."""
    column = np.asarray(labels)
    if column.shape != (rows,):
        raise ValueError(f"{name} must be one for each of {rows} rows, got shape {column.shape}")
    targets = _population(name, shares)
    places = {label: place for place, label in enumerate(shares)}
    found = set(column.tolist())
    for label in found - set(places):
        raise ValueError(f"{name}: {label!r} has no population share")
    for label in set(places) - found:
        raise ValueError(f"{name}: {label!r} has no respondents; join it with another")
    return np.array([places[label] for label in column.tolist()], dtype=np.int64), targets


def _population(name: str, shares: Shares) -> Array:
    for label, share in shares.items():
        if not 0 < share < np.inf:
            raise ValueError(f"{name}: the population share of {label!r} must be above 0, got {share:g}")
    targets = np.array(list(shares.values()), dtype=np.float64)
    if not abs(targets.sum() - 1) < SLACK:
        raise ValueError(f"{name}: population shares must add up to 1, got {targets.sum():g}")
    return np.asarray(targets / targets.sum(), dtype=np.float64)


def _raked(share: Array, margins: Mapping[str, tuple[Ints, Array]]) -> Array:
    for _ in range(ROUNDS):
        for index, targets in margins.values():
            share = share * (targets / np.bincount(index, share, minlength=len(targets)))[index]
        off = {name: _off(share, *margin) for name, margin in margins.items()}
        worst = max(off, key=lambda name: off[name])
        if off[worst] < CLOSE:
            return np.asarray(share / share.sum(), dtype=np.float64)
    raise ValueError(
        f"raking did not converge in {ROUNDS} rounds: margin {worst} is still {off[worst]:.2g} off; "
        "the margins may contradict one another for the respondents there are"
    )


def _off(share: Array, index: Ints, targets: Array) -> float:
    return float(np.abs(np.bincount(index, share, minlength=len(targets)) - targets).max())


def _flat_notes(flats: Mapping[Hashable, bool]) -> list[str]:
    words = "are alike: one respondent more, half at each end, counts towards the error there"
    return [f"all decoded reports in {name} {words}" for name, flat in flats.items() if flat]


def _result(asked: Decoded, mean: Array, variance: Array, weights: Array, notes: Sequence[str],
            confidence: float) -> Weighted:  # fmt: skip
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    n, effect = len(weights), design_effect(weights)
    columns = zip(mean.tolist(), variance.tolist(), asked.low.tolist(), asked.high.tolist(), strict=True)
    intervals = [clipped(mean_interval(m, v, n, (low, high), confidence)) for m, v, low, high in columns]
    outside = [f"estimate {place} is {value:.4f}, outside 0 to 1" for place, value in enumerate(mean.tolist())
               if not 0 <= value <= 1]  # fmt: skip
    errors = tuple(np.sqrt(variance).tolist())
    return Weighted(n, tuple(mean.tolist()), errors, tuple(intervals), weights, effect, n / effect, (*notes, *outside))
