"""The planner's words: what respondents read, what is risked, what is shared and how."""

from decimal import Decimal
from fractions import Fraction

from surveys.planning.allocation import sampled, split
from surveys.planning.presenters.planner import Planner, compare, odds_in_words
from surveys.planning.questions import NONE
from surveys.planning.solver import solve
from tests.surveys.planning.test_solver import scenario

ONE = Decimal(1)


def planner_of(kind="yes_no", many=1, epsilon="1", **made):
    planned = scenario(kind, **made)
    solution = solve(planned, "precision", n=2000, wanted=1, epsilon=Decimal(epsilon))
    scenarios, epsilons = [planned] * many, [Decimal(epsilon)] * many
    whole = split(scenarios, epsilons, [ONE] * many, 2000)
    return Planner(planned, solution, whole, sampled(scenarios, sum(epsilons), 2000))


def test_no_odds_are_promised_of_a_number():
    planner = planner_of("number", most=20)
    assert planner.question.odds is None
    assert odds_in_words(planner.question.odds) == ""
    assert planner.question.sent == NONE
    assert planner.scale.ticks[2].label == "mean"


def test_a_person_is_at_the_risk_of_all_questions_and_a_household_at_three_times_that():
    (_, _, answer), (about, _, person), (_, epsilon, household) = planner_of(many=2).risks
    assert [guess.after for guess in answer] == ["23.2", "73.2", "96.1"]
    assert (person[1].after, person[1].is_risky) == ("88.1", False)
    assert (epsilon, household[1].is_risky) == ("6.00", True)
    assert "all 2 questions" in about
    assert "this question" in planner_of().risks[1][0]


def test_layers_and_bars_go_from_the_inmost_and_from_the_outermost():
    planner = planner_of(publication="0.5")
    assert [noise for noise, *_ in planner.layers] == ["s", "d", "p"]
    assert [bar.noise for bar in planner.interval.bars] == ["p", "d", "s"]
    assert planner.interval.bars[0].x == "25.00%"


def test_other_plans_are_whole_and_one_that_risks_more_says_so():
    mine, better, fewer, rougher = planner_of().others
    assert (mine.plan.n, mine.plan.epsilon) == (2000, 1)
    assert better.plan.epsilon < 1 < fewer.plan.epsilon < 2
    assert (rougher.plan.n, rougher.plan.epsilon) == (500, 1)
    assert "a guess of 50 becomes at most" in fewer.change
    assert not fewer.is_risky
    _, _, best, _ = planner_of(epsilon="2").others
    assert best.change == "± 3.2 is the best there is, at ε 8.00"
    assert best.is_risky


def test_what_no_browser_would_send_is_said():
    whole = planner_of(many=2, epsilon="5").split
    assert whole.too_much.startswith("Together ε 10.00: browsers refuse")
    assert whole.guess.is_risky
    assert planner_of(many=2).split.too_much == ""


def test_splitting_stands_beside_the_best_sampling():
    planner = planner_of(many=8, epsilon="0.2")
    assert planner.split.halves.count("±") == 6
    assert planner.split.halves.endswith(", …")
    assert planner.sampled.worst < planner.split.worst
    assert planner_of().sampled is None


def test_two_groups_are_compared_where_a_share_is_planned_for():
    found = compare(planner_of().question, Decimal(30), Decimal(40), Decimal(80), Fraction(1))
    assert int(found["each"].replace(",", "")) * 2 == int(found["both"].replace(",", ""))
    assert found["plainly"] == "356"
    halved = compare(planner_of().question, Decimal(30), Decimal(40), Decimal(80), Fraction(1, 2))
    assert int(halved["each"].replace(",", "")) == 2 * int(found["each"].replace(",", ""))
    assert compare(planner_of("number").question, ONE, ONE, ONE, Fraction(1)) is None
