"""Noise as OpenDP draws it: exactly, over rationals. Nobody else imports OpenDP.

Loading it takes a tenth of a second and 20 MB: mechanisms import a sampler where they draw, so that
a process that only prices, or reads a ledger, does without.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

try:
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian, make_laplace, make_noisy_top_k
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.metrics import l1_distance, l2_distance, linf_distance
    from opendp.mod import enable_features
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "noise is drawn by OpenDP, which is not installed. It comes with the extra “central”: "
        "pip install 'dpengine[central]'"
    ) from error

Sampler = Callable[[Sequence[int]], Sequence[int]]  # of 64-bit integers

enable_features("contrib")


def laplace(scale: float) -> Sampler:
    """Return what adds discrete Laplace noise to each count."""
    return make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=scale)


def gaussian(scale: float) -> Sampler:
    """Return what adds discrete Gaussian noise to each count."""
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=scale)


@lru_cache(maxsize=64)
def noisy_top_k(scale: float, exponential: bool, best: int) -> Sampler:
    """Return what names the places of the best scores: exponential mechanism, or noisy max."""
    measure = zero_concentrated_divergence() if exponential else max_divergence()
    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64")
    return make_noisy_top_k(*space, measure, k=best, scale=scale)
