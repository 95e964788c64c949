"""What a channel is: the draw on a device, how reports are packed and counted, what of the counts
is published, and how people are estimated from it.

Nobody asks which channel it has. A new one is a subclass, its twin in the browser, its vectors,
and a line in each registry (channels.py, channels.js).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from dpengine.checks import require
from dpengine.estimates import (
    CONFIDENCE,
    NO_NOISE,
    Counts,
    Estimate,
    Floats,
    Ints,
    KnownSum,
    Margin,
    Noise,
    share,
    with_known_sum,
)
from dpengine.privacy import Neighbours
from dpengine.randomness import Stream, system_stream

Document = Mapping[str, Any]  # JSON of a Plan
Bounds = tuple[Decimal, Decimal]  # the least and the greatest number that a question takes
Codes = tuple[list[Any], Ints]  # different reports, and which of them each row is
# reports counted together: bincount widens them to 8 bytes each, which then stay in a core's cache
AT_ONCE = 2**16


class Learns(StrEnum):
    """What is estimated from a channel's reports."""

    SHARES = "shares"  # of choices, one of which is the answer
    TICKS = "ticks"  # of options, any of which may be ticked
    MEAN = "mean"
    DISTRIBUTION = "distribution"


@dataclass(frozen=True, slots=True)
class Moved:
    """How far one person moves what is published: the largest distances between neighbours."""

    numbers: int  # that are published
    l1: int
    squared: int  # L2²


@dataclass(frozen=True)
class Features:
    """A report as features, of which an estimate u of everybody's answer is a linear sum.

    u = first·features has the mean 1 for the true answer and 0 for the others; Σ u = 1.
    """

    held: int  # features that a report has
    first: Floats  # u: [answer, feature]
    second: Floats  # u² likewise
    chances: Floats  # of a feature after an answer: [answer, feature]
    ends: tuple[Floats, Floats]  # the least and the greatest u of each answer
    is_exact: bool = False  # whether the feature is the answer
    cells: int | Floats = 1  # features that each answer has, all with the same part in u

    @property
    def answers(self) -> int:
        return int(self.first.shape[0])

    @property
    def features(self) -> int:
        return int(self.first.shape[1])

    @property
    def one(self) -> Floats:
        """Return 1 as a sum of features."""
        return np.full(self.features, 1 / self.held)

    @cached_property
    def pairs(self) -> Floats:
        """Return G[t, i, j], the chance that a report of true answer t holds features i and j.

        Of a subset two choices are held: the true one among them, or not. Where an answer has
        several cells, each is the true one as often.
        """
        found = np.zeros((self.answers, self.features, self.features))
        k, w = self.features, self.held
        cells = np.broadcast_to(self.cells, self.answers)
        for true, chances in enumerate(self.chances):
            if w > 1:
                of_answer = self.first[true] > 0
                lie, spread = chances.min(), chances.max() - chances.min()
                own = float(lie + cells[true] * spread)
                others = own * (w - 1) * (w - 2) + (1 - own) * w * (w - 1)
                apart = others / ((k - 1) * (k - 2)) if k > 2 else 0.0
                with_true = own * (w - 1) / (k - 1)
                times = np.add.outer(of_answer, of_answer, dtype=np.int64) / cells[true]
                found[true] = apart + (with_true - apart) * times
            np.fill_diagonal(found[true], chances)
        return found


class Channel(ABC):
    """How one question's answers become reports, counts and estimates."""

    __slots__ = ()

    kind: ClassVar[str]  # in a Plan
    parts: ClassVar[str]  # that its document in a Plan may have, with spaces between
    learns: ClassVar[Learns]
    is_random: ClassVar[bool] = True  # whether the device changes answers by chance

    # A Plan's part

    @classmethod
    @abstractmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        """Return the channel that a Plan's JSON describes. ValueError says what is wrong with it.

        `bounds` are those of a question about a number.
        """

    @abstractmethod
    def document(self) -> dict[str, object]:
        """Return the channel as a Plan holds it."""

    def check(self) -> None:
        """Refuse, by ValueError, a channel whose reports do not tell what it is for."""
        self.margins()

    @property
    @abstractmethod
    def loss(self) -> Fraction:
        """Return e^ε, exactly: how much likelier one answer can make a report than another."""

    @property
    def common(self) -> Fraction:
        """Return a lower bound of c: how much likelier than one report of a false answer the
        reports are together that two answers make equally likely (dpengine.contraction).
        """
        return Fraction(0)

    @property
    @abstractmethod
    def answers(self) -> int:
        """Return how many answers it takes: choices, options, bins, or steps with both ends."""

    # On the device

    @abstractmethod
    def randomise(self, answer: Any, words: Stream = system_stream) -> Any:
        """Return the report to send in place of an answer."""

    # Reports

    @abstractmethod
    def accepts(self, report: Any) -> bool:
        """Tell whether a browser with this channel can have sent this value."""

    @abstractmethod
    def expects(self) -> str:
        """Say what `accepts` accepts, for refusals."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Return the bytes of one packed report, whatever it says."""

    @abstractmethod
    def pack(self, reports: Sequence[Any]) -> bytes:
        """Pack reports into `width` bytes each."""

    def codes(self, packed: bytes) -> Codes:
        """Return the different reports among packed ones, and which of them each row is."""
        values, codes = np.unique(np.frombuffer(packed, f"<u{self.width}"), return_inverse=True)
        return values.tolist(), codes

    # Counts

    @property
    @abstractmethod
    def cells(self) -> int:
        """Return how many counts the exact tally has; 0 where nothing is counted."""

    @property
    def held(self) -> int:
        """Return in how many cells one report counts."""
        return 1

    @abstractmethod
    def tally(self, packed: bytes) -> Counts:
        """Return the exact counts of packed reports."""

    def count(self, reports: Sequence[Any] | npt.NDArray[Any]) -> Counts:
        """Return the exact counts of reports as `randomise` returns them, in a list or an array.

        ValueError where one is none of this channel's.
        """
        values = reports.tolist() if isinstance(reports, np.ndarray) else reports
        require(all(map(self.accepts, values)), "reports: expected each to be {}", self.expects())
        return self.tally(self.pack(values))

    def moved(self, neighbours: Neighbours) -> Moved:
        """Return how far one person moves `released`: by 1 in every cell that changes."""
        if self.is_one_count(neighbours):
            return Moved(1, 1, 1)
        add_remove = neighbours is Neighbours.ADD_REMOVE
        changed = self.held if add_remove else 2 * min(self.held, self.cells - self.held)
        return Moved(self.cells, changed, changed)

    def swapped(self) -> Moved:
        """Return how far apart `released` are of two reports of which one is as likely after one
        answer as the other after another, with n public: all that noise has to hide of what this
        channel changed already (dpengine.contraction, Swapped).
        """
        return self.moved(Neighbours.CHANGE_ONE)

    def is_one_count(self, neighbours: Neighbours) -> bool:
        """Tell whether one count is published, for the other is n less that one."""
        return False

    def released(self, counts: Sequence[int], neighbours: Neighbours) -> list[int]:
        """Return the vector of integers to put noise on."""
        return list(counts[1:] if self.is_one_count(neighbours) else counts)

    def noisy_counts(self, noisy: Sequence[int], n: int) -> list[int]:
        """Return what `estimates` takes, from a released vector with noise: a count a report."""
        return [n - noisy[0], noisy[0]] if len(noisy) == 1 else list(noisy)

    def noise_left(self, noise: Noise, neighbours: Neighbours) -> Noise:
        """Return the law of the noise in counts that people are estimated from.

        Counts of choices add up to `held` for each report, and with public n that is known.
        """
        is_known = self.learns is Learns.SHARES and neighbours is Neighbours.CHANGE_ONE
        return with_known_sum(noise, self.cells) if is_known else noise

    # People

    def margins(self) -> list[Margin]:
        """Return a and b of every choice: how often a report holds it, when true and when not.

        ValueError where a report does not hold choices.
        """
        raise ValueError(f"a channel for {self.learns} has no choices")

    def estimates(
        self, noisy: Sequence[int], n: int, noise: Noise = NO_NOISE, confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        """Return the share of every choice, or what else it learns, from counts of n reports.

        With noise of a known sum, from the nearest counts that have it.
        """
        counts: Sequence[float] = noisy
        if isinstance(noise, KnownSum):
            counts = noise.counted(noisy, self.held * n)
        pairs = zip(counts, self.margins(), strict=True)
        return [share(count, n, margin, noise, confidence) for count, margin in pairs]

    def within(self, first: int, last: int, noisy: Sequence[int], n: int, noise: Noise) -> Estimate:
        """Return the share of people in some neighbouring bins, of a distribution."""
        raise ValueError(f"a channel for {self.learns} has no bins")

    def forecast(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        """Return the first of `estimates` that n reports lead to if a share `at` gives that answer.

        Of a mean, if that share is at the greatest number and all others are at the least.
        """
        margin = self.margins()[0]
        reported = margin.lie + at * (margin.truth - margin.lie)
        return share(round(n * reported), n, margin, noise)

    def lean(self, at: Fraction) -> float:
        """Return how far the first of `estimates` moves, times n, where n is off by one person.

        π̂ = (Y/n − b)/(a − b) falls by λ/(n(a − b)).
        """
        margin = self.margins()[0]
        return float(at + margin.lie / (margin.truth - margin.lie))

    def variance(self, at: Fraction) -> Fraction:
        """Return variance × n of one choice's share, `at`: sampling and device together.

        λ(1 − λ)/(a − b)² with λ = b + at·(a − b), of the choice that has most of it.
        """
        variances = []
        for margin in self.margins():
            contrast = margin.truth - margin.lie
            reported = margin.lie + at * contrast
            variances.append(reported * (1 - reported) / contrast**2)
        return max(variances)

    def features(self) -> Features:
        """Return reports as features, for tables of two questions. ValueError if there are none."""
        raise ValueError(f"a channel for {self.learns} has no table with another question")


class WholeNumbers(Channel):
    """A channel whose report is one whole number: packed and counted as it is."""

    __slots__ = ()

    @property
    @abstractmethod
    def reports(self) -> int:
        """Return how many different reports there are, from 0."""

    def accepts(self, report: Any) -> bool:
        return type(report) is int and 0 <= report < self.reports

    def expects(self) -> str:
        return f"an integer from 0 to {self.reports - 1}"

    @property
    def width(self) -> int:
        return 1 if self.reports <= 256 else 2

    def pack(self, reports: Sequence[int]) -> bytes:
        """Pack reports into `width` bytes each, the lowest first."""
        return np.asarray(reports, dtype=f"<u{self.width}").tobytes()

    @property
    def cells(self) -> int:
        return self.reports

    def tally(self, packed: bytes) -> Counts:
        """Return for every report how often it is among the packed ones."""
        reports = np.frombuffer(packed, dtype=f"<u{self.width}")
        counts = np.zeros(self.reports, dtype=np.int64)
        for start in range(0, len(reports), AT_ONCE):
            counted = np.bincount(reports[start : start + AT_ONCE], minlength=self.reports)
            require(
                len(counted) <= self.reports,
                "packed must hold reports below {}, got another",
                self.reports,
            )
            counts += counted
        return [int(count) for count in counts]


def whole(document: Document, name: str) -> int:
    """Return an integer of a Plan's JSON."""
    value = document.get(name)
    if type(value) is not int:
        raise ValueError(f"{name} must be an integer, got a {type(value).__name__}")
    return value
