"""List experiment: how many of J items, or of J items and a sensitive one, but not which (Miller
1984).

A control group counts J harmless items, a treated group the same and the sensitive one. When the
sensitive item changes nobody's other answers and nobody lies, a person is of type (y, z): y
harmless items, and the sensitive one (z = 1) or not (z = 0):

    P(c | control) = θ_c0 + θ_c1        P(c | treated) = θ_c0 + θ_{c−1,1}        π = Σ_y θ_y1

Moment     Difference in means, treated less control. Unbiased; its error adds both groups'
           variances.
Interval   Normal, around the moment estimate moved into [0, 1], cut there. The profile likelihood
           is not used: where no one has the sensitive item all θ_y1 are on the edge, and it covered
           77 % instead of 95.
Maximum    Over the 2(J + 1) types, without a law for y (Imai 2011 supposes a binomial): the
           difference in means and G² = 0, unless a type's share came out negative. Moving those up
           to 0 moves π up too: a biased estimate.
Design     Types' shares are differences of distribution functions, θ_y1 = F_control(y) −
           F_treated(y) and θ_y0 = F_treated(y) − F_control(y − 1). One too far below 0 shows that
           the sensitive item changed other answers, or that people lied: smallest one-sided normal
           p × 2(J + 1) (Bonferroni; the test of Blair and Imai 2012 simulates the joint law, and
           alarms a little more often).
Privacy    Counts 0 and J + 1 of the treated prove the answer: ε is infinite.
By hand    1991 National Race and Politics Survey: means 1257/589 and 1374/624, π̂ = .068, error
           .050.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from dpengine.checks import require
from dpengine.estimates import Floats
from dpengine.inference.inputs import coded, weights_of
from dpengine.inference.mixture import Analysis, Arm, Parameter, analyse, target
from dpengine.inference.rows import arm_of

ALARM = 0.05  # a design effect less likely than this is said
CROWDED = 0.1  # a larger share of control counts of 0 or J is said


@dataclass(frozen=True, slots=True)
class Type:
    """The share of people with `items` harmless items and the sensitive one or not."""

    items: int
    sensitive: bool
    share: float
    standard_error: float


def list_experiment(
    count: npt.ArrayLike,
    treated: npt.ArrayLike,
    items: int,
    weights: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> Analysis:
    """Return π, to whom the sensitive item applies; `items` is J, the harmless items of both."""
    require(items >= 1, "items must be 1 or more, got {}", items)
    arms = _arms(coded(count, items + 2, "count"), coded(treated, 2, "treated"), items, weights)
    has = np.tile([0.0, 1.0], items + 1)
    features = [np.vander(np.arange(items + more, dtype=np.float64), 2) for more in (1, 2)]
    analysis = analyse(
        arms, [target("pi", has.tolist())], features, np.asarray(count).size, confidence
    )
    types = _types(*arms)
    chance = min(1.0, len(types) * min(_below_zero(each) for each in types))
    notes = analysis.warnings + _warnings(arms[0], types, chance)
    pi = _around_moment(analysis["pi"], arms, confidence)
    return replace(analysis, parameters=(pi,), warnings=notes)


def _around_moment(pi: Parameter, arms: Sequence[Arm], confidence: float) -> Parameter:
    """Return π with the difference in means' own error and interval."""
    steady = [arm.smoothed() if arm.is_flat(_counted(arm)) else arm for arm in arms]
    error = float(np.sqrt(sum(arm.variance(_counted(arm)) for arm in steady)))
    centre, reach = (
        float(np.clip(pi.moment or 0.0, 0, 1)),
        float(scipy.special.ndtri((1 + confidence) / 2)) * error,
    )
    return replace(
        pi, standard_error=error, interval=(max(centre - reach, 0.0), min(centre + reach, 1.0))
    )


def _counted(arm: Arm) -> Floats:
    return np.arange(len(arm.counts), dtype=np.float64)


def _arms(
    counts: npt.NDArray[np.int64],
    treated: npt.NDArray[np.int64],
    items: int,
    weights: npt.ArrayLike | None,
) -> tuple[Arm, Arm]:
    require(
        len(treated) == len(counts),
        "treated must be one for each of {} rows, got {}",
        len(counts),
        len(treated),
    )
    for arm, name in enumerate(("control", "treated")):
        require(
            (treated == arm).any(),
            "the {} group has no one: treated must be 0 for some and 1 for others",
            name,
        )
    require(
        not (counts[treated == 0] > items).any(),
        "count must be 0 to {} in the control group",
        items,
    )
    weight = weights_of(weights, len(counts), positive=True)
    # what each type, (0, no), (0, yes), (1, no), …, counts in the control group and in the treated
    harmless, sensitive = np.divmod(np.arange(2 * (items + 1)), 2)
    control, also = np.eye(items + 1)[harmless], np.eye(items + 2)[harmless + sensitive]
    return (
        arm_of(counts[treated == 0], weight[treated == 0], control),
        arm_of(counts[treated == 1], weight[treated == 1], also),
    )


def _types(control: Arm, treated: Arm) -> tuple[Type, ...]:
    """Return the unconstrained shares of the types, by differences of distribution functions."""
    (plain, plain_error), (also, also_error) = _distribution(control), _distribution(treated)
    kinds = []
    for items in range(len(plain)):
        before, before_error = (plain[items - 1], plain_error[items - 1]) if items else (0.0, 0.0)
        error = float(np.hypot(also_error[items], before_error))
        kinds.append(Type(items, False, float(also[items] - before), error))
        error = float(np.hypot(also_error[items], plain_error[items]))
        kinds.append(Type(items, True, float(plain[items] - also[items]), error))
    return tuple(kinds)


def _distribution(arm: Arm) -> tuple[Floats, Floats]:
    """Return an arm's shares with at most 0, 1, … items, and their standard errors."""
    steps = [np.arange(len(arm.counts)) <= items for items in range(len(arm.counts))]
    shares = np.array([arm.counts[step].sum() / arm.counts.sum() for step in steps])
    return shares, np.array([np.sqrt(arm.variance(step.astype(np.float64))) for step in steps])


def _below_zero(kind: Type) -> float:
    """Return the chance of so small a share when the true one is 0; 1 where nothing varies."""
    return (
        float(scipy.special.ndtr(kind.share / kind.standard_error))
        if kind.standard_error > 0
        else 1.0
    )


def _warnings(control: Arm, types: tuple[Type, ...], chance: float) -> tuple[str, ...]:
    shares = control.counts / control.counts.sum()
    notes = []
    if chance < ALARM:
        least = min(types, key=_below_zero)
        also = "the" if least.sensitive else "not the"
        notes.append(
            f"a design effect is likely (p = {chance:.2g}): the share of people with "
            f"{least.items} items and "
            f"{also} sensitive one came out at {least.share:.4f}"
        )
    if shares[0] > CROWDED:
        notes.append(
            f"floor: {shares[0]:.0%} of the control group count 0; of the treated, a 0 shows the "
            f"answer is no"
        )
    if shares[-1] > CROWDED:
        notes.append(
            f"ceiling: {shares[-1]:.0%} of the control group count all {len(shares) - 1}; of the "
            f"treated, "
            "one more shows the answer is yes, and people who see that may hide it"
        )
    return tuple(notes)
