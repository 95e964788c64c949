"""People to test regressions on, their devices' noise, and ordinary regressions written a second
time.
"""

import csv
from pathlib import Path

import numpy as np
from scipy import special

DATA = Path(__file__).parents[2] / "data"
# truth with 2/3, else yes or no: [answer, report]
FORCED = np.array([[5 / 6, 1 / 6], [1 / 6, 5 / 6]])


def kary(k, epsilon):
    """Return k-ary randomised response as a matrix."""
    likelier = np.exp(epsilon)
    return (np.ones((k, k)) + np.eye(k) * (likelier - 1)) / (likelier + k - 1)


def randomised(answers, matrix, rng):
    """Return a report for each answer: what a browser draws, drawn for all at once."""
    below = np.cumsum(matrix, axis=1)[np.asarray(answers)]
    return (rng.random(len(below))[:, np.newaxis] > below[:, :-1]).sum(axis=1)


def chosen(design, coefficients, rng):
    """Return answers that follow a multinomial logit; a row of coefficients for each choice
    after 0.
    """
    logits = np.column_stack([np.zeros(len(design)), design @ np.atleast_2d(coefficients).T])
    chances = np.cumsum(special.softmax(logits, axis=1), axis=1)
    return (rng.random(len(design))[:, np.newaxis] > chances[:, :-1]).sum(axis=1)


def townspeople(n, rng):
    """Return a design as in the example of R's rr: assets, married, age/10, its square,
    education, female.
    """
    age = np.clip(rng.normal(32, 12, n), 18, 80) / 10
    return np.column_stack(
        [
            np.ones(n),
            rng.integers(0, 10, n),
            rng.random(n) < 0.5,
            age,
            age**2,
            rng.integers(1, 11, n),
            rng.random(n) < 0.5,
        ]
    ).astype(float)


def columns(file, *names):
    with (DATA / file).open(newline="") as lines:
        return np.array([[float(row[name]) for name in names] for row in csv.DictReader(lines)]).T


def ordinary_logit(yes, design, weights=1.0):
    """Return coefficients and inverse information by iteratively reweighted least squares."""
    beta = np.zeros(design.shape[1])
    for _ in range(30):
        chances = special.expit(design @ beta)
        information = (design.T * (weights * chances * (1 - chances))) @ design
        beta = beta + np.linalg.solve(information, design.T @ (weights * (yes - chances)))
    return beta, np.linalg.inv(information)


def ordinary_multinomial(answers, design, k):
    """Return coefficients [choice − 1, column] and inverse information by Newton's steps."""
    chosen_ones, width = np.eye(k)[answers][:, 1:], design.shape[1]
    beta = np.zeros((k - 1) * width)
    for _ in range(12):
        logits = np.column_stack([np.zeros(len(design)), design @ beta.reshape(k - 1, width).T])
        chances = special.softmax(logits, axis=1)[:, 1:]
        spread = [
            np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
            for p, x in zip(chances, design, strict=True)
        ]
        information = np.sum(spread, axis=0)
        beta = beta + np.linalg.solve(information, ((chosen_ones - chances).T @ design).ravel())
    return beta.reshape(k - 1, width), np.linalg.inv(information)


def estimates(regression):
    return np.array([each.estimate for each in regression.coefficients])


def errors(regression):
    return np.array([each.standard_error for each in regression.coefficients])
