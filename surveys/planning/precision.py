"""How precise a publication will be: the interval it would print, for so many answers, on average.

A question's expected counts, if people answer as is assumed, go through the code that makes the
published estimate from real counts, with the noise that the study's publications add. So the
number on the planner is the one that a release prints, not an approximation of it: at the expected
counts an interval is as wide as intervals are on average, up to terms of 1/n (measured in
tests/surveys/planning/test_precision.py).

Layers     Half-widths telescope: sampling alone, with the device, with the publication (variances
           add, widths do not).
Noise      As the study's Plan states it: the twin of what `releases` draws with. Nothing here is
           charged, stored or published; that both choose the same law is held by a test.
Plain      How many plain answers would be as precise: π(1 − π) over the variance, for the share
           that is planned for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpengine.central import counts
from dpengine.central.counter import ContinualCounter
from dpengine.contraction import Loss, shared_out
from dpengine.estimates import CONFIDENCE, COUNTED, Noise, Variance, normal_quantile
from dpengine.privacy import Neighbours
from surveys.plan.content import ANSWERS, PublicationTerms
from surveys.planning.questions import QuestionAtEpsilon, forecast

USUAL_REFRESHES = 52  # of a series that goes on for longer, its law is that of this refresh


@dataclass(frozen=True, slots=True)
class OneRelease:
    """A publication with noise of its own: its law, and a draw of it on made-up counts. Never on
    real ones: those are drawn once, in `releases`, and paid for.
    """

    noise: counts.Mechanism
    people: counts.Mechanism | None = None  # in how many took part, where that is protected

    def draw(self, vector: list[int]) -> list[int]:
        return self.noise.release(vector)


@dataclass(frozen=True, slots=True)
class LastRefresh:
    """The last of the refreshes that were all paid for on the first day, or the 52nd of more."""

    counter: ContinualCounter

    @property
    def steps(self) -> int:
        return min(self.counter.horizon, USUAL_REFRESHES)

    @property
    def noise(self) -> Noise:
        return self.counter.noise(self.steps)

    def draw(self, vector: list[int]) -> list[int]:
        state, published = self.counter.start(), vector
        for _ in range(self.steps):
            state, published = self.counter.step(state, vector)
        return published


PublicationNoise = OneRelease | LastRefresh


def noise_of(
    question: QuestionAtEpsilon, others: Sequence[Loss], terms: PublicationTerms
) -> PublicationNoise:
    """Return the law of a question that shares the cost of one publication with others, of which
    each loses so much on the device: e^ε₀, or None if it is sent as given.
    """
    together = question.content.together
    beside = len(together.joint.questions) if together else 1  # in one answer, itself among them
    parts = beside + len(others)
    channel, neighbours = question.channel, question.neighbours
    moved = channel.moved(neighbours)
    if terms.rule == "continual" and terms.rho:
        counter = ContinualCounter.for_rho(
            Fraction(terms.rho) / parts,
            horizon=terms.horizon,
            counts=moved.numbers,
            moves=moved.squared,
            signed=moved.numbers < channel.cells and not channel.is_one_count(neighbours),
        )
        return LastRefresh(counter)
    is_protected = neighbours is Neighbours.ADD_REMOVE  # counted at what one question costs
    if terms.rho:
        own = Fraction(terms.rho) / parts
        people: counts.Mechanism | None = counts.lesser(1, 1, own) if is_protected else None
        return OneRelease(counts.lesser(moved.l1, moved.squared, own), people)
    losses = [question.content.loss, *others]
    if terms.counts != ANSWERS:
        losses = [None] * len(losses)
    own = shared_out(Fraction(terms.epsilon), losses)[0]
    people = counts.laplace_or_none(own, 1) if is_protected else None
    l1 = moved.l1 if losses[0] is None else channel.swapped().l1
    strength = terms.noise_within(question.content, own)  # of all noises that read its answer
    return OneRelease(counts.laplace_or_none(strength and strength / beside, l1), people)


@dataclass(frozen=True, slots=True)
class Precision:
    """Half of a 95 % interval by its parts: in shares of one, or a mean's own unit."""

    question: QuestionAtEpsilon
    half: float
    variance: Variance
    plain: int  # plain answers that would be as precise

    @property
    def device(self) -> float:
        """Return the half-width of that and of the answers changed on devices."""
        part = (self.variance.sampling + self.variance.device) / self.variance.total
        return self.half * math.sqrt(part)

    @property
    def is_mean(self) -> bool:
        return self.question.is_mean

    @property
    def said(self) -> str:
        """Return the ± for people: 4.0."""
        return self.question.half_width_text(self.half)

    @property
    def without_publication(self) -> str:
        """Return the ± that who answered and their devices leave, for people."""
        return self.question.half_width_text(self.device)

    @property
    def unit(self) -> str:
        return self.question.unit


def precision_of(
    question: QuestionAtEpsilon, publication: PublicationNoise, n: int, at: Fraction
) -> Precision:
    """Return the precision of n answers, when a share `at` of people answer what is planned for."""
    if n < 1:
        raise ValueError(f"n must be 1 or more, got {n}")
    noise = question.channel.noise_left(publication.noise, question.neighbours)
    estimate = forecast(question.channel, n, at, noise)  # type: ignore[arg-type] # frozen values
    half, variance = (estimate.high - estimate.low) / 2, estimate.variance
    if isinstance(publication, OneRelease) and publication.people is not None:
        lean, off = question.channel.lean(at) / n, publication.people
        error = COUNTED * (1 - CONFIDENCE)
        half *= normal_quantile(CONFIDENCE + error) / normal_quantile(CONFIDENCE)
        half += lean * counts.largest_error(off, 1, 1 - error)
        variance = replace(variance, publication=variance.publication + lean**2 * off.variance)
    spread = float(at * (1 - at)) * question.reach**2  # the variance of one plain answer
    plain = max(1, int(spread / variance.total))
    return Precision(question, half, variance, plain)
