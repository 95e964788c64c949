"""Chances of a sum of many whole numbers, exactly: what an interval for a mean inverts.

    S = Σ of n independent draws from `outputs` with given chances + Σ_r outputs[r]·Z_r

with publication noise Z_r on the count of every output; or the sum of several such, each of draws
of its own. The characteristic function of S on a ring
of N points is φ(ω)ⁿ·Π_r φ_Z(outputs[r]·ω), ω = 2πk/N; a tail of S is its sum against a geometric
series. Nothing is approximated but what lies outside the ring (12 standard deviations, less than
1e-30 of the draws and 1e-7 of Laplace noise that dwarfs them) and, for large n, frequencies that n
draws have worn down to nothing (a sum that can only be even is then taken to be smooth).

By hand    Two coins of ±1: P(S ≥ 2) = 1/4, P(S ≥ 0) = 3/4.
Source     Davies 1973, for sums of lattice variables by inversion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.estimates import Floats, Ints, Noise

Complexes = npt.NDArray[np.complex128]

WINDOW = 12.0  # standard deviations on either side
NOISE_WINDOW = 25.0  # of the noise of one count: beyond lies less than 1e-15 of Laplace's
FREQUENCIES = 2048


Draws = tuple[int, Ints]  # how many, and from which outputs


@dataclass(frozen=True, slots=True)
class Sums:
    """The law of S, all but the chances of the outputs."""

    draws: tuple[Draws, ...]
    size: int  # N
    turns: Floats  # ω
    phases: tuple[Complexes, ...]  # of each of the draws: [frequency][output]
    noise: Complexes  # [frequency]

    @classmethod
    def of(
        cls,
        n: int,
        outputs: Ints,
        noise: Noise,
        noisy: Ints | None = None,
    ) -> "Sums":
        """Return the law for noise on the count of every output.

        Or on other numbers, with these whole weights.
        """
        return cls.of_several([(n, outputs)], noise, outputs if noisy is None else noisy)

    @classmethod
    def of_several(cls, draws: Sequence[Draws], noise: Noise, noisy: Ints) -> "Sums":
        """Return the law of several sums together, with noise on numbers of these whole weights."""
        ranges = [(n, float(np.ptp(outputs))) for n, outputs in draws]
        added = noise.variance * float((noisy**2).sum())
        # no draw has a variance above a quarter of its range squared
        spread = math.sqrt(sum(n * whole**2 / 4 for n, whole in ranges) + added)
        most = sum(n * whole for n, whole in ranges)
        reach = min(WINDOW * spread, most + WINDOW * math.sqrt(added))
        size = 2 ** math.ceil(math.log2(2 * reach + 2))
        frequencies = np.arange(min(size // 2 + 1, FREQUENCIES))
        turns = 2 * np.pi * frequencies / size
        noises = np.ones(len(turns), dtype=np.complex128)
        if added:
            own = _folded(noise, size)
            for weight, times in zip(*np.unique(noisy, return_counts=True), strict=True):
                noises *= own[frequencies * weight % size] ** times
        phases = tuple(np.exp(1j * np.outer(turns, outputs)) for _, outputs in draws)
        return cls(tuple(draws), size, turns, phases, noises)

    def at_least(self, chances: Floats, total: int) -> float:
        """Return P(S ≥ total) when each output is drawn with its chance."""
        return self.all_at_least([chances], total)

    def all_at_least(self, chances: Sequence[Floats], total: int) -> float:
        """Return P(S ≥ total), with the chances of each of the draws."""
        means = (
            n * float(own @ outputs) for (n, outputs), own in zip(self.draws, chances, strict=True)
        )
        centre = round(sum(means))
        first, last = total, centre + self.size // 2 - 1
        if first > last:
            return 0.0
        if first <= centre - self.size // 2:
            return 1.0
        law = self.noise
        for (n, _), phases, own in zip(self.draws, self.phases, chances, strict=True):
            # a product by BLAS would wake threads for a tenth of a millisecond
            law = np.exp(n * np.log(np.einsum("fr,r->f", phases, own))) * law
        terms = (law * _series(self.turns, first, last)).real
        # the fastest frequency stands alone
        half = 0.5 if len(self.turns) == self.size // 2 + 1 else 1.0
        tail = (terms[0] + 2 * terms[1:-1].sum() + 2 * half * terms[-1]) / self.size
        return float(min(max(tail, 0.0), 1.0))


def _folded(noise: Noise, size: int) -> Complexes:
    """Return the characteristic function of one count's noise at all N frequencies."""
    reach = math.ceil(NOISE_WINDOW * math.sqrt(noise.variance)) + 1
    values = np.arange(-reach, reach + 1, dtype=np.int64)
    chances = noise.tail(values) - noise.tail(values + 1)
    ring = np.bincount(values % size, weights=chances, minlength=size)
    return np.conj(np.fft.fft(ring))


def _series(turns: Floats, first: int, last: int) -> Complexes:
    """Return Σ e^(−iωs) over s from first to last."""
    length = last - first + 1
    slow = (
        np.exp(-1j * turns[1:] * first)
        * (1 - np.exp(-1j * turns[1:] * length))
        / (1 - np.exp(-1j * turns[1:]))
    )
    return np.concatenate([[length + 0j], slow])
