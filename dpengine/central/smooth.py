"""The median with noise as small as the data allow: smooth sensitivity.

The values, clamped to public bounds and sorted, are x₁ ≤ … ≤ x_n; xᵢ is `least` for i < 1 and
`most` for i > n. The median is f = x_m, m = ⌈n/2⌉. How much f can move when one more person
changes, after k persons have changed:

    change-one   A_k = max over 0 ≤ t ≤ k + 1 of x_(m+t) − x_(m+t−k−1), exactly
    add-remove   A_k = x_⌈(n+k+1)/2⌉ − x_⌈(n−k−1)/2⌉: the median stays between these two for k + 1
                 persons added or removed

For neighbours D, D′: |f(D) − f(D′)| ≤ A₀(D), ≤ A₀(D′), and A_k(D) ≤ A_(k+1)(D′).

Scale      A public ladder of scales b₀ < b₁ < …, binary floats taken exactly: b₀ ≥ 1/ε₁, and
           b_(j+1) the largest float with b_(j+1) ≤ (1 + r)·b_j. The rung of a sensitivity a is J(a)
           = the first j with ε₁·b_j ≥ a, and of the data

               j(D) = max(0, max over k of J(A_k(D)) − k)

           in whole numbers and fractions: nothing is rounded. So J(A₀) ≤ j(D), and neighbours'
           rungs differ by at most 1: J(A_k(D)) − k ≤ J(A_(k+1)(D′)) − (k + 1) + 1 ≤ j(D′) + 1. F(D)
           = b_j(D) is a smooth upper bound, F(D) ≤ (1 + r)·F(D′) ≤ e^r·F(D′) (003 prints the
           reverse of what is needed). Rounding a smooth bound up to a ladder of other steps than
           its own would break this.
Release    f + Z, Z discrete Laplace of scale b_j(D). Rung and scale are secret.
Lattice    All this is about whole numbers. They are not the values but G times the values, G =
           ⌈16/ε₁⌉ parts of a unit, public: bounds, xᵢ and A_k grow by G, and the ladder still
           begins at 1/ε₁ parts, a sixteenth of a unit at most. What is published is f + Z/G rounded
           to the nearest whole number (a half upwards), and kept within the bounds: both come after
           the draw, so that the proof below, of G·f + Z, is theirs too (Dwork and Roth 2014, Prop.
           2.1). With G = 1, as releases had it at first, the noise is never below sd √2/ε₁ units,
           however many answer; with G a close median is exact but for a chance of about e⁻⁸.
Privacy    (ε, δ) with δ = r·(e^(−(ε−ε₁)/r) + e^(−(ε+ε₁)/r)), if r ≤ ε − ε₁. Proof, for scales b (D)
           and b′ (D′), and d = |f − f′| ≤ ε₁·min(b, b′); the laws are tanh(1/2b)·e^(−|z−f|/b). b =
           b′: the loss is d/b ≤ ε₁. b < b′: tanh(1/2b)/tanh(1/2b′) ≤ b′/b ≤ 1 + r, and |z − f′|/b′
           − |z − f|/b ≤ d/b′ ≤ ε₁: loss ≤ r + ε₁ ≤ ε. b > b′: the ratio of tanh is at most 1. With
           η = 1/b′ − 1/b, bη ≤ r, and u = |z − f|, the loss is at most
             d/b′ + ηu beyond f on the side away from f′, at most d/b′ ≤ ε₁ between them, at most ηu
             − d/b′ beyond f′. It passes ε for u > T = (ε ∓ d/b′)/η only, and there δ needs Pr[z]·(1
             − e^(−η(u − T))) ≤ Pr[z]·η(u − T). Let p = e^(−1/b), and the first whole u above T be T
             + θ: the sum of Pr·η(u − T) is η/(1 + p)·e^(−T/b)·p^θ(θ + p/(1 − p)) ≤ η·b·e^(−T/b),
             for with q = p/(1 − p) ≤ b and x = θ + q: p^θ·x = e^(q/b)·x·e^(−x/b) ≤ e·b/e. T/b ≥ (ε
             ∓ d/b′)/r; both sides together grow with d (a cosh), up to d/b′ = ε₁.
           This is a factor 2/r (some 50) below Nissim, Raskhodnikova and Smith's 2·e^(−(ε−ε₁)/r),
           so steps are larger: at ε = 1, δ = 1e-6, r = 0.0465 instead of β = ε/(2 ln(2/δ)) = 0.0345
           at their ε₁ = ε/2.
Cost       (ε, δ); ρ = ε²/2 at that δ. δ is computed upwards in 50 digits when a mechanism is made,
           r is a fraction.
Error      sd of Z: about √2·b_j(D); what j(D) is depends on the data. For n values evenly over the
           bounds' width w, A_k ≈ (k + 1)·w/n, the best k is 1/r: b ≈ w/(n·r·e·ε₁)·e^r. On rung 0,
           with p = e^(−1/b₀): E|error| = (p^⌈G/2⌉ + p^(⌊G/2⌋+1))/((1 + p)(1 − p^G)), .0003 units at
           ε₁ = 1/2.
           Of ages N(42, 13), half of ε = 1 for the median, δ = 10⁻⁶, mean absolute error in years:
           n = 1,551: 3.1; 15,510: .008; 100,000: .0003. The exponential mechanism (quantiles.py)
           with a third of ε and no δ: .12, 0, 0 (tests/bench/medians.py).
By hand    1, 1, 1, 1, 1, 9, 9 of 0 to 10, change-one: m = 4, A₀ = 0 (t = 0: x₄ − x₃), A₁ = 8 (x₆ −
           x₄). ε = 1: ε₁ = 1/2, G = 32, b₀ = 2 parts, 1/16 of a unit.
Sources    Nissim, Raskhodnikova and Smith 2007, § 2, 3.1; drawn by laplace.py.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.bounds import exp_above
from dpengine.central.laplace import LARGEST_SCALE, DiscreteLaplace, float_above
from dpengine.central.numeric import Bounds
from dpengine.checks import require
from dpengine.estimates import Floats, Ints
from dpengine.privacy import Cost, Neighbours

STEPS = 2**16  # r is a fraction of so many parts
WIDEST = 2**53  # bounds whose differences are whole numbers in every table
SMALLEST = Fraction(-921)  # exponent of a chance: below 1e-400 nothing is counted
MAX_RUNGS = 4096  # rungs of a ladder
FINE = 16  # of the lattice: the smallest scale is a unit's part of so many
MAX_OUTCOMES = 2**20  # whose chances are worked out


@dataclass(frozen=True, slots=True)
class SmoothMedian:
    bounds: Bounds
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    first: Fraction  # ε₁
    step: Fraction  # r
    scales: tuple[float, ...]  # b₀, b₁, …: public
    reaches: tuple[int, ...]  # ⌊ε₁·b_j⌋: the largest sensitivity of each rung
    parts: int  # G, of a unit: the lattice that scales, reaches and noise are counted on

    @classmethod
    def for_epsilon_delta(
        cls,
        epsilon: Fraction,
        delta: Fraction,
        bounds: Bounds,
        neighbours: Neighbours,
        parts: int | None = None,
    ) -> "SmoothMedian":
        """Return the mechanism that costs at most (ε, δ), with ε₁ = ε/2, on the fine lattice or one
        of so many parts.
        """
        require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
        require(0 < delta < 1, "delta must be above 0 and below 1, got {}", delta)
        first = Fraction(epsilon) / 2
        parts = math.ceil(FINE / first) if parts is None else parts
        require(parts >= 1, "parts must be 1 or more, got {}", parts)
        require(
            bounds.width * parts <= WIDEST,
            "bounds must be at most 2**53 apart, in {} parts of a unit, got {} and {}",
            parts,
            bounds.least,
            bounds.most,
        )
        step = largest_step(Fraction(epsilon), first, Fraction(delta))
        scales = _ladder(first, step, bounds.width * parts)
        reaches = tuple(math.floor(first * Fraction(scale)) for scale in scales)
        return cls(
            bounds,
            neighbours,
            Fraction(epsilon),
            Fraction(delta),
            first,
            step,
            scales,
            reaches,
            parts,
        )

    @property
    def cost(self) -> Cost:
        return Cost.approximate(self.epsilon, self.delta)

    def rung(self, values: Sequence[int]) -> int:
        """Return j(D). Secret: for the draw, and for planning with made-up values."""
        longest = len(self.scales)  # after so many k, even the widest sensitivity is on rung 0
        moves = self.parts * sensitivities(values, self.bounds, self.neighbours, longest)
        rungs = np.searchsorted(np.asarray(self.reaches, dtype=np.int64), moves)
        return max(0, int((rungs - np.arange(longest)).max()))

    def smooth_bound(self, values: Sequence[int]) -> Fraction:
        """Return F(D), the scale, exactly, in parts of a unit. Secret."""
        return Fraction(self.scales[self.rung(values)])

    def _noise(self, values: Sequence[int]) -> DiscreteLaplace:
        return DiscreteLaplace(self.scales[self.rung(values)], 1)

    def standard_error(self, values: Sequence[int]) -> float:
        """Return the noise's standard deviation in units, before anything is rounded. Secret: for
        plans with made-up values.
        """
        return math.sqrt(self._noise(values).variance) / self.parts

    def law(self, values: Sequence[int]) -> Floats:
        """Return the exact chance of every whole number from `least` to `most`. Secret: for tests,
        and plans with made-up values.
        """
        outcomes = self.bounds.width + 1
        require(outcomes <= MAX_OUTCOMES, "bounds must hold at most {} numbers", MAX_OUTCOMES)
        away = np.arange(1, outcomes) - (median(values, self.bounds) - self.bounds.least)
        # rounded to at least so many units away: 2Z + G at or above 2G times that
        reached = self._noise(values).tail(-((self.parts - 2 * self.parts * away) // 2))
        chances: Floats = -np.diff(np.concatenate([[1.0], reached, [0.0]]))
        return chances

    def release(self, values: Sequence[int]) -> int:
        """Return the noisy median. Publish once. An empty list counts as `least` everywhere."""
        exact = self.parts * median(values, self.bounds)
        noisy = self._noise(values).release([exact])[0]
        return self.bounds.clamp((2 * noisy + self.parts) // (2 * self.parts))


def median(values: Sequence[int], bounds: Bounds) -> int:
    """Return x_⌈n/2⌉ of the clamped values."""
    return place_of(values, bounds)(-(-len(values) // 2))


def place_of(values: Sequence[int], bounds: Bounds) -> Callable[[int], int]:
    """Return i → xᵢ."""
    ordered = sorted(bounds.clamp(value) for value in values)

    def at(rank: int) -> int:
        if rank < 1:
            return bounds.least
        return ordered[rank - 1] if rank <= len(ordered) else bounds.most

    return at


def sensitivities(values: Sequence[int], bounds: Bounds, neighbours: Neighbours, many: int) -> Ints:
    """Return A_0 … A_(many − 1), which never fall."""
    at, n = place_of(values, bounds), len(values)
    if neighbours is Neighbours.ADD_REMOVE:
        return np.array(
            [at(-(-(n + k + 1) // 2)) - at(-(-(n - k - 1) // 2)) for k in range(many)],
            dtype=np.int64,
        )
    middle = -(-n // 2)
    window = np.array(
        [at(middle + offset) - bounds.least for offset in range(-many, many + 1)], dtype=np.int64
    )
    # the widest distance between values k + 1 ranks apart, the middle between them or at an end
    spans = [
        (window[many : many + k + 2] - window[many - k - 1 : many + 1]).max() for k in range(many)
    ]
    return np.array(spans, dtype=np.int64)


def delta_of(epsilon: Fraction, first: Fraction, step: Fraction) -> Fraction:
    """Return an upper bound on δ: r·(e^(−(ε−ε₁)/r) + e^(−(ε+ε₁)/r)), rounded up at 50 digits."""
    exponents = -(epsilon - first) / step, -(epsilon + first) / step
    return step * sum(exp_above(max(exponent, SMALLEST)) for exponent in exponents)


def largest_step(epsilon: Fraction, first: Fraction, delta: Fraction) -> Fraction:
    """Return the largest r, in whole 1/2¹⁶, that keeps δ. δ grows with r."""
    most = math.floor((epsilon - first) * STEPS)
    steps = bisect_left(
        range(1, most + 1),
        True,
        key=lambda at: delta_of(epsilon, first, Fraction(at, STEPS)) > delta,
    )
    require(
        steps != 0,
        "delta must be larger, or epsilon: no scale keeps (ε, δ) = ({}, {})",
        float(epsilon),
        float(delta),
    )
    return Fraction(steps, STEPS)


def _ladder(first: Fraction, step: Fraction, width: int) -> tuple[float, ...]:
    """Return b₀, b₁, … up to the first whose rung holds every sensitivity."""
    scales = [float_above(1 / first)]
    while first * Fraction(scales[-1]) < width:
        exact = (1 + step) * Fraction(scales[-1])
        near = float(exact)
        scales.append(near if Fraction(near) <= exact else math.nextafter(near, 0.0))
        require(
            len(scales) <= MAX_RUNGS and scales[-1] <= LARGEST_SCALE,
            "epsilon must be larger, or the bounds closer: the noise would be out of all "
            "proportion",
        )
    return tuple(scales)
