"""What an answer loses by releases of reports that chance changed already: never more than the
devices gave away, and less than the noise alone says.

Unit        all answers of one person, who may change any of them, or one answer (below); how many
            answered is public (change-one). Not for add-remove, nor for a part of the people that
            one can enter or leave: taking part is not randomised.
Adversary   sees everything that was released, chose each release after seeing the ones before, and
            knows everybody else's answers and reports.
Report      what one device sent for one question, or for several through one draw: at most e^ε₀
            times likelier after one answer than after another (`loss`). Reports of one person are
            drawn apart. Where chance is not to be counted (the answer was sent as given; a later
            wave whose draws a key may repeat) a report has no loss: None.
Release     pure: whatever it reads of one person through one noise changes the odds of what it
            publishes by at most e^ε. An ε of None: it was published as it came, or with noise that
            has no finite ε.

One report  Noise of ε over one report of ε₀ loses
                f(ε; ε₀) = ln((e^(ε + ε₀) + 1)/(e^ε + e^ε₀)) = 2·artanh(tanh(ε/2)·tanh(ε₀/2)).
            Proof. Fix what is published, and let g(r) be its chance given the report r: g is
            within [m, e^ε·m]. Two answers make the reports' laws w and w' with w ≤ e^ε₀·w' and
            back. The odds Σwg/Σw'g are largest where g takes its two ends only, and w moves as
            much chance as it may to the upper one: from p = 1/(1 + e^ε₀) to 1 − p. □
            f < min(ε, ε₀). It rises with each of the two and is concave in each. f(∞; ε₀) = ε₀ is
            the ceiling.
In common   Of more than two choices, most reports are as likely after one answer as after another,
            and noise cannot make those unlikely. Let a report name w of k choices (w = 1: one of
            k), its loss e^ε₀ = L, and ε hold between any two reports with one choice swapped. Then
            it loses at most
                f_c(ε; ε₀) = ln((e^(ε + ε₀) + 1 + c)/(e^ε + e^ε₀ + c)),
                c = L·(w − 1)/(k − w) + (k − 1 − w)/w      (k = 2: 0; w = 1: k − 2).
            Proof. Let G_x be the sum of g over the reports that name x and not y, G_y likewise,
            G_both and G_none over those that name both, and neither. A report of x becomes one of
            neither by swapping x for one of k − 1 − w choices, and each of neither comes from w of
            them: G_none ≥ (k − 1 − w)/w·e^−ε·G_x. Swapping another choice than x for y gives
            G_both ≥ (w − 1)/(k − w)·e^−ε·G_x, and x for y G_y ≥ e^−ε·G_x. The odds after x and y
            are (L·G_x + G_y + R)/(G_x + L·G_y + R) with R = L·G_both + G_none: above 1 they fall
            with R and with G_y, so put in the least of each. □ g = e^ε on the reports of x, 1 on
            all others, reaches it. What is left open of a set of ticks, before chance falls, is one
            of K = 2^s patterns: k = K, w = 1, for each place on the ring. A loss said to be larger
            than it is keeps c: the odds rise with L. c = 0 is a bound for every channel.
            f_c is convex below some ε and concave above: two noises can lose more than twice what
            one does. What several lose is f_c of their sum, never a sum of f_c.
Swapped     Of a channel under which a report S is as likely after answer a as σS after b, where σ
            swaps the choices a and b (subset selection), ε need only hold between S and σS.
            Proof. S and σS are together as likely after a as after b, and the one is at most e^ε₀
            times likelier than the other. So each pair obeys the bound above, with p of it, and
            the odds of a sum of pairs are at most the largest of a pair. □ Of w choices named two
            are swapped at most, whatever w is: noise on counts of choices has sensitivity 2, not
            2·min(w, k − w). So it is in all that follows, within the sets that swaps lead to; but
            what counts in full below must hold between any two reports: a noise of a swapped ε
            covers one report only, and is never counted so.
All         Let the reports be split into blocks, C(U) the sum of ε of the noises that read
            anything of block U, ε₀(U) the sum of ε₀ over the block. Together the releases lose at
            most
                Σ_U f(C(U); ε₀(U)),      f(C; None) = C,
            (f_c for a block of one report)
            for every split: so the least that we find is a bound too. We try three splits: a block
            for each report; from there, blocks that one noise covers merged, two at a time, while
            that helps; and all reports in one block.
            Proof. Change the answers of one block after another. Given the reports of the other
            blocks, whose law is the same before and after, the chance of all that was published
            is a function of the block's reports that varies by at most e^C(U): each release's
            does by e^ε, whatever was seen before it, and chances multiply along one path. So
            each change loses f, whatever the other blocks hold. Reports without a loss may
            depend on each other and on all else: their chance is bounded by its largest value,
            which costs their C and leaves a function of the others that varies as before. They
            are one block. A noise of finite ε may count in full instead, outside the blocks: given
            the reports, what it publishes varies by at most e^ε on any path. Its ε is then added
            to the total, and is in no C(U). □
            Pointwise, on every path: releases may be chosen on the way, and a filter may stop.
Drawn       Where chance, without looking at an answer, lets a person send the reports of one of
            some sets only, and everybody sees which, they lose the largest of what each set's
            reports would: given the set, nothing else of theirs is read, and its chance cancels.
            Only sets that no other one holds are tried. What several such draws let out, of one
            person and drawn apart, adds up: change the answers of one draw after another. A report
            that no set names, everybody sends.
One answer  Where one answer of a person is protected, and not all of them together, the sets are
            one for each answer: the reports of a question and of all that follow from it, so that
            a set of answers with another one in its place can have been given too. Neighbours
            differ in the answers behind one set, and lose the largest of what each set's reports
            would: all others, drawn apart, are as likely before as after, so that they are among
            “the other blocks” of the proof, and a noise that reads nothing of the set has the same
            law. A noise over several sets counts at its whole ε for each. Releases about different
            answers do not add up; about the same one they do. All that one person answered, m sets
            of it, loses the sum over these at most, m times the largest (change one set after
            another), and never more than their devices gave away. Readings of several waves add
            up as several draws do: more than one answer in one wave loses, and enough for one
            question in all of them, whose kept keys repeat draws (a later wave has no losses).
Waves      A person may be in several waves of a study, and answer otherwise in each, also because
            of what was published before. Where each wave's draws are fresh, its reports are further
            reports of the same person, with names and losses of their own: given the answers they
            are drawn apart from those of all other waves. So all of this holds with the reports of
            all waves in one list, whoever chose the later ones and their noise on the way.
            Proof. Fix a path: all that was published, in order. On it the answers of every wave are
            fixed (who would answer otherwise is a neighbour), and so are the noises; reports are
            independent given answers. The proof of “All” is about that path. □ Waves published
            through noises of C_w lose Σ f(C_w; ε₀_w); as they came, the ceiling Σ ε₀_w: a cap of
            W·ε₀ pays for W waves as they came.
            Kept draws are another matter: by a key a later report depends on the earlier one, and
            on whether the answer changed. As they came, two waves lose more than any ε: who
            answers alike twice never sends two reports that differ. So from the second wave on a
            report has no loss (None), and counts in full.
One noise over all of a person's reports is one block of all of them: never more than Σε, nor Σε₀.
Rounding    Exponentials and logarithms err upwards where a loss is said, and down where noise is
            chosen; sums are exact. Which of two is less floats say where they are sure, fractions
            where not.
By hand     ε₀ = 1: noise of ε = .25 loses .1150; to lose .25, ε = .5517. e^ε₀ = 3, e^ε = 2: 7/5.
            One of five (c = 3): noise of .5517 loses .1568; ten of .1 lose .3001, one .0261.
Sources     Post-processing and group privacy: Dwork and Roth 2014, Prop. 2.1, Thm 2.2; contraction
            of local randomisers: Kairouz, Oh and Viswanath 2016; Asoodeh, Aliakbarpour and Calmon
            2021, whose E_γ contraction gives the same f at δ = 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations

from dpengine.bounds import exp_above, exp_below, ln_above, ln_below
from dpengine.checks import require

Loss = Fraction | None  # e^ε₀ of a report; None: its chance does not count
Epsilon = Fraction | None  # of a noise; None: there is no finite one
NOTHING = Fraction(0)
Block = frozenset[str]
MOST_BLOCKS = 12  # of which two are tried together: beyond, the bound is found without
MOST_CACHED = 4096  # contractions, which an account asks for again and again
NEAR = 1e-9  # of a sum: a thousand times what floats can be off by
ABOVE = 1 + Fraction(NEAR)
ROUNDED = 1e-40  # nats: so much what `contracted` can be above f, summed
FAR = 700.0  # nats, of which exp is a float
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
    sets: tuple[Block, ...] = ()  # of reports, read here or not: neighbours differ in one of them
    common: Mapping[str, Fraction] = field(default_factory=dict)  # c of each report; 0 of others

    def __post_init__(self) -> None:
        require(all(self.sets), "sets must hold one report or more each, got one of none")
        for noise in self.noises:
            unknown = sorted(noise.reports - set(self.losses))
            require(not unknown, "losses must name every report that is read, not {}", unknown)
        for name, loss in self.losses.items():
            require(loss is None or loss >= 1, "loss of {} must be 1 or more, got {}", name, loss)
        for name, common in self.common.items():
            is_lost = self.losses.get(name) is not None
            require(is_lost, "common must be of reports with a loss, got one of {}", name)
            require(common > 0, "common of {} must be above 0, got {}", name, common)

    @property
    def drawn(self) -> Block:
        """Return the reports of which neighbours differ in some only."""
        return frozenset[str]().union(*self.sets)

    def held(self) -> list[Block]:
        """Return in what of the reports read here neighbours can differ: all that can be most."""
        everything = frozenset(self.losses)
        found = {everything - (self.drawn - each) for each in self.sets} or {everything}
        most = [each for each in found if each and not any(each < other for other in found)]
        return sorted(most, key=sorted)

    def of(self, held: Block) -> "Reading":
        """Return what is read of neighbours who differ in these of the reports."""
        touched = [(noise.reports & held, noise.epsilon) for noise in self.noises]
        return Reading(
            {name: loss for name, loss in self.losses.items() if name in held},
            [Noise(reports, epsilon) for reports, epsilon in touched if reports],
            common={name: common for name, common in self.common.items() if name in held},
        )


@lru_cache(maxsize=MOST_CACHED)
def contracted(epsilon: Epsilon, loss: Loss, common: Fraction = NOTHING) -> Epsilon:
    """Return f_c(ε; ε₀), in nats, from above; None where it is not finite."""
    if loss is None:
        return epsilon
    if loss == 1:
        return NOTHING
    if epsilon is None:
        return ln_above(loss)
    if epsilon == 0:
        return NOTHING
    odds = (loss * exp_above(epsilon) + 1 + common) / (exp_below(epsilon) + loss + common)
    return min(epsilon, ln_above(min(odds, loss)))


@lru_cache(maxsize=MOST_CACHED)
def noise_within(epsilon: Fraction, loss: Loss, common: Fraction = NOTHING) -> Epsilon:
    """Return the ε of the least noise with which one report loses at most ε: the inverse of f_c,
    from below. None: no noise is needed.
    """
    require(epsilon > 0, "epsilon must be above 0, got {}", epsilon)
    if loss is None:
        return epsilon
    if loss == 1 or ln_above(loss) <= epsilon:
        return None
    odds = ((loss + common) * exp_below(epsilon) - 1 - common) / (loss - exp_below(epsilon))
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


# of each report e^ε₀ and c, and of each set of reports the ε over it
_Group = tuple[dict[str, tuple[Loss, Fraction]], dict[Block, Epsilon]]


class Together:
    """Releases added up: for each draw the loss of each report, and the ε over each set of reports.

    It grows with what was read, and not with how often: adding costs what one release reads, and
    what all of them lose is, to the last bit, what `loss_of` says of each of them.
    """

    def __init__(self, readings: Iterable[Reading] = ()) -> None:
        self._groups: dict[tuple[Block, ...], _Group] = {}
        for reading in readings:
            self.add(reading)

    def add(self, reading: Reading) -> None:
        """Add one. ValueError if it says another loss of a report."""
        losses, noises = self._groups.setdefault(reading.sets, ({}, {}))
        for name, loss in reading.losses.items():
            said = loss, reading.common.get(name, NOTHING)
            require(
                losses.setdefault(name, said) == said,
                "expected one loss of report {}, got another one",
                name,
            )
        for noise in reading.noises:
            before = noises.get(noise.reports, Fraction(0))
            is_bare = before is None or noise.epsilon is None
            noises[noise.reports] = (
                None if is_bare else Fraction(before or 0) + (noise.epsilon or 0)
            )

    @property
    def readings(self) -> list[Reading]:
        """Return them as one reading for each draw, in the order in which they came."""
        return [
            Reading(
                {name: loss for name, (loss, _) in losses.items()},
                [Noise(*noise) for noise in noises.items()],
                sets,
                {name: common for name, (_, common) in losses.items() if common},
            )
            for sets, (losses, noises) in self._groups.items()
        ]


def loss_of(readings: Iterable[Reading]) -> Epsilon:
    """Return what one unit loses by all of some releases, in nats, from above; None where it is
    not finite. 0 for none. ValueError where two say another loss of one report, or draw one of
    other sets.
    """
    groups = Together(readings).readings
    named = [name for group in groups for name in {*group.losses} | group.drawn]
    require(
        len(set(named)) == len(named),
        "expected each report in the sets of one draw, got one in two",
    )
    return _sum(_largest(group) for group in groups)


def _largest(group: Reading) -> Epsilon:
    """Return the largest of what each set's reports lose."""
    found = [_loss_of(group.of(held)) for held in group.held()]
    finite = [each for each in found if each is not None]
    return max(finite, default=Fraction(0)) if len(finite) == len(found) else None


def _loss_of(reading: Reading) -> Epsilon:
    """Return what a person loses who sent all of these reports: one or more."""
    splits = _Splits(Together([reading]).readings[0])
    split = splits.finest
    whole, least = splits.total([sum(split)]), splits.total(split)
    while len(split) <= MOST_BLOCKS and (merged := splits.best_merger(split, least)):
        split, least = merged
    return whole if least is None or _is_less(whole, least) else least


def _is_less(one: Epsilon, other: Epsilon) -> bool:
    return one is not None and (other is None or one < other)


class _Splits:
    """What noises over some reports lose in all, by how the reports are split into blocks: numbers
    with a bit for each report.

    Sums are compared as floats, and as fractions where those could err. What is worked out of a
    block is kept, for most blocks are in many splits.
    """

    def __init__(self, reading: Reading) -> None:
        losses, noises = reading.losses, reading.noises
        bits = {name: 1 << place for place, name in enumerate(losses)}
        bare = sum(bits[name] for name, loss in losses.items() if loss is None)
        known = [bits[name] for name, loss in losses.items() if loss is not None]
        self.finest = known + [bare] * (bare > 0)
        self.losses = {bits[name]: loss for name, loss in losses.items()}
        self.common = {bits[name]: common for name, common in reading.common.items()}
        widest_first = sorted(noises, key=lambda noise: len(noise.reports), reverse=True)
        self.noises = [
            (sum(bits[name] for name in noise.reports), noise.epsilon) for noise in widest_first
        ]
        self.blocks: dict[int, _Block] = {}

    def best_merger(self, split: list[int], least: Epsilon) -> tuple[list[int], Epsilon] | None:
        """Return the best of all splits in which two blocks that one noise covers are one, if it
        loses less than that.
        """
        best = None
        for one, other in combinations(split, 2):
            if any(reports & one and reports & other for reports, _ in self.noises):
                merged = [block for block in split if block not in (one, other)] + [one | other]
                total = self.total(merged, least)
                if _is_less(total, least):
                    best, least = (merged, total), total
        return best

    def total(self, split: Sequence[int], least: Epsilon = None) -> Epsilon:
        """Return Σ ε of the noises that count in full, and Σ f(C(U); ε₀(U)) of the others; None
        where it is not finite, or is more than the least that is known.

        Those over most blocks are tried first, each kept where it makes the sum less.
        """
        blocks, full = [self._block(each) for each in split], Fraction(0)
        for noise, (reports, epsilon) in enumerate(self.noises):
            places = [at for at, each in enumerate(split) if reports & each]
            if epsilon is not None and len(places) > 1:
                read = [blocks[at] for at in places]
                if _is_less_in_full(noise, epsilon, read):
                    full += epsilon
                    for at, block in zip(places, read, strict=True):
                        blocks[at] = block.without(noise, epsilon)
        if least is not None and float(full) + sum(each.rough for each in blocks) > least * ABOVE:
            return None
        total = _sum(block.part for block in blocks)
        return None if total is None else full + total

    def _block(self, block: int) -> "_Block":
        if block not in self.blocks:
            losses = [loss for bit, loss in self.losses.items() if bit & block]
            known = [loss for loss in losses if loss is not None]
            loss = math.prod(known, start=Fraction(1)) if len(known) == len(losses) else None
            read = _sum(epsilon for reports, epsilon in self.noises if reports & block)
            self.blocks[block] = _Block(read, loss, self.common.get(block, NOTHING))
        return self.blocks[block]


def _is_less_in_full(noise: int, epsilon: Fraction, blocks: Sequence["_Block"]) -> bool:
    """Tell whether less is lost where one of the noises that read some blocks counts in full."""
    added = epsilon
    for block in blocks:
        if block.loss is None:  # there is one such: it saves ε itself
            if block.epsilon is None:
                return False
            added = Fraction(0)
    changed = [block for block in blocks if block.loss is not None]
    saved, rough = sum(block.saved(noise, epsilon) for block in changed), float(added)
    if abs(saved - rough) > max(NEAR * (saved + rough), ROUNDED):
        return saved > rough
    parts = ((block.part or 0, block.without(noise, epsilon).part or 0) for block in changed)
    return sum(one - other for one, other in parts if one != other) > added


class _Block:
    """Some reports: the ε of the noises that read them and do not count in full, e^ε₀, and c, of
    one report.
    """

    def __init__(self, epsilon: Epsilon, loss: Loss, common: Fraction) -> None:
        self.epsilon, self.loss, self.common = epsilon, loss, common
        self._c = float(common)
        self._saved: dict[int, float] = {}
        self._without: dict[int, _Block] = {}

    @cached_property
    def part(self) -> Epsilon:
        """Return what is lost by them."""
        return contracted(self.epsilon, self.loss, self.common)

    @cached_property
    def rough(self) -> float:
        """Return it to 12 digits, or inf."""
        if self.epsilon is None or self.loss is None:
            return math.inf if self.part is None else float(self.part)
        return self._saved_of(float(self.epsilon))

    def saved(self, noise: int, epsilon: Fraction) -> float:
        """Return how much less is lost without one of the noises, to 12 digits."""
        if noise not in self._saved:
            self._saved[noise] = 0.0 if self.epsilon is None else self._saved_of(float(epsilon))
        return self._saved[noise]

    def _saved_of(self, epsilon: float) -> float:
        """Return f_c(C; ε₀) − f_c(C − ε; ε₀) = ln(1 + x), of factors that lose no digits. With
        M = max(C, ε₀):

        x = (1 − e^−ε₀)(1 + (1 + c)e^−ε₀)(1 − e^−ε)e^(ε + ε₀ − M)
            / ((1 + e^−|C − ε₀| + c·e^−M)(1 + (1 + c)e^(ε − C − ε₀))).
        """
        read, limit, c = float(self.epsilon or 0), float(ceiling(self.loss) or 0), self._c
        most = max(read, limit)
        factors = math.expm1(-limit) * math.expm1(-epsilon) * (1 + (1 + c) * math.exp(-limit))
        factors /= 1 + math.exp(-abs(read - limit)) + c * math.exp(-most)
        factors /= 1 + (1 + c) * math.exp(epsilon - read - limit)
        exponent = epsilon + limit - most
        if exponent > FAR and factors:
            return exponent + math.log(factors)
        return math.log1p(factors * math.exp(exponent))

    def without(self, noise: int, epsilon: Fraction) -> "_Block":
        """Return the same without one of the noises."""
        if self.epsilon is None:
            return self
        if noise not in self._without:
            self._without[noise] = _Block(self.epsilon - epsilon, self.loss, self.common)
        return self._without[noise]


def _sum(parts: Iterable[Epsilon]) -> Epsilon:
    total = Fraction(0)
    for part in parts:
        if part is None:
            return None
        total += part
    return total
