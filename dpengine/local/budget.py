"""One ε of a person over several questions: split it, draw questions, or draw some and send them as
one.

Split      Every question is reported, question i with ε_i ∝ √importance, Σ ε_i = ε. Shares are
           rounded down to nine places: never above.
Apart      s blocks of the questions are drawn, each then with ε/s (blocks.py). For small ε a
           variance is about c/ε²: q/s·c·s²/ε² = q·s·c/ε², least at s = 1; for large ε only people
           count, and s = q wins.
Together   Blocks of several questions go as one answer over their joint choices (joint.py). Yes/no
           questions gain by it, up to e^ε of joint answers or so; questions with more choices do so
           late, as a channel over many cells loses more than the people who are asked bring. Where
           each of them can be declined, that is one answer beside all others: of eight yes/no
           questions two need 5 cells instead of 9.
Chances    A question that is asked of n·p people has variance v/p: the worst Σ is least where p is
           in proportion to importance·v, v that at even shares, a yes/no one's worst. Then it is
           Σ importance·v/s for the blocks of one set of s.
Blocks     Questions with as many choices and as important stand in blocks as even as can be, of as
           many as need least; or go around in cyclic blocks, so that each is in as many. Or all
           are merged by twos, as long as a merged block needs less than its two. A block whose
           questions must stay together is neither.
Proposal   The least of the worst ±·√(importance/useful) of split, s drawn apart for each s, s
           blocks of even or merged ones, and cyclic blocks; ± is 1.96 standard errors at even
           shares. Without cyclic blocks each question is in one block, which is what a Plan holds:
           8 yes/no questions at ε = 3 then have ± 7.26 in 3 + 3 + 2 instead of 7.18, and as much
           at every ε where a size divides 8.
By hand    Four yes/no questions, ε = ln 81: split, the coin for each (3⁴ = 81), variance × n where
           half say yes 1 each; s = 1: odds 81 to 1, 4·(1/4)/(80/82)² = 1.05; s = 2: odds 9 to 1,
           2·(1/4)/(8/10)² = 0.78; all four as one of 16 answers: a = 81/96, b = 1/96,
           (1/4)/(80/96)² = 0.36, the best.
Sources    Basic composition: Dwork and Roth 2014; sampling of attributes: Nguyên et al. 2016; how
           many: Wang et al. 2019, § 5: about ε/2.5 of them; subsets: Ye and Barg 2018.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise

from dpengine.checks import require
from dpengine.estimates import CONFIDENCE, NoNoise, normal_quantile
from dpengine.local.blocks import MAX_BLOCKS, Drawn, Set, chances_for, cyclic, subsets, weighted
from dpengine.local.channel import Channel
from dpengine.local.joint import MAX_JOINT, Joint, variances
from dpengine.local.ways import Block, Importance, Kind, Proposal, Question, Way
from dpengine.privacy import exponential_below, round_down

MIN_ASKED = 2  # people of a question, below which a way is not proposed
TRIED = 1000  # answers, at which the ± of a channel without shares is looked at


def cheapest(
    total: Decimal,
    questions: Sequence[Question],
    n: int,
    kept: Sequence[Set] = (),
    *,
    in_one_block: bool = False,
) -> Proposal:
    """Return the way that tells most of so many people. `kept` must each stay in one block; each
    question is in one block only if that is said.
    """
    require(n >= MIN_ASKED, "n must be {} or more, got {}", MIN_ASKED, n)
    _check(questions, kept)
    kinds: dict[Kind, Way] = {}
    for way in _ways(total, questions, kept):
        if in_one_block and sum(len(block.questions) for block in way.blocks) > len(questions):
            continue
        best = kinds.get(way.kind)
        enough = way.least_asked(n) >= MIN_ASKED or way.kind is Kind.SPLIT
        if enough and (best is None or way.worst(n) < best.worst(n)):
            kinds[way.kind] = way
    return Proposal(min(kinds.values(), key=lambda way: way.worst(n)), n, kinds)


def split_way(total: Decimal, questions: Sequence[Question], kept: Sequence[Set] = ()) -> Way:
    """Return what comes of asking everybody everything."""
    roots = [Decimal(question.importance).sqrt() for question in questions]
    parts = split(total, roots)
    blocks = tuple(
        _apart(unit, questions, [parts[question] for question in unit])
        for unit in _units(questions, kept)
    )
    return Way(Kind.SPLIT, tuple(questions), blocks, Drawn.all_of(len(blocks)))


def apart(
    total: Decimal,
    questions: Sequence[Question],
    asked: int,
    kept: Sequence[Set] = (),
    *,
    evenly: bool = False,
) -> Way:
    """Return what comes of drawing so many questions, or kept blocks, each sent by itself."""
    units = _units(questions, kept)
    epsilon = split(total, [1] * asked)[0]
    blocks = _blocks(units, questions, epsilon, kept)
    return _way(Kind.APART, questions, blocks, subsets(len(units), asked), evenly=evenly)


def together(
    total: Decimal, questions: Sequence[Question], size: int, *, evenly: bool = False
) -> Way:
    """Return what comes of drawing one cyclic block of so many questions, sent as one."""
    blocks = _blocks(cyclic(len(questions), size), questions, total)
    return _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), 1), evenly=evenly)


def parted(
    total: Decimal,
    questions: Sequence[Question],
    asked: int,
    kept: Sequence[Set] = (),
    size: int | None = None,
) -> Way | None:
    """Return what comes of drawing so many blocks of questions that are alike and sent as one: of
    the size that needs least, or of so many; None where nothing is sent as one, or too little.
    """
    epsilon = split(total, [1] * asked)[0]
    found = [
        block
        for places in _alike(questions, kept)
        for block in _parts(places, questions, kept, epsilon, size)
    ]
    if len(found) < asked or len(found) == len(_units(questions, kept)):
        return None
    blocks = _blocks(sorted(found), questions, epsilon, kept)
    return _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), asked))


def draw(needs: Sequence[float], asked: int) -> Drawn:
    """Return sets of so many blocks, drawn as often as each needs: its importance × variance."""
    sets = subsets(len(needs), asked)
    return Drawn.evenly(sets) if _are_alike(needs) else weighted(sets, chances_for(needs, asked))


def spread(channel: Channel, scale: int = 1) -> float:
    """Return variance × n of what is least sure of a channel, in squared parts of its scale, from
    the ± that would be published at a half.
    """
    estimate = channel.forecast(TRIED, Fraction(1, 2), NoNoise())
    half = (estimate.high - estimate.low) / 2 / scale
    return TRIED * (half / normal_quantile(CONFIDENCE)) ** 2


def split(total: Decimal, weights: Sequence[int | Fraction | Decimal]) -> list[Decimal]:
    """Return an ε for every question, in proportion to its weight, rounded down.

    Together at most the total.
    """
    exponential_below(total)  # refuses what is no ε
    parts = [_weight(number, weight) for number, weight in enumerate(weights)]
    require(parts, "weights must be one or more, got none")
    epsilons = [round_down(Fraction(total) * part / sum(parts)) for part in parts]
    if not all(epsilons):
        raise ValueError(
            f"question {epsilons.index(Decimal(0))} must get a billionth of ε or more, got less"
        )
    return epsilons


def _ways(total: Decimal, questions: Sequence[Question], kept: Sequence[Set]) -> Iterator[Way]:
    yield split_way(total, questions, kept)
    units = _units(questions, kept)
    many = math.ceil(total) + 1  # more at once have never been best
    for asked in range(1, min(len(units) - 1, many) + 1):
        yield apart(total, questions, asked, kept)
    if (circled := _cyclic(total, questions, kept)) is not None:
        yield circled
    for asked in range(1, min(len(units), many) + 1):
        if (even := parted(total, questions, asked, kept)) is not None:
            yield even
        epsilon = split(total, [1] * asked)[0]
        merged = _merged(units, questions, epsilon, kept)
        if len(merged) == len(units) or len(merged) < asked:
            continue
        blocks = _blocks(merged, questions, epsilon, kept)
        yield _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), asked))


def _cyclic(total: Decimal, questions: Sequence[Question], kept: Sequence[Set]) -> Way | None:
    """Return one block drawn, questions that are alike in cyclic blocks of the size they need."""
    units = _units(questions, kept)
    found: list[Set] = []
    for places in _alike(questions, kept):
        if places in units:
            found.append(places)
            continue
        alike = [questions[place] for place in places]
        sizes = (size for size in range(1, len(alike) + 1) if _cells(alike[:size]) <= MAX_JOINT)
        best = min(sizes, key=lambda size: _joint_variance(_asked(alike[:size]), total) / size)
        found += [tuple(places[each] for each in block) for block in cyclic(len(places), best)]
    if len(found) > MAX_BLOCKS or all(each in units for each in found):
        return None
    blocks = _blocks(found, questions, total, kept)
    return _way(Kind.TOGETHER, questions, blocks, subsets(len(blocks), 1))


def _alike(questions: Sequence[Question], kept: Sequence[Set]) -> list[Set]:
    """Return what can be joined by choices and importance, and every other unit by itself."""
    alike: dict[object, Set] = {}
    for unit in _units(questions, kept):
        first = questions[unit[0]]
        joins = unit not in kept and first.can_be_joined
        key = (first.choices, first.declines, first.importance) if joins else unit
        alike[key] = alike.get(key, ()) + unit
    return list(alike.values())


def _parts(
    places: Set,
    questions: Sequence[Question],
    kept: Sequence[Set],
    epsilon: Decimal,
    size: int | None,
) -> list[Set]:
    """Return questions that are alike in blocks as even as can be: of so many, or as need least."""
    alike = [questions[place] for place in places]
    if places in kept or len(places) == 1:
        return [places]

    def need(count: int) -> float:
        sizes = map(len, _evenly(places, count))
        return sum(_joint_variance(_asked(alike[:size]), epsilon) for size in sizes)

    every = range(1, len(places) + 1)
    fit = [each for each in every if _cells(alike[: math.ceil(len(places) / each)]) <= MAX_JOINT]
    if size is not None:
        return _evenly(places, max(fit[0], math.ceil(len(places) / size)))
    return _evenly(places, min(fit, key=need))


def _evenly(places: Set, count: int) -> list[Set]:
    """Return so many parts, of sizes that differ by one at most."""
    ends = [len(places) * at // count for at in range(count + 1)]
    return [places[start:end] for start, end in pairwise(ends)]


def _merged(
    units: Sequence[Set], questions: Sequence[Question], epsilon: Decimal, kept: Sequence[Set]
) -> list[Set]:
    """Return blocks merged by twos, always those two that gain most by it."""

    def kind(block: Set) -> tuple[Asked, Importance]:
        own = [questions[each] for each in block]
        choices, declined = _asked(own)
        return (tuple(sorted(choices)), declined), max(each.importance for each in own)

    def need(block: Set) -> float:
        asked, importance = kind(block)
        return _joint_variance(asked, epsilon) * importance

    fixed = [unit for unit in units if unit in kept or not questions[unit[0]].can_be_joined]
    blocks = {unit: need(unit) for unit in units if unit not in fixed}
    while len(blocks) > 1:
        alike: dict[object, list[Set]] = defaultdict(list)
        for block in blocks:
            alike[kind(block)].append(block)
        two = {block for same in alike.values() for block in same[:2]}  # the others gain as much
        gains = {
            (one, other): blocks[one] + blocks[other] - need(one + other)
            for one, other in combinations([block for block in blocks if block in two], 2)
            if _cells([questions[each] for each in one + other]) <= MAX_JOINT
        }
        pair = max(gains, key=lambda pair: gains[pair], default=None)
        if pair is None or gains[pair] <= 0:
            break
        both = tuple(sorted(pair[0] + pair[1]))
        blocks = {each: part for each, part in blocks.items() if each not in pair}
        blocks[both] = need(both)
    return sorted([*fixed, *blocks])


Asked = tuple[tuple[int, ...], bool]  # of questions sent as one: choices, and if one declines all


def _asked(questions: Sequence[Question]) -> Asked:
    """Return the choices of questions that are sent as one, beside declining where it is one of all
    of them: where each can be declined.
    """
    declined = all(each.declines for each in questions)
    return tuple(each.choices - declined for each in questions), declined


def _cells(questions: Sequence[Question]) -> int:
    choices, declined = _asked(questions)
    return math.prod(choices) + declined


@lru_cache(maxsize=4096)
def _joint_variance(asked: Asked, epsilon: Decimal) -> float:
    """Return about variance × n of the worst of questions sent as one."""
    choices, declined = asked
    cells = math.prod(choices) + declined
    return float(variances(tuple(sorted(set(choices))), cells, epsilon).min())


def _way(
    kind: Kind,
    questions: Sequence[Question],
    blocks: Sequence[Block],
    sets: Sequence[Set],
    *,
    evenly: bool = False,
) -> Way:
    """Return the way whose blocks are drawn as often as they need, or all alike."""
    needs = [
        max(
            questions[question].importance * variance
            for question, variance in zip(block.questions, block.variances, strict=True)
        )
        for block in blocks
    ]
    asked = len(sets[0])
    is_even = evenly or _are_alike(needs)
    drawn = Drawn.evenly(sets) if is_even else weighted(sets, chances_for(needs, asked))
    return Way(kind, tuple(questions), tuple(blocks), drawn)


def _are_alike(needs: Sequence[float]) -> bool:
    return max(needs) <= min(needs) * (1 + 1e-6)


def _blocks(
    units: Sequence[Set], questions: Sequence[Question], epsilon: Decimal, kept: Sequence[Set] = ()
) -> list[Block]:
    """Return each unit's block with so much ε. Those of questions that are alike share channels."""
    known: dict[object, Block] = {}
    found = []
    for places in units:
        alike = (*(questions[place] for place in places), places in kept)
        if alike not in known:
            known[alike] = _block(places, questions, epsilon, kept)
        found.append(replace(known[alike], questions=places))
    return found


def _block(
    places: Set, questions: Sequence[Question], epsilon: Decimal, kept: Sequence[Set] = ()
) -> Block:
    """Return the block of these questions with so much ε: joint, unless they are kept apart."""
    if len(places) == 1 or places in kept:
        return _apart(places, questions, split(epsilon, [1] * len(places)))
    choices, declined = _asked([questions[place] for place in places])
    joint = Joint.for_epsilon(choices, epsilon, choices if declined else ())
    views = (joint.view(place) for place in range(len(places)))
    found = tuple(
        float(view.variance(Fraction(1, count))) for view, count in zip(views, choices, strict=True)
    )
    return Block(places, (joint,), found)


def _apart(places: Set, questions: Sequence[Question], epsilons: Sequence[Decimal]) -> Block:
    channels = tuple(
        questions[place].within(epsilon) for place, epsilon in zip(places, epsilons, strict=True)
    )
    found = tuple(
        questions[place].variance(channel) for place, channel in zip(places, channels, strict=True)
    )
    return Block(places, channels, found)


def _units(questions: Sequence[Question], kept: Sequence[Set]) -> list[Set]:
    """Return what is drawn as one at least: kept blocks, and every other question."""
    held = {question for block in kept for question in block}
    return sorted([*kept, *((place,) for place in range(len(questions)) if place not in held)])


def _check(questions: Sequence[Question], kept: Sequence[Set]) -> None:
    require(
        1 <= len(questions) <= MAX_BLOCKS,
        "questions must be 1 to {}, got {}",
        MAX_BLOCKS,
        len(questions),
    )
    require(
        any(question.importance > Importance.NICE for question in questions),
        "a question at least must be useful or decisive: all are nice to have",
    )
    places = [question for block in kept for question in block]
    require(
        len(set(places)) == len(places)
        and all(0 <= place < len(questions) for place in places)
        and all(tuple(sorted(block)) == tuple(block) for block in kept),
        "kept blocks must be of different questions, in rising order",
    )


def _weight(number: int, weight: int | Fraction | Decimal) -> Fraction:
    if isinstance(weight, bool) or not isinstance(weight, int | Fraction | Decimal):
        raise TypeError(
            f"weight {number} must be an integer, Fraction or Decimal, got a "
            f"{type(weight).__name__}"
        )
    require(
        (not isinstance(weight, Decimal) or weight.is_finite()) and weight > 0,
        "weight {} must be above 0, got {}",
        number,
        weight,
    )
    return Fraction(weight)
