"""Several questions as one: their joint answer goes through one channel, with all of ε.

Of q questions with m₁, …, m_q choices the joint answers, K = m₁·…·m_q, are cells, numbered in mixed
radix with the first question as the most significant digit. One channel over the cells, that treats
all of them alike, makes the report. A view looks at some of the questions, at one or at a pair: its
answers are their digits, and c = K/m cells share each of its m answers.

Declined   One cell more, the last, can stand for who declines, of all of the questions at once: K =
           m₁·…·m_q + 1. It is an answer of every view, so that a view has m + 1: one whose c is 1,
           and m whose c is (K − 1)/m. All that follows holds of each answer with its own c.

Privacy    That of the channel, for everything that one person answers: neighbours differ in any of
           the digits, and views are functions of the report.
Held       A report holds w cells; H_x of them have the digits x. The channel holds a cell with
           chance a if it is the answer and b if not. So E H_x = c·b + (a − b) if x is true, c·b if
           not.
Estimate   π̂_x = (H̄_x − c·b) / (a − b), H̄ the mean over n reports. Unbiased, as Σ over the cells of
           x of the cells' own estimates is; a view of all questions is the channel's estimate.
Law        of H_x depends on the answer only by whether its digits are x. The true cell is held or
           not (a), the others are drawn without replacement; with Hyp(g, d) the number of g good
           ones among d drawn of the other K − 1:
               x true        held: 1 + Hyp(c − 1, w − 1)      else: Hyp(c − 1, w)
               x not true    held: Hyp(c, w − 1)              else: Hyp(c, w)
Variance   V₁ and V₀ of these two laws, so n·Var π̂ = (π·V₁ + (1 − π)·V₀)/(a − b)² + π(1 − π), the
           last from sampling. Noise on ΣH_x adds Var Z/(n(a − b))².
Counted    Published of a view is ΣH_x for each of its answers; of two answers one, since H₁ + H₂ =
           w is known. Two reports of w cells differ in d = min(w, K − w) cells at most, each way:
           Σ_x|H_x − H'_x| ≤ 2d, and no |H_x − H'_x| is above e = min(c, d), c the largest, so L1 ≤
           2d and L2² ≤ 2de; of two answers, one count moves by e at most. Of swapped reports S and
           σS (one joint answer for another, dpengine.contraction) one cell leaves and one comes: L1
           ≤ 2, L2² ≤ 2, one count moves by 1; by nothing where both cells have the digit.
Interval   Over random people ΣH is a sum of n draws from π·law₁ + (1 − π)·law₀, which grows
           stochastically with π (change the names of two cells: the true one is held more often).
           All π that neither tail of ΣH + ΣZ rejects at half the error, summed exactly
           (lattice.py), wherever the mixture is a law, a little beyond 0 and 1: the interval holds
           for every n. Where w = 1 it is that of estimates.share.
Blocks     of a question that is in several: π̂ = Σ_i q_i(ΣH_i − n_i·c_i·b_i) / Σ_i q_i·n_i(a_i −
           b_i) is unbiased for any q_i chosen without looking. Best is q_i ∝ 1/(V_i(a_i − b_i)),
           V_i the variance × n at even shares; rounded to whole numbers, so that Σ q_i·ΣH_i lies on
           a lattice and its interval is as exact. Equal channels: estimates weighted by their n.
Size       w that the worst question's variance at even shares is least for.
By hand    Two yes/no questions, k-ary with a = 1/2, b = 1/6: c = 2, and (H̄ − 1/3)·3 = ½ if half the
           reports hold a yes; ½·½/(1/3)² = 9/4 is the variance × n there. With a fifth cell for who
           declines, a = 3/7, b = 1/7, as likely beside any other: (H̄ − 2/7)·7/2 = ½ if 3/7 hold a
           yes, (H̄ − 1/7)·7/2 of it declined, and (3/7)(4/7)/(2/7)² = 3 is the variance × n.
Sources    Ye and Barg 2018 (subsets); Clopper and Pearson 1934; margins of a joint table by sums
           of its cells: Chaudhuri and Mukerjee 1988, ch. 3.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
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
    NoNoise,
    Variance,
    root,
    share,
)
from dpengine.local.channel import Bounds, Channel, Codes, Document, Features, Learns, Moved
from dpengine.local.lattice import Sums
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import Neighbours
from dpengine.randomness import Stream, system_stream

MAX_JOINT = 1024  # cells
CLOSE = 1e-9  # of a limit
FINE = 16  # the largest whole weight of a block's reports
REMEMBERED = 8192  # intervals: a rehearsal asks for the same ones again

Law = tuple[Fraction, ...]  # chances of H = 0, 1, …


@dataclass(frozen=True, slots=True)
class Cells:
    """Those of a channel's cells that share an answer."""

    channel: Table | Subset
    count: int  # c

    @property
    def margin(self) -> Margin:
        """Return a and b of one of them."""
        return self.channel.margins()[0]

    @property
    def contrast(self) -> Fraction:
        """Return a − b: what one true answer moves the cells that a report holds by."""
        return self.margin.truth - self.margin.lie

    @property
    def base(self) -> Fraction:
        """Return c·b: how many of them are held where the answer is not true."""
        return self.count * self.margin.lie

    @property
    def most(self) -> int:
        """Return how many of them a report can hold."""
        return min(self.count, self.channel.held)

    def laws(self) -> tuple[Law, Law]:
        """Return the chances of H = 0, 1, … cells held, of an answer that is true, and not."""
        return _laws(self.channel.cells, self.count, self.channel.held, self.margin.truth)

    def variance(self, at: Fraction) -> Fraction:
        """Return the variance × n of the share of the answer, where it is so much."""
        true, false = self.squares
        return at * true + (1 - at) * false - at**2

    @property
    def squares(self) -> tuple[Fraction, Fraction]:
        """Return the means of u², u = (H − c·b)/(a − b), of an answer that is true, and not."""
        true, false = (
            sum((chance * (held - self.base) ** 2 for held, chance in enumerate(law)), Fraction(0))
            / self.contrast**2
            for law in self.laws()
        )
        return true, false


@dataclass(frozen=True, slots=True)
class Joint(Channel):
    """A channel over the joint answers of some questions, and which of them are looked at."""

    kind: ClassVar[str] = "joint"
    parts: ClassVar[str] = ""  # a Plan holds the channel, and the questions beside it
    learns: ClassVar[Learns] = Learns.SHARES

    channel: Table | Subset
    questions: tuple[int, ...]  # choices of each to answer, the most significant digit first
    seen: tuple[int, ...]  # which questions' digits are a view's answers, in this order
    declining: tuple[int, ...] = ()  # where it stands among each one's choices, if it is a cell

    def __post_init__(self) -> None:
        cells = _checked(self.questions, declines=bool(self.declining))
        require(
            self.channel.answers == cells,
            "the channel of a joint answer must take {} answers, got {}",
            cells,
            self.channel.answers,
        )
        require(
            not self.declining
            or (
                len(self.declining) == len(self.questions)
                and all(0 <= at <= m for at, m in zip(self.declining, self.questions, strict=True))
            ),
            "declining must stand among the choices of each question or of none, got {}",
            list(self.declining),
        )
        require(
            isinstance(self.channel, Subset) or len(set(self.channel.margins())) == 1,
            "the channel of a joint answer must treat all answers alike",
        )
        require(
            self.seen
            and len(set(self.seen)) == len(self.seen)
            and all(0 <= place < len(self.questions) for place in self.seen),
            "a view must be of different questions from 0 to {}, got {}",
            len(self.questions) - 1,
            list(self.seen),
        )

    @classmethod
    def of(cls, channel: Channel, questions: Sequence[int], declining: Sequence[int] = ()) -> Self:
        """Return the joint answer of questions with so many choices, all of them in view; and where
        declining stands among the choices of each, if it is one of all of them.
        """
        if not isinstance(channel, Table | Subset):
            raise ValueError("the channel of a joint answer must be a table or a subset")
        return cls(channel, tuple(questions), tuple(range(len(questions))), tuple(declining))

    @classmethod
    def for_epsilon(
        cls, questions: Sequence[int], epsilon: Decimal, declining: Sequence[int] = ()
    ) -> Self:
        """Return the subset channel whose worst question has the least variance, within e^ε."""
        cells = _checked(questions, declines=bool(declining))
        size = best_size(tuple(sorted(set(questions))), cells, epsilon)
        return cls.of(Subset.of_size(cells, size, epsilon), questions, declining)

    def view(self, *seen: int) -> Self:
        """Return what is learned of these questions, by their places."""
        return type(self)(self.channel, self.questions, seen, self.declining)

    # A Plan's part

    @classmethod
    def from_document(cls, document: Document, bounds: Bounds | None = None) -> Self:
        """Refuse: `of` takes the channel and the questions, which stand beside it."""
        raise ValueError("the channel of a joint answer must be read with its questions")

    def document(self) -> dict[str, object]:
        return self.channel.document()

    def check(self) -> None:
        """Refuse nothing: a channel that treats all answers alike tells of each digit."""

    @property
    def loss(self) -> Fraction:
        return self.channel.loss

    @property
    def common(self) -> Fraction:
        return self.channel.common

    @property
    def answered(self) -> int:
        """Return m, the view's answers beside declining."""
        return math.prod(self.questions[place] for place in self.seen)

    @property
    def answers(self) -> int:
        return self.answered + bool(self.declining)

    # Cells

    def encode(self, answers: Sequence[int]) -> int:
        """Return the cell of one answer to each question: who declines one declines all."""
        declined = bool(self.declining)
        require(
            len(answers) == len(self.questions)
            and all(
                type(answer) is int and 0 <= answer < choices + declined
                for answer, choices in zip(answers, self.questions, strict=True)
            ),
            "answers must be one of the choices of each of {} questions",
            len(self.questions),
        )
        cell = 0
        for place, (answer, choices) in enumerate(zip(answers, self.questions, strict=True)):
            if declined and answer == self.declining[place]:
                return self.channel.cells - 1
            cell = cell * choices + self._digit(answer, place)
        return cell

    def _digit(self, answer: int, place: int) -> int:
        return answer - (bool(self.declining) and answer > self.declining[place])

    def decode(self, cell: int) -> tuple[int, ...]:
        """Return the answer to each question."""
        total = self.channel.cells
        require(0 <= cell < total, "cell must be one of {}", total)
        if self.declining and cell == total - 1:
            return self.declining
        digits = []
        for place in reversed(range(len(self.questions))):
            cell, digit = divmod(cell, self.questions[place])
            digits.append(digit + (bool(self.declining) and digit >= self.declining[place]))
        return tuple(reversed(digits))

    @property
    def declined(self) -> int:
        """Return where declining stands among the view's answers: of one question, as among its
        choices; else last.
        """
        return self.declining[self.seen[0]] if len(self.seen) == 1 else self.answered

    @property
    def digits(self) -> Ints:
        """Return the view's answer of every cell."""
        every = math.prod(self.questions)
        places = np.unravel_index(np.arange(every), self.questions)
        found: Ints = np.zeros(every, dtype=np.int64)
        for place in self.seen:
            found = found * self.questions[place] + places[place]
        if not self.declining:
            return found
        return np.append(found + (found >= self.declined), self.declined)

    @property
    def together(self) -> int:
        """Return c of the answers beside declining: the cells that share one."""
        return math.prod(self.questions) // self.answered

    @property
    def by_answer(self) -> list[Cells]:
        """Return the cells of each of the view's answers."""
        found = [Cells(self.channel, self.together)] * self.answered
        if self.declining:
            found.insert(self.declined, Cells(self.channel, 1))
        return found

    # On the device, and in a batch: the channel's

    def randomise(self, answer: Sequence[int], words: Stream = system_stream) -> Any:
        """Return what to send in place of one answer to each question."""
        return self.channel.randomise(self.encode(answer), words)

    def accepts(self, report: Any) -> bool:
        return self.channel.accepts(report)

    def expects(self) -> str:
        return self.channel.expects()

    @property
    def width(self) -> int:
        return self.channel.width

    def pack(self, reports: Sequence[Any]) -> bytes:
        return self.channel.pack(reports)

    def codes(self, packed: bytes) -> Codes:
        return self.channel.codes(packed)

    # What is counted: cells held with each answer of the view

    @property
    def cells(self) -> int:
        """Return how many counts there are: one an answer, ΣH_x."""
        return self.answers

    @property
    def held(self) -> int:
        return self.channel.held

    def tally(self, packed: bytes) -> Counts:
        return self.counted(self.channel.tally(packed))

    def counted(self, counts: Sequence[int]) -> Counts:
        """Return this view's counts, from those of all joint answers."""
        total = self.channel.cells
        require(len(counts) == total, "expected {} counts, got {}", total, len(counts))
        found: Ints = np.zeros(self.answers, dtype=np.int64)
        np.add.at(found, self.digits, np.asarray(counts, dtype=np.int64))
        return [int(count) for count in found]

    def is_one_count(self, neighbours: Neighbours) -> bool:
        return self.answers == 2 and neighbours is Neighbours.CHANGE_ONE

    def noisy_counts(self, noisy: Sequence[int], n: int) -> list[int]:
        """Return the counts of all answers: of two, which one was published, from their sum."""
        return [n * self.held - noisy[0], noisy[0]] if len(noisy) == 1 else list(noisy)

    def noise_left(self, noise: Noise, neighbours: Neighbours) -> Noise:
        """Return the noise as it was drawn: its sum is not taken out."""
        return noise

    def moved(self, neighbours: Neighbours) -> Moved:
        """Return how far one person moves `released`: `Counted` of the proof sheet."""
        require(
            neighbours is Neighbours.CHANGE_ONE, "a joint answer is counted under change-one only"
        )
        different = min(self.held, self.channel.cells - self.held)
        most = min(self.together, different)
        if self.is_one_count(neighbours):
            return Moved(1, most, most**2)
        return Moved(self.answers, 2 * different, 2 * different * most)

    def swapped(self) -> Moved:
        if self.is_one_count(Neighbours.CHANGE_ONE):
            return Moved(1, 1, 1)
        return Moved(self.answers, 2, 2)

    # People

    @property
    def _own(self) -> Cells:
        """Return the cells of an answer beside declining."""
        return Cells(self.channel, self.together)

    @property
    def contrast(self) -> Fraction:
        return self._own.contrast

    @property
    def base(self) -> Fraction:
        return self._own.base

    def margins(self) -> list[Margin]:
        """Return a and b of every answer, where a report holds it once at most."""
        most = self._own.most
        require(
            most == 1,
            "a report holds up to {} joint answers with the same answer to a question",
            most,
        )
        return [Margin(each.base + each.contrast, each.base) for each in self.by_answer]

    def laws(self) -> tuple[Law, Law]:
        return self._own.laws()

    def variance(self, at: Fraction) -> Fraction:
        return self._own.variance(at)

    def estimates(
        self, noisy: Sequence[int], n: int, noise: Noise = NO_NOISE, confidence: float = CONFIDENCE
    ) -> list[Estimate]:
        return pooled([(self, noisy, n)], noise, confidence)

    def forecast(self, n: int, at: Fraction, noise: Noise) -> Estimate:
        total = round(n * (self.base + at * self.contrast))
        even = Fraction(1, self.answers)
        return _share((self._own,), (n,), (1,), even, total, noise, CONFIDENCE)  # type: ignore[arg-type]

    def features(self) -> Features:
        """Return the cells that a report holds, those of an answer with the same part in u.

        u = (H − c·b)/(a − b), which Σ H = w makes linear. Of u² only the mean after each answer is
        ever asked for, of which there are two, with x true and not: so it is written as a linear
        sum that has these means. Chances are those where all cells of the answer are as common.
        """
        w, contrast, each = self.held, float(self.contrast), self.by_answer
        own = (self.digits == np.arange(self.answers)[:, None]).astype(np.float64)
        columns = ((cells.base, *cells.squares, cells.count) for cells in each)
        base, true, false, counts = np.array(list(columns), dtype=np.float64).T[..., None]
        step = (true - false) / contrast
        least, most = np.maximum(0, w - self.channel.cells + counts), np.minimum(counts, w)
        return Features(
            held=w,
            first=(own - base / w) / contrast,
            second=(false - step * base) / w + step * own,
            chances=float(self._own.margin.lie) + contrast / counts * own,
            ends=(((least - base) / contrast)[:, 0], ((most - base) / contrast)[:, 0]),
            cells=counts[:, 0],
        )


def _checked(questions: Sequence[int], *, declines: bool) -> int:
    """Return how many cells questions with so many choices have, declining among them or not."""
    require(
        len(questions) >= 2 and all(choices >= 2 for choices in questions),
        "a joint answer must be of two questions or more, of two choices or more each, got {}",
        list(questions),
    )
    cells = math.prod(questions) + declines
    require(cells <= MAX_JOINT, "joint answers must be at most {}, got {}", MAX_JOINT, cells)
    return cells


Part = tuple[Joint, Sequence[int], int]  # a block's view of a question, its noisy counts, n


def pooled(parts: Sequence[Part], noise: Noise, confidence: float = CONFIDENCE) -> list[Estimate]:
    """Return the share of each answer from the reports of all blocks that hold a question."""
    asked = [(view, counts, n) for view, counts, n in parts if n]
    require(asked, "n must be 1 or more, got 0")
    answers = {view.answers for view, _, _ in asked}
    require(len(answers) == 1, "views must have the same answers, got {}", sorted(answers))
    for view, counts, n in asked:
        require(n >= 1, "n must be 1 or more, got {}", n)
        require(len(counts) == view.cells, "expected {} counts, got {}", view.cells, len(counts))
    even, each = Fraction(1, answers.pop()), [view.by_answer for view, _, _ in asked]
    return [
        _pooled(
            [
                (own[at], int(counts[at]), n)
                for own, (_, counts, n) in zip(each, asked, strict=True)
            ],
            even,
            noise,
            confidence,
        )
        for at in range(even.denominator)
    ]


def _pooled(
    parts: Sequence[tuple[Cells, int, int]], even: Fraction, noise: Noise, confidence: float
) -> Estimate:
    """Return the share of one answer: its cells in each block, how often they are held, n."""
    weights = _weights(tuple(cells for cells, _, _ in parts), even)
    total = sum(weight * count for weight, (_, count, _) in zip(weights, parts, strict=True))
    # blocks with the same law are one: people, and how many blocks there are
    laws: dict[Cells, tuple[int, int]] = {}
    for cells, _, n in parts:
        people, times = laws.get(cells, (0, 0))
        laws[cells] = people + n, times + 1
    sizes, blocks = zip(*laws.values(), strict=True)
    return _share(tuple(laws), sizes, blocks, even, total, noise, confidence)  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _weights(answers: tuple[Cells, ...], even: Fraction) -> tuple[int, ...]:
    """Return the whole weight of each block's reports: q of the proof sheet."""
    if len(set(answers)) == 1:
        return (1,) * len(answers)
    best = [float(1 / (cells.variance(even) * cells.contrast)) for cells in answers]
    return tuple(max(1, round(FINE * part / max(best))) for part in best)


@lru_cache(maxsize=REMEMBERED)
def _share(
    answers: tuple[Cells, ...],
    sizes: tuple[int, ...],
    blocks: tuple[int, ...],
    even: Fraction,
    total: int,
    noise: Noise,
    confidence: float,
) -> Estimate:
    """Return the share of an answer whose cells were held so often, in all blocks together.

    `blocks` are how many of them each of its cells stand for: each has noise of its own.
    """
    require(0 < confidence < 1, "confidence must be between 0 and 1, got {}", confidence)
    (cells, *others), (n, *_) = answers, sizes
    if not others and cells.most == 1 and isinstance(noise, NoNoise):
        margin = Margin(cells.base + cells.contrast, cells.base)
        return share(total, n, margin, noise, confidence)
    error, weights = (1 - confidence) / 2, _weights(answers, even)
    told = [_Told.of(each) for each in answers]
    people = [weight * n for weight, n in zip(weights, sizes, strict=True)]
    contrasts = [size * each.contrast for size, each in zip(people, told, strict=True)]
    base = sum(size * each.base for size, each in zip(people, told, strict=True))
    value = (total - base) / sum(contrasts)
    sums = Sums.of_several(
        [
            (n, weight * np.arange(len(each.true)))
            for weight, n, each in zip(weights, sizes, told, strict=True)
        ],
        noise,
        np.repeat(weights, blocks),
    )

    def at_least(at: float, least: int) -> float:
        mixed = [np.maximum(at * each.true + (1 - at) * each.false, 0.0) for each in told]
        return sums.all_at_least(mixed, least)

    ends = _ends(told)
    low = root(lambda at: at_least(at, total) - error, *ends, close=CLOSE)
    high = root(lambda at: error - 1 + at_least(at, total + 1), *ends, close=CLOSE)
    inside = min(max(value, 0.0), 1.0)
    parts = [
        (part / sum(contrasts), n, count * noise.variance / n, each)
        for part, n, count, each in zip(contrasts, sizes, blocks, told, strict=True)
    ]  # of each block's own estimate
    variance = Variance(
        sampling=inside * (1 - inside) * sum(part**2 / n for part, n, _, _ in parts),
        device=sum(part**2 * each.device(inside) / n for part, n, _, each in parts),
        publication=sum(part**2 * added / (n * each.contrast**2) for part, n, added, each in parts),
    )
    return Estimate(value, min(low, value), max(high, value), variance, confidence)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What a report tells of an answer, in floats."""

    contrast: float
    base: float
    true: Floats  # the two laws
    false: Floats
    spread: tuple[float, float]  # V₁ and V₀, of u

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, cells: Cells) -> "_Told":
        true, false = (np.array(law, dtype=np.float64) for law in cells.laws())
        most, least = cells.squares
        spread = float(most - 1), float(least)
        return cls(float(cells.contrast), float(cells.base), true, false, spread)

    def device(self, share: float) -> float:
        """Return variance × n that the device adds, for people of whom a share has the answer."""
        return share * self.spread[0] + (1 - share) * self.spread[1]


def _ends(told: Sequence[_Told]) -> tuple[float, float]:
    """Return the shares beyond which a mixture of two laws has a chance below 0."""
    true = np.concatenate([each.true for each in told])
    false = np.concatenate([each.false for each in told])
    rising, falling = true > false, true < false
    low = (-false[rising] / (true - false)[rising]).max()
    high = (false[falling] / (false - true)[falling]).min()
    return float(low), float(high)


@lru_cache(maxsize=1024)
def _laws(cells: int, together: int, held: int, truth: Fraction) -> tuple[Law, Law]:
    """Return the two laws of the proof sheet, of all H that can be."""

    def drawn(good: int, size: int, found: int) -> Fraction:
        ways = math.comb(good, found) * math.comb(cells - 1 - good, size - found)
        return Fraction(ways, math.comb(cells - 1, size))

    every = range(min(together, held) + 1)
    true = tuple(
        (truth * drawn(together - 1, held - 1, found - 1) if found else 0)
        + (1 - truth) * drawn(together - 1, held, found)
        for found in every
    )
    false = tuple(
        (truth * drawn(together, held - 1, found) if found < held else 0)
        + (1 - truth) * drawn(together, held, found)
        for found in every
    )
    return true, false


@lru_cache(maxsize=1024)
def best_size(choices: tuple[int, ...], cells: int, epsilon: Decimal) -> int:
    """Return the w whose worst question has the least variance; see `variances`."""
    return int(np.argmin(variances(choices, cells, epsilon))) + 1


@lru_cache(maxsize=1024)
def variances(choices: tuple[int, ...], cells: int, epsilon: Decimal) -> Floats:
    """Return variance × n at even shares of the worst of questions with so many choices, for each
    w.

    By the moments of H: E H² = E H + ordered pairs of cells of x, that are held together with
    chance `pair` where neither is true and `own` where one is. In floats, which decide nothing but
    which channel is taken.
    """
    w = np.arange(1, cells // 2 + 1, dtype=np.float64)
    odds = w * math.exp(epsilon)
    a = odds / (odds + cells - w)
    b = (a * (w - 1) + (1 - a) * w) / (cells - 1)
    own = a * (w - 1) / (cells - 1)
    pair = (a * (w - 1) * (w - 2) + (1 - a) * w * (w - 1)) / ((cells - 1) * max(cells - 2, 1))
    worst = np.zeros_like(w)
    for count in choices:
        c, at = cells // count, 1 / count  # beside declining, whose cell leaves a rest
        mean = c * b + at * (a - b)
        pairs = at * (2 * (c - 1) * own + (c - 1) * (c - 2) * pair) + (1 - at) * c * (c - 1) * pair
        worst = np.maximum(worst, (mean + pairs - mean**2) / (a - b) ** 2)
    return worst
