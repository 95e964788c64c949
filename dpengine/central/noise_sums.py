"""Laws of weighted sums of the noises of cells: what limits of a quantile are found from.

    S = Σ of `mine` times the noise of j cells − `others` times that of the other cells

on their lattice, in parts of a person, by characteristic functions; where it is too fine, on a
coarser one, a step further out.

By hand    One cell, weight 1: the law of the noise.
Source     Davies 1973, for sums of lattice variables by inversion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.central.gaussian import DiscreteGaussian
from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import Floats, Ints

LATTICE = 2**15  # points of a law, at most
REACH = 8.0  # standard deviations
FAR = 16.0  # Laplace scales more, to 1e-7
NARROW = 0.5  # σ below which discrete Gaussian noise is taken as wider than it is

Cells = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Laws of weighted sums of noise, a row each, on a lattice around 0."""

    step: int  # of the lattice, in parts of a person
    frequencies: Floats  # 0 to π a lattice's step, by parts of a person
    characteristic: npt.NDArray[np.complex128]
    below: Floats  # P(≤ x), a column a point x = step·(i − points/2)

    @classmethod
    def of(
        cls, noise: Cells, weights: Sequence[tuple[int, int, int]], cells: int, beside: float = 0.0
    ) -> "Laws":
        """Return those of `mine` times j cells' noise less `others` times the other cells'.

        There is room for so much `beside` it on each side.
        """
        scale = noise.scale if isinstance(noise, DiscreteLaplace) else 0.0
        reach = beside + max(
            REACH * math.sqrt(noise.variance * (mine**2 * j + others**2 * (cells - j)))
            + FAR * scale * max(mine, others)
            for mine, others, j in weights
        )
        step = math.ceil(2 * reach / LATTICE)
        points = min(1 << math.ceil(math.log2(2 * reach / step + 2)), LATTICE)
        places = np.arange(points // 2 + 1, dtype=np.float64)
        frequencies: Floats = places * (2 * np.pi / (points * step))
        rows = [
            np.power(_characteristic(noise, mine * frequencies, step), j)
            * np.power(_characteristic(noise, others * frequencies, step), cells - j)
            for mine, others, j in weights
        ]
        return cls._made(step, frequencies, np.array(rows, dtype=np.complex128))

    @classmethod
    def _made(
        cls, step: int, frequencies: Floats, characteristic: npt.NDArray[np.complex128]
    ) -> "Laws":
        points = 2 * (len(frequencies) - 1)
        chances = np.fft.fftshift(np.fft.irfft(characteristic.conj(), points), axes=1)
        return cls(step, frequencies, characteristic, np.cumsum(chances, axis=1))

    def with_binomial(self, n: int, quantile: float, parts: int, origin: int) -> "Laws":
        """Return the laws with parts·Bin(n, q) − origin added."""
        turned = 1 - quantile + quantile * np.exp(1j * self.frequencies * parts)
        added = turned**n * np.exp(-1j * self.frequencies * origin)
        return self._made(self.step, self.frequencies, self.characteristic * added)

    def quantiles(self, error: float) -> Ints:
        """Return the greatest point of each law with at most this chance of no more."""
        places = np.sum(self.below <= error, axis=1) - 1 - (self.step > 1)
        return np.asarray(self.step * (places - self.below.shape[1] // 2), dtype=np.int64)

    def at(self, points: Ints) -> Floats:
        """Return each law's chance of no more, at a row of points each."""
        last = self.below.shape[1] - 1
        places = points // self.step + (self.step > 1) + (last + 1) // 2
        found = np.take_along_axis(self.below, np.clip(places, 0, last), axis=1)
        return np.where(places < 0, 0.0, np.where(places > last, 1.0, found))


def _characteristic(noise: Cells, angles: Floats, step: int) -> Floats:
    """Return E cos(angle·Z): of whole people, or on a coarser lattice of the continuous law."""
    if isinstance(noise, DiscreteLaplace):
        if step > 1:
            return np.asarray(1 / (1 + (noise.scale * angles) ** 2))
        p = math.exp(-1 / noise.scale)
        return np.asarray(
            1 / (1 + 2 * p * (1 - np.cos(angles)) / math.expm1(-1 / noise.scale) ** 2)
        )
    scale = max(noise.scale, NARROW)
    if step > 1:
        return np.asarray(np.exp(-((scale * angles) ** 2) / 2))
    near = np.remainder(angles + np.pi, 2 * np.pi) - np.pi
    images = 2 * np.pi * np.arange(-3, 4)[:, None]
    terms = np.sum(np.exp(-((scale * (near + images)) ** 2) / 2), axis=0)
    return np.asarray(terms / np.sum(np.exp(-((scale * images) ** 2) / 2)))
