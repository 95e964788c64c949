"""Shares of hidden classes of people, when each class's chances of every report are known.

Nearly every imported design is one: its people fall into classes (honest carriers, cheaters, …)
with shares θ, and a member of class k in arm g gives report c with a known chance M. Reports are
independent multinomials:

    P(c in g) = Σ θ_k · M_g[k, c],   θ_k ≥ 0,   Σ θ_k = 1
    L(θ) = Σ n_gc · ln P(c in g)     concave: one summit, the same from every start

A parameter is a share of people u·θ, or a share among some of them, u·θ / v·θ (of carriers, who
tell the truth).

Moment     Decoders a and b of the reports with Σ M_g[k, c]·a_gc = u_k for every class k, and v_k
           for b: the estimate is a·f / b·f on the observed shares f. It exists exactly when the
           parameter can be told from the reports.
Maximum    simplex.py; by concavity how far it may be from the summit is known.
Interval   Profile likelihood: the t for which 2(max L − max{L: u·θ = t·v·θ}) is below the
           chi-square point. The θ of one t are again a mixture, of points on the edges of the
           simplex: every point of the profile is a summit too. It ends at the edges of what is
           possible. It fails when many classes are empty (lists.py does not use it).
Errors     Observed information; of the moment estimate (delta method; divided by n, where RRreg has
           n − 1) when the edge keeps a class from being negative, and a warning says so. A group
           whose reports all decode alike would have error 0: one person more, spread evenly over
           the kinds of report, is counted there, and that is said.
Weights    Scaled to add up to n. Errors are sandwiches; the profile's deviance is divided by
           sandwich over multinomial variance of the moment estimate, G² by Kish's design effect
           (Rao and Scott 1984, first order).
By hand    Two classes, chances of yes 1 and ¼, 70 of 100 yes: (.70 − .25)/.75 = .60, error
           √(.7·.3/100)/.75 = .0611.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.inference.fit import Fit, judged
from dpengine.inference.inputs import check_confidence
from dpengine.inference.simplex import most_likely

PUSH = 1e-7  # a class at 0 whose gradient is below −PUSH is kept there by the edge
IMPOSSIBLE = 1e9  # stands for an infinite deviance where a root is looked for
# G² of reports on the wrong side of one edge: passed by 5 % when the truth is on it (½ χ² of 1)
CHANCE = 2.71


@dataclass(frozen=True, slots=True)
class Parameter:
    """One share and how far to trust it. None where nobody is left to have a share of."""

    name: str
    moment: float | None  # unconstrained: may lie outside 0 to 1
    maximum_likelihood: float | None
    standard_error: float | None
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Analysis:
    n: int
    parameters: tuple[Parameter, ...]
    log_likelihood: float
    fit: Fit | None  # None where cells are too small
    warnings: tuple[str, ...]

    def __getitem__(self, name: str) -> Parameter:
        return {parameter.name: parameter for parameter in self.parameters}[name]


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """People asked in the same way: reports by kind, and each class's chances of them."""

    counts: Floats  # people by report, weighted
    squares: Floats  # Σ weight² by report
    chances: Floats  # [class, report]

    def variance(self, decoder: Floats, spread: bool = True) -> float:
        """Return the variance of the mean decoded report; unless `spread`, without weights."""
        total = self.counts.sum()
        mean = self.counts @ decoder / total
        used = self.squares if spread else self.counts
        return float(used @ (decoder - mean) ** 2 / total**2)

    def is_flat(self, decoder: Floats) -> bool:
        """Tell whether all reports decode alike, though others would have decoded otherwise."""
        seen = decoder[self.counts > 0]
        return bool(np.ptp(seen) < PUSH < np.ptp(decoder))

    def smoothed(self) -> "Arm":
        """Return the arm with one person more, spread evenly over the reports."""
        more = 1 / len(self.counts)
        scale = self.squares.sum() / self.counts.sum()
        return Arm(self.counts + more, self.squares + more * scale, self.chances)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A parameter as a function of the classes' shares: share·θ, among those counted by `among`."""

    name: str
    share: Floats
    among: Floats

    def at(self, shares: Floats) -> float | None:
        people = float(self.among @ shares)
        return float(self.share @ shares) / people if people > PUSH else None

    def slope(self, value: float, people: float) -> Floats:
        """Return d(parameter)/dθ where it has this value and `among` holds this share of people."""
        return (self.share - value * self.among) / people


def target(name: str, share: Sequence[float], among: Sequence[float] | None = None) -> Target:
    of_all = np.ones(len(share)) if among is None else np.asarray(among, dtype=np.float64)
    return Target(name, np.asarray(share, dtype=np.float64), of_all)


def analyse(
    arms: Sequence[Arm],
    targets: Sequence[Target],
    features: Sequence[Floats] | None = None,
    n: int | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return every target's estimates.

    `features`, per arm [report, feature], restricts the moment decoders to sums of these features:
    the literature's estimator where there are many unbiased ones (a mean of counts, say). n is the
    number of people, if not of weights.
    """
    check_confidence(confidence)
    mixture = _Mixture(arms, features or [np.eye(len(arm.counts)) for arm in arms])
    parameters, warnings = zip(
        *(mixture.parameter(each, confidence) for each in targets), strict=True
    )
    people = round(float(mixture.counts.sum())) if n is None else n
    notes = [note for several in (*warnings, mixture.warnings()) for note in several]
    return Analysis(
        people, parameters, mixture.log_likelihood, mixture.fit, tuple(dict.fromkeys(notes))
    )


class _Mixture:
    def __init__(self, arms: Sequence[Arm], features: Sequence[Floats]) -> None:
        self.arms = arms
        self.counts = np.concatenate([arm.counts for arm in arms])
        self.chances = np.hstack([arm.chances for arm in arms])
        require(
            not np.any((self.counts > 0) & (self.chances.max(axis=0) <= 0)),
            "a report is impossible: nobody would make it under this design",
        )
        self.ends = np.cumsum([len(arm.counts) for arm in arms])[:-1]
        self.features = np.asarray(scipy.linalg.block_diag(*features), dtype=np.float64)
        self.shares, self.log_likelihood = most_likely(self.counts, self.chances)
        self.fit = self._fit()

    @property
    def observed(self) -> Floats:
        """Return the share of each report within its arm."""
        return np.concatenate([arm.counts / arm.counts.sum() for arm in self.arms])

    @property
    def is_at_edge(self) -> bool:
        gradient = (self._scores() @ self.counts) / self.counts.sum() - 1
        return bool(gradient.min() < -PUSH)

    def parameter(self, wanted: Target, confidence: float) -> tuple[Parameter, list[str]]:
        share, among = (
            self._decoder(wanted.share, wanted.name),
            self._decoder(wanted.among, wanted.name),
        )
        people = float(among @ self.observed)
        moment = float(share @ self.observed) / people if abs(people) > PUSH else None
        error, stretch, flat = None, 1.0, False
        if moment is not None:
            error, stretch, flat = self._moment_error((share - moment * among) / people)
        value = wanted.at(self.shares)
        if value is not None and not flat and not self.is_at_edge:
            error = self._information_error(wanted.slope(value, float(wanted.among @ self.shares)))
        parameter = Parameter(
            wanted.name, moment, value, error, self._interval(wanted, confidence, stretch)
        )
        return parameter, _notes(parameter, flat)

    def warnings(self) -> list[str]:
        notes = []
        if self.is_at_edge:
            how_far = ""
            if self.fit is not None:  # G² can tell whether chance alone did it
                further = "further than" if self.fit.g2 > CHANCE else "no further than"
                how_far = f", {further} chance takes them (G2 = {self.fit.g2:.2f})"
            notes.append(
                f"the reports lie beyond what the design allows{how_far}: maximum likelihood is at "
                "the edge, standard errors are of the moment estimates"
            )
        if self.fit is not None and self.fit.is_poor:
            notes.append(
                f"the design does not fit the reports (G2 = {self.fit.g2:.2f}, df = {self.fit.df}, "
                f"p = {self.fit.p:.2g}): some people may not have followed the instructions"
            )
        return notes

    def _scores(self) -> Floats:
        """Return d ln P(report) / dθ, [class, report]; 0 for reports nobody gave."""
        fitted = self.shares @ self.chances
        return np.divide(
            self.chances,
            fitted,
            out=np.zeros_like(self.chances),
            where=(self.counts > 0) & (fitted > 0),
        )

    def _fit(self) -> Fit | None:
        """Return G² over Kish's design effect."""
        sizes = np.concatenate([np.full(len(arm.counts), arm.counts.sum()) for arm in self.arms])
        free = len(self.counts) - len(self.arms) - (int(np.linalg.matrix_rank(self.chances)) - 1)
        effect = float(sum(arm.squares.sum() for arm in self.arms) / self.counts.sum())
        return judged(self.counts / effect, sizes * (self.shares @ self.chances) / effect, free)

    def _decoder(self, wanted: Floats, name: str) -> Floats:
        """Return values of reports whose means are `wanted` in every class: unbiased."""
        seen = self.chances @ self.features
        solution = np.linalg.lstsq(seen, wanted, rcond=1e-12)[0]
        require(
            np.allclose(seen @ solution, wanted, atol=1e-7),
            "{} cannot be told from these reports: every class of people may report alike",
            name,
        )
        return np.asarray(self.features @ solution, dtype=np.float64)

    def _moment_error(self, decoder: Floats) -> tuple[float, float, bool]:
        """Return the standard error, the weights' stretch of it, and whether an arm was flat."""
        pieces = list(zip(self.arms, np.split(decoder, self.ends), strict=True))
        flat = any(arm.is_flat(piece) for arm, piece in pieces)
        steady = [(arm.smoothed() if arm.is_flat(piece) else arm, piece) for arm, piece in pieces]
        variance = sum(arm.variance(piece) for arm, piece in steady)
        plain = sum(arm.variance(piece, spread=False) for arm, piece in steady)
        return float(np.sqrt(variance)), variance / plain, flat

    def _information_error(self, slope: Floats) -> float:
        """Return √(slope · I⁻¹ · slope) within the simplex, as a sandwich when weights differ."""
        scores = self._scores()
        # an orthonormal basis of the changes of shares: vectors that add up to 0
        inside = np.linalg.svd(np.ones((1, len(slope))))[2][1:].T
        information = inside.T @ (scores * self.counts) @ scores.T @ inside
        inverse = np.linalg.pinv(information, rcond=1e-10, hermitian=True)
        squares = np.concatenate([arm.squares for arm in self.arms])
        meat = information
        if not np.array_equal(squares, self.counts):
            meat = inside.T @ (scores * squares) @ scores.T @ inside
        along = inverse @ inside.T @ slope
        return float(np.sqrt(along @ meat @ along))

    def _interval(self, wanted: Target, confidence: float, stretch: float) -> tuple[float, float]:
        point = float(scipy.special.chdtri(1, 1 - confidence)) * stretch
        value = wanted.at(self.shares)
        people = wanted.among > 0
        low, high = (
            float(edge(wanted.share[people] / wanted.among[people])) for edge in (np.min, np.max)
        )
        if value is None:
            return low, high

        def excess(at: float) -> float:
            corners = _corners(wanted.share - at * wanted.among)
            profile = most_likely(self.counts, corners @ self.chances)[1]
            return min(2 * (self.log_likelihood - profile), IMPOSSIBLE) - point

        return (
            low
            if excess(low) <= 0
            else float(scipy.optimize.brentq(excess, low, value, xtol=1e-9)),
            high
            if excess(high) <= 0
            else float(scipy.optimize.brentq(excess, value, high, xtol=1e-9)),
        )


def _corners(balance: Floats) -> Floats:
    """Return the corners of the shares θ with balance·θ = 0.

    Classes of balance 0, and pairs that make up 0.
    """
    units = np.eye(len(balance))
    above, below = np.nonzero(balance > 0)[0], np.nonzero(balance < 0)[0]
    pairs = [
        (balance[up] * units[down] - balance[down] * units[up]) / (balance[up] - balance[down])
        for up in above
        for down in below
    ]
    return np.array([*units[balance == 0], *pairs])


def _notes(parameter: Parameter, flat: bool) -> list[str]:
    notes = []
    if parameter.maximum_likelihood is None:
        notes.append(
            f"{parameter.name} has no estimate: those it is a share of are estimated to be nobody"
        )
    elif parameter.moment is None:
        notes.append(
            f"{parameter.name} has no moment estimate: those it is a share of come out as nobody"
        )
    elif not -PUSH <= parameter.moment <= 1 + PUSH:
        notes.append(
            f"the moment estimate of {parameter.name} is {parameter.moment:.4f}, outside 0 to 1"
        )
    if flat:
        notes.append(
            "all reports of a group decode alike: standard errors count one person more there, of "
            "every kind"
        )
    if parameter.interval[1] - parameter.interval[0] > 1 - PUSH:
        notes.append(
            f"the reports say nothing about {parameter.name}: its interval is all of 0 to 1"
        )
    return notes
