"""How far apart two distributions are, and two channels: Rényi divergences of every order, and
entropies.

Distributions are weights over the same outcomes, Fractions or ints, divided by their sum here. A
channel is one row of weights for every answer.

D_α(P‖Q)   ln(Σ p^α·q^(1−α)) / (α − 1) in nats; the limits are
           α → 0: −ln Q(p > 0);   α → 1: KL, Σ p·ln(p/q);   α → ∞: max, ln max p/q.
           It grows with α; +∞ where α ≥ 1 and P has what Q has not (van Erven and Harremoës 2014,
           Def. 2, Thm 3–7).
Channel    The worst pair of answers. The max divergence of a channel **is** its ε (Dwork and Roth
           2014, Def. 3.6 and Remark 3.1), so e^ε is given exactly, as a fraction, by `max_loss`.
E_γ(P‖Q)   hockey stick, Σ max(0, p − γq): the least δ with which γ = e^ε holds (Barthe and Olmedo
           2013, Thm 3.2).
H_α(P)     ln(Σ p^α) / (1 − α) in nats; α → 0: Hartley, ln |p > 0|;   1: Shannon, −Σ p·ln p;
           2: collision;   ∞: min-entropy, −ln max p (Rényi 1961).
H(P, Q)    cross-entropy −Σ p·ln q = H(P) + D₁(P‖Q).
Rounding   `max_loss` and `hockey_stick` are exact; the others are doubles, for people and pictures,
           not for charges.
By hand    the coin ¾ against ¼: D_∞ = ln 3 = 1.0986, D₁ = ½·ln 3 = 0.5493, D₂ = ln(7/3) = 0.8473,
           D₀ = 0; E₁ = ½, E₃ = 0. H₁ = 0.5623, H_∞ = ln(4/3) = 0.2877, H₀ = ln 2.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

Weights = Sequence[Fraction | int]
Channel = Sequence[Weights]


def chances(weights: Weights) -> list[Fraction]:
    """Return the weights divided by their sum."""
    total = sum((Fraction(weight) for weight in weights), start=Fraction(0))
    if total <= 0 or any(weight < 0 for weight in weights):
        raise ValueError("weights must be 0 or more, and one of them above 0")
    return [Fraction(weight) / total for weight in weights]


def renyi(true: Weights, false: Weights, order: float) -> float:
    """Return D_α(P‖Q) in nats, of any order from 0 to ∞."""
    _check_order(order)
    pairs = [(p, q) for p, q in _paired(true, false) if p > 0]
    if order >= 1 and any(q == 0 for _, q in pairs):
        return math.inf
    if order == 0:
        return _log(1 / inside) if (inside := sum((q for _, q in pairs), Fraction(0))) else math.inf
    if order == 1:
        return math.fsum(float(p) * _log(p / q) for p, q in pairs)
    if math.isinf(order):
        return _log(max(p / q for p, q in pairs))
    powers = [order * _log(p) + (1 - order) * _log(q) for p, q in pairs if q > 0]
    return _log_sum(powers) / (order - 1) if powers else math.inf


def kullback_leibler(true: Weights, false: Weights) -> float:
    return renyi(true, false, 1)


def max_loss(true: Weights, false: Weights) -> Fraction | None:
    """Return e^D_∞ exactly, None where it is infinite."""
    pairs = [(p, q) for p, q in _paired(true, false) if p > 0]
    return None if any(q == 0 for _, q in pairs) else max(p / q for p, q in pairs)


def hockey_stick(true: Weights, false: Weights, loss: Fraction) -> Fraction:
    """Return the least δ at which P is within this loss e^ε of Q, exactly."""
    return sum((max(Fraction(0), p - loss * q) for p, q in _paired(true, false)), start=Fraction(0))


def loss_of_channel(channel: Channel) -> Fraction | None:
    """Return e^ε of a channel exactly, None where it is infinite."""
    losses = [max_loss(true, false) for true, false in _answers(channel)]
    return None if None in losses else max(loss for loss in losses if loss is not None)


def of_channel(channel: Channel, order: float) -> float:
    """Return D_α of the two answers that are furthest apart."""
    return max(renyi(true, false, order) for true, false in _answers(channel))


def entropy(weights: Weights, order: float = 1) -> float:
    """Return H_α in nats, of any order from 0 to ∞."""
    _check_order(order)
    held = [p for p in chances(weights) if p > 0]
    if order == 1:
        return math.fsum(float(p) * _log(1 / p) for p in held)
    if math.isinf(order):
        return _log(1 / max(held))
    return _log_sum([order * _log(p) for p in held]) / (1 - order)


def cross_entropy(true: Weights, false: Weights) -> float:
    """Return H(P, Q) in nats: the mean surprise at P for one who expects Q."""
    pairs = [(p, q) for p, q in _paired(true, false) if p > 0]
    return (
        math.inf
        if any(q == 0 for _, q in pairs)
        else math.fsum(float(p) * _log(1 / q) for p, q in pairs)
    )


def _paired(true: Weights, false: Weights) -> list[tuple[Fraction, Fraction]]:
    return list(zip(chances(true), chances(false), strict=True))


def _answers(channel: Channel) -> list[tuple[Weights, Weights]]:
    if len(channel) < 2:
        raise ValueError(f"channel must have two answers or more, got {len(channel)}")
    return list(permutations(channel, 2))


def _log(fraction: Fraction) -> float:
    """Return ln of a fraction, as precisely near 1, and of numbers too long for a double."""
    numerator, denominator = fraction.as_integer_ratio()
    if abs(numerator - denominator) * 2 < denominator:
        return math.log1p(float(fraction - 1))
    return math.log(numerator) - math.log(denominator)


def _log_sum(logs: Sequence[float]) -> float:
    """Return ln Σ e^x without overflow."""
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs))


def _check_order(order: float) -> None:
    if math.isnan(order) or order < 0:
        raise ValueError(f"order must be from 0 to infinity, got {order}")
