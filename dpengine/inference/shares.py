"""The share of a yes, or of every choice, whatever channel stood between answer and report.

Binary. Respondent i reports yes with chance λᵢ = c0ᵢ + c1ᵢ·π; a direct question is c0 = 0, c1 = 1.
Several constants: several arms, or constants of each row. With uᵢ = c1ᵢ / (hᵢ(1 − hᵢ)), hᵢ = c0ᵢ +
c1ᵢ/2,

    moment       Σ u(yes − c0) / Σ u·c1        unbiased; (reported share − c0)/c1 for one constant
    likelihood   the maximum of Σ ln λ or ln(1 − λ) over 0 ≤ π ≤ 1; one, since it is concave
    s.e.         one constant: sqrt(λ̂(1 − λ̂)/n) / |c1|, λ̂ the reported share of yes (Warner
                 1965); several: observed information at the likeliest share. Weights with an
                 effective n below 2: that of a share of ½, 1/sqrt(Σ u·c1), times the root of Kish's
                 design effect. All reports the same (with weights: all but less than half an
                 effective one): as if of four more, two were yes
    interval     exact (intervals.py): Clopper-Pearson for one constant; profile likelihood beside
                 it, and in its stead where every share from 0 to 1 is rejected
    fit          G² over the groups of equal constants, df = groups − 1. Where groups are too small
                 for a chi-square (fit.py), as with constants of each row, neighbours are taken
                 together to some ten groups where 5 of each report or more are expected; None where
                 that leaves one group

Categories. P[answer, report] of each arm, chances of arm a's reports λₐ = Pₐᵀπ:

    moments      the inverse of a square P; with more reports than answers, or several arms, the
                 unbiased left inverse of least variance where all answers are equally likely
                 (categories.py). They add up to 1.
    likelihood   simplex.py
    s.e.         several arms or more reports than answers, maximum inside: observed information on
                 the simplex; else of the moments, and where the reports that came leave other
                 shares as likely
    intervals    of a mean of bounded values (intervals.py); Clopper-Pearson where a choice's value
                 has two sizes (categories.py), as in k-ary response
    fit          G², df = Σ(reports − 1) − (answers − 1); None where something is left to test and
                 cells are small

Weights make it a pseudo-likelihood: they are scaled to add up to n, variances are linearised (a
sandwich with n/(n − 1), respondents as drawn one by one with replacement; Binder 1983), intervals
use the effective n of Korn and Graubard (1998), G² is divided by the design effect (first order of
Rao and Scott 1984). Rows of weight 0 are left out of n, with a warning. Where weights were raked to
a population's margins, variances are of what the margins leave of each row (weights.py).
By hand    52 yes of 350 with P(yes) = 1/6 + 2/3·π: moment −0.027, likeliest 0, interval to 0.035,
           profile 0.039.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.estimates import CONFIDENCE, Floats, Interval, Ints
from dpengine.inference import inputs
from dpengine.inference.categories import THIN, Arms
from dpengine.inference.fit import SMALL_CELL, Fit, are_filled, fit_of, judged
from dpengine.inference.inputs import SLACK
from dpengine.inference.intervals import (
    Groups,
    agreed_error,
    clipped,
    distinct,
    exact_interval,
    likeliest_share,
    parts_of,
    profile_interval,
    sums,
)
from dpengine.inference.simplex import likeliest_shares
from dpengine.inference.weights import Margin, left_variances

# groups made of smaller ones: more, of 5 reports a cell, alarm in 11 % of sound surveys
MAX_POOLED = 10
FEW = 30  # reports below which a standard error is rough
CHANCE_OR_LIES = "chance can do that, and so can non-compliance"


@dataclass(frozen=True, slots=True)
class Share:
    """The share of people whose true answer is yes."""

    n: int
    moment: float
    maximum_likelihood: float
    standard_error: float
    interval: Interval
    is_exact: bool  # of people who were all asked alike, each counting as one
    profile: Interval
    log_likelihood: float
    fit: Fit | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of people over the choices of a question."""

    n: int
    moments: tuple[float, ...]
    maximum_likelihood: tuple[float, ...]
    standard_errors: tuple[float, ...]
    intervals: tuple[Interval, ...]
    simultaneous: tuple[Interval, ...]
    log_likelihood: float
    fit: Fit | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Respondents:
    """Reports of yes with the constants of each, and weights that add up to their number."""

    yes: npt.NDArray[np.int8]
    c0: Floats
    c1: Floats
    weights: Floats
    margins: Sequence[Margin] = ()  # that the weights meet

    @property
    def n(self) -> int:
        return len(self.yes)

    @property
    def is_weighted(self) -> bool:
        return not np.allclose(self.weights, 1.0, rtol=1e-12, atol=0)

    @property
    def kish(self) -> float:
        """Return the design effect that the weights have on what does not depend on them."""
        return float(np.mean(self.weights**2))

    @property
    def is_thin(self) -> bool:
        """Tell whether weights leave no variance to see."""
        return self.is_weighted and self.n / self.kish < THIN

    @property
    def groups(self) -> Groups:
        first, place = distinct(self.c0, self.c1)
        n = sums(place, self.weights)
        yes = sums(place, self.weights * self.yes)
        return Groups(np.clip(self.c0[first], 0.0, 1.0), self.c1[first], n, yes)

    def scores(self, share: float) -> Floats:
        """Return each row's part of the derivative of ln L."""
        scores = np.empty(self.n)
        for part in parts_of(self.n):
            c1 = self.c1[part]
            reported = np.clip(self.c0[part] + c1 * share, 1e-12, 1 - 1e-12)
            surprise = self.yes[part] - reported
            scores[part] = self.weights[part] * c1 * surprise / (reported * (1 - reported))
        return scores

    def _spread(self, scores: Floats) -> float:
        """Return the variance of the scores' sum, given the margins that the weights meet."""
        if not self.margins:
            return float(np.var(scores, ddof=1)) * len(scores)
        scores /= self.weights
        return float(left_variances([scores], self.weights, self.margins)[0])

    def errors(self, groups: Groups, best: float, moment: float) -> tuple[float, float]:
        """Return the standard error, never 0, and the design effect of the weights.

        The linearised variance over that without them.
        """
        upright = groups.upright
        is_one = len(upright.n) == 1
        yes, n, c1 = float(upright.yes[0]), float(upright.n[0]), float(upright.c1[0])
        if not is_one:
            plain = 1 / math.sqrt(upright.information(best))
        elif 0 < yes < n:
            plain = math.sqrt(yes * (n - yes) / n) / n / c1
        else:
            plain = agreed_error(n) / c1
        if not self.is_weighted:
            return plain, 1.0
        if self.is_thin:
            even = self.kish / float(_steep(upright) @ (upright.n * upright.c1))
            return math.sqrt(even), self.kish
        if is_one and min(yes, n - yes) < self.kish / 2:  # less than half an effective report
            return agreed_error(self.n / self.kish) / c1, self.kish
        effect = self.kish
        if is_one or 0 < best < 1:
            effect = self._spread(self.scores(moment if is_one else best)) * plain**2
        return math.sqrt(effect) * plain, max(effect, 1.0)


def binary_share(
    yes: npt.ArrayLike,
    c0: npt.ArrayLike,
    c1: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    margins: Sequence[Margin] = (),
) -> Share:
    """Return the share of yes behind reports that say yes with chance c0 + c1·share.

    A constant is a number, or a column with one for each row. `margins` are those of a population
    that the weights were raked to.
    """
    answers = inputs.binary(yes).astype(np.int8)
    n = len(answers)
    starts, slopes = inputs.constants(c0, "c0", n), inputs.constants(c1, "c1", n)
    inputs.check_affine(starts, slopes, answers)
    scaled = inputs.weights_of(weights, n)
    used = scaled > 0
    rows = Respondents(answers, starts, slopes, scaled, margins)
    if not used.all():
        left = scaled[used] * (used.sum() / n)
        met = [margin.only(used) for margin in margins]
        rows = Respondents(answers[used], starts[used], slopes[used], left, met)
    inputs.check_confidence(confidence)
    groups = rows.groups
    steep = _steep(groups)
    moment = float(steep @ (groups.yes - groups.n * groups.c0) / (steep @ (groups.n * groups.c1)))
    best = likeliest_share(groups)
    error, effect = rows.errors(groups, best, moment)
    effective = groups.scaled(1 / effect)
    exact = exact_interval(effective, confidence)
    profile = profile_interval(effective, best, confidence)
    fit = _fit(effective, best)
    is_outside = exact[1] <= 0 or exact[0] >= 1  # a point at an edge would promise certainty
    notes = inputs.left_out(n - rows.n) + _on_estimate(moment, is_outside, fit)
    is_one_class = not 0 < float(groups.yes.sum()) < float(groups.n.sum())
    return Share(
        n=rows.n,
        moment=moment,
        maximum_likelihood=best,
        standard_error=error,
        interval=profile if is_outside else clipped(exact),
        is_exact=not (is_outside or rows.is_weighted or len(groups.upright.n) > 1),
        profile=profile,
        log_likelihood=groups.log_likelihood(best),
        fit=fit,
        warnings=(*notes, *_on_numbers(rows, is_one_class)),
    )


def _on_estimate(moment: float, is_outside: bool, fit: Fit | None) -> list[str]:
    """Say what the reports show of the odds they were made with."""
    notes = []
    if _is_beyond(moment):
        notes.append(
            f"the moment estimate, {moment:.3f}, lies outside 0 to 1, so the likeliest share is at "
            f"the edge: {CHANCE_OR_LIES}"
        )
    if is_outside:
        notes.append(
            "the exact interval lies wholly outside 0 to 1: profile likelihood's stands in its "
            "place; these odds are hardly the ones that the reports were made with"
        )
    if fit is not None and fit.is_poor:
        notes.append(_misfit(fit, "the same shares do not explain the reports of all groups"))
    return notes


def category_shares(
    reports: npt.ArrayLike,
    matrices: Sequence[npt.ArrayLike],
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    names: Sequence[str] = (),
    margins: Sequence[Margin] = (),
) -> Shares:
    """Return the shares of answers behind reports drawn with chances matrices[arm][answer, report].

    Reports are counted from 0; warnings call choices by their names, without any by number.
    `margins` are those of a population that the weights were raked to.
    """
    codes, which, channels = inputs.arms_of(reports, matrices, arm)
    arms = Arms.of(codes, channels, which, inputs.weights_of(weights, len(codes)), margins)
    arms.check()
    inputs.check_confidence(confidence)
    best = likeliest_shares(arms.counts, arms.chances)
    reported = best @ arms.chances
    effect, seen, k = arms.effect, arms.counts > 0, len(best)
    fit = judged(arms.counts / effect, arms.sizes * reported / effect, df=arms.freedom)
    notes = inputs.left_out(len(codes) - arms.n)
    called = names or [str(choice) for choice in range(k)]
    if outside := [
        name for name, moment in zip(called, arms.moments, strict=True) if _is_beyond(moment)
    ]:
        notes.append(
            f"moment estimates of {len(outside)} of {k} choices lie outside 0 to 1 "
            f"({', '.join(outside[:5])}{', …' * (len(outside) > 5)}), so the likeliest shares are "
            f"at the edge: {CHANCE_OR_LIES}"
        )
    if fit is not None and fit.is_poor:
        poor = (
            "the same shares do not explain the reports of all arms"
            if arms.several
            else "no shares explain the reports"
        )
        notes.append(_misfit(fit, poor))
    is_one_class = bool(np.bincount(arms.owner, seen).max() == 1)
    errors, on_errors = _errors(arms, best)
    return Shares(
        n=arms.n,
        moments=tuple(arms.moments.tolist()),
        maximum_likelihood=tuple(best.tolist()),
        standard_errors=tuple(errors.tolist()),
        intervals=arms.intervals(best, confidence),
        # two shares are one
        simultaneous=arms.intervals(best, 1 - (1 - confidence) / k if k > 2 else confidence),
        log_likelihood=float(arms.counts[seen] @ np.log(reported[seen])),
        fit=fit,
        warnings=(*notes, *_on_numbers(arms, is_one_class, on_errors)),
    )


def _steep(groups: Groups) -> Floats:
    """Return u of every group: what a yes says of the share, where half of the people are a yes."""
    half = groups.c0 + groups.c1 / 2
    return np.divide(groups.c1, half * (1 - half), out=np.zeros_like(half), where=groups.c1 != 0)


def _fit(groups: Groups, best: float) -> Fit | None:
    """Return G² over the groups, joined where they are too small; None if that leaves one."""
    yes = groups.n * groups.reported(best)
    expected = np.stack([yes, groups.n - yes])
    observed = np.stack([groups.yes, groups.n - groups.yes])
    if len(groups.n) == 1:
        return fit_of(observed, expected, df=0)
    if not are_filled(expected):
        place = _neighbours(groups, expected)
        expected = np.stack([sums(place, row) for row in expected])
        observed = np.stack([sums(place, row) for row in observed])
    return judged(observed, expected, df=expected.shape[1] - 1) if expected.shape[1] > 1 else None


def _neighbours(groups: Groups, expected: Floats) -> Ints:
    """Return a larger group for each of too many.

    Neighbours by c1, then c0, that together expect enough of both.
    """
    order = np.lexsort((groups.c0, groups.c1))
    running, place, larger = np.zeros(2), np.zeros(len(order), dtype=np.int64), 0
    rest = expected.sum(axis=1)
    enough = max(SMALL_CELL, float(rest.min()) / MAX_POOLED)
    for index in order:
        place[index] = larger
        running, rest = running + expected[:, index], rest - expected[:, index]
        if running.min() >= enough <= rest.min():
            running, larger = np.zeros(2), larger + 1
    return place


def _errors(arms: Arms, best: Floats) -> tuple[Floats, list[str]]:
    """Return standard errors, never 0.

    Of the likeliest shares where they differ from the moments and lie inside.
    """
    if arms.is_thin:
        return arms.even_errors(), []
    alone = agreed_error(arms.n / arms.effect) * arms.spans
    of_moments = np.where(arms.variances > 0, np.sqrt(arms.variances), alone)
    if arms.freedom <= 0 or best.min() <= 0 or arms.is_weighted:
        return of_moments, []
    errors = arms.information_errors(best)
    if errors is None:
        return of_moments, [
            "other shares are as likely as the likeliest ones, given the reports that came: "
            "standard errors are of the moment estimates"
        ]
    return errors, []


def _is_beyond(moment: float) -> bool:
    return not -SLACK <= moment <= 1 + SLACK


def _misfit(fit: Fit, poor: str) -> str:
    return (
        f"{poor}: G2 = {fit.g2:.2f}, df = {fit.df}, p = {fit.p:.2g}; non-compliance may be at work"
    )


def _on_numbers(
    rows: Respondents | Arms, is_one_class: bool, on_errors: Sequence[str] = ()
) -> list[str]:
    """Return warnings of reports that are all the same, or too few, also by their weights."""
    notes = ["one class only: every report is the same"] if is_one_class else []
    notes += on_errors
    if rows.is_thin:
        notes.append(
            f"the weights leave an effective n of {rows.n / rows.kish:.1f}: a few reports decide "
            "everything, and the standard error is that of answers equally shared, for so many "
            "reports"
        )
    if rows.n < FEW:
        notes.append(f"small n: {rows.n} reports, fewer than {FEW}; the standard error is rough")
    return notes
