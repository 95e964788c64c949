"""The groups of --by drawn towards their mean (dpengine.inference.shrinkage), beside the plain
estimates and never instead of them.

The error of a group is that of as many reports as it has, or is worth, at the variance of one
report within groups, averaged over them: a group's own error would be small where its answer came
out rare by chance. Where odds differ from row to row, and so from group to group, it is its own.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpengine.cli.results import Results
from dpengine.cli.specs import AnyDesign
from dpengine.designs import Design
from dpengine.inference.shrinkage import FEWEST, shrink

DRAWN = (
    "groups are also drawn towards the mean of all, the less is known of one the more (empirical "
    "Bayes): nearer to the truth on average over them, and it can hide one that really differs"
)


def drawn(
    groups: Sequence[Results], design: AnyDesign
) -> tuple[tuple[Results, ...], tuple[str, ...]]:
    """Return the groups with their numbers drawn beside, and a note; without, where that cannot
    be: fewer than four, a design of two parameters, or a group of no finite error.
    """
    plain = tuple(groups), ()
    if len(groups) < FEWEST or any(group.parameters is not None for group in groups):
        return plain
    estimates, errors = (
        np.array([getattr(group, name) for group in groups], dtype=np.float64)
        for name in ("estimate", "standard_error")
    )
    if not np.isfinite([estimates, errors]).all():
        return plain
    variances = np.atleast_2d(errors.T) ** 2  # [choice][group]
    if isinstance(design, Design):  # as if one report were as telling in each group
        sizes = np.array([group.effective_n or group.n for group in groups], dtype=np.float64)
        variances = np.outer((variances * sizes) @ sizes / sizes.sum(), 1 / sizes)
    possible = (-np.inf, np.inf) if groups[0].is_mean else (0.0, 1.0)
    by_choice = [
        shrink(values, spread, groups[0].confidence, possible).groups
        for values, spread in zip(np.atleast_2d(estimates.T), variances, strict=True)
    ]
    is_alone = groups[0].choices is None
    beside = zip(groups, zip(*by_choice, strict=True), strict=True)
    return tuple(
        replace(group, towards_mean=own[0] if is_alone else own) for group, own in beside
    ), (DRAWN,)
