"""Groups drawn towards their mean: by hand, against closed forms, and in simulated regions."""

import numpy as np
import pytest
from scipy.special import gammainc

from dpengine.inference.shrinkage import shrink


def values(shrinkage):
    return np.array([group.value for group in shrinkage.groups])


def test_the_case_by_hand():
    """S = 1,000, V = 1, k = 5: James and Stein's factor is .002."""
    shrinkage = shrink([-20, -10, 0, 10, 20], [1] * 5)
    assert values(shrinkage) == pytest.approx([-19.96, -9.98, 0, 9.98, 19.96])
    assert shrinkage.mean == pytest.approx(0)


@pytest.mark.parametrize("k", [4, 5, 20])
@pytest.mark.parametrize("size", [0.1, 1, 3, 30])
def test_equal_variances_have_a_closed_form(k, size):
    """B is Gamma((k − 3)/2, rate S/2V) below 1; its mean and its mean square are ratios of
    incomplete gamma functions, and the variance is V(1 − (k − 1)/k·E B) + Var B·(y − ȳ)².
    """
    y, v = size * np.linspace(-1, 2, k), 0.7
    apart, shape = y - y.mean(), (k - 3) / 2
    rate = (apart**2).sum() / (2 * v)
    mean = shape / rate * gammainc(shape + 1, rate) / gammainc(shape, rate)
    square = shape * (shape + 1) / rate**2 * gammainc(shape + 2, rate) / gammainc(shape, rate)
    shrinkage = shrink(y, np.full(k, v))
    assert values(shrinkage) == pytest.approx(y - mean * apart, rel=1e-5, abs=1e-5)
    errors = np.sqrt(v * (1 - (k - 1) / k * mean) + (square - mean**2) * apart**2)
    assert [group.standard_error for group in shrinkage.groups] == pytest.approx(errors, rel=1e-4)


def test_the_baseball_players_of_efron_and_morris():
    """1975: batting averages of 18 players after 45 at bats. Squared errors against the rest of the
    season fall from .0753 to .0228 (theirs, on arcsines: 3.5 times).
    """
    first = [18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7]
    rest = [
        0.346, 0.298, 0.276, 0.222, 0.273, 0.270, 0.263, 0.210, 0.269,
        0.230, 0.264, 0.256, 0.303, 0.264, 0.226, 0.285, 0.316, 0.200,
    ]  # fmt: skip
    y = np.array(first) / 45
    middle = y.mean()
    drawn = values(shrink(y, np.full(18, middle * (1 - middle) / 45)))
    before, after = (float(((each - rest) ** 2).sum()) for each in (y, drawn))
    assert (before, after) == (pytest.approx(0.0753, abs=1e-4), pytest.approx(0.0228, abs=1e-3))


def test_the_less_is_known_of_a_group_the_more_it_is_drawn():
    shrinkage = shrink([1, 1, 0, 0, -1, -1], [0.1, 2, 0.5, 0.5, 0.1, 2])
    drawn = values(shrinkage)
    assert 1 > drawn[0] > drawn[1] > 0
    errors = [group.standard_error for group in shrinkage.groups]
    assert errors[0] < 0.1**0.5 < errors[1] < 2**0.5


def test_independent_groups_are_those_of_a_diagonal():
    variances = [0.1, 0.2, 0.3, 0.4]
    assert shrink([1, 2, 3, 5], variances) == shrink([1, 2, 3, 5], np.diag(variances))


def test_an_error_that_all_groups_share_moves_their_mean_only():
    """Differences between groups do not see it, nor do the groups' weights: the predictors stay,
    and all errors grow by its variance.
    """
    y, variances = [1.0, 2.0, 4.0, 4.5, 9.0], np.full(5, 1.5)
    alone, shared = shrink(y, variances), shrink(y, np.diag(variances) + 3)
    assert values(shared) == pytest.approx(values(alone), rel=1e-4)
    squares = [[group.standard_error**2 for group in each.groups] for each in (alone, shared)]
    assert np.array(squares[1]) - squares[0] == pytest.approx(np.full(5, 3), rel=1e-3)


def test_scale_and_place_do_not_matter():
    y, v = np.array([1.0, 2.0, 4.0, 4.5, 9.0]), np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    assert values(shrink(1e-3 * y + 5, 1e-6 * v)) == pytest.approx(1e-3 * values(shrink(y, v)) + 5)


def test_limits_end_at_what_is_possible_and_follow_the_confidence():
    wide = shrink([0.0, 0.01, 0.02, 0.1], [0.01] * 4, possible=(0, 1)).groups[0]
    narrow = shrink([0.0, 0.01, 0.02, 0.1], [0.01] * 4, 0.5, (0, 1)).groups[0]
    assert wide.low == 0
    assert narrow.high - narrow.value == pytest.approx(0.6745 * narrow.standard_error, rel=1e-3)
    assert wide.high - wide.value == pytest.approx(1.95996 * wide.standard_error, rel=1e-4)


def regions(rng, share, spread, k=20, n=50, epsilon=1.0):
    """Return true shares of k regions of n people, their plain estimates from one yes/no channel,
    and the variance that all would have if they were alike.
    """
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    size = share * (1 - share) / spread**2 - 1 if spread else 0
    true = rng.beta(share * size, (1 - share) * size, k) if spread else np.full(k, share)
    reports = rng.binomial(n, true * truth + (1 - true) * (1 - truth), k) / n
    contrast, middle = 2 * truth - 1, reports.mean()
    variances = np.full(k, middle * (1 - middle) / n / contrast**2)
    return true, (reports - (1 - truth)) / contrast, variances


@pytest.mark.parametrize(
    ("spread", "plain", "drawn"), [(0.0, 14.7, 5.7), (0.08, 14.6, 8.1), (0.15, 14.5, 10.8)]
)
def test_twenty_regions_of_fifty_people_each(spread, plain, drawn):
    """ε = 1, a fifth say yes, 400 surveys: root mean square error before and after, in points,
    and 95 % intervals, on average over regions, in 94.5 % or more.
    """
    rng, errors, held = np.random.default_rng(14), [], []
    for _ in range(400):
        true, y, variances = regions(rng, 0.2, spread)
        groups = shrink(y, variances, possible=(0, 1)).groups
        errors.append([(y - true) ** 2, ([group.value for group in groups] - true) ** 2])
        held += [group.low <= at <= group.high for group, at in zip(groups, true, strict=True)]
    before, after = 100 * np.sqrt(np.mean(errors, axis=(0, 2)))
    assert (before, after) == (pytest.approx(plain, abs=0.4), pytest.approx(drawn, abs=0.4))
    assert np.mean(held) >= 0.945


def test_one_region_that_differs_is_drawn_to_the_others():
    """What is said of it: better on average, and worse for the one."""
    rng, errors = np.random.default_rng(1), []
    for _ in range(200):
        _, y, variances = regions(rng, 0.2, 0.0)
        y[0] += 0.4
        errors.append(shrink(y, variances).groups[0].value - 0.6)
    assert np.mean(errors) < -0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2, 3], [1, 1, 1]), "groups must be 4 or more, got 3"),
        (([1, 2, 3, 4], [1, 1, 1]), "covariance must be of 4 groups"),
        (([1, 2, 3, np.nan], [1] * 4), "estimates must be finite"),
        (([1, 2, 3, 4], [1, 1, 1, np.inf]), "estimates must be finite"),
        (([1, 2, 3, 4], [1, 1, 1, 0]), "covariance must be positive definite"),
        (([1, 2, 3, 4], [0] * 4), "covariance must be positive definite"),
        (([1, 2, 3, 4], [1] * 4, 1.0), "confidence must be between 0 and 1, got 1"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        shrink(*arguments)
