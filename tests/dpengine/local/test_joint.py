"""Joint answers: the law of what a report tells of one question, by enumeration of all reports."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from random import Random

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import NoNoise, share
from dpengine.local.joint import Joint, best_size, pooled, variances
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import Neighbours, exponential_below
from dpengine.randomness import WORD
from tests.tables import kary
from tests.vectors import load, replay

HALF = Fraction(1, 2)
JOINTS = [
    Joint.of(Subset(6, 2, WORD // 2), (2, 3)),
    Joint.of(Subset(6, 3, 3 * WORD // 4), (3, 2)),
    Joint.of(Subset(8, 3, WORD // 2), (2, 2, 2)),
    Joint.of(Subset(4, 1, WORD // 2), (2, 2)),
    Joint.of(kary(6, Decimal(2)), (2, 3)),
    # who declines has a cell: the last answer of each question, or before “Not asked”
    Joint.of(Subset(5, 1, WORD // 2), (2, 2), (2, 2)),
    Joint.of(Subset(7, 2, WORD // 2), (2, 3), (2, 2)),
    Joint.of(Subset(9, 4, 3 * WORD // 4), (2, 2, 2), (2, 2, 2)),
    Joint.of(kary(7, Decimal(2)), (3, 2), (3, 1)),
]
DECLINING = [joint for joint in JOINTS if joint.declining]
VIEWS = [
    joint.view(*seen)
    for joint in JOINTS
    for size in range(1, len(joint.questions) + 1)
    for seen in combinations(range(len(joint.questions)), size)
] + [JOINTS[0].view(1, 0)]


def reports_of(joint):
    return list(combinations(range(joint.channel.cells), joint.held))


def chances_of(joint):
    """Return Pr[report | cell], a row a cell, of all reports as sets of cells."""
    if isinstance(joint.channel, Table):
        rows = joint.channel.weights
        return [[Fraction(weight, joint.channel.total) for weight in row] for row in rows]
    return joint.channel.probabilities(reports_of(joint))


def digits_of(view, cell):
    """Return a cell's answer in a view, from its decoded answers alone."""
    answers = view.decode(cell)
    if view.declining and len(view.seen) == 1:
        return answers[view.seen[0]]
    if view.declining and cell == view.channel.cells - 1:
        return view.answers - 1
    place = 0
    for question in view.seen:
        passed = view.declining and answers[question] > view.declining[question]
        place = place * view.questions[question] + answers[question] - bool(passed)
    return place


def worth(view, report, answer):
    """Return u: what a report tells of an answer, from the channel's cells."""
    margin = view.channel.margins()[0]
    return sum(
        ((cell in report) - margin.lie) / (margin.truth - margin.lie)
        for cell in range(view.channel.cells)
        if digits_of(view, cell) == answer
    )


@pytest.mark.parametrize("joint", JOINTS, ids=str)
def test_no_two_joint_answers_make_a_report_likelier_than_the_loss(joint):
    table = chances_of(joint)
    assert all(sum(row) == 1 for row in table)
    assert max(max(column) / min(column) for column in zip(*table, strict=True)) == joint.loss


@pytest.mark.parametrize("joint", JOINTS, ids=str)
def test_every_joint_answer_has_a_cell_of_its_own(joint):
    every = [range(choices + bool(joint.declining)) for choices in joint.questions]
    answers = list(product(*every))
    if joint.declining:
        declined = [each for each in answers if any(map(int.__eq__, each, joint.declining))]
        assert {joint.encode(each) for each in declined} == {joint.channel.cells - 1}
        answers = [*(each for each in answers if each not in declined), joint.declining]
    assert [joint.encode(each) for each in answers] == list(range(joint.channel.cells))
    assert [joint.decode(cell) for cell in range(joint.channel.cells)] == answers


def test_a_joint_answer_is_changed_as_its_cell_is():
    joint, words = JOINTS[0], [WORD // 2 - 1, 3]
    assert joint.randomise((1, 2), replay(words)) == joint.channel.randomise(5, replay(words))


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_what_is_held_of_an_answer_follows_its_law(view):
    table = chances_of(view)
    for cell, answer in product(range(view.channel.cells), range(view.answers)):
        true, false = view.by_answer[answer].laws()
        law = [Fraction(0)] * len(true)
        for report, chance in zip(reports_of(view), table[cell], strict=True):
            law[sum(digits_of(view, held) == answer for held in report)] += chance
        assert tuple(law) == (true if digits_of(view, cell) == answer else false)


@pytest.mark.parametrize("view", VIEWS, ids=str)
@pytest.mark.parametrize("at", [Fraction(0), Fraction(1, 10), HALF])
def test_its_variance_is_that_of_all_reports(view, at):
    """People of whom a share has the first answer, in its first cell, and all others the last
    cell: where declining is one, people who decline.
    """
    table, first = chances_of(view), 0
    mixed = [at * yes + (1 - at) * no for yes, no in zip(table[0], table[-1], strict=True)]
    told = [worth(view, report, first) for report in reports_of(view)]
    mean = sum(chance * u for chance, u in zip(mixed, told, strict=True))
    square = sum(chance * u**2 for chance, u in zip(mixed, told, strict=True))
    assert mean == at
    assert view.variance(at) == square - mean**2
    n = 400  # a whole count then has about that share
    doubt = view.forecast(n, at, NoNoise()).variance
    assert doubt.publication == 0
    if at == HALF:
        assert doubt.total == pytest.approx(float(square - mean**2) / n, rel=2e-2)


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_features_have_the_means_and_squares_of_all_reports(view):
    """After an answer whose cells are all as common."""
    table, features = chances_of(view), view.features()
    for true in range(view.answers):
        cells = [cell for cell in range(view.channel.cells) if digits_of(view, cell) == true]
        law = [sum(column) / len(cells) for column in zip(*(table[c] for c in cells), strict=True)]
        held = np.array(
            [[cell in report for cell in range(view.channel.cells)] for report in reports_of(view)]
        )
        chances = np.array(law, dtype=np.float64)
        assert features.chances[true] == pytest.approx(chances @ held)
        assert features.pairs[true] == pytest.approx(
            np.einsum("r,ri,rj->ij", chances, held, held), abs=1e-12
        )
        for answer in range(view.answers):
            told = [worth(view, report, answer) for report in reports_of(view)]
            assert held @ features.first[answer] == pytest.approx([float(u) for u in told])
            mean = sum(chance * u**2 for chance, u in zip(law, told, strict=True))
            assert features.second[answer] @ features.chances[true] == pytest.approx(float(mean))
            assert features.ends[0][answer] == pytest.approx(float(min(told)))
            assert features.ends[1][answer] == pytest.approx(float(max(told)))


@pytest.mark.parametrize("joint", JOINTS, ids=str)
def test_a_question_is_estimated_by_the_sum_of_its_cells(joint):
    noisy, n = [7 + 3 * cell for cell in range(joint.channel.cells)], 60
    cells = [each.value for each in joint.channel.estimates(noisy, n, NoNoise())] if n else []
    for place in range(len(joint.questions)):
        view = joint.view(place)
        found = [each.value for each in view.estimates(view.counted(noisy), n, NoNoise())]
        assert found == pytest.approx(
            [
                sum(cells[c] for c in range(joint.channel.cells) if digits_of(view, c) == answer)
                for answer in range(view.answers)
            ]
        )


def test_where_one_cell_is_named_the_interval_is_the_one_of_a_share():
    """With noise that hardly ever is any, the interval is found by summing, not by the beta law."""
    view, n = JOINTS[3].view(1), 100
    counts = view.counted([20, 31, 28, 21])
    hardly = DiscreteLaplace.for_epsilon(Fraction(40), 2)
    for answer, count in enumerate((48, 52)):
        own = view.estimates(counts, n, NoNoise())[answer]
        other = share(count, n, view.margins()[answer], NoNoise())
        assert (own.value, own.low, own.high) == pytest.approx(
            (other.value, other.low, other.high), abs=1e-6
        )
        assert own.variance.device == pytest.approx(other.variance.device)
        summed = view.estimates(counts, n, hardly)[answer]
        assert (summed.value, summed.low, summed.high) == pytest.approx(
            (other.value, other.low, other.high), abs=1e-5
        )


def law_of_sum(cells, share, n):
    once = [float(share * yes + (1 - share) * no) for yes, no in zip(*cells.laws(), strict=True)]
    law = np.array([1.0])
    for _ in range(n):
        law = np.convolve(law, once)
    return law


@pytest.mark.parametrize(("n", "at"), [(40, 0), (40, 0.02), (40, 0.5), (100, 0.1)])
@pytest.mark.parametrize(
    ("view", "answer"),
    [
        (Joint.for_epsilon((2, 2, 2), Decimal(1)).view(0), 0),
        (Joint.for_epsilon((5, 5), Decimal(1)).view(1), 0),
        (Joint.for_epsilon((2, 2, 2, 2), Decimal(1)).view(0, 3), 0),
        (Joint.for_epsilon((2, 2, 2), Decimal(1), (2, 2, 2)).view(0), 0),
        (Joint.for_epsilon((2, 2, 2), Decimal(1), (2, 2, 2)).view(1), 2),
        (Joint.for_epsilon((2, 5), Decimal("0.5"), (2, 4)).view(1), 4),
    ],
    ids=str,
)
def test_an_interval_holds_the_share_as_often_as_it_says_exactly(view, answer, n, at):
    law, held = law_of_sum(view.by_answer[answer], Fraction(str(at)), n), 0.0
    for total in np.flatnonzero(law > 1e-7).tolist():
        counts = [0] * view.answers
        counts[answer] = total
        found = view.estimates(counts, n, NoNoise())[answer]
        held += law[total] * (found.low - 1e-9 <= at <= found.high + 1e-9)
    assert held > 0.95 - 1e-5


@pytest.mark.parametrize(
    ("noise", "epsilon"),
    [(NoNoise(), "2"), (DiscreteLaplace.for_epsilon(Fraction(1), 2), "2"), (NoNoise(), "1")],
)
def test_intervals_of_what_declines_as_one_cover_what_people_said(noise, epsilon):
    """Of 200 people 30 in 100 decline, and 45 in 100 say yes to either question: each interval
    misses 5 in 100 times, or less.
    """
    chance, times, n = Random(20261130), 400, 200
    joint = Joint.for_epsilon((2, 2), Decimal(epsilon), (2, 2))
    shares = {(0, 0): 15, (0, 1): 10, (1, 0): 10, (1, 1): 35, (2, 2): 30}
    people = [cell for cell, share in shares.items() for _ in range(share * n // 100)]
    true = [25 / 100, 45 / 100, 30 / 100]
    missed = np.zeros((2, 3), dtype=np.int64)
    for _ in range(times):
        reports = [joint.randomise(answers, lambda: chance.getrandbits(32)) for answers in people]
        for place in (0, 1):
            view = joint.view(place)
            counts = [count + _laplace(noise, chance) for count in view.count(reports)]
            for answer, found in enumerate(view.estimates(counts, n, noise)):
                missed[place, answer] += not found.low <= true[answer] <= found.high
    # the chance that one of 6 that miss 5 in 100 is seen so often is below 1 in 1,000
    assert missed.max() <= 37
    assert missed.min() > 0


def _laplace(noise, chance):
    """Return a number from a discrete Laplace law, of two geometric ones; 0 from no noise."""
    if isinstance(noise, NoNoise):
        return 0
    one, other = (int(chance.expovariate(1 / noise.scale)) for _ in range(2))
    return one - other


def test_noise_on_the_counts_of_a_view_is_counted_in():
    view, noise = JOINTS[2].view(0), DiscreteLaplace.for_epsilon(Fraction(1, 4), 6)
    counts, n = [1600] * 2, 1067
    exact, noisy = (view.estimates(counts, n, law)[1] for law in (NoNoise(), noise))
    margin = view.channel.margins()[0]
    added = noise.variance / (n * margin.contrast) ** 2
    assert noisy.variance.publication == pytest.approx(added)
    # two blocks have noise twice, in half of the reports each
    half = (view, [800] * 2, 533), (JOINTS[2].view(2), [800] * 2, 534)
    twice = pooled(half, noise)[1]
    assert twice.variance.publication == pytest.approx(2 * added)
    assert twice.variance.device == pytest.approx(noisy.variance.device)
    wider = (twice.variance.total / noisy.variance.total) ** 0.5
    assert wider > 1.05
    assert twice.high - twice.low == pytest.approx(wider * (noisy.high - noisy.low), rel=0.02)
    assert noisy.value == exact.value
    assert noisy.low < exact.low < exact.high < noisy.high
    reach = 1.96 * noisy.standard_error
    assert noisy.high - noisy.low == pytest.approx(2 * reach, rel=0.1)


def test_blocks_with_one_channel_are_one_larger_block():
    """Whatever place the question has in them."""
    joint = JOINTS[2]
    first, second = [30, 31, 32, 33, 34, 35, 36, 37], [12, 13, 20, 19, 18, 17, 16, 15]
    swapped = [first[joint.encode(joint.decode(c)[::-1])] for c in range(8)]
    view, last = joint.view(0), joint.view(2)
    views = [(view, view.counted(first), 90), (view, view.counted(second), 43)]
    other = [(last, last.counted(swapped), 90), (view, view.counted(second), 43)]
    both = [one + two for one, two in zip(first, second, strict=True)]
    expected = view.estimates(view.counted(both), 133, NoNoise())
    assert pooled(views, NoNoise()) == expected
    assert [each.value for each in pooled(other, NoNoise())] == [each.value for each in expected]
    assert pooled([*views, (joint.view(1), [0] * 2, 0)], NoNoise()) == expected


def test_blocks_with_different_channels_are_weighted_and_stay_unbiased():
    """By expected counts of people of whom 30 in 100 have the answer 0; and never worse than
    either block alone.
    """
    views = [Joint.for_epsilon((2, 2), Decimal(2)).view(0), JOINTS[0].view(0)]
    shares, sizes, parts = [Fraction(3, 10), Fraction(7, 10)], (10**6, 2 * 10**6), []
    for view, n in zip(views, sizes, strict=True):
        table, counts = chances_of(view), [Fraction(0)] * view.channel.cells
        for cell, row in enumerate(table):
            part = shares[digits_of(view, cell)] / view.together
            for report, chance in zip(reports_of(view), row, strict=True):
                for held in report:
                    counts[held] += n * part * chance
        parts.append((view, view.counted([round(count) for count in counts]), n))
    found = pooled(parts, NoNoise())
    assert [each.value for each in found] == pytest.approx([0.3, 0.7], abs=1e-5)
    alone = [view.estimates(counts, n, NoNoise())[0] for view, counts, n in parts]
    information = sum(1 / each.variance.total for each in alone)
    assert found[0].variance.total == pytest.approx(1 / information, rel=0.02)
    assert found[0].low > min(each.low for each in alone)


def test_the_size_is_the_one_of_least_variance_by_the_exact_law():
    for choices, epsilon, declining in (
        ((2, 2, 2), "1", ()),
        ((5, 5), "1", ()),
        ((2, 3, 4), "0.5", ()),
        ((2, 2, 2), "1", (2, 2, 2)),
        ((2, 5), "0.5", (2, 5)),
    ):
        joint = Joint.for_epsilon(choices, Decimal(epsilon), declining)
        assert (
            joint.loss
            <= exponential_below(Decimal(epsilon))
            < joint.loss * (1 + Fraction(1, 10**6))
        )

        def worst(joint):
            views = [joint.view(place) for place in range(len(joint.questions))]
            return max(float(view.variance(Fraction(1, view.answered))) for view in views)

        others = [
            Joint.of(
                Subset.of_size(joint.channel.cells, size, Decimal(epsilon)), choices, declining
            )
            for size in range(1, joint.channel.cells // 2)
        ]
        assert worst(joint) <= min(worst(other) for other in others) * (1 + 1e-6)
        ordered = tuple(sorted(set(choices)))
        assert best_size(ordered, joint.channel.cells, Decimal(epsilon)) == joint.held
        found = variances(ordered, joint.channel.cells, Decimal(epsilon))[joint.held - 1]
        assert found == pytest.approx(worst(joint), rel=1e-6)


def moved_between(view, reports):
    """Return how far apart the published counts of pairs of reports are, at most."""
    moves = []
    for one, other in reports:
        vectors = []
        for report in (one, other):
            held = [sum(digits_of(view, cell) == x for cell in report) for x in range(view.answers)]
            vectors.append(view.released(held, Neighbours.CHANGE_ONE))
        moves.append([abs(first - second) for first, second in zip(*vectors, strict=True)])
    assert {len(move) for move in moves} == {view.moved(Neighbours.CHANGE_ONE).numbers}
    return max(map(sum, moves)), max(sum(each**2 for each in move) for move in moves)


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_no_two_reports_move_the_counts_of_a_view_further_than_it_says(view):
    moved = view.moved(Neighbours.CHANGE_ONE)
    l1, squared = moved_between(view, product(reports_of(view), repeat=2))
    assert l1 <= moved.l1
    assert squared <= moved.squared
    if view.answers == 2:
        assert (l1, squared) == (moved.l1, moved.squared)


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_nor_do_two_swapped_reports(view):
    def swapped(report, one, other):
        names = {one: other, other: one}
        return [names.get(cell, cell) for cell in report]

    cells = range(view.channel.cells)
    pairs = [
        (report, swapped(report, *names))
        for names in combinations(cells, 2)
        for report in reports_of(view)
    ]
    moved = view.swapped()
    assert moved_between(view, pairs) == (moved.l1, moved.squared)


def test_a_view_is_counted_and_published_by_its_answers():
    view = JOINTS[1].view(0)
    reports = [view.randomise((2, 1)) for _ in range(9)]
    counts = view.tally(view.pack(reports))
    digits = [digits_of(view, cell) for report in reports for cell in report]
    assert counts == [digits.count(answer) for answer in range(3)]
    assert view.released(counts, Neighbours.CHANGE_ONE) == counts
    assert view.noisy_counts(counts, 9) == counts
    assert sum(counts) == 9 * view.held
    two = JOINTS[1].view(1)
    both = two.tally(two.pack(reports))
    assert two.released(both, Neighbours.CHANGE_ONE) == both[1:]
    assert two.noisy_counts(both[1:], 9) == both
    noise = DiscreteLaplace.for_epsilon(Fraction(1), 2)
    assert view.noise_left(noise, Neighbours.CHANGE_ONE) is noise
    with pytest.raises(ValueError, match="change-one only"):
        view.moved(Neighbours.ADD_REMOVE)
    assert view.width == view.channel.width
    assert view.accepts([0, 1, 5])
    assert view.expects() == view.channel.expects()
    view.check()


@pytest.mark.parametrize("case", load("blocks.json"), ids=lambda case: case["name"])
def test_cells_agree_with_the_browser(case):
    if "cell" not in case:
        return
    declining = case.get("declining", ())
    choices = [count - bool(declining) for count in case["choices"]]
    cells = int(np.prod(choices)) + bool(declining)
    joint = Joint.of(Subset.for_epsilon(cells, Decimal(1)), choices, declining)
    assert joint.encode(case["answers"]) == case["cell"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Joint.of(Subset(4, 1, WORD // 2), (4,)), "of two questions or more"),
        (lambda: Joint.of(Subset(4, 1, WORD // 2), (4, 1)), "of two choices or more each"),
        (lambda: Joint.of(Subset(1024, 1, WORD // 2), (32, 33)), "at most 1024, got 1056"),
        (lambda: Joint.of(Subset(5, 1, WORD // 2), (2, 2)), "must take 4 answers, got 5"),
        (
            lambda: Joint.of(
                Table(((5, 1, 1, 1), (1, 4, 2, 1), (1, 1, 4, 2), (1, 2, 1, 4))), (2, 2)
            ),
            "must be equally likely",
        ),
        (lambda: Joint.of(Subset(4, 1, WORD // 2), (2, 2), (2, 2)), "must take 5 answers, got 4"),
        (
            lambda: Joint.of(Subset(1024, 1, WORD // 2), (2,) * 10, (2,) * 10),
            "at most 1024, got 1025",
        ),
        (lambda: Joint.of(Subset(5, 1, WORD // 2), (2, 2), (2,)), r"or of none, got \[2\]"),
        (lambda: Joint.of(Subset(5, 1, WORD // 2), (2, 2), (2, 3)), r"or of none, got \[2, 3\]"),
        (lambda: DECLINING[0].encode((0, 3)), "one of the choices of each of 2 questions"),
        (lambda: JOINTS[0].view(), r"different questions from 0 to 1, got \[\]"),
        (lambda: JOINTS[0].view(0, 0), "different questions from 0 to 1"),
        (lambda: JOINTS[0].view(2), "different questions from 0 to 1"),
        (lambda: JOINTS[0].view(-1), "different questions from 0 to 1"),
        (lambda: JOINTS[0].encode((0,)), "one of the choices of each of 2 questions"),
        (lambda: JOINTS[0].encode((0, True)), "one of the choices of each of 2 questions"),
        (lambda: JOINTS[0].encode((2, 0)), "one of the choices of each of 2 questions"),
        (lambda: JOINTS[0].decode(6), "cell must be one of 6"),
        (lambda: JOINTS[0].view(0).margins(), "up to 2 joint answers"),
        (lambda: JOINTS[0].estimates([1, 2], 3, NoNoise()), "expected 6 counts, got 2"),
        (lambda: JOINTS[0].estimates([1] * 6, 0, NoNoise()), "n must be 1 or more"),
        (lambda: JOINTS[0].estimates([1] * 6, 3, NoNoise(), 1.0), "between 0 and 1"),
        (
            lambda: pooled([(JOINTS[0].view(0), [1] * 6, 1), (JOINTS[0], [1] * 6, 1)], NoNoise()),
            "views must have the same answers",
        ),
        (lambda: Joint.from_document({}), "must be read with its questions"),
        (lambda: Joint.of(JOINTS[3], (2, 2)), "must be a table or a subset"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_example_of_the_proof_sheet():
    """Odds of 3 to 1. Of 1,400 people 700 say no, 350 yes, 350 decline both questions."""
    without, joint = (
        Joint.of(Table(rows), (2, 2), declining)
        for rows, declining in ((_three_to_one(4), ()), (_three_to_one(5), (2, 2)))
    )
    assert (without.loss, joint.loss) == (3, 3)
    view = joint.view(1)
    assert (without.view(1).variance(HALF), view.variance(HALF)) == (Fraction(9, 4), 3)
    held = [(700 * 4 + 700 * 2) // 7, (350 * 4 + 1050 * 2) // 7, (350 * 3 + 1050) // 7]
    assert held == [600, 500, 300]
    found = view.estimates(held, 1400, NoNoise())
    assert [each.value for each in found] == pytest.approx([0.5, 0.25, 0.25])


def _three_to_one(cells):
    return tuple(tuple(1 + 2 * (at == own) for at in range(cells)) for own in range(cells))


def test_a_wrong_answer_is_refused_without_repeating_it():
    with pytest.raises(ValueError, match="answers must be one of the choices") as error:
        JOINTS[0].encode((77, 0))
    assert "77" not in str(error.value)
