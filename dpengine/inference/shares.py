"""The share of a yes, or of every choice, whatever channel stood between answer and report.

Binary. Respondent i reports yes with chance λᵢ = c0ᵢ + c1ᵢ·π; a direct question is c0 = 0, c1 = 1. Several
constants: several arms, or constants of each row. With uᵢ = c1ᵢ / (hᵢ(1 − hᵢ)), hᵢ = c0ᵢ + c1ᵢ/2,

    moment       Σ u(yes − c0) / Σ u·c1        unbiased; (reported share − c0)/c1 for one constant
    likelihood   the maximum of Σ ln λ or ln(1 − λ) over 0 ≤ π ≤ 1; one, since it is concave
    s.e.         one constant: sqrt(λ̂(1 − λ̂)/n) / |c1|, λ̂ the reported share of yes (Warner 1965);
                 several: observed information at the likeliest share. Weights with an effective n below 2: that of a
                 share of ½, 1/sqrt(Σ u·c1), times the root of Kish's design effect. All reports the same (with
                 weights: all but less than half an effective one): as if of four more, two were yes
    interval     exact (intervals.py): Clopper-Pearson for one constant; profile likelihood beside it, and in its stead
                 where every share from 0 to 1 is rejected
    fit          G² over the groups of equal constants, df = groups − 1. Where groups are too small for a chi-square
                 (goodness.py), as with constants of each row, neighbours are taken together to some ten groups where
                 5 of each report or more are expected; None where that leaves one group

Categories. P[answer, report] of each arm, chances of arm a's reports λₐ = Pₐᵀπ:

    moments      the inverse of a square P; with more reports than answers, or several arms, the unbiased left
                 inverse of least variance where all answers are equally likely (categories.py). They add up to 1.
    likelihood   simplex.py
    s.e.         several arms or more reports than answers, maximum inside: observed information on the simplex;
                 else of the moments, and where the reports that came leave other shares as likely
    intervals    of a mean of bounded values (intervals.py); Clopper-Pearson where a choice's value has two sizes
                 (categories.py), as in k-ary response
    fit          G², df = Σ(reports − 1) − (answers − 1); None where something is left to test and cells are small

Weights make it a pseudo-likelihood: they are scaled to add up to n, variances are linearised (a sandwich with
n/(n − 1), respondents as drawn one by one with replacement; Binder 1983), intervals use the effective n of Korn
and Graubard (1998), G² is divided by the design effect (first order of Rao and Scott 1984). Rows of weight 0 are left
out of n, and said to be.
By hand    52 yes of 350 with P(yes) = 1/6 + 2/3·π: moment −0.027, likeliest 0, interval to 0.035, profile 0.039.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpengine.estimates import CONFIDENCE, Interval
from dpengine.inference import inputs
from dpengine.inference.categories import THIN, Arms
from dpengine.inference.fit import Fit, fit_of
from dpengine.inference.goodness import ALARM, SMALL_CELL, are_filled, judged
from dpengine.inference.inputs import SLACK, Floats
from dpengine.inference.intervals import (
    Groups,
    agreed_error,
    clipped,
    exact_interval,
    grouped,
    likeliest_share,
    profile_interval,
    sums,
)
from dpengine.inference.simplex import likeliest_shares

MOST_POOLED = 10  # groups made of smaller ones: more, of 5 reports a cell, alarm in 11 % of sound surveys
FEW = 30  # reports below which a standard error is rough


@dataclass(frozen=True, slots=True)
class Share:
    """The share of people whose true answer is yes."""

    n: int
    moment: float
    maximum_likelihood: float
    standard_error: float
    interval: Interval
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
    """Reports with the constants of each, and weights that add up to their number."""

    yes: Floats
    c0: Floats
    c1: Floats
    weights: Floats
    used: npt.NDArray[np.bool_]  # of all rows: those with a weight

    @classmethod
    def of(
        cls, yes: npt.ArrayLike, c0: npt.ArrayLike, c1: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> "Respondents":
        answers = inputs.binary(yes)
        n = len(answers)
        starts, slopes = inputs.constants(c0, "c0", n), inputs.constants(c1, "c1", n)
        inputs.check_affine(starts, slopes, answers)
        scaled = inputs.weights_of(weights, n)
        used = scaled > 0
        starts = np.clip(starts, 0.0, 1.0)
        return cls(answers[used], starts[used], slopes[used], scaled[used] * (used.sum() / n), used)

    @property
    def n(self) -> int:
        return len(self.yes)

    @property
    def weighted(self) -> bool:
        return not np.allclose(self.weights, 1.0, rtol=1e-12, atol=0)

    @property
    def kish(self) -> float:
        """Return the design effect that the weights have on what does not depend on them."""
        return float(np.mean(self.weights**2))

    @property
    def is_thin(self) -> bool:
        return self.weighted and self.n / self.kish < THIN

    @property
    def groups(self) -> Groups:
        return grouped(self.c0, self.c1, self.weights, self.weights * self.yes)

    def scores(self, share: float) -> Floats:
        """Return each row's part of the derivative of ln L."""
        reported = np.clip(self.c0 + self.c1 * share, 1e-12, 1 - 1e-12)
        return self.weights * self.c1 * (self.yes - reported) / (reported * (1 - reported))


def binary_share(
    yes: npt.ArrayLike,
    c0: npt.ArrayLike,
    c1: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> Share:
    """Return the share of yes behind reports that say yes with chance c0 + c1·share. One constant may be a number."""
    rows = Respondents.of(yes, c0, c1, weights)
    inputs.check_confidence(confidence)
    groups = rows.groups
    best, moment = likeliest_share(groups), _moment(groups)
    error, effect = errors_of(rows, best, moment)
    effective = groups.scaled(1 / effect)
    exact, profile = exact_interval(effective, confidence), profile_interval(effective, best, confidence)
    fit = _fit(effective, best)
    said = [*inputs.left_out(int(np.sum(~rows.used))), *_edge(moment), *_outside(exact), *_misfit(fit, "groups"),
            *_one_class(groups), *_thin(rows), *_few(rows.n)]  # fmt: skip
    return Share(
        n=rows.n,
        moment=moment,
        maximum_likelihood=best,
        standard_error=error,
        interval=profile if _outside(exact) else clipped(exact),
        profile=profile,
        log_likelihood=groups.log_likelihood(best),
        fit=fit,
        warnings=tuple(said),
    )


def _steep(groups: Groups) -> Floats:
    """Return u of every group: what a yes says of the share, where half of the people are a yes."""
    half = groups.c0 + groups.c1 / 2
    return np.divide(groups.c1, half * (1 - half), out=np.zeros_like(half), where=groups.c1 != 0)


def _moment(groups: Groups) -> float:
    steep = _steep(groups)
    return float(steep @ (groups.yes - groups.n * groups.c0) / (steep @ (groups.n * groups.c1)))


def _plain_error(upright: Groups, best: float) -> float:
    """Return the standard error without weights, never 0."""
    if len(upright.n) > 1:
        return 1 / math.sqrt(upright.information(best))
    return _reported_error(float(upright.yes[0]), float(upright.n[0])) / float(upright.c1[0])


def _reported_error(yes: float, n: float) -> float:
    return math.sqrt(yes * (n - yes) / n) / n if 0 < yes < n else agreed_error(n)


def errors_of(rows: Respondents, best: float, moment: float) -> tuple[float, float]:
    """Return the standard error, and the design effect of weights: the linearised variance over that without them."""
    upright = rows.groups.upright
    plain = _plain_error(upright, best)
    if not rows.weighted:
        return plain, 1.0
    if rows.is_thin:
        return math.sqrt(rows.kish / float(_steep(upright) @ (upright.n * upright.c1))), rows.kish
    one = len(upright.n) == 1
    if (
        one and min(upright.yes[0], upright.n[0] - upright.yes[0]) < rows.kish / 2
    ):  # of an effective report, less than half
        return agreed_error(rows.n / rows.kish) / float(upright.c1[0]), rows.kish
    scores = rows.scores(moment if one else best)
    told = one or 0 < best < 1
    effect = float(np.var(scores, ddof=1)) * len(scores) * plain**2 if told else rows.kish
    return math.sqrt(effect) * plain, max(effect, 1.0)


def _fit(groups: Groups, best: float) -> Fit | None:
    """Return G² over the groups, made larger where they are too small; None where that leaves one of several."""
    yes = groups.n * groups.reported(best)
    expected, observed = np.stack([yes, groups.n - yes]), np.stack([groups.yes, groups.n - groups.yes])
    if len(groups.n) == 1:
        return fit_of(list(observed.ravel()), list(expected.ravel()), df=0)
    if not are_filled(expected):
        place = _neighbours(groups, expected)
        expected, observed = (np.stack([sums(place, row) for row in cells]) for cells in (expected, observed))
    return judged(observed, expected, df=expected.shape[1] - 1) if expected.shape[1] > 1 else None


def _neighbours(groups: Groups, expected: Floats) -> npt.NDArray[np.int64]:
    """Return a larger group for each of too many: neighbours by c1, then c0, that together expect enough of both."""
    order = np.lexsort((groups.c0, groups.c1))
    running, place, larger = np.zeros(2), np.zeros(len(order), dtype=np.int64), 0
    rest = expected.sum(axis=1)
    enough = max(SMALL_CELL, float(rest.min()) / MOST_POOLED)
    for index in order:
        place[index] = larger
        running, rest = running + expected[:, index], rest - expected[:, index]
        if running.min() >= enough <= rest.min():
            running, larger = np.zeros(2), larger + 1
    return place


def category_shares(
    reports: npt.ArrayLike,
    matrices: Sequence[npt.ArrayLike],
    arm: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    first: int = 0,
) -> Shares:
    """Return the shares of answers behind reports drawn with chances matrices[arm][answer, report].

    Reports are counted from 0; in warnings choice 0 is called `first`.
    """
    arms = arms_of(reports, matrices, arm, weights)
    inputs.check_confidence(confidence)
    best = likeliest_shares(arms.counts, arms.chances)
    reported = best @ arms.chances
    seen, effect = arms.counts > 0, arms.effect
    fit = judged(arms.counts / effect, arms.sizes * reported / effect, df=arms.freedom)
    errors, notes = _errors(arms, best)
    k = len(best)
    overall = 1 - (1 - confidence) / k if k > 2 else confidence  # two shares are one
    return Shares(
        n=arms.n,
        moments=_floats(arms.moments),
        maximum_likelihood=_floats(best),
        standard_errors=_floats(errors),
        intervals=arms.intervals(best, confidence),
        simultaneous=arms.intervals(best, overall),
        log_likelihood=float(arms.counts[seen] @ np.log(reported[seen])),
        fit=fit,
        warnings=(*inputs.left_out(arms.left_out), *_edges(arms.moments, first),
                  *_misfit(fit, "arms" if arms.several else ""), *_one_report(arms), *notes,
                  *_thin(arms), *_few(arms.n)),
    )  # fmt: skip


def arms_of(
    reports: npt.ArrayLike, matrices: Sequence[npt.ArrayLike], arm: npt.ArrayLike | None, weights: npt.ArrayLike | None
) -> Arms:
    """Return checked counts of the reports of every arm."""
    channels = [inputs.channel_of(matrix, f"matrices[{index}]") for index, matrix in enumerate(matrices)]
    arms = inputs.arms_of(arm, np.size(reports), len(channels))
    inputs.same_answers(channels)
    seen = inputs.coded(reports, max(channel.shape[1] for channel in channels))
    inputs.check_codes(seen, arms, channels)
    counted = Arms.of(seen, channels, arms, inputs.weights_of(weights, len(seen)))
    counted.check()
    return counted


def _errors(arms: Arms, best: Floats) -> tuple[Floats, list[str]]:
    """Return standard errors, never 0: of the likeliest shares where they differ from the moments and lie inside."""
    if arms.is_thin:
        return arms.even_errors(), []
    alone = agreed_error(arms.n / arms.effect) * arms.spans
    of_moments = np.where(arms.variances > 0, np.sqrt(arms.variances), alone)
    if arms.freedom <= 0 or best.min() <= 0 or arms.weighted:
        return of_moments, []
    errors = arms.information_errors(best)
    if errors is None:
        return of_moments, ["other shares are as likely as the likeliest ones, given the reports that came: standard "
                            "errors are of the moment estimates"]  # fmt: skip
    return errors, []


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _edge(moment: float) -> list[str]:
    if -SLACK <= moment <= 1 + SLACK:
        return []
    return [
        f"the moment estimate, {moment:.3f}, lies outside 0 to 1, so the likeliest share is at the edge: "
        "chance can do that, and so can non-compliance"
    ]


def _edges(moments: Floats, first: int) -> list[str]:
    outside = [str(choice) for choice, moment in enumerate(moments, first) if _edge(float(moment))]
    if not outside:
        return []
    return [
        f"moment estimates of {len(outside)} of {len(moments)} choices lie outside 0 to 1 "
        f"({', '.join(outside[:5])}{', …' * (len(outside) > 5)}), so the likeliest shares are at the edge: "
        "chance can do that, and so can non-compliance"
    ]


def _outside(exact: Interval) -> list[str]:
    """Say that an interval has no part of 0 to 1, or an end of it only: a point would promise certainty."""
    if exact[1] > 0 and exact[0] < 1:
        return []
    return [
        "the exact interval lies wholly outside 0 to 1: profile likelihood's stands in its place; "
        "these odds are hardly the ones that the reports were made with"
    ]


def _misfit(fit: Fit | None, parts: str) -> list[str]:
    if fit is None or fit.p is None or fit.p >= ALARM:
        return []
    poor = f"the same shares do not explain the reports of all {parts}" if parts else "no shares explain the reports"
    return [f"{poor}: G2 = {fit.g2:.2f}, df = {fit.df}, p = {fit.p:.2g}; non-compliance may be at work"]


def _one_class(groups: Groups) -> list[str]:
    yes, n = float(groups.yes.sum()), float(groups.n.sum())
    return ["one class only: every report is the same"] if yes <= 0 or yes >= n else []


def _one_report(arms: Arms) -> list[str]:
    seen = np.bincount(arms.owner, arms.counts > 0)
    return ["one class only: every report is the same"] if seen.max() == 1 else []


def _thin(weighted: Respondents | Arms) -> list[str]:
    if not weighted.is_thin:
        return []
    return [
        f"the weights leave an effective n of {weighted.n / weighted.kish:.1f}: a few reports decide everything, and "
        "the standard error is that of answers equally shared, for so many reports"
    ]


def _few(n: int) -> list[str]:
    return [f"small n: {n} reports, fewer than {FEW}; the standard error is rough"] if n < FEW else []
