"""Designs for answers collected elsewhere, two parameters where people may lie: analysed, never
offered for collection.

In each of them some report proves an answer, or its ε depends on what people do: ε is infinite or
unknown. The chances are as in the papers and in R's RRreg (Heck and Moshagen 2018), one line a
design; mixture.py does the rest, and shares.py where only π is unknown. Reports are 1 for yes
(triangle, same) and 0 for no, one row a person; `group` names the arms, else equal odds make an
arm. rows_of_counts turns a published table into such rows.

    triangular               P(triangle) = π + (1 − π)p
    mangat                   P(yes) = π + (1 − π)(1 − p)
    kuk                      red cards ~ π·Bin(k, p₁) + (1 − π)·Bin(k, p₂)
    unrelated_unknown        P(yes) = pπ + (1 − p)q
    stochastic_lie_detector  P(yes) = πt + (1 − π)(1 − p)
    cheating_detection       P(yes) = π(1 − no) + βp
    extended_crosswise       P(same) = (1 − s)(πp + (1 − π)(1 − p)) + s

Sources, in that order: Yu, Tian and Tang 2008; Mangat 1994; Kuk 1990; Greenberg et al. 1969;
Moshagen, Musch and Erdfelder 2012; Clark and Desharnais 1998 and Ostapczuk 2009; Heck, Hoffmann and
Moshagen 2018.

list_experiment is in lists.py, the crosswise question with an anchor in anchor.py.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.inference.inputs import coded, weights_of
from dpengine.inference.mixture import Analysis, Parameter, Target, analyse, target
from dpengine.inference.rows import arm_of, chances_of, groups_of, two_of
from dpengine.inference.shares import Share, binary_share

Column = npt.ArrayLike
Yes = Callable[..., tuple[float, ...]]  # a group's odds → the chance of yes in every class


def triangular(
    triangle: Column, p: Column, weights: Column | None = None, confidence: float = 0.95
) -> Analysis:
    """Return π: who has the sensitive trait, or the harmless one (share p), draws a triangle.

    The others a circle.

    A circle proves that one has not: ε is infinite. By hand: 370 triangles of 1,000, p = 1/4:
    π̂ = 1 − .63/.75 = .16.
    """
    reports = coded(triangle, 2, "triangle")
    other = chances_of(p, len(reports), "p")
    return _one_share(binary_share(reports, other, 1 - other, weights, confidence))


def mangat(
    yes: Column, p: Column, weights: Column | None = None, confidence: float = 0.95
) -> Analysis:
    """Return π: carriers say yes.

    The others ask the device, which lets them tell the truth with chance p.

    A no proves that one is none: ε is infinite. By hand: 440 yes of 1,000, p = .7: π̂ = (.44 −
    .3)/.7 = .2.
    """
    reports = coded(yes, 2, "yes")
    truth = chances_of(p, len(reports), "p")
    return _one_share(binary_share(reports, 1 - truth, truth, weights, confidence))


def kuk(
    red: Column,
    p1: float,
    p2: float,
    repeats: int = 1,
    weights: Column | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π from red cards in `repeats` draws.

    Carriers' pack has a share p1 of red cards, the others' p2.

    The moment estimate uses the mean only, (mean red/k − p₂)/(p₁ − p₂); maximum likelihood the
    whole distribution, so that from two draws on G² tests whether people told the cards'
    colours as they were.
    """
    require(repeats >= 1, "repeats must be 1 or more, got {}", repeats)
    reports = coded(red, repeats + 1, "red")
    odds = [float(chances_of(p, 1, name, closed=True)[0]) for p, name in ((p1, "p1"), (p2, "p2"))]
    require(abs(odds[0] - odds[1]) >= 1e-09, "pi cannot be told: p1 and p2 are both {:g}", odds[0])
    cards = np.arange(repeats + 1)
    weight = weights_of(weights, len(reports), positive=True)
    ways = scipy.special.binom(repeats, cards)
    arm = arm_of(reports, weight, [ways * p**cards * (1 - p) ** (repeats - cards) for p in odds])
    mean = np.column_stack([np.ones(repeats + 1), cards]).astype(np.float64)
    return analyse([arm], [target("pi", [1, 0])], [mean], len(reports), confidence)


def unrelated_unknown(
    yes: Column,
    p: Column,
    group: Column | None = None,
    weights: Column | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π and q, the share who would say yes to the harmless question.

    P is the chance of the sensitive one.

    Classes: (sensitive, harmless) traits; only their margins π and q show. By hand: yes .38 at
    p = .7, .42 at p = .3: π̂ = (.38·.7 − .42·.3)/.4 = .35, q̂ = (.7·.42 − .3·.38)/.4 = .45.
    """
    targets = [target("pi", [1, 1, 0, 0]), target("q", [1, 0, 1, 0])]
    return _groups(
        yes, "yes", {"p": p}, lambda p: (1, p, 1 - p, 0), targets, group, weights, confidence
    )


def stochastic_lie_detector(
    yes: Column,
    p: Column,
    group: Column | None = None,
    weights: Column | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π, carriers, and t, the share of carriers who tell the truth.

    P is the chance that a non-carrier says no.

    Classes: truthful carriers, lying carriers, the others. π̂ = 1 − (λ₁ − λ₂)/(p₂ − p₁). By
    hand: yes .5 at p = .4 and .32 at p = .7: π̂ = 1 − .18/.3 = .4, π̂t = .5 − .6·.6 = .14, t̂ =
    .35.
    """
    targets = [target("pi", [1, 1, 0]), target("t", [1, 0, 0], among=[1, 1, 0])]
    return _groups(
        yes, "yes", {"p": p}, lambda p: (1, 0, 1 - p), targets, group, weights, confidence
    )


def cheating_detection(
    yes: Column,
    p: Column,
    group: Column | None = None,
    no: Column = 0.0,
    weights: Column | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π honest carriers, β honest non-carriers and γ cheaters, who always say no.

    p is the chance to be directed to yes, `no` to no (0 in the original design). How many cheaters
    are carriers is not known: carriers are π to π + γ. By hand: yes .44 at p = .25, .64 at p = .75:
    β̂ = .4, π̂ = .34, γ̂ = .26.
    """
    targets = [target("pi", [1, 0, 0]), target("beta", [0, 1, 0]), target("gamma", [0, 0, 1])]
    return _groups(yes, "yes", {"p": p, "no": no}, _directed, targets, group, weights, confidence)


def _directed(yes: float, no: float) -> tuple[float, ...]:
    require(yes + no <= 1, "p and no must add up to at most 1, got {:g}", yes + no)
    return 1 - no, yes, 0


def extended_crosswise(
    same: Column,
    p: Column,
    group: Column | None = None,
    always: str = "same",
    weights: Column | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π among those who follow the rules, and `always`.

    The share who give that one answer whatever is true.

    p is the chance that the other statement holds, p and 1 − p in two groups. Whoever answers
    at random is *not* seen here: they pull both groups to ½ alike, as a π nearer ½ does; only
    an anchor question tells (anchor.py). By hand: same .712 at p = .2 and .388 at p = .8: ŝ =
    .712 + .388 − 1 = .1, π̂ = (.8 − (.712 − .1)/.9)/.6 = .2.
    """
    require(always in ("same", "different"), "always must be same or different, got {!r}", always)
    stuck = float(always == "same")
    targets = [target("pi", [1, 0, 0], among=[1, 1, 0]), target("always", [0, 0, 1])]
    return _groups(
        same, "same", {"p": p}, lambda p: (p, 1 - p, stuck), targets, group, weights, confidence
    )


def _one_share(share: Share) -> Analysis:
    pi = Parameter(
        "pi", share.moment, share.maximum_likelihood, share.standard_error, share.interval
    )
    return Analysis(share.n, (pi,), share.log_likelihood, share.fit, share.warnings)


def _groups(
    reports: Column,
    name: str,
    odds: Mapping[str, Column],
    yes: Yes,
    targets: Sequence[Target],
    group: Column | None,
    weights: Column | None,
    confidence: float,
) -> Analysis:
    """Return the targets of a yes or no whose chance, by class, depends on the group's odds."""
    column = coded(reports, 2, name)
    rows = len(column)
    chances = {
        each: chances_of(values, rows, each, closed=each == "no") for each, values in odds.items()
    }
    groups, index = groups_of(rows, chances, group)
    two_of(groups, "p", [each.name for each in targets])
    weight = weights_of(weights, rows, positive=True)
    arms = []
    for g, each in enumerate(groups):
        says_yes = np.asarray(yes(*each), dtype=np.float64)
        table = np.column_stack([1 - says_yes, says_yes])
        arms.append(arm_of(column[index == g], weight[index == g], table))
    return analyse(arms, targets, n=rows, confidence=confidence)
