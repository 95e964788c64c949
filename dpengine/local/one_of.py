"""One of many: whoever may tick several options is asked, by chance, about one of them, with all of
ε.

The answer is the set of ticked options. An option j, each of the m as likely, and a word, uniform
below W = 2³², decide: the report is j and its bit, 1 if ticked, kept if the word is below keep and
turned otherwise.

    a = keep / W, b = 1 − a     chance that a report on j says yes when j is ticked, and when it is
                                not

Unit       One person's whole set, which may change to any other: neighbours are sets, not ticks.
Privacy    e^ε = keep / (W − keep). j does not depend on the answer and only the bit of j is used,
           so Pr[(j, bit) | set] is a/m or b/m, whatever the other options.
Estimate   π̂ = (y/n_j − b) / (a − b), the share who tick j, when y of n_j reports on j say yes.
           Unbiased whatever n_j ≥ 1 is: n_j is drawn without looking at answers, tells nothing
           about them, and is therefore taken as it came, not as n/m (Cox 1958: condition on the
           ancillary).
Variance   of π̂ given n_j, with λ = b + π(a − b): λ(1 − λ) / (n_j(a − b)²), about m·λ(1 − λ)/(a −
           b)² / n. It is
           π(1 − π)/n                      sampling: who happened to answer
           π(1 − π)·(1/n_j − 1/n)          options: who of them happened to be asked about j
           a(1 − a) / (n_j(a − b)²)        device: answers changed by chance
           For n given people the second is π(1 − π)(n − n_j) / (n_j(n − 1)): drawing without
           replacement.
Linear     ½ + m·(yes − no of j) / (2n(a − b)) is unbiased too, also from noisy counts, as a ratio
           is not. It takes n_j as n/m and pays (m − 1)(π − ½)²/n more: nothing where half tick,
           most where few do.
Published  Only d_j = yes − no of j gets noise, m counts for 2m (`released`, `share`): n_j is not
           public. A report (j, bit) that becomes (i, bit') moves d_j and d_i by 1 each, and one
           that only turns its bit moves d_j by 2: under change-one L1 = 2, L2² = 4; under
           add-remove both 1. Noise on all 2m counts has the same L1, and a difference of two counts
           has their noise twice: with Laplace noise twice the variance of this. π̂ = ½ + m·d/(2n(a
           − b)), unprojected. A person adds 1 to d_j with chance λ/m, −1 with (1 − λ)/m, else 0:
           Variance = (m − (2λ − 1)²)/(4n(a − b)²), π(1 − π)/n of it sampling, the rest device, and
           m²·Var Z/(4n²(a − b)²) publication. Interval: all π that neither tail of d + Z rejects at
           half the error, summed exactly (lattice.py), as d grows stochastically with π.
Splitting  Asking about every option with ε/m each: at ε = 1, m = 5 the device's variance is 24.9/n,
           here 4.6/n. For small ε it is m²/ε² against m/ε². Where half tick, splitting has less
           variance only from ε = 3.1 for m = 2, 4.7 for 5, 6.5 for 10; it alone learns which
           options go together.
By hand    m = 2, a = 3/4: ε = ln 3; 50 reports on j, 20 yes: (20/50 − 1/4)/(1/2) = 0.3 tick it.
Sources    One draw of many with all of ε: Nguyên, Xiao, Yang et al. 2016; Wang et al. 2019 (§ 4);
           the bit: Warner 1965.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from dpengine.checks import require
from dpengine.estimates import CONFIDENCE, Counts, Estimate, Floats, Margin, Noise, Variance, root
from dpengine.local.channel import Bounds, Channel, Document, Learns, Moved, whole
from dpengine.local.lattice import Sums
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD, Stream, below, system_stream

MAX_OPTIONS = 1024
REMEMBERED = 8192  # shares: a rehearsal asks for the same ones again

Report = list[int]  # [option, bit]


@dataclass(frozen=True, slots=True)
class OneOf(Channel):
    kind: ClassVar[str] = "one_of"
    parts: ClassVar[str] = "keep kind options"
    learns: ClassVar[Learns] = Learns.TICKS

    options: int  # m
    keep: int  # words below this, out of 2**32, leave the bit as it is

    def __post_init__(self) -> None:
        require(
            2 <= self.options <= MAX_OPTIONS,
            "options must be 2 to {}, got {}",
            MAX_OPTIONS,
            self.options,
        )
        require(
            WORD // 2 < self.keep < WORD,
            "keep must favour the truth, not reveal it: above {}, got {}",
            WORD // 2,
            self.keep,
        )

    @classmethod
    def for_epsilon(cls, options: int, epsilon: Decimal) -> "OneOf":
        """Return the channel for so many options whose loss is at most e^ε, if only by a hair."""
        loss = exponential_below(epsilon)
        # rounded down: towards privacy
        return cls(options=options, keep=int(WORD * loss / (1 + loss)))

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        return cls(*(whole(document, name) for name in ("options", "keep")))

    def document(self) -> dict[str, object]:
        return {"kind": "one_of", "options": self.options, "keep": self.keep}

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
        return Fraction(self.keep, WORD - self.keep)

    @property
    def margin(self) -> Margin:
        """Return a and b: how often a report on an option says yes, ticked and not."""
        return Margin(truth=Fraction(self.keep, WORD), lie=Fraction(WORD - self.keep, WORD))

    def margins(self) -> list[Margin]:
        """Return a and b of every option; its n is the number of reports on it (see `asked`)."""
        return [self.margin] * self.options

    def variance(self, at: Fraction) -> Fraction:
        """Return variance × n of an option's share with n_j = n/m: options drawn counted in."""
        yes = self.margin.lie + at * (self.margin.truth - self.margin.lie)
        return self.options * yes * (1 - yes) / (self.margin.truth - self.margin.lie) ** 2

    def randomise(self, answer: Sequence[int], words: Stream = system_stream) -> Report:
        """Return what to send in place of the ticked options, given in rising order."""
        require(
            isinstance(answer, list | tuple)
            and all(type(option) is int and 0 <= option < self.options for option in answer)
            and all(left < right for left, right in pairwise(answer)),
            "answer must be different options below {}, in rising order",
            self.options,
        )
        option = below(self.options, words)
        kept = words() < self.keep
        return [option, int((option in answer) == kept)]

    def accepts(self, report: Any) -> bool:
        return (
            isinstance(report, list)
            and len(report) == 2
            and all(type(part) is int for part in report)
            and 0 <= report[0] < self.options
            and 0 <= report[1] <= 1
        )

    def expects(self) -> str:
        return f"an option from 0 to {self.options - 1} and a bit, in a list"

    @property
    def width(self) -> int:
        """Return the bytes of one packed report: 2·option + bit."""
        return 2

    def pack(self, reports: Sequence[Sequence[int]]) -> bytes:
        pairs = np.asarray(reports, dtype=np.int64).reshape(-1, 2)
        return (2 * pairs[:, 0] + pairs[:, 1]).astype("<u2").tobytes()

    @property
    def cells(self) -> int:
        return 2 * self.options

    def tally(self, packed: bytes) -> Counts:
        """Return 2m counts: for every option how many reports on it say no, and how many yes."""
        counted = np.bincount(np.frombuffer(packed, dtype="<u2"), minlength=2 * self.options)
        require(
            len(counted) <= 2 * self.options,
            "packed must hold reports on {} options, got another",
            self.options,
        )
        return [int(count) for count in counted]

    def asked(self, tally: Counts) -> list[tuple[int, int]]:
        """Return for every option how many reports say yes, and how many are on it: y and n_j."""
        return [(yes, no + yes) for no, yes in zip(tally[::2], tally[1::2], strict=True)]

    def share(
        self, difference: int, n: int, noise: Noise, confidence: float = CONFIDENCE
    ) -> Estimate:
        """Return the share of people who tick an option, from its noisy difference."""
        require(n >= 1, "n must be 1 or more, got {}", n)
        error, contrast = (1 - confidence) / 2, self.margin.contrast
        value = 0.5 + self.options * difference / (2 * n * contrast)
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
        return np.array([1 - yes, self.options - 1, yes]) / self.options

    def _split(self, share: float, n: int, noise: Noise) -> Variance:
        unit, yes = (
            4 * n * self.margin.contrast**2,
            float(self.margin.lie) + share * self.margin.contrast,
        )
        sampling = share * (1 - share) / n
        people_and_device = (self.options - (2 * yes - 1) ** 2) / unit
        return Variance(
            sampling, people_and_device - sampling, self.options**2 * noise.variance / (n * unit)
        )

    def moved(self, neighbours: Neighbours) -> Moved:
        """Return how far one person moves the differences: a bit that turns moves one by 2."""
        if neighbours is Neighbours.ADD_REMOVE:
            return Moved(self.options, 1, 1)
        return Moved(self.options, 2, 4)

    def released(self, counts: Sequence[int], neighbours: Neighbours) -> list[int]:
        """Return for every option how many more reports say yes than no."""
        return [yes - no for no, yes in zip(counts[::2], counts[1::2], strict=True)]

    def estimates(
        self, noisy: Sequence[int], n: int, noise: Noise, confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        return [_share(self, difference, n, noise, confidence) for difference in noisy]  # type: ignore[arg-type]

    def forecast(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        yes = self.margin.lie + at * (self.margin.truth - self.margin.lie)
        return self.share(round(Fraction(n, self.options) * (2 * yes - 1)), n, noise)

    def lean(self, at: Fraction) -> float:
        """Return the same of an option's share, which is ½ where as many say yes as no."""
        return abs(float(at) - 0.5)

    def probabilities(
        self, reports: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]
    ) -> list[list[Fraction]]:
        """Return Pr[report | answer], a row an answer: what tests and auditors enumerate."""
        kept, turned = (
            Fraction(self.keep, WORD * self.options),
            Fraction(WORD - self.keep, WORD * self.options),
        )
        return [
            [kept if (option in answer) == bit else turned for option, bit in reports]
            for answer in answers
        ]


_share = lru_cache(maxsize=REMEMBERED)(OneOf.share)
