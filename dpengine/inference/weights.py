"""Weights that give a sample the population's known margins, and what knowing them is worth.

Raking      Weights are multiplied margin by margin until every margin's categories have the
            population's shares T (iterative proportional fitting, Deming and Stephan 1940). One
            margin takes one round: post-stratification.
Variance    A weighted mean Σ wz with Σ w = 1 varies as the sum of what the margins leave of each
            value (Deville and Särndal 1992):

                V = Σ w²e²/(1 − h),   e = z − Dβ, β the w-weighted least squares of z on D

            D being the margins' categories and h = w·d(DᵀWD)⁻d the leverage (MacKinnon and White
            1985, HC2). With one margin and equal weights before it is Σ T²·s²/n of each stratum,
            s² with n − 1 (Holt and Smith 1979). z is unbiased for the answer, so that its spread
            holds sampling and the device's chance alike.
Alone       A category of one respondent (h = 1) leaves no e: the largest variance that values
            between these ends can have stands there. In one whose values are all alike, a margin's
            variance is T²·(of n like ones and four more, of which two at either end).
By hand     Direct, yes 10 of 40 and 30 of 60, population ½ and ½: the mean is .375,
            V = ¼(.25·.75/39 + .5·.5/59).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.inference.intervals import agreed_error, parts_of, smallest, sums

SLACK = 1e-6  # by which printed shares may miss 1
CLOSE = 1e-10  # to its margins ends a raking
ROUNDS = 1000
LEVERAGE = 1e-9  # less than so much of an own value left by the margins is nothing
ALIKE = 1e-9  # of all values' way: values nearer to one another have no spread


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """A column of the sample, as places among categories, and their shares of the population."""

    name: str
    places: Ints  # of each row
    shares: Floats  # of each category, adding up to 1

    @classmethod
    def of(cls, name: str, places: Ints, shares: Floats) -> "Margin":
        """Return a checked margin: each category has a share above 0, and a respondent."""
        require(np.all(shares > 0), "{}: every share of the population must be above 0", name)
        require(
            abs(float(shares.sum()) - 1) <= SLACK,
            "{}: shares of the population must add up to 1, got {:g}",
            name,
            float(shares.sum()),
        )
        margin = cls(name, smallest(places, len(shares)), shares / shares.sum())
        require(
            margin.people.all(),
            "{}: every category needs a respondent: join those without to others",
            name,
        )
        return margin

    @property
    def people(self) -> Floats:
        """Return how many rows each category has."""
        return self.held(np.broadcast_to(1.0, len(self.places)))

    def held(self, weights: Floats, power: int = 1) -> Floats:
        """Return the sums of each category's weights, or of a power of them."""
        return sums(self.places, weights, len(self.shares), power)

    def only(self, rows: npt.NDArray[np.bool_]) -> "Margin":
        return Margin(self.name, self.places[rows], self.shares)


def raked(weights: Floats, margins: Sequence[Margin]) -> Floats:
    """Return weights of the same sum with which every margin is the population's."""
    total, share = float(weights.sum()), weights / weights.sum()
    off: dict[str, float] = {}
    for _ in range(ROUNDS):
        for margin in margins:
            factors = margin.shares / margin.held(share)
            for part in parts_of(len(share)):
                share[part] *= factors[margin.places[part]]
        off = {each.name: float(np.abs(each.held(share) - each.shares).max()) for each in margins}
        if max(off.values()) < CLOSE:
            return np.asarray(np.multiply(share, total, out=share), dtype=np.float64)
    worst = max(off, key=lambda name: off[name])
    raise ValueError(
        f"raking did not converge in {ROUNDS} rounds: margin {worst} is still {off[worst]:.2g} "
        "off; the margins may contradict one another for the respondents there are"
    )


def left_variances(columns: Iterable[Floats], weights: Floats, margins: Sequence[Margin]) -> Floats:
    """Return the variance of Σ weight·value for each column of values, which is written over.

    Weights are those that `raked` gave, of any sum.
    """
    starts = np.cumsum([0, *(len(margin.shares) for margin in margins)])
    parts = parts_of(len(weights))

    def places_in(part: slice) -> list[Ints]:
        """Return the category of each row in each margin, all margins' in one order."""
        return [margin.places[part] + start for margin, start in zip(margins, starts, strict=False)]

    gram = np.zeros((starts[-1], starts[-1]))
    for part in parts:
        places = places_in(part)
        for one in places:
            for other in places:
                np.add.at(gram, (one, other), weights[part])
    inverse = np.linalg.pinv(gram, hermitian=True)
    free = np.empty(len(weights))
    for part in parts:
        places = places_in(part)
        free[part] = 1 - weights[part] * sum(
            inverse[one, other] for one in places for other in places
        )

    def left(values: Floats) -> float:
        span = float(np.ptp(values))
        alike = sum(_alike(margin, values, weights, span) for margin in margins)
        totals = np.zeros((len(margins), len(inverse)))
        for part in parts:
            for place, total in zip(places_in(part), totals, strict=True):
                np.add.at(total, place, weights[part] * values[part])
        effects = inverse @ sum(totals)
        for part in parts:
            rest = (values[part] - sum(effects[place] for place in places_in(part))) ** 2
            alone = free[part] < LEVERAGE
            values[part] = np.where(alone, span**2 / 4, rest / np.where(alone, 1.0, free[part]))
        return float(weights**2 @ values) + alike

    return np.array([left(column) for column in columns])


def _alike(margin: Margin, values: Floats, weights: Floats, span: float) -> float:
    """Return the variance owed to categories of several respondents with one and the same value."""
    count = len(margin.shares)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    for part in parts_of(len(values)):
        np.minimum.at(low, margin.places[part], values[part])
        np.maximum.at(high, margin.places[part], values[part])
    held, squares = margin.held(weights), margin.held(weights, power=2)
    alike = (high - low <= ALIKE * span) & (margin.people > 1)
    return float(
        sum(
            (held[place] * agreed_error(held[place] ** 2 / squares[place]) * span) ** 2
            for place in np.flatnonzero(alike)
        )
    )
