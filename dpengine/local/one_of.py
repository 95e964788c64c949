"""Some of many: whoever may tick several options is asked, by chance, about a few of them, with all
of ε; about one of them where ε is small.

The answer is the set of ticked options, on a ring of m. An option j, each of the m as likely, is
the first of s that follow one another; which of them are ticked is one of K = 2^s patterns,
numbered in binary, the first option's tick the most significant digit. A word, uniform below W =
2³², decides: the report is j and the pattern, kept if the word is below keep, and else one of the K
− 1 others, each as likely. With s = 1 the pattern is a bit, kept or turned over.

    A = keep / W, B = (1 − A)/(K − 1)      chance of the true pattern, and of a given other one
    a = (1 + A − B)/2, b = 1 − a           chance that a report on an option says yes when it is
                                           ticked, and when it is not

Unit       One person's whole set, which may change to any other: neighbours are sets, not ticks.
Privacy    e^ε = A/B = keep·(K − 1) / (W − keep). j does not depend on the answer and only the ticks
           of its s options are used, so Pr[(j, pattern) | set] is A/m or B/m, whatever the others.
a and b    Of the K − 1 other patterns K/2 have the opposite tick of a given option: b = (K/2)·B,
           and a = A + (K/2 − 1)·B, so a + b = 1 and a − b = A − B.
Estimate   π̂ = (y/n_i − b) / (a − b), the share who tick i, when y of n_i reports on i say yes.
           Unbiased whatever n_i ≥ 1 is: n_i is drawn without looking at answers, tells nothing
           about them, and is therefore taken as it came, not as n·s/m (Cox 1958: condition on the
           ancillary).
Variance   of π̂ given n_i, with λ = b + π(a − b): λ(1 − λ) / (n_i(a − b)²), about m/s·λ(1 − λ)/(a −
           b)² / n. It is
           π(1 − π)/n                      sampling: who happened to answer
           π(1 − π)·(1/n_i − 1/n)          options: who of them happened to be asked about i
           a(1 − a) / (n_i(a − b)²)        device: answers changed by chance
           For n given people the second is π(1 − π)(n − n_i) / (n_i(n − 1)): drawing without
           replacement.
Linear     ½ + m·(yes − no of i) / (2ns(a − b)) is unbiased too, also from noisy counts, as a ratio
           is not. It takes n_i as n·s/m and pays (m/s − 1)(π − ½)²/n more: nothing where half tick,
           most where few do.
Published  Only d_i = yes − no of i gets noise, m counts for 2m (`released`, `share`): n_i is not
           public. A report that becomes one on other options moves 2s of the d by 1 each, and one
           whose ticks all turn moves s by 2: under change-one L1 = 2s, L2² = 4s; under add-remove
           both s. Noise on all 2m counts has the same L1, and a difference of two counts has their
           noise twice: with Laplace noise twice the variance of this. π̂ = ½ + m·d/(2ns(a − b)),
           unprojected. A person adds 1 to d_i with chance λs/m, −1 with (1 − λ)s/m, else 0:
           Variance = (m/s − (2λ − 1)²)/(4n(a − b)²), π(1 − π)/n of it sampling, the rest device,
           and m²·Var Z/(4n²s²(a − b)²) publication. Interval: all π that neither tail of d + Z
           rejects at half the error, summed exactly (lattice.py), as d grows stochastically with π.
How many   s with the least 1/(s(a − b)²), the least variance for every π: 1 up to ε = 1.34, then 2,
           3 from 2.69, 4 from 3.80, as far as there are so many. For the same ± where half tick 23
           % fewer people than with s = 1 at ε = 2, 45 % at 3, 61 % at 4. Several of the K patterns
           in a report have more variance at every ε.
Splitting  Asking about every option with ε/m each: at ε = 1, m = 5 the device's variance is 24.9/n,
           here 4.6/n. For small ε it is m²/ε² against m/ε².
By hand    m = 2, s = 1, a = 3/4: ε = ln 3; 50 reports on j, 20 yes: (20/50 − 1/4)/(1/2) = 0.3 tick
           it. s = 2, A = 1/2: B = 1/6, ε = ln 3, a = 2/3, b = 1/3.
Sources    One draw of many with all of ε: Nguyên, Xiao, Yang et al. 2016; Wang et al. 2019 (§ 4);
           the bit: Warner 1965; K patterns: Kairouz, Bonawitz and Ramage 2016.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from dpengine.checks import require
from dpengine.estimates import (
    CONFIDENCE,
    NO_NOISE,
    Counts,
    Estimate,
    Floats,
    Ints,
    Margin,
    Noise,
    Variance,
    root,
)
from dpengine.local.channel import Bounds, Channel, Document, Learns, Moved, whole
from dpengine.local.lattice import Sums
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD, Stream, below, system_stream

MAX_OPTIONS = 1024
MAX_TOGETHER = 10  # options of one report: 1,024 patterns
REMEMBERED = 8192  # shares: a rehearsal asks for the same ones again

Report = list[int]  # [option, pattern of it and those that follow]


@dataclass(frozen=True, slots=True)
class OneOf(Channel):
    kind: ClassVar[str] = "one_of"
    parts: ClassVar[str] = "keep kind options together"
    learns: ClassVar[Learns] = Learns.TICKS

    options: int  # m
    keep: int  # words below this, out of 2**32, leave the ticks as they are
    together: int = 1  # s, the options that one report is about

    def __post_init__(self) -> None:
        require(
            2 <= self.options <= MAX_OPTIONS,
            "options must be 2 to {}, got {}",
            MAX_OPTIONS,
            self.options,
        )
        most = min(MAX_TOGETHER, self.options)
        require(
            1 <= self.together <= most,
            "together must be 1 to {}, got {}",
            most,
            self.together,
        )
        require(
            self.options * self.patterns <= 2**16,
            "options must be at most {} where a report is about {}, got {}",
            2**16 // self.patterns,
            self.together,
            self.options,
        )
        least = WORD // self.patterns
        require(
            least < self.keep < WORD,
            "keep must favour the truth, not reveal it: above {}, got {}",
            least,
            self.keep,
        )

    @classmethod
    def for_epsilon(cls, options: int, epsilon: Decimal, together: int | None = None) -> "OneOf":
        """Return the channel for so many options whose loss is at most e^ε, if only by a hair. A
        report is about so many of them together, or as many as leave the least variance.
        """
        size = _most_precise(options, float(epsilon)) if together is None else together
        loss = exponential_below(epsilon)
        # rounded down: towards privacy
        keep = int(WORD * loss / (2**size - 1 + loss))
        return cls(options=options, keep=keep, together=size)

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        together = whole(document, "together") if "together" in document else 1
        return cls(whole(document, "options"), whole(document, "keep"), together)

    def document(self) -> dict[str, object]:
        several = {"together": self.together} if self.together > 1 else {}
        return {"kind": "one_of", "options": self.options, "keep": self.keep, **several}

    @property
    def patterns(self) -> int:
        """Return K: in how many ways the options of one report can be ticked."""
        return int(2**self.together)

    @property
    def of_options(self) -> Fraction:
        """Return m/s, of how many options a report is about one."""
        return Fraction(self.options, self.together)

    @property
    def choices(self) -> int:
        """Return what can be ticked: the options."""
        return self.options

    @property
    def answers(self) -> int:
        return self.options

    @property
    def loss(self) -> Fraction:
        """Return e^ε, exactly: of one set of ticks against any other."""
        return Fraction(self.keep * (self.patterns - 1), WORD - self.keep)

    @property
    def common(self) -> Fraction:
        """Return c given where on the ring a report begins, which tells nothing of the answer."""
        return Fraction(self.patterns - 2)

    @property
    def margin(self) -> Margin:
        """Return a and b: how often a report on an option says yes, ticked and not."""
        lie = Fraction((WORD - self.keep) * (self.patterns // 2), WORD * (self.patterns - 1))
        return Margin(truth=1 - lie, lie=lie)

    def margins(self) -> list[Margin]:
        """Return a and b of every option; its n is the number of reports on it (see `asked`)."""
        return [self.margin] * self.options

    def variance(self, at: Fraction) -> Fraction:
        """Return variance × n of an option's share with n_i = n·s/m: options drawn counted in."""
        yes = self.margin.lie + at * (self.margin.truth - self.margin.lie)
        return self.of_options * yes * (1 - yes) / (self.margin.truth - self.margin.lie) ** 2

    def randomise(self, answer: Sequence[int], words: Stream = system_stream) -> Report:
        """Return what to send in place of the ticked options, given in rising order."""
        require(
            isinstance(answer, list | tuple)
            and all(type(option) is int and 0 <= option < self.options for option in answer)
            and all(left < right for left, right in pairwise(answer)),
            "answer must be different options below {}, in rising order",
            self.options,
        )
        first = below(self.options, words)
        kept = words() < self.keep
        own = sum(self._digits[place] * (option in answer) for place, option in self._about(first))
        if kept:
            return [first, own]
        other = below(self.patterns - 1, words)
        return [first, other + (other >= own)]

    @property
    def _digits(self) -> list[int]:
        """Return what the tick of each option of a report adds to its pattern."""
        return [2**place for place in reversed(range(self.together))]

    def _about(self, first: int) -> list[tuple[int, int]]:
        """Return the options of a report, each after its place."""
        return [(place, (first + place) % self.options) for place in range(self.together)]

    def accepts(self, report: Any) -> bool:
        return (
            isinstance(report, list)
            and len(report) == 2
            and all(type(part) is int for part in report)
            and 0 <= report[0] < self.options
            and 0 <= report[1] < self.patterns
        )

    def expects(self) -> str:
        ticks = "a bit" if self.together == 1 else f"ticks from 0 to {self.patterns - 1}"
        return f"an option from 0 to {self.options - 1} and {ticks}, in a list"

    @property
    def width(self) -> int:
        """Return the bytes of one packed report: K·option + pattern."""
        return 2

    def pack(self, reports: Sequence[Sequence[int]]) -> bytes:
        pairs = np.asarray(reports, dtype=np.int64).reshape(-1, 2)
        return (self.patterns * pairs[:, 0] + pairs[:, 1]).astype("<u2").tobytes()

    @property
    def cells(self) -> int:
        return 2 * self.options

    @property
    def held(self) -> int:
        return self.together

    def tally(self, packed: bytes) -> Counts:
        """Return 2m counts: for every option how many reports on it say no, and how many yes."""
        total = self.options * self.patterns
        counted = np.bincount(np.frombuffer(packed, dtype="<u2"), minlength=total)
        require(
            len(counted) <= total,
            "packed must hold reports on {} options, got another",
            self.options,
        )
        of_first = counted.reshape(self.options, self.patterns)
        found: Ints = np.zeros((self.options, 2), dtype=np.int64)
        for place, digit in enumerate(self._digits):
            ticked = (np.arange(self.patterns) & digit) > 0
            for bit in (0, 1):  # the option at a place of those that begin at `first`
                found[:, bit] += np.roll(of_first[:, ticked == bit].sum(axis=1), place)
        return [int(count) for count in found.reshape(-1)]

    def asked(self, tally: Counts) -> list[tuple[int, int]]:
        """Return for every option how many reports say yes, and how many are on it: y and n_i."""
        return [(yes, no + yes) for no, yes in zip(tally[::2], tally[1::2], strict=True)]

    def share(
        self, difference: int, n: int, noise: Noise, confidence: float = CONFIDENCE
    ) -> Estimate:
        """Return the share of people who tick an option, from its noisy difference."""
        require(n >= 1, "n must be 1 or more, got {}", n)
        error, contrast = (1 - confidence) / 2, self.margin.contrast
        value = 0.5 + float(self.of_options) * difference / (2 * n * contrast)
        sums = Sums.of(n, np.array([-1, 0, 1]), noise, noisy=np.array([1]))

        def at_least(share: float, least: int) -> float:
            return sums.at_least(self._law(share), least)

        # where λ is 0, and 1
        ends = (-float(self.margin.lie) / contrast, float(self.margin.truth) / contrast)
        low = root(lambda at: at_least(at, difference) - error, *ends)
        high = root(lambda at: error - 1 + at_least(at, difference + 1), *ends)
        variance = self._split(min(max(value, 0.0), 1.0), n, noise)
        return Estimate(value, min(low, value), max(high, value), variance, confidence)

    def _law(self, share: float) -> Floats:
        """Return the chances that one report moves an option's difference by −1, 0 and 1."""
        yes = min(max(float(self.margin.lie) + share * self.margin.contrast, 0.0), 1.0)
        return np.array([1 - yes, float(self.of_options) - 1, yes]) / float(self.of_options)

    def _split(self, share: float, n: int, noise: Noise) -> Variance:
        unit, yes = (
            4 * n * self.margin.contrast**2,
            float(self.margin.lie) + share * self.margin.contrast,
        )
        sampling = share * (1 - share) / n
        ring = float(self.of_options)
        people_and_device = (ring - (2 * yes - 1) ** 2) / unit
        return Variance(
            sampling, people_and_device - sampling, ring**2 * noise.variance / (n * unit)
        )

    def moved(self, neighbours: Neighbours) -> Moved:
        """Return how far one person moves the differences: ticks that all turn move s by 2."""
        if neighbours is Neighbours.ADD_REMOVE:
            return Moved(self.options, self.together, self.together)
        return Moved(self.options, 2 * self.together, 4 * self.together)

    def released(self, counts: Sequence[int], neighbours: Neighbours) -> list[int]:
        """Return for every option how many more reports say yes than no."""
        return [yes - no for no, yes in zip(counts[::2], counts[1::2], strict=True)]

    def estimates(
        self, noisy: Sequence[int], n: int, noise: Noise = NO_NOISE, confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        return [_share(self, difference, n, noise, confidence) for difference in noisy]  # type: ignore[arg-type]

    def forecast(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        yes = self.margin.lie + at * (self.margin.truth - self.margin.lie)
        return self.share(round(n / self.of_options * (2 * yes - 1)), n, noise)

    def lean(self, at: Fraction) -> float:
        """Return the same of an option's share, which is ½ where as many say yes as no."""
        return abs(float(at) - 0.5)

    def probabilities(
        self, reports: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]
    ) -> list[list[Fraction]]:
        """Return Pr[report | answer], a row an answer: what tests and auditors enumerate."""
        kept, turned = (
            Fraction(self.keep, WORD * self.options),
            Fraction(WORD - self.keep, WORD * self.options * (self.patterns - 1)),
        )

        def holds(report: Sequence[int], answer: Sequence[int]) -> bool:
            return all(
                (option in answer) == bool(report[1] & self._digits[place])
                for place, option in self._about(report[0])
            )

        return [
            [kept if holds(report, answer) else turned for report in reports] for answer in answers
        ]


@lru_cache(maxsize=1024)
def _most_precise(options: int, epsilon: float) -> int:
    """Return s of the least variance, in floats, which decide nothing else."""

    def spread(size: int) -> float:
        odds, others = math.exp(epsilon), math.ldexp(1, size) - 1
        return ((odds + others) / (odds - 1)) ** 2 / size

    sizes = range(1, min(MAX_TOGETHER, options) + 1)
    return min((size for size in sizes if options * 2**size <= 2**16), key=spread)


_share = lru_cache(maxsize=REMEMBERED)(OneOf.share)
