import pytest

from dpengine.estimates import NoNoise
from dpengine.local.counted import check_counted


@pytest.mark.parametrize(
    ("counts", "n", "message"),
    [
        ([1], 1, "expected 2 counts, got 1"),
        ([1, 1], True, "n must be a whole number, got a bool"),
        ([1, 1], 2.5, "n must be a whole number, got a float"),
        ([1, 1], float("nan"), "n must be a whole number, got a float"),
        ([0, 0], 0, "n must be 1 or more, got 0"),
        ([10**9, 1], 10**9 + 1, "n must be at most 1000000000, got 1000000001"),
        ([0.5, 1.5], 2, "counts must be whole numbers"),
        ([float("nan"), 1], 2, "counts must be whole numbers"),
        (
            [1, 1],
            10**6,
            "counts without noise must be 0 or more and add up to n = 1000000, got 2 in all",
        ),
        ([-1, 3], 2, "counts without noise must be 0 or more and add up to n = 2, got 2 in all"),
    ],
)
def test_counts_that_are_not_those_of_n_reports_are_refused(counts, n, message):
    with pytest.raises(ValueError, match=message):
        check_counted(counts, n, 2, None)


def test_noise_may_make_counts_negative_and_change_their_sum():
    check_counted([-1, 5], 2, 2, NoNoise())
    check_counted([1, 1], 2, 2, None)
