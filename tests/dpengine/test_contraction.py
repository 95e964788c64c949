"""Held against enumeration: exact losses of small sets of people, all answers, adaptively."""

import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from dpengine.bounds import exp_above, exp_below
from dpengine.central.laplace import DiscreteLaplace
from dpengine.contraction import (
    Noise,
    Reading,
    _Block,
    ceiling,
    contracted,
    loss_of,
    noise_within,
    shared_out,
)
from dpengine.estimates import clopper_pearson
from dpengine.local.distribution import Distribution
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import Neighbours
from tests.bench import enumeration

E1 = exp_below(Fraction(1))


def reading(losses, *noises):
    made = [Noise(frozenset(names), epsilon) for names, epsilon in noises]
    return Reading(dict(zip("abcdef", losses, strict=False)), made)


def both(epsilon, local):
    """Return f from its other form."""
    return 2 * math.atanh(math.tanh(epsilon / 2) * math.tanh(local / 2))


def test_by_hand():
    assert contracted(Fraction(math.log(2)), Fraction(3)) == pytest.approx(math.log(7 / 5))
    assert float(contracted(Fraction(1, 4), E1)) == pytest.approx(0.1150, abs=1e-4)
    assert float(noise_within(Fraction(1, 4), E1)) == pytest.approx(0.5517, abs=1e-4)


def test_what_reports_have_in_common_by_hand():
    assert contracted(Fraction(math.log(2)), Fraction(3), Fraction(2)) == pytest.approx(
        math.log(9 / 7)
    )
    one_of_five, two_of_seven = Subset.of_size(5, 1, Decimal(1)), Subset.of_size(7, 2, Decimal(1))
    least = noise_within(Fraction(1, 4), E1)
    for channel, common, lost in ((one_of_five, 3, 0.1568), (two_of_seven, 2.5437, 0.1662)):
        assert float(channel.common) == pytest.approx(common, abs=1e-4)
        found = contracted(least, channel.loss, channel.common)
        assert float(found) == pytest.approx(lost, abs=1e-4)
    ten = [
        contracted(Fraction(each, 10), two_of_seven.loss, two_of_seven.common) for each in (1, 10)
    ]
    assert [round(float(each), 4) for each in ten] == [
        0.0280,
        0.3148,
    ]  # more than ten times as much


COMMON_OF = [
    *(
        Subset.of_size(k, w, Decimal(e))
        for k, w in ((3, 1), (5, 1), (5, 2), (6, 3), (7, 2))
        for e in ("0.5", "2")
    ),
    Distribution.for_epsilon(Decimal(1), Decimal(0), Decimal(1), 7),
    Distribution.for_epsilon(Decimal(3), Decimal(0), Decimal(1), 5),
    Table(((5, 1, 1, 1), (1, 5, 1, 1), (1, 1, 5, 1), (1, 1, 1, 5))),
]


@pytest.mark.parametrize("channel", COMMON_OF, ids=lambda channel: f"{channel}"[:40])
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1), Fraction(4)])
def test_no_noise_over_a_report_tells_more_than_is_charged_and_one_tells_as_much(channel, epsilon):
    """Held against a linear program: of all g that one choice swapped changes by e^ε at most, the
    one that tells two answers apart best. Charnes and Cooper: the chance after the second is 1.
    """
    if isinstance(channel, Subset):
        reports = [
            list(each) for each in itertools.combinations(range(channel.choices), channel.size)
        ]
        laws = channel.probabilities(reports)
        near = [
            (a, b)
            for a, b in itertools.permutations(range(len(reports)), 2)
            if len({*reports[a]} - {*reports[b]}) == 1
        ]
    else:
        table = channel if isinstance(channel, Table) else channel.table
        laws = [[Fraction(each, table.total) for each in row] for row in table.weights]
        near = list(itertools.permutations(range(table.reports), 2))
    bounds = np.zeros((len(near), len(laws[0])))
    for row, (one, other) in enumerate(near):
        bounds[row, one], bounds[row, other] = 1, -math.exp(epsilon)
    worst = 0.0
    for one, other in itertools.permutations(laws, 2):
        best = linprog(
            -np.array(one, dtype=float),
            A_ub=bounds,
            b_ub=np.zeros(len(near)),
            A_eq=[np.array(other, dtype=float)],
            b_eq=[1],
        )
        worst = max(worst, math.log(-best.fun))
    assert worst == pytest.approx(
        float(contracted(epsilon, channel.loss, channel.common)), rel=1e-6
    )


@pytest.mark.parametrize("seed", range(12))
def test_by_random_noises_several_releases_lose_no_more_than_the_sum_of_their_noises(seed):
    """Adaptive: the second noise depends on what the first one told. Ratios are of whole paths."""
    chance = random.Random(seed)
    channel = Subset.of_size(
        *chance.choice([(4, 1), (5, 1), (5, 2), (6, 2)]), Decimal(chance.choice(["0.3", "1", "2"]))
    )
    reports = [list(each) for each in itertools.combinations(range(channel.choices), channel.size)]
    laws = [[float(each) for each in law] for law in channel.probabilities(reports)]
    first, second = chance.uniform(0.05, 2), chance.uniform(0.05, 2)

    def noise(epsilon):
        """Return the chance of one outcome after each report: from a choice’s place, at random."""
        ends = [
            chance.uniform(-1, 1) if chance.random() < 0.5 else chance.choice([-1, 1])
            for _ in range(channel.choices)
        ]
        lean = [max(ends[choice] for choice in report) for report in reports]
        low, high = min(lean), max(lean)
        return [math.exp(epsilon * (each - low) / max(high - low, 1e-9)) for each in lean]

    paths = [[a * b for a, b in zip(noise(first), noise(second), strict=True)] for _ in range(40)]
    odds = [[sum(p * g for p, g in zip(law, path, strict=True)) for law in laws] for path in paths]
    worst = max(math.log(max(each) / min(each)) for each in odds)
    given = Reading(
        {"a": channel.loss},
        [Noise(frozenset("a"), Fraction(each)) for each in (first, second)],
        common={"a": channel.common},
    )
    assert worst <= float(loss_of([given])) * (1 + 1e-12)
    apart = [
        Reading({"a": channel.loss}, [noise], common={"a": channel.common})
        for noise in given.noises
    ]
    assert loss_of(apart) == loss_of([given])  # f of the sum, whoever adds up


@pytest.mark.parametrize("local", [0.05, 0.5, 1, 2, 4, 8])
def test_noise_chosen_as_if_nothing_were_in_common_adds_no_more_each_time_than_it_does_alone(local):
    odds, read = math.exp(local), np.geomspace(1e-3, 30, 200)

    def lost(epsilon, common):
        return np.log((odds * np.exp(epsilon) + 1 + common) / (np.exp(epsilon) + odds + common))

    for common in (0.1, 1, 3, 10, 100, 1000):
        for time in range(12):
            more = lost((time + 1) * read, common) - lost(time * read, common)
            assert (more <= lost(read, 0) * (1 + 1e-9)).all()


def test_nothing_is_said_to_be_in_common_where_it_was_not_worked_out():
    assert Table(((4, 2, 1, 1), (1, 4, 2, 1), (1, 1, 4, 2), (2, 1, 1, 4))).common == 0


def test_reports_that_are_merged_have_nothing_in_common_that_counts():
    both = [Noise(frozenset("ab"), Fraction(1))]
    plain = Reading({"a": E1, "b": E1}, both)
    assert loss_of([Reading({"a": E1, "b": E1}, both, common={"a": Fraction(3)})]) <= loss_of(
        [plain]
    )
    far = Noise(frozenset("ab"), Fraction(30))
    merged = Reading({"a": E1, "b": E1}, [far], common={"a": Fraction(3), "b": Fraction(3)})
    assert float(loss_of([merged])) == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("local", ["0.01", "0.5", "1", "3", "8"])
@pytest.mark.parametrize("epsilon", ["0.000000001", "0.01", "0.25", "1", "4", "20"])
def test_both_forms_agree_and_the_bound_is_from_above(epsilon, local):
    loss, given = exp_below(Fraction(local)), Fraction(epsilon)
    found = contracted(given, loss)
    assert float(found) == pytest.approx(both(float(given), float(Fraction(local))), rel=1e-9)
    assert found <= given
    assert found <= ceiling(loss)
    if (least := noise_within(given, loss)) is not None:
        assert least >= given
        assert contracted(least, loss) <= given
        assert float(contracted(least, loss)) == pytest.approx(float(given), rel=1e-9)
    else:
        assert given >= ceiling(loss)


def test_what_has_no_chance_of_its_own_is_not_contracted():
    assert contracted(Fraction(1, 4), None) == Fraction(1, 4)
    assert contracted(None, None) is None
    assert noise_within(Fraction(1, 4), None) == Fraction(1, 4)
    assert contracted(None, Fraction(3)) == ceiling(Fraction(3))
    assert contracted(Fraction(1), Fraction(1)) == 0
    assert noise_within(Fraction(1), Fraction(1)) is None


def test_parts_are_even_and_nobody_gets_more_than_their_ceiling():
    losses = [Fraction(3), exp_below(Fraction(1, 10)), None]
    parts = shared_out(Fraction(3, 2), losses)
    assert float(parts[1]) == pytest.approx(0.1)
    assert parts[0] == parts[2]
    assert sum(parts) <= Fraction(3, 2)
    assert float(sum(parts)) == pytest.approx(1.5)
    at_most = shared_out(Fraction(20), losses[:2])
    assert at_most == [ceiling(Fraction(3)), ceiling(losses[1])]


# The account of several releases


def test_the_ceiling_is_the_product_of_losses_exactly():
    losses = [Fraction(3), Fraction(7, 2), Fraction(9, 8)]
    everything = reading(losses, ("a", None), ("b", None), ("c", None))
    assert loss_of([everything]) == ceiling(Fraction(3) * Fraction(7, 2) * Fraction(9, 8))
    more = reading(losses, ("abc", Fraction(5)), ("ab", None))
    assert loss_of([everything, more, more]) == loss_of([everything])


@pytest.mark.parametrize("seed", range(40))
def test_an_account_grows_and_never_passes_what_noise_and_devices_lose_by_themselves(seed):
    chance = random.Random(seed)
    names = "abcd"[: chance.randint(1, 4)]
    losses = [chance.choice([Fraction(3, 2), E1, Fraction(20), None]) for _ in names]
    readings, before = [], Fraction(0)
    for _ in range(4):
        covered = chance.sample(names, chance.randint(1, len(names)))
        epsilon = chance.choice([Fraction(1, 10), Fraction(1), Fraction(6)])
        readings.append(reading(losses, (covered, epsilon)))
        total = loss_of(readings)
        assert before <= total <= sum(noise.epsilon for one in readings for noise in one.noises)
        if None not in losses:
            assert total <= ceiling(math.prod(losses))
        before = total


def test_a_noise_over_a_report_in_the_clear_counts_in_full_where_that_is_less():
    both_read = reading([E1, None], ("ab", Fraction(1, 2)))
    one = reading([E1], ("a", noise_within(Fraction(1, 4), E1)))
    total = loss_of([both_read, one])
    assert total <= Fraction(3, 4)
    assert float(total) == pytest.approx(0.75)


def test_many_tables_of_many_questions_are_added_up_with_few_steps():
    names = [f"q{number}" for number in range(40)]
    readings = [
        Reading({one: E1, other: E1}, [Noise(frozenset({one, other}), Fraction(1, 10))])
        for one, other in itertools.combinations(names, 2)
    ]
    assert loss_of(readings) <= min(Fraction(len(readings), 10), 40 * ceiling(E1))


def plainly(readings):
    """Return the account by its definition: every sum in fractions, every pair of blocks tried."""
    losses = {name: loss for one in readings for name, loss in one.losses.items()}
    common = {name: each for one in readings for name, each in one.common.items()}
    sums = {}
    for noise in (noise for one in readings for noise in one.noises):
        known = sums.get(noise.reports, Fraction(0))
        endless = known is None or noise.epsilon is None
        sums[noise.reports] = None if endless else known + noise.epsilon
    widest_first = sorted(sums.items(), key=lambda pair: len(pair[0]), reverse=True)

    def lost(block, read):
        own = [losses[name] for name in block]
        shared = common.get(*block, Fraction(0)) if len(block) == 1 else Fraction(0)
        return contracted(read, None if None in own else math.prod(own, start=Fraction(1)), shared)

    def total(split):
        read = [added(each for reports, each in sums.items() if reports & own) for own in split]
        full = Fraction(0)
        for reports, epsilon in widest_first:
            places = [at for at, block in enumerate(split) if reports & block]
            if epsilon is None or len(places) < 2:
                continue
            less = {at: None if read[at] is None else read[at] - epsilon for at in places}
            before = added(lost(split[at], read[at]) for at in places)
            after = added([epsilon, *(lost(split[at], less[at]) for at in places)])
            if before is not None and after < before:
                full += epsilon
                read = [less.get(at, each) for at, each in enumerate(read)]
        return added([full, *map(lost, split, read)])

    bare = frozenset(name for name, loss in losses.items() if loss is None)
    split = [frozenset([name]) for name in losses if name not in bare] + [bare] * bool(bare)
    found = [total([frozenset(losses)]), total(split)]
    while True:
        pairs = [
            [block for block in split if block not in (one, other)] + [one | other]
            for one, other in itertools.combinations(split, 2)
            if any(reports & one and reports & other for reports in sums)
        ]
        tried = [(total(merged), merged) for merged in pairs]
        finite = [(each, place) for place, (each, _) in enumerate(tried) if each is not None]
        if not finite or (found[-1] is not None and min(finite)[0] >= found[-1]):
            break
        found.append(min(finite)[0])
        split = tried[min(finite)[1]][1]
    return min((each for each in found if each is not None), default=None)


def added(parts):
    parts = list(parts)
    return None if None in parts else sum(parts, Fraction(0))


@pytest.mark.parametrize("scale", [Fraction(1, 10**12), Fraction(1), Fraction(20), Fraction(150)])
@pytest.mark.parametrize("seed", range(8))
def test_floats_decide_nothing_that_fractions_would_not(seed, scale):
    """Equal noises and losses make ties; at large scales nothing is left to lose but roundings."""
    chance = random.Random(seed)
    pool = [Fraction(3, 2), Fraction(20), Fraction(1), E1, None, None]
    losses = {name: chance.choice(pool) for name in "abcdef"[: chance.randint(2, 6)]}
    known = [name for name, loss in losses.items() if loss is not None]
    common = {name: Fraction(chance.randint(1, 9), 3) for name in known if chance.random() < 0.5}
    epsilons = [Fraction(1, 10), Fraction(1), Fraction(1, 4), Fraction(chance.randint(1, 999), 70)]
    readings = []
    for _ in range(chance.choice([3, 12])):
        names = chance.sample(sorted(losses), chance.randint(1, len(losses)))
        epsilon = None if chance.random() < 0.05 else chance.choice(epsilons) * scale
        own = {name: common[name] for name in names if name in common}
        noise = Noise(frozenset(names), epsilon)
        readings.append(Reading({name: losses[name] for name in names}, [noise], common=own))
    assert loss_of(readings) == plainly(readings)


def test_a_thousand_rows_take_few_exponentials():
    chance, names = random.Random(1), [f"q{number}" for number in range(12)]
    losses = {name: exp_below(Fraction(chance.randint(500, 3000), 1000)) for name in names}
    readings = []
    for _ in range(1000):
        read = chance.sample(names, chance.choice([1, 1, 2, 3]))
        noise = Noise(frozenset(read), Fraction(chance.randint(1, 2000), 1000))
        readings.append(Reading({name: losses[name] for name in read}, [noise]))
    contracted.cache_clear()
    loss_of(readings)
    assert contracted.cache_info().misses < 1000


def randomised(local):
    """Return the law of a report of one bit."""
    kept = Fraction(local, 1 + local)
    return [[kept, 1 - kept], [1 - kept, kept]]


def noisy(count, odds, reach):
    """Return the law of a count with two-sided geometric noise, held within ±reach."""
    p = 1 / odds
    law = {z: (1 - p) / (1 + p) * p ** abs(z - count) for z in range(1 - reach, reach)}
    ends = {end: p ** abs(end - count) / (1 + p) for end in (-reach, reach)}
    return {**law, **ends}


def odds_of(outcomes):
    """Return the exact greatest odds between two answers, of laws by outcome."""
    return max(
        one[outcome] / other[outcome]
        for one, other in itertools.permutations(outcomes, 2)
        for outcome in one
    )


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("local", [(2, 3), (3, 20)])
def test_adaptive_releases_on_two_reports_in_every_order_lose_what_is_charged(order, local):
    """Three releases: of the first bit, of whether both are held, and of the one that the first
    outcome chose. One person's reports; everybody else's are known, so counts differ by theirs.
    """
    odds = [Fraction(3, 2), Fraction(2), Fraction(5, 4)]
    noises = [[noisy(count, each, 3) for count in range(2)] for each in odds]
    laws = [randomised(each) for each in local]

    def path(drawn, reports):
        chance = Fraction(1)
        for place, which in enumerate(order):
            chosen = reports[drawn[0] % 2 if place else 0]
            count = (reports[0], reports[0] * reports[1], chosen)[which]
            chance *= noises[which][count][drawn[place]]
        return chance

    pairs = list(itertools.product(range(2), repeat=2))
    outcomes = [
        {
            drawn: sum(
                laws[0][answers[0]][reports[0]]
                * laws[1][answers[1]][reports[1]]
                * path(drawn, reports)
                for reports in pairs
            )
            for drawn in itertools.product(range(-3, 4), repeat=3)
        }
        for answers in pairs
    ]
    found = odds_of(outcomes)
    logs = [Fraction(math.log(each)) + Fraction(1, 10**9) for each in odds]
    losses = [Fraction(each) for each in local]
    charges = [
        loss_of(
            [
                reading(losses, ("a", logs[0])),
                reading(losses, ("ab", logs[1])),
                reading(losses, (third, logs[2])),
            ]
        )
        for third in "ab"
    ]
    assert 0.6 * float(min(charges)) < math.log(found) <= float(max(charges))


@pytest.mark.parametrize("local", [Fraction(3, 2), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("odds", [Fraction(5, 4), Fraction(2), Fraction(9)])
@pytest.mark.parametrize("n", [1, 4])
def test_one_noisy_count_of_n_reports_loses_the_charge_within_a_hundredth(local, odds, n):
    """All data sets of n people who differ in one; the law of the noisy count, exactly."""
    law, reach = randomised(local), 4 * n

    def counts(answers):
        found = {0: Fraction(1)}
        for answer in answers:
            moved = {}
            for count, chance in found.items():
                for bit in range(2):
                    moved[count + bit] = moved.get(count + bit, 0) + chance * law[answer][bit]
            found = moved
        laws = {count: noisy(count, odds, reach) for count in found}
        return {
            outcome: sum(chance * laws[count][outcome] for count, chance in found.items())
            for outcome in range(-reach, reach + 1)
        }

    worst = max(
        odds_of([counts((0, *others)), counts((1, *others))])
        for others in itertools.combinations_with_replacement(range(2), n - 1)
    )
    charged = contracted(Fraction(math.log(odds)) + Fraction(1, 10**12), local)
    assert 0.99 * float(charged) <= math.log(worst) <= charged


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_paths_of_releases_of_up_to_12_people_lose_the_charge_at_most(epsilon):
    """All data sets, outcomes and orders; the longer ones are in tests/bench/enumeration.py."""
    rows = [path.row() for path in enumeration.paths(1e7, [epsilon])]
    assert {row["n"] for row in rows if "none" not in row["noises"]} == {1, 4, 8, 12}
    for row in rows:
        assert row["lost"] <= row["charged"] * (1 + 1e-9), row
        assert row["lost"] >= (0.99 if row["tight"] else 0.6) * row["charged"], row


@pytest.mark.parametrize(("local", "epsilon"), [("1", 1), ("3", 2)])
def test_who_knows_all_reports_but_one_learns_nearly_what_is_charged(local, epsilon):
    """The shipped draw and the shipped noise. The limits are missed once in a hundred million."""
    tries, channel = 20_000, Table.binary(Decimal(local))
    noise = DiscreteLaplace.for_epsilon(Fraction(epsilon), 1)
    said = [
        sum(noisy >= 1 for noisy in noise.release([channel.randomise(own) for _ in range(tries)]))
        for own in (1, 0)
    ]
    (least, most), (low, high) = (clopper_pearson(each, tries, 1 - 1e-8) for each in said)
    charged = float(contracted(noise.epsilon, channel.loss))
    assert 0.6 * charged < math.log(least / high) <= charged
    assert math.log(most / low) >= charged  # what is charged is not more than is lost, so far


@pytest.mark.parametrize("releases", [1, 2])
@pytest.mark.parametrize(("choices", "size"), [(4, 2), (5, 2), (6, 3)])
@pytest.mark.parametrize("scale", [2.0, 8.0])
def test_a_count_of_subsets_tells_answers_apart_by_the_two_that_are_swapped(
    choices, size, scale, releases
):
    """All outcomes that tell most: each count at its lowest or highest, of one or two releases."""
    channel = Subset.of_size(choices, size, Decimal(1))
    sets = list(itertools.combinations(range(choices), size))
    after, instead = ([float(chance) for chance in law] for law in channel.probabilities(sets)[:2])
    worst = 0.0
    ends = list(itertools.product((0, 1), repeat=choices))
    for seen in itertools.combinations_with_replacement(ends, releases):
        chances = [
            math.exp(
                -sum(abs(end[i] - (i in held)) for end in seen for i in range(choices)) / scale
            )
            for held in sets
        ]
        one, other = (
            sum(p * chance for p, chance in zip(law, chances, strict=True))
            for law in (after, instead)
        )
        worst = max(worst, math.log(one / other))
    swapped = channel.swapped().l1
    charged = float(contracted(Fraction(releases * swapped) / Fraction(scale), channel.loss))
    assert 0.6 * charged < worst <= charged
    whole = channel.moved(Neighbours.CHANGE_ONE).l1
    assert whole == 2 * min(size, choices - size) > swapped


def test_reports_of_another_loss_are_not_the_same_report():
    with pytest.raises(ValueError, match="one loss of report a"):
        loss_of([reading([Fraction(3)], ("a", None)), reading([Fraction(2)], ("a", None))])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Noise(frozenset(), Fraction(1)), "reports must name"),
        (lambda: Noise(frozenset("a"), Fraction(0)), "epsilon must be above 0"),
        (lambda: Reading({}, [Noise(frozenset("a"), None)]), "losses must name"),
        (lambda: reading([Fraction(1, 2)], ("a", None)), "loss of a must be 1 or more"),
        (lambda: noise_within(Fraction(0), None), "epsilon must be above 0"),
        (lambda: shared_out(Fraction(1), []), "one report or more"),
    ],
)
def test_what_cannot_be_is_named(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_no_release_loses_nothing():
    assert loss_of([]) == 0


def sets(*names):
    return tuple(map(frozenset, names))


DRAWN = Reading(
    {"a": Fraction(3), "b": Fraction(2), "c": Fraction(5)},
    [Noise(frozenset(name), Fraction(1)) for name in "abc"],
    sets("ab", "c", "b"),
)


def alone(names):
    """Return what is lost by who sent just these reports."""
    return loss_of([DRAWN.of(frozenset(names))])


def test_who_sends_one_of_some_sets_loses_what_the_worst_of_them_does():
    assert DRAWN.held() == [frozenset("ab"), frozenset("c")]  # who sent b alone loses less
    assert loss_of([DRAWN]) == max(alone("ab"), alone("c")) == alone("ab") > alone("c")
    everything = Reading(DRAWN.losses, DRAWN.noises)
    assert loss_of([DRAWN]) < loss_of([everything])
    assert loss_of([DRAWN] * 3) == loss_of([Reading(DRAWN.losses, DRAWN.noises * 3, DRAWN.sets)])


def test_a_report_that_no_set_names_is_sent_by_everybody():
    losses = {**DRAWN.losses, "given": None}
    noise = Noise(frozenset(["given"]), Fraction(1, 4))
    reading = Reading(losses, [*DRAWN.noises, noise], DRAWN.sets)
    assert loss_of([reading]) == loss_of([DRAWN]) + Fraction(1, 4)
    alone = Reading({"given": None}, [noise], DRAWN.sets)
    assert loss_of([DRAWN, alone]) == loss_of([reading])


def test_what_reads_two_questions_touches_whoever_sent_one_of_them():
    pair = Reading(DRAWN.losses, [Noise(frozenset("ac"), Fraction(1, 2))], DRAWN.sets)
    of_a, of_c = (contracted(Fraction(1, 2), DRAWN.losses[name]) for name in "ac")
    assert loss_of([pair]) == max(of_a, of_c)


def test_two_draws_and_what_is_not_drawn_add_up():
    other = Reading({"x": Fraction(3)}, [Noise(frozenset("x"), None)], sets("x", "y"))
    bare = Reading({"z": None}, [Noise(frozenset("z"), Fraction(1, 3))])
    parts = [loss_of([each]) for each in (DRAWN, other, bare)]
    assert loss_of([DRAWN, other, bare]) == sum(parts)
    without = Reading({"x": None}, [Noise(frozenset("x"), None)], sets("x", "y"))
    assert loss_of([DRAWN, without]) is None


def test_a_report_in_two_draws_is_refused():
    again = Reading({"c": Fraction(5)}, [Noise(frozenset("c"), None)])
    other = Reading({"c": Fraction(5)}, [Noise(frozenset("c"), None)], sets("c", "a"))
    for reading in (again, other):
        with pytest.raises(ValueError, match="one draw"):
            loss_of([DRAWN, reading])
    with pytest.raises(ValueError, match="sets must hold"):
        Reading({"c": None}, [], sets("c", ""))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(6)])
def test_by_enumeration_no_person_loses_more_whatever_was_drawn(epsilon):
    """Two coins of e^ε₀ = 3, one of them or both sent, each count published through noise: the
    chance of the set cancels.
    """
    coin, noise, held = Fraction(3, 4), exp_below(epsilon), sets("ab", "c")

    def chance(set_drawn, answers, published):
        """Of what is published of each question: which of two outputs, with odds noise to 1."""
        found = Fraction(1, len(held))
        for name in set_drawn:
            out = published[name]
            through = sum(
                (coin if report == answers[name] else 1 - coin)
                * (noise if report == out else 1)
                / (noise + 1)
                for report in (0, 1)
            )
            found *= through
        return found

    worst = Fraction(1)
    for drawn in held:
        outputs = [
            dict(zip(sorted(drawn), bits, strict=True))
            for bits in itertools.product((0, 1), repeat=len(drawn))
        ]
        for published, one, other in itertools.product(outputs, outputs, outputs):
            worst = max(worst, chance(drawn, one, published) / chance(drawn, other, published))
    losses = {name: Fraction(3) for name in "abc"}
    reading = Reading(losses, [Noise(frozenset(name), epsilon) for name in "abc"], held)
    bound = loss_of([reading])
    assert worst <= exp_above(bound)
    assert math.log(worst) == pytest.approx(float(bound), rel=1e-9)


# One answer

ANSWERS = sets("af", "c")  # f follows from a: they are one answer
LOCAL = {"a": Fraction(3), "f": Fraction(2), "c": Fraction(5)}
GIVEN = [(0, 2), (1, 0), (1, 1)]  # to a and f: who answers no is not asked, and says so
RECORDS = [(a, f, c) for a, f in GIVEN for c in range(2)]
ODDS = [Fraction(3, 2), Fraction(2), Fraction(5, 4)]


def law_of_reports(record):
    """Return how likely each person's reports are after their answers, drawn apart."""
    laws = []
    for loss, choices, answer in zip(LOCAL.values(), (2, 3, 2), record, strict=True):
        whole = loss + choices - 1
        laws.append([(loss if at == answer else 1) / whole for at in range(choices)])
    return {
        reports: math.prod(law[at] for law, at in zip(laws, reports, strict=True))
        for reports in itertools.product(range(2), range(3), range(2))
    }


def law_of_counts(people):
    """Return how likely the counts of a, of f, of a with c, and of c are."""
    laws = {(0, 0, 0, 0): Fraction(1)}
    for record in people:
        added = {}
        for counts, chance in laws.items():
            for (a, f, c), own in law_of_reports(record).items():
                moved = (a, int(f == 1), a * c, c)
                key = tuple(map(sum, zip(counts, moved, strict=True)))
                added[key] = added.get(key, Fraction(0)) + chance * own
        laws = added
    return laws


def law_of_paths(people):
    """Return how likely three releases are: a; a with c or f, as the first one chose; and c."""
    noises = [[noisy(count, odds, 3) for count in range(3)] for odds in ODDS]
    found = {}
    for counts, chance in law_of_counts(people).items():
        for path in itertools.product(range(-3, 4), repeat=3):
            read = (counts[0], counts[2] if path[0] % 2 else counts[1], counts[3])
            draws = zip(noises, read, path, strict=True)
            through = math.prod(noise[count][outcome] for noise, count, outcome in draws)
            found[path] = found.get(path, Fraction(0)) + chance * through
    return found


def releases(first):
    """Return what a path reads, by its first outcome."""
    logs = [Fraction(math.log(each)) + Fraction(1, 10**12) for each in ODDS]
    read = ("a", "ac" if first % 2 else "f", "c")
    return [
        Reading({name: LOCAL[name] for name in names}, [Noise(frozenset(names), epsilon)], ANSWERS)
        for names, epsilon in zip(read, logs, strict=True)
    ]


@pytest.mark.parametrize("n", [1, 2])
def test_by_enumeration_one_answer_loses_what_is_charged_for_the_dearest(n):
    """All sets of n people; all of one person's answers together lose more than is charged, and at
    most the sum over them.
    """
    bounds = [loss_of(releases(first)) for first in range(2)]
    parts = [
        sum(loss_of([each.of(held) for each in releases(first)]) for held in ANSWERS)
        for first in range(2)
    ]
    one, whole = [0.0, 0.0], [0.0, 0.0]
    for others in itertools.combinations_with_replacement(RECORDS, n - 1):
        laws = {record: law_of_paths([record, *others]) for record in RECORDS}
        for before, after in itertools.permutations(RECORDS, 2):
            differs = [before[:2] != after[:2], before[2] != after[2]]
            for path, chance in laws[before].items():
                lost, parity = math.log(chance / laws[after][path]), path[0] % 2
                whole[parity] = max(whole[parity], lost)
                if sum(differs) == 1:
                    one[parity] = max(one[parity], lost)
    for parity, bound in enumerate(bounds):
        assert 0.6 * float(bound) < one[parity] <= float(bound)
        assert float(bound) < whole[parity] <= float(parts[parity])
        assert parts[parity] <= len(ANSWERS) * bound


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(2)])
def test_one_noise_over_one_answer_is_charged_exactly(epsilon):
    odds = exp_below(epsilon)
    noises = [noisy(count, odds, 3) for count in range(2)]
    laws = [
        {out: sum(law[at] * noises[at][out] for at in range(2)) for out in noises[0]}
        for law in randomised(5)
    ]
    reading = Reading({"c": LOCAL["c"]}, [Noise(frozenset("c"), epsilon)], ANSWERS)
    assert math.log(odds_of(laws)) == pytest.approx(float(loss_of([reading])), rel=1e-9)


def test_releases_about_different_answers_do_not_add_up_and_about_the_same_do():
    of_a, of_f, of_c = (
        Reading({name: LOCAL[name]}, [Noise(frozenset(name), Fraction(1, 2))], ANSWERS)
        for name in "afc"
    )
    alone = {name: contracted(Fraction(1, 2), LOCAL[name]) for name in "afc"}
    assert loss_of([of_a, of_c]) == max(alone["a"], alone["c"])
    assert loss_of([of_a, of_f]) == alone["a"] + alone["f"]  # one answer, two reports
    assert loss_of([of_c, of_c]) == contracted(Fraction(1), LOCAL["c"]) > alone["c"]
    assert loss_of([of_a, of_f, of_c]) == alone["a"] + alone["f"]


def test_later_waves_whose_draws_may_be_repeated_add_up():
    later = Reading(
        {"2c": None, "2a": None},
        [Noise(frozenset(["2c"]), Fraction(1, 4)), Noise(frozenset(["2a"]), Fraction(1, 8))],
        sets(("2a",), ("2c",)),
    )
    first = releases(0)
    assert loss_of([*first, later]) == loss_of(first) + Fraction(1, 4)


def geometric(n, odds):
    """Return the chances of every count published of every true one: pure, e^ε = odds."""
    alpha = 1 / odds
    inner, ends = (1 - alpha) / (1 + alpha), 1 / (1 + alpha)
    return [
        [alpha ** abs(k - c) * (ends if k in (0, n) else inner) for k in range(n + 1)]
        for c in range(n + 1)
    ]


def as_it_came(n):
    return [[Fraction(k == c) for k in range(n + 1)] for c in range(n + 1)]


def counts_law(answers, loss):
    """Return the chance of every number of yes, where each answer is sent truly with loss : 1."""
    law = [Fraction(1)]
    for answer in answers:
        yes = (loss if answer else 1) / (loss + 1)
        padded = [Fraction(0), *law, Fraction(0)]
        law = [padded[k + 1] * (1 - yes) + padded[k] * yes for k in range(len(law) + 1)]
    return law


def fresh_waves(people, loss, first, then):
    """Return the chance of each path: a wave published through `first`, then one through what that
    says. `people`: the answers of each, a wave at a time.
    """
    counts = range(len(people) + 1)
    laws = [counts_law([person[wave] for person in people], loss) for wave in (0, 1)]
    return {
        (one, two): sum(laws[0][c] * first[c][one] for c in counts)
        * sum(laws[1][c] * then(one)[c][two] for c in counts)
        for one, two in itertools.product(counts, repeat=2)
    }


def kept_waves(people, loss, first, second):
    """Return the same of one person, whose key sends an unchanged answer alike."""
    ((before, after),) = people
    paths = dict.fromkeys(itertools.product((0, 1), repeat=2), Fraction(0))
    for sent, again in paths:
        chance = (loss if sent == before else Fraction(1)) / (loss + 1)
        anew = (loss if again == after else Fraction(1)) / (loss + 1)
        chance *= Fraction(again == sent) if before == after else anew
        for one, two in paths:
            paths[one, two] += chance * first[sent][one] * second[again][two]
    return paths


def worst(law, others=()):
    """Return the largest ratio of the chances of a path, where one person answers otherwise in two
    waves; None where there is none.
    """
    laws = [law([one, *others]) for one in itertools.product((0, 1), repeat=2)]
    pairs = [
        (a[path], b[path]) for a, b in itertools.permutations(laws, 2) for path in a if a[path]
    ]
    return max(a / b for a, b in pairs) if all(b for _, b in pairs) else None


def in_waves(loss, *noises, kept=False):
    """Return a reading of each wave's report."""
    return [
        Reading(
            {f"s/{wave}/q": None if kept and wave > 1 else loss},
            [Noise(frozenset([f"s/{wave}/q"]), epsilon)],
        )
        for wave, epsilon in enumerate(noises, start=1)
    ]


LN_2 = Fraction(math.log(2)) + Fraction(1, 10**12)  # from above


@pytest.mark.parametrize("loss", [Fraction(3), Fraction(3, 2), Fraction(8)])
@pytest.mark.parametrize("others", [[], [(0, 1)], [(1, 1), (0, 0)], [(0, 1), (1, 0), (1, 1)]])
@pytest.mark.parametrize("second", ["noisy", "as it came", "by what the first said"])
def test_by_enumeration_two_fresh_waves_lose_what_is_charged_at_most(loss, others, second):
    """Chosen on the way too: as it came where an even number was published of the first."""
    noisy, bare = geometric(len(others) + 1, Fraction(2)), as_it_came(len(others) + 1)
    then = {
        "noisy": lambda one: noisy,
        "as it came": lambda one: bare,
        "by what the first said": lambda one: noisy if one % 2 else bare,
    }[second]
    charged = loss_of(in_waves(loss, LN_2, LN_2 if second == "noisy" else None))
    found = worst(lambda people: fresh_waves(people, loss, noisy, then), others)
    assert 1 < found <= exp_above(charged)
    if not others:  # who knows everything else: it is reached
        assert math.log(found) == pytest.approx(float(charged), rel=1e-9)


@pytest.mark.parametrize("loss", [Fraction(3), E1, Fraction(8)])
def test_two_fresh_waves_as_they_came_lose_their_ceiling_and_two_kept_ones_have_none(loss):
    bare = as_it_came(1)
    found = worst(lambda people: fresh_waves(people, loss, bare, lambda one: bare))
    assert found == loss**2
    assert found <= exp_above(loss_of(in_waves(loss, None, None)))
    assert worst(lambda people: kept_waves(people, loss, bare, bare)) is None
    assert loss_of(in_waves(loss, None, None, kept=True)) is None


@pytest.mark.parametrize("loss", [Fraction(3), Fraction(3, 2), Fraction(8)])
@pytest.mark.parametrize("odds", [2, 100])
def test_two_kept_waves_lose_what_is_charged_at_most_and_where_noise_is_small_more(loss, odds):
    """More than fresh ones would: so the second counts in full."""
    noisy, epsilon = geometric(1, Fraction(odds)), Fraction(math.log(odds)) + Fraction(1, 10**12)
    found = worst(lambda people: kept_waves(people, loss, noisy, noisy))
    assert found <= exp_above(loss_of(in_waves(loss, epsilon, epsilon, kept=True)))
    is_more = found > exp_above(loss_of(in_waves(loss, epsilon, epsilon)))
    assert is_more == (odds == 100)


def test_who_sent_nothing_that_was_read_loses_nothing():
    assert loss_of([reading([])]) == 0


def test_what_is_saved_beyond_what_floats_hold_is_told_by_its_logarithm():
    """Of ε = 1,000 all that ε₀ = 900 lets pass is lost, and without 900 of it no more than 100."""
    block = _Block(Fraction(1000), exp_below(Fraction(900)), Fraction(0))
    assert block.saved(1, Fraction(900)) == pytest.approx(800)
