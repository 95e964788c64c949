"""What an answer loses by releases of reports that chance changed already: never more than the
devices gave away, and less than the noise alone says.

Unit        all answers of one person, who may change any of them; how many answered is public
            (change-one). Not for add-remove, nor for a part of the people that one can enter or
            leave: taking part is not randomised.
Adversary   sees everything that was released, chose each release after seeing the ones before, and
            knows everybody else's answers and reports.
Report      what one device sent for one question, or for several through one draw: at most e^ε₀
            times likelier after one answer than after another (`loss`). Reports of one person are
            drawn apart. Where chance is not to be counted (the answer was sent as given; a later
            wave may repeat an earlier draw) a report has no loss: None.
Release     pure: whatever it reads of one person through one noise changes the odds of what it
            publishes by at most e^ε. None: published as it came, or with a noise that has no
            finite ε.

One report  Noise of ε over one report of ε₀ loses
                f(ε; ε₀) = ln((e^(ε + ε₀) + 1)/(e^ε + e^ε₀)) = 2·artanh(tanh(ε/2)·tanh(ε₀/2)).
            Proof. Fix what is published, and let g(r) be its chance given the report r: g is
            within [m, e^ε·m]. Two answers make the reports' laws w and w' with w ≤ e^ε₀·w' and
            back. The odds Σwg/Σw'g are largest where g takes its two ends only, and w moves as
            much chance as it may to the upper one: from p = 1/(1 + e^ε₀) to 1 − p. □
            f < min(ε, ε₀), it rises and is concave in each, f(∞; ε₀) = ε₀: the ceiling.
All         Let the reports be split into blocks, C(U) the sum of ε of the noises that read
            anything of block U, ε₀(U) the sum of ε₀ over the block. Together the releases lose at
            most
                Σ_U f(C(U); ε₀(U)),      f(C; None) = C,
            for every split: so the least that we find is a bound too. We try one block for each
            report, those that one noise covers together, and all as one.
            Proof. Change the answers of one block after another. Given the reports of the other
            blocks, whose law is the same before and after, the chance of all that was published
            is a function of the block's reports that varies by at most e^C(U): each release's
            does by e^ε, whatever was seen before it, and chances multiply along one path. So
            each change loses f, whatever the other blocks hold. Reports without a loss may
            depend on each other and on all else: their chance is bounded by its largest value,
            which costs their C and leaves a function of the others that varies as before. They
            are one block. Some noises of finite ε may count in full instead, outside of the blocks:
            given the reports each varies by at most e^ε on any path, and leaves the sums. □
            Pointwise, on every path: releases may be chosen on the way, and a filter may stop.
One noise over all of a person's reports is one block of all of them: never more than Σε, nor Σε₀.
Rounding    Exponentials and logarithms err upwards where a loss is said, and down where noise is
            chosen; sums are exact.
By hand     ε₀ = 1: noise of ε = .25 loses .1150; to lose .25, ε = .5517. e^ε₀ = 3, e^ε = 2: 7/5.
Sources     Post-processing and group privacy: Dwork and Roth 2014, Prop. 2.1, Thm 2.2; contraction
            of local randomisers: Kairouz, Oh and Viswanath 2016; Asoodeh, Aliakbarpour and Calmon
            2021, whose E_γ contraction gives the same f at δ = 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from dpengine.bounds import exp_above, exp_below, ln_above, ln_below
from dpengine.checks import require

Loss = Fraction | None  # e^ε₀ of a report; None: its chance does not count
Epsilon = Fraction | None  # of a noise; None: there is no finite one
Block = frozenset[str]
MOST_BLOCKS = 12  # of which two are tried together: beyond, the bound is found without
FINEST = 10**30  # noise is chosen down to this part of a nat


@dataclass(frozen=True, slots=True)
class Noise:
    """One noise of a release: the reports of a person that it covers, and its ε."""

    reports: Block
    epsilon: Epsilon

    def __post_init__(self) -> None:
        require(self.reports, "reports must name one or more, got none")
        text = "epsilon must be above 0, or None, got {}"
        require(self.epsilon is None or self.epsilon > 0, text, self.epsilon)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one release reads of a person: the loss of each report, and the noises over them."""

    losses: Mapping[str, Loss]
    noises: Sequence[Noise]

    def __post_init__(self) -> None:
        for noise in self.noises:
            unknown = sorted(noise.reports - set(self.losses))
            require(not unknown, "losses must name every report that is read, not {}", unknown)
        for name, loss in self.losses.items():
            require(loss is None or loss >= 1, "loss of {} must be 1 or more, got {}", name, loss)


def contracted(epsilon: Epsilon, loss: Loss) -> Epsilon:
    """Return f(ε; ε₀), in nats, from above; None where it is not finite."""
    if loss is None:
        return epsilon
    if loss == 1:
        return Fraction(0)
    if epsilon is None:
        return ln_above(loss)
    if epsilon == 0:
        return Fraction(0)
    odds = (loss * exp_above(epsilon) + 1) / (exp_below(epsilon) + loss)
    return min(epsilon, ln_above(min(odds, loss)))


def noise_within(epsilon: Fraction, loss: Loss) -> Epsilon:
    """Return the ε of the least noise with which one report loses at most ε: f's inverse, from
    below. None: no noise is needed.
    """
    require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
    if loss is None:
        return epsilon
    if loss == 1 or ln_above(loss) <= epsilon:
        return None
    odds = (loss * exp_below(epsilon) - 1) / (loss - exp_below(epsilon))
    return max(epsilon, Fraction(int(ln_below(odds) * FINEST) - 1, FINEST))


def ceiling(loss: Loss) -> Epsilon:
    """Return ε₀ in nats, from above: what one report loses however it is published."""
    return contracted(None, loss)


def shared_out(epsilon: Fraction, losses: Sequence[Loss]) -> list[Fraction]:
    """Return what each of some reports may lose, so that all of them lose at most ε.

    As evenly as can be: none gets more than its own ceiling, and what one leaves goes to the
    others. None gets less than an equal part, unless that is its ceiling.
    """
    require(losses, "expected one report or more, got none")
    parts = [Fraction(0)] * len(losses)
    limits = [ceiling(loss) for loss in losses]
    order = sorted(range(len(losses)), key=lambda place: (limits[place] is None, limits[place]))
    left = epsilon
    for taken, place in enumerate(order):
        equal, limit = left / (len(losses) - taken), limits[place]
        parts[place] = equal if limit is None else min(limit, equal)
        left -= parts[place]
    return parts


def loss_of(readings: Iterable[Reading]) -> Epsilon:
    """Return what one person loses by all of some releases, in nats, from above; None where it is
    not finite. 0 for none. ValueError where two say another loss of one report.
    """
    losses: dict[str, Loss] = {}
    noises: list[Noise] = []
    for reading in readings:
        for name, loss in reading.losses.items():
            if losses.setdefault(name, loss) != loss:
                raise ValueError(f"expected one loss of report {name}, got another one")
        noises += reading.noises
    if not losses:
        return Fraction(0)
    noises = _together(noises)
    known = {name: loss for name, loss in losses.items() if loss is not None}
    bare = frozenset(name for name, loss in losses.items() if loss is None)
    split = [frozenset({name}) for name in known] + ([bare] if bare else [])
    totals = [_total([frozenset(losses)], known, noises), _total(split, known, noises)]
    least = totals[-1]
    while len(split) <= MOST_BLOCKS and (merged := _best_merger(split, known, noises)):
        if not _is_less(merged[1], least):
            break
        split, least = merged
        totals.append(least)
    finite = [total for total in totals if total is not None]
    return min(finite) if finite else None


def _together(noises: Iterable[Noise]) -> list[Noise]:
    """Return the noises over the same reports as one."""
    sums: dict[Block, Epsilon] = {}
    for noise in noises:
        before = sums.get(noise.reports, Fraction(0))
        is_bare = before is None or noise.epsilon is None
        sums[noise.reports] = None if is_bare else Fraction(before or 0) + (noise.epsilon or 0)
    return [Noise(reports, epsilon) for reports, epsilon in sums.items()]


def _best_merger(
    split: Sequence[Block], losses: Mapping[str, Fraction], noises: Sequence[Noise]
) -> tuple[list[Block], Epsilon] | None:
    """Return the best of all splits in which two blocks that one noise covers are one."""
    best: tuple[list[Block], Epsilon] | None = None
    for one, other in combinations(split, 2):
        if any(noise.reports & one and noise.reports & other for noise in noises):
            merged = [block for block in split if block not in (one, other)] + [one | other]
            total = _total(merged, losses, noises)
            if best is None or _is_less(total, best[1]):
                best = merged, total
    return best


def _is_less(one: Epsilon, other: Epsilon) -> bool:
    return one is not None and (other is None or one < other)


def _total(
    split: Sequence[Block], losses: Mapping[str, Fraction], noises: Sequence[Noise]
) -> Epsilon:
    """Return Σ ε of the noises that count in full, and Σ f(C(U); ε₀(U)) of the others.

    Those over most blocks are tried first, each kept where it makes the sum less.
    """
    read = [[noise for noise in noises if noise.reports & block] for block in split]
    ceilings = [_loss_of_block(block, losses) for block in split]
    sums = [_sum(noise.epsilon for noise in touching) for touching in read]
    parts = [contracted(*each) for each in zip(sums, ceilings, strict=True)]
    full = Fraction(0)
    for noise in sorted(noises, key=lambda each: len(each.reports), reverse=True):
        places = [at for at, block in enumerate(split) if noise.reports & block]
        if noise.epsilon is None or len(places) < 2:
            continue
        before, after = _sum(parts[at] for at in places), {}
        for at in places:
            known = sums[at]
            after[at] = parts[at]
            if known is not None:
                after[at] = contracted(known - noise.epsilon, ceilings[at])
        instead = _sum(after.values())
        if instead is not None and _is_less(instead + noise.epsilon, before):
            full += noise.epsilon
            for at in places:
                parts[at] = after[at]
                left = sums[at]
                sums[at] = None if left is None else left - noise.epsilon
    total = _sum(parts)
    return None if total is None else full + total


def _loss_of_block(block: Block, losses: Mapping[str, Fraction]) -> Loss:
    if not block <= set(losses):
        return None
    return math.prod((losses[name] for name in block), start=Fraction(1))


def _sum(parts: Iterable[Epsilon]) -> Epsilon:
    total = Fraction(0)
    for part in parts:
        if part is None:
            return None
        total += part
    return total
