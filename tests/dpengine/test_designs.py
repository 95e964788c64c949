from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest

from dpengine import designs
from dpengine.designs import Design, disguised, forced, forced_choices, unrelated, warner
from dpengine.local.decoder import inverse
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.privacy import exponential_below
from dpengine.randomness import WORD

F = Fraction
BY_HAND = [  # table, P(yes | yes), P(yes | no), e^ε, W
    (Table.of(designs.coin()), F(3, 4), F(1, 4), 3, 4),
    (Table.of(warner("3/4")), F(3, 4), F(1, 4), 3, 4),
    (Table.of(warner(Decimal("0.2"))), F(1, 5), F(4, 5), 4, 5),
    (Table.of(forced("2/3", "1/6", "1/6")), F(5, 6), F(1, 6), 5, 6),
    (Table.of(forced("0.75", "0.15", "0.1")), F(9, 10), F(3, 20), F(17, 2), 20),
    (Table.of(designs.crosswise("1/4")), F(1, 4), F(3, 4), 3, 4),
    (Table.of(unrelated("1/2", "1/2")), F(3, 4), F(1, 4), 3, 4),
    (Table.of(unrelated("2/3", "1/12")), F(25, 36), F(1, 36), 25, 36),
    (Table.of(disguised("4/5")), F(4, 5), F(1, 5), 4, 5),
    (Table.of(disguised("4/5", "3/10")), F(4, 5), F(3, 10), F(7, 2), 10),
]
K_ARY = [
    Table.of(forced_choices("1/2", ["1/4", "1/8", "1/8"])),
    Table.of([[F(1, 2), F(1, 3), F(1, 6)], [F(1, 7), F(3, 7), F(3, 7)]]),
    Table.of(designs.subset(3, 1, "5/7")),
]


def probabilities(table):
    """Pr[report | answer], from running the sampler on every word of a small total."""
    return [
        [F(count[report], table.total) for report in range(table.reports)]
        for answer in range(table.choices)
        for count in [
            Counter(table.randomise(answer, lambda word=word: word) for word in range(table.total))
        ]
    ]


@pytest.mark.parametrize(
    ("table", "yes_yes", "yes_no", "loss", "total"), BY_HAND, ids=lambda value: str(value)[:40]
)
def test_a_binary_design_is_the_one_by_hand(table, yes_yes, yes_no, loss, total):
    assert probabilities(table) == [[1 - yes_no, yes_no], [1 - yes_yes, yes_yes]]
    assert table.loss == loss
    assert table.total == total
    assert table.margins()[1].truth == yes_yes
    assert table.margins()[1].lie == yes_no


@pytest.mark.parametrize("table", [*(row[0] for row in BY_HAND), *K_ARY], ids=str)
def test_no_answer_makes_a_report_likelier_than_the_declared_loss(table):
    reports = zip(*probabilities(table), strict=True)
    assert max(max(report) / min(report) for report in reports) == table.loss


@pytest.mark.parametrize("table", [row[0] for row in BY_HAND], ids=str)
@pytest.mark.parametrize("share", [F(0), F(1, 7), F(1)])
def test_the_share_of_yes_is_found_again_exactly(table, share):
    """λ by the law of the design, and the two ways back: the margins' formula and the inverse."""
    no, yes = (
        (1 - share) * table.weights[0][report] + share * table.weights[1][report]
        for report in (0, 1)
    )
    margin = table.margins()[1]
    assert (yes / table.total - margin.lie) / (margin.truth - margin.lie) == share
    values = inverse(table.weights)[1]
    assert (no * values[0] + yes * values[1]) / table.total == share


def test_forced_choices_are_by_hand_too():
    table = Table.of(forced_choices("1/2", ["1/4", "1/8", "1/8"]))
    assert table.weights == ((6, 1, 1), (2, 5, 1), (2, 1, 5))
    assert table.loss == 5  # 1 + p / least forced chance
    assert forced_choices("1/2", ["1/4", "1/4"]) == designs.coin()
    assert forced("1/2", "1/4", "1/4") == designs.coin()


@pytest.mark.parametrize("k", [2, 3, 7, 64])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_k_ary_response_is_a_subset_of_one(k, epsilon):
    loss = exponential_below(Decimal(epsilon))
    chances = designs.subset(k, 1, loss / (loss + k - 1))
    assert Design("it", chances).loss == loss
    truth = float(Subset(k, 1, int(WORD * loss / (loss + k - 1))).margin.truth)
    assert float(chances[0][0]) == pytest.approx(truth, rel=1e-7)
    assert float(chances[0][1]) * (k - 1) == pytest.approx(1 - truth, rel=1e-6)


@pytest.mark.parametrize(("k", "size"), [(4, 2), (5, 3), (7, 6)])
def test_a_subset_design_is_the_channel_of_that_name(k, size):
    loss = exponential_below(Decimal(1))
    keep = loss * size / (loss * size + k - size)
    chances = designs.subset(k, size, keep)
    assert Design("it", chances).loss == loss
    channel = Subset(k, size, int(WORD * keep))
    for choice in range(k):
        held = [choice in each for each in combinations(range(k), size)]
        shares = [sum(c for c, h in zip(row, held, strict=True) if h) for row in chances]
        for answer, share in enumerate(shares):
            margin = channel.margin.truth if answer == choice else channel.margin.lie
            assert float(share) == pytest.approx(float(margin), rel=1e-6)


def test_a_table_is_written_with_the_least_denominator():
    assert K_ARY[1].weights == ((21, 14, 7), (6, 18, 18))
    assert Table.of([[F(2, 4), F(2, 4)], [F(1, 4), F(3, 4)]]).total == 4


@pytest.mark.parametrize(
    "chances",
    [
        designs.direct(),
        designs.mangat("7/10"),
        designs.triangular("1/4"),
        warner(1),
        warner(0),
        forced("2/3", "1/3", 0),
        forced("2/3", 0, "1/3"),
        unrelated("1/2", 0),
        unrelated(1, "1/2"),
        disguised("4/5", 0),
        disguised(1, "1/5"),
        designs.kuk(1, "1/5"),
        forced_choices(1, [0, 0]),
        forced_choices("1/2", ["1/2", 0, 0]),
    ],
    ids=str,
)
def test_a_design_whose_report_proves_an_answer_is_analysed_and_never_collected(chances):
    assert Design("it", chances).loss is None
    assert Design("it", chances).epsilon is None
    with pytest.raises(ValueError, match="must be possible after every answer, or it gives some"):
        Table.of(chances)


@pytest.mark.parametrize(
    "chances",
    [warner("1/2"), unrelated(0, "1/2"), disguised("2/5", "2/5"), designs.subset(3, 1, "1/3")],
)
def test_a_design_that_teaches_nothing_is_refused(chances):
    with pytest.raises(
        ValueError, match=r"design it: .* after each answer: nothing can be learned"
    ):
        Design("it", chances)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: forced("2/3", "1/6", "1/3"), r"p \+ yes \+ no must be 1, got 7/6"),
        (
            lambda: forced_choices("1/2", ["1/4", "1/8"]),
            "p and the forced chances must add up to 1, got 7/8",
        ),
        (lambda: warner("3/2"), "p must be a chance, from 0 to 1, got 3/2"),
        (lambda: warner(Decimal("-0.1")), "p must be a chance, from 0 to 1, got -1/10"),
        (lambda: forced("x", 0, 0), 'p must be a fraction such as "2/3" or "0.25", got x'),
        (lambda: unrelated("1/2", "1/0"), "q must be a fraction"),
        (lambda: warner(Decimal("NaN")), "p must be a fraction"),
        (lambda: warner(Decimal("Infinity")), "p must be a fraction"),
    ],
)
def test_a_design_of_other_parts_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        (warner("0.12345678912345"), r"same sum, at most 2\*\*32, got \[20000000000000\]"),
        ([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 3)]], r"the same sum, .* got \[5, 6\]"),
        ([[F(1, 2), F(1, 2)], [F(1, 3)] * 3], "all of the same length"),
    ],
)
def test_chances_that_no_table_can_hold_are_refused(chances, message):
    with pytest.raises(ValueError, match=message):
        Table.of(chances)


@pytest.mark.parametrize("value", [0.75, True, None, [1]])
def test_a_chance_that_is_not_exact_is_refused_with_the_reason(value):
    with pytest.raises(
        TypeError, match=r"p must be exact, got a .*: a float such as 0\.1 is not one tenth"
    ):
        warner(value)


@pytest.mark.parametrize("text", ["1e-9999999999999999999", "1E-99999"])
def test_an_exponent_that_would_take_for_ever_is_refused_at_once(text):
    with pytest.raises(
        ValueError, match=f'p must be a fraction such as "2/3" or "0.25", got {text}'
    ):
        warner(text)


def test_choices_are_planned_by_their_margins():
    assert Design("it", designs.subset(5, 1, "1/2")).affine == (F(1, 8), F(3, 8))
    with pytest.raises(ValueError, match="all choices treated alike"):
        Design("it", forced_choices("1/2", ["1/4", "1/8", "1/8"])).affine  # noqa: B018
    with pytest.raises(ValueError, match="one report per choice"):
        Design("it", ((F(1, 2), F(1, 4), F(1, 4)), (F(1, 4), F(1, 4), F(1, 2)))).affine  # noqa: B018


def test_the_coin_is_the_channels_own():
    assert Table.of(designs.coin()) == Table.coin()
