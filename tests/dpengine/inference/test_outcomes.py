import numpy as np
import pytest

from dpengine.inference.latent import Latent
from dpengine.inference.outcomes import Outcome

RNG = np.random.default_rng(64)
N, ANSWERS, WIDTH = 30, 3, 2
COLUMNS = RNG.normal(size=(N, WIDTH))
LIKELIHOODS = RNG.dirichlet(np.ones(ANSWERS), N)
WEIGHTS, VALUES = RNG.uniform(0.5, 1.5, N), RNG.normal(size=N)
SIZE = (ANSWERS - 1) * WIDTH + WIDTH + (ANSWERS - 1) + 1


def hill(rows=slice(None), weights=WEIGHTS):
    answers = Latent(LIKELIHOODS[rows], COLUMNS[rows], weights[rows])
    return Outcome(answers, VALUES[rows])


HILL = hill()


def by_differences(function, at, step=1e-5):
    steps = np.eye(len(at)) * step
    return np.array([(function(at + each) - function(at - each)) / (2 * step) for each in steps])


def test_slopes_are_those_of_the_height():
    at = RNG.normal(0, 0.5, SIZE)
    height, gradient, hessian = HILL.slopes(at)
    assert height == pytest.approx(HILL.height(at), abs=1e-10)
    assert gradient == pytest.approx(by_differences(HILL.height, at), abs=1e-6)
    assert hessian == pytest.approx(
        by_differences(lambda there: HILL.slopes(there)[1], at), abs=1e-6
    )


def test_the_height_is_that_of_a_mixture_of_normals():
    at = RNG.normal(0, 0.5, SIZE)
    logits = np.column_stack([np.zeros(N), COLUMNS @ at[:2], COLUMNS @ at[2:4]])
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    means = (COLUMNS @ at[4:6])[:, np.newaxis] + np.array([0, at[6], at[7]])
    sd = np.exp(at[8])
    density = np.exp(-(((VALUES[:, np.newaxis] - means) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi))
    whole = (chances * LIKELIHOODS * density).sum(axis=1)
    assert HILL.height(at) == pytest.approx(float(WEIGHTS @ np.log(whole)))


def test_the_sandwich_is_filled_with_weighted_scores():
    at, unit = RNG.normal(0, 0.5, SIZE), np.ones(N)
    scores = [WEIGHTS[i] * hill(slice(i, i + 1), unit).slopes(at)[1] for i in range(N)]
    assert HILL.meat(at) == pytest.approx(sum(np.outer(score, score) for score in scores))
