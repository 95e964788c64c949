import numpy as np
import pytest
from scipy import optimize

from dpengine.inference import simplex
from dpengine.inference.simplex import likeliest_shares, most_likely, tangent_covariance

SEED = 8


def kary(k, keep):
    return np.full((k, k), (1 - keep) / (k - 1)) + np.eye(k) * (keep - (1 - keep) / (k - 1))


def left(shares, counts, chances):
    """What may be missing of ln L: max D − n."""
    return float((chances @ (counts / np.maximum(shares @ chances, 1e-300))).max() - counts.sum())


def test_the_published_forced_response_example_has_its_maximum_at_the_edge():
    channel = np.array([[5 / 6, 1 / 6], [1 / 6, 5 / 6]])
    assert likeliest_shares(np.array([298.0, 52.0]), channel).tolist() == [1.0, 0.0]


def test_inside_the_simplex_a_square_channel_is_inverted():
    shares, channel = np.array([0.5, 0.3, 0.2]), kary(3, 0.6)
    assert likeliest_shares(1000 * shares @ channel, channel) == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize(("k", "keep", "n"), [(7, 0.4, 200), (50, 0.1, 500), (100, 0.08, 2000)])
def test_nothing_is_left_to_the_maximum(k, keep, n):
    rng, channel = np.random.default_rng(SEED), kary(k, keep)
    counts = rng.multinomial(n, rng.dirichlet(np.full(k, 0.3)) @ channel).astype(float)
    shares = likeliest_shares(counts, channel)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    assert left(shares, counts, channel) < 1e-3 * k


def test_answers_that_reports_hardly_tell_apart():
    """64 steps of a scale, reports spread over 8 to either side: 1 in 10 of the reports do not
    come at all.
    """
    steps = np.arange(64)
    channel = np.exp(-np.abs(steps[:, None] - steps) / 8)
    channel /= channel.sum(axis=1, keepdims=True)
    counts = np.random.default_rng(SEED).multinomial(300, channel[20]).astype(float)
    assert left(likeliest_shares(counts, channel), counts, channel) < 0.01


def test_it_agrees_with_a_general_optimiser():
    rng = np.random.default_rng(SEED)
    channel = rng.dirichlet(np.ones(5), size=3)
    counts = rng.multinomial(400, np.array([0.8, 0.2, 0.0]) @ channel).astype(float)
    bounds, whole = [(0, 1)] * 3, {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    best = optimize.minimize(
        lambda shares: -counts @ np.log(shares @ channel),
        np.full(3, 1 / 3),
        bounds=bounds,
        constraints=whole,
        tol=1e-12,
    )
    shares = likeliest_shares(counts, channel)
    assert counts @ np.log(shares @ channel) >= -best.fun - 1e-6
    assert shares == pytest.approx(best.x, abs=1e-3)


def test_a_maximum_that_just_touches_the_edge_is_at_the_edge():
    """Moments of two coins that are exactly 0 in one cell."""
    coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    shares = likeliest_shares(np.array([900.0, 500, 600, 800]), np.kron(coin, coin))
    assert shares[1] == 0


@pytest.mark.parametrize("start", ["even", "far"])
def test_em_climbs_to_the_same_maximum_from_any_start(start):
    rng, channel = np.random.default_rng(SEED), kary(6, 0.35)
    counts = rng.multinomial(500, np.array([0.7, 0.3, 0, 0, 0, 0]) @ channel).astype(float)
    begin = (
        np.full(6, 1 / 6) if start == "even" else np.array([1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1 - 5e-4])
    )
    shares = simplex._by_steps(begin, counts, channel)
    assert left(shares, counts, channel) <= 1e-5
    assert shares == pytest.approx(likeliest_shares(counts, channel), abs=1e-3)


def expectation_maximisation(counts, chances, rounds=20_000):
    shares = np.full(len(chances), 1 / len(chances))
    for _ in range(rounds):
        shares = shares * ((chances / (shares @ chances)) @ counts) / counts.sum()
    return shares


def test_the_summit_is_the_one_that_em_creeps_to():
    rng = np.random.default_rng(5)
    for _ in range(4):
        chances = rng.dirichlet(np.full(6, 0.5), size=4)
        counts = rng.poisson(30, size=6).astype(np.float64)
        shares, height = most_likely(counts, chances)
        crept = expectation_maximisation(counts, chances)
        assert height >= counts @ np.log(crept @ chances) - 1e-9
        assert shares.sum() == pytest.approx(1)
        # no class would help
        assert ((chances / (shares @ chances)) @ counts).max() <= counts.sum() * (1 + 1e-10)


def test_the_summit_is_found_from_a_table_with_empty_cells_and_huge_counts():
    shares, height = most_likely(np.array([0.0, 1e9]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert shares == pytest.approx([0, 1])
    assert height == pytest.approx(1e9 * np.log(0.8))


def test_a_report_that_no_class_can_give_is_impossible():
    assert most_likely(np.array([1.0, 1.0]), np.array([[1.0, 0.0]]))[1] == -np.inf


def stuck(*_):
    raise RuntimeError("Maximum number of iterations reached.")


@pytest.mark.parametrize(
    ("module", "name", "value"), [(simplex, "ROUNDS", 1), (optimize, "nnls", stuck)]
)
def test_em_goes_on_where_parabolas_get_stuck(monkeypatch, module, name, value):
    channel, counts = kary(3, 0.6), np.array([500.0, 300, 1])
    best = likeliest_shares(counts, channel)
    monkeypatch.setattr(module, name, value)
    assert likeliest_shares(counts, channel) == pytest.approx(best, abs=1e-4)


def test_damped_parabolas_go_on_where_plain_ones_get_stuck(monkeypatch):
    channel, counts, plain = kary(3, 0.6), np.array([500.0, 300, 1]), optimize.nnls
    best = likeliest_shares(counts, channel)
    damped = []

    def picky(system, aims):
        if len(system) == 4:  # three reports and the sum
            stuck()
        damped.append(len(system))
        return plain(system, aims)

    monkeypatch.setattr(optimize, "nnls", picky)
    assert likeliest_shares(counts, channel) == pytest.approx(best, abs=1e-6)
    assert set(damped) == {7}


def test_a_climb_that_is_cut_short_is_an_error(monkeypatch):
    monkeypatch.setattr(simplex, "ROUNDS", 0)
    monkeypatch.setattr(simplex, "STEPS", 3)
    with pytest.raises(
        ArithmeticError, match="the likelihood was not maximised: its logarithm may be"
    ):
        most_likely(np.array([3000.0, 1.0]), np.array([[0.9, 0.1], [0.2, 0.8]]))


def test_a_covariance_on_the_simplex_by_hand():
    """Direct answers 50, 30, 20 of 100: H = counts/shares², covariances (π − ππᵀ)/100; none
    where ln L is flat.
    """
    shares = np.array([0.5, 0.3, 0.2])
    found = tangent_covariance(np.diag(100 / shares), 100)
    assert found == pytest.approx((np.diag(shares) - np.outer(shares, shares)) / 100)
    assert tangent_covariance(np.full((3, 3), 50.0), 100) is None


def test_what_is_all_but_the_maximum_after_the_last_step_is_taken(monkeypatch):
    monkeypatch.setattr(simplex, "CLOSE", -1.0)  # never close enough
    shares = simplex._by_steps(np.full(2, 0.5), np.array([30.0, 70.0]), np.eye(2))
    assert shares == pytest.approx([0.3, 0.7])
