import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.local import designs
from dpengine.local.designs import custom, disguised, forced, forced_choices, kary, refuse, unrelated, warner
from dpengine.local.subset import Subset
from dpengine.privacy import exponential_below
from dpengine.randomness import WORD

F = Fraction
BY_HAND = [  # table, P(yes | yes), P(yes | no), e^ε, W
    (designs.coin(), F(3, 4), F(1, 4), 3, 4),
    (warner("3/4"), F(3, 4), F(1, 4), 3, 4),
    (warner(Decimal("0.2")), F(1, 5), F(4, 5), 4, 5),
    (forced("2/3", "1/6", "1/6"), F(5, 6), F(1, 6), 5, 6),
    (forced("0.75", "0.15", "0.1"), F(9, 10), F(3, 20), F(17, 2), 20),
    (designs.crosswise("1/4"), F(1, 4), F(3, 4), 3, 4),
    (unrelated("1/2", "1/2"), F(3, 4), F(1, 4), 3, 4),
    (unrelated("2/3", "1/12"), F(25, 36), F(1, 36), 25, 36),
    (disguised("4/5"), F(4, 5), F(1, 5), 4, 5),
    (disguised("4/5", "3/10"), F(4, 5), F(3, 10), F(7, 2), 10),
]
K_ARY = [
    forced_choices("1/2", ["1/4", "1/8", "1/8"]),
    custom([["1/2", "1/3", "1/6"], ["1/7", "3/7", "3/7"]]),
    custom([[F(5, 7), F(1, 7), F(1, 7)], [F(1, 7), F(5, 7), F(1, 7)], [F(1, 7), F(1, 7), F(5, 7)]]),
]


def probabilities(table):
    """Pr[report | answer], from running the sampler on every word of a small total."""
    return [
        [F(count[report], table.total) for report in range(table.reports)]
        for answer in range(table.choices)
        for count in [Counter(table.randomise(answer, lambda word=word: word) for word in range(table.total))]
    ]


@pytest.mark.parametrize(("table", "yes_yes", "yes_no", "loss", "total"), BY_HAND, ids=lambda value: str(value)[:40])
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
    no, yes = ((1 - share) * table.weights[0][report] + share * table.weights[1][report] for report in (0, 1))
    margin = table.margins()[1]
    assert (yes / table.total - margin.lie) / (margin.truth - margin.lie) == share
    values = table.inverse().values(1)
    assert (no * values[0] + yes * values[1]) / table.total == share


def test_forced_choices_are_by_hand_too():
    table = forced_choices("1/2", ["1/4", "1/8", "1/8"])
    assert table.weights == ((6, 1, 1), (2, 5, 1), (2, 1, 5))
    assert table.loss == 5  # 1 + p / least forced chance
    assert forced_choices("1/2", ["1/4", "1/4"]) == designs.coin()
    assert forced("1/2", "1/4", "1/4") == designs.coin()


@pytest.mark.parametrize("k", [2, 3, 7, 64])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_k_ary_response_is_a_subset_of_one_and_never_passes_what_was_asked(k, epsilon):
    asked = exponential_below(Decimal(epsilon))
    table = kary(k, Decimal(epsilon))
    assert asked * (1 - F(1, 10**7)) < table.loss <= asked
    assert table.total <= WORD
    truth = float(Subset(k, 1, int(WORD * asked / (asked + k - 1))).margin.truth)
    assert float(table.margins()[0].truth) == pytest.approx(truth, rel=1e-7)
    assert math.isclose(float(table.margins()[0].lie) * (k - 1), 1 - truth, rel_tol=1e-6)


def test_a_matrix_is_written_with_the_least_denominator():
    assert custom([["1/2", "1/3", "1/6"], ["1/7", "3/7", "3/7"]]).weights == ((21, 14, 7), (6, 18, 18))
    assert custom([["2/4", "2/4"], [Decimal("0.25"), F(3, 4)]]).total == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: warner("1/2"), "nothing can be learned: every answer makes the same reports"),
        (lambda: unrelated(0, "1/2"), "nothing can be learned"),
        (lambda: disguised("2/5", "2/5"), "nothing can be learned"),
        (lambda: warner(1), "infinite ε: a report of yes never follows the answer no, so it proves that"),
        (lambda: warner(0), "infinite ε: a report of no never follows the answer no"),
        (lambda: forced("2/3", "1/3", 0), "a report of no never follows the answer yes, so .* answer is not yes"),
        (lambda: forced("2/3", 0, "1/3"), "a report of yes never follows the answer no, so .* answer is not no"),
        (lambda: unrelated("1/2", 0), "a report of yes never follows the answer no"),
        (lambda: unrelated(1, "1/2"), "infinite ε"),
        (lambda: disguised("4/5", 0), "a report of yes never follows the answer no"),
        (lambda: disguised(1, "1/5"), "a report of no never follows the answer yes"),
        (lambda: forced_choices(1, [0, 0]), "a report of 1 never follows the answer 0"),
        (lambda: forced_choices("1/2", ["1/2", 0, 0]), "a report of 1 never follows the answer 0"),
        (lambda: custom([["1/2", "1/2", 0], ["1/3", "2/3", 0]]), "report 2 follows no answer: leave it out"),
        (lambda: forced("2/3", "1/6", "1/3"), r"p \+ yes \+ no must be 1, got 7/6"),
        (lambda: forced_choices("1/2", ["1/4", "1/8"]), "p and the forced chances must add up to 1, got 7/8"),
        (lambda: custom([["1/2", "1/2"], ["1/2", "1/3"]]), "chances after answer 1 must add up to 1, got 5/6"),
        (lambda: warner("0.12345678912345"), r"common denominator of at most 2\*\*32, got 20000000000000"),
        (lambda: warner("3/2"), "p must be 0 to 1, got 3/2"),
        (lambda: warner(Decimal("-0.1")), "p must be 0 to 1, got -0.1"),
        (lambda: forced("x", 0, 0), 'p must be a fraction such as "2/3" or "0.25", got x'),
        (lambda: unrelated("1/2", "1/0"), "q must be a fraction"),
        (lambda: warner(Decimal("NaN")), "p must be a fraction"),
        (lambda: warner(Decimal("Infinity")), "p must be a fraction"),
        (lambda: custom([]), "weights must have two rows or more"),
        (lambda: custom([["1/2", "1/2"], ["1/3", "1/3", "1/3"]]), "all of the same length"),
        (lambda: kary(1, Decimal(1)), "k must be 2 to 64, got 1"),
        (lambda: kary(65, Decimal(1)), "k must be 2 to 64, got 65"),
        (lambda: kary(3, Decimal(0)), "epsilon must be above 0"),
    ],
)
def test_a_design_that_gives_away_or_teaches_nothing_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "b"), "a report of b never follows the answer 2"),
        (("a", "b", "c"), "a report of 1 never follows the answer c"),
        (("a",), "a report of 1 never follows the answer 2"),
    ],
)
def test_reports_and_answers_are_named_where_there_are_as_many_names(names, message):
    with pytest.raises(ValueError, match=message):
        custom([["1/2", "1/2"], ["1/3", "2/3"], ["1", "0"]], names)


@pytest.mark.parametrize("value", [0.75, True, None, [1]])
def test_a_chance_that_is_not_exact_is_refused_with_the_reason(value):
    with pytest.raises(TypeError, match=r"p must be exact, got a .*: a float such as 0\.1 is not one tenth"):
        warner(value)


@pytest.mark.parametrize(
    "name", ["direct", "mangat", "triangular", "list experiment", "item count", "unmatched count", "sld", "cdm"]
)
def test_a_design_that_would_prove_an_answer_is_refused_for_collection_by_name_and_reason(name):
    with pytest.raises(
        ValueError, match=rf"{name} can be analysed when imported, not collected \(infinite ε\): .{{20}}"
    ):
        refuse(name)


def test_a_design_is_refused_however_its_name_is_written():
    with pytest.raises(ValueError, match="always says yes"):
        refuse("Mangat")


@pytest.mark.parametrize("name", ["warner", "forced", "crosswise", "kary"])
def test_a_design_of_finite_loss_is_not_refused(name):
    refuse(name)


@pytest.mark.parametrize("text", ["1e-9999999999999999999", "1E-99999"])
def test_an_exponent_that_would_take_for_ever_is_refused_at_once(text):
    with pytest.raises(ValueError, match=f'p must be a fraction such as "2/3" or "0.25", got {text}'):
        designs.warner(text)
