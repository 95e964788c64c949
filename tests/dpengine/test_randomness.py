from collections import Counter
from itertools import product

import pytest
from scipy import stats

from dpengine.randomness import WORD, below, sample, shuffled, system_stream
from tests.vectors import replay


def test_words_from_the_incomplete_last_run_are_thrown_away():
    # 2**32 = 3·1431655765 + 1: only the last word is refused
    assert below(3, replay([WORD - 1, 7])) == 1


def test_a_word_just_below_the_limit_is_kept():
    assert below(3, replay([WORD - 2])) == 2


def test_a_bound_of_one_takes_no_word():
    assert below(1, replay([])) == 0


@pytest.mark.parametrize("bound", [0, -1, WORD + 1])
def test_a_bound_out_of_range_is_named(bound):
    with pytest.raises(ValueError, match=str(bound)):
        below(bound)


def test_every_arrangement_of_a_sample_is_as_likely_as_any_other():
    """Enumerated: three words that stand for every outcome of below(3), below(2)."""
    arrangements = Counter(
        tuple(sample("abc", 2, replay(words))) for words in product(range(6), range(6))
    )
    assert len(arrangements) == 6
    assert set(arrangements.values()) == {6}


def test_shuffling_keeps_what_is_shuffled():
    assert sorted(shuffled(range(100))) == list(range(100))


def test_a_sample_larger_than_the_pool_is_refused():
    with pytest.raises(ValueError, match="size must be 0 to 2, got 3"):
        sample("ab", 3)


def test_system_words_fill_their_range_evenly():
    """Chi-square over 16 bins of 64,000 words; a false alarm once in a million runs."""
    counts = Counter(system_stream() >> 28 for _ in range(64_000))
    assert stats.chisquare([counts[bin] for bin in range(16)]).pvalue > 1e-6
