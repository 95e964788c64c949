"""What the terms of a study are in its Plan and in the ledger, and which ones cannot be."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from django.core.exceptions import ValidationError

from dpengine.accounting.concentrated import epsilon_of
from surveys.design import services, terms, wording
from surveys.design.models import Delta, Panel, Rule, Study
from surveys.design.readiness import Readiness
from surveys.design.refusals import CannotOpen
from surveys.plan.content import to_document
from tests.conftest import NOW, STUDY

MILLIONTH = Decimal("0.000001")


def opened(draft, **changes):
    for name, value in changes.items():
        setattr(draft, name, value)
    draft.full_clean()
    draft.save()
    return services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_a_pure_study_s_plan_holds_its_cap_as_it_was_typed(plan):
    assert to_document(plan.content.caps) == {"central_epsilon": "2"}
    assert to_document(plan.content.publication) == {
        "accounting": 2,
        "counts": "answers",
        "epsilon": "1",
        "rule": "when-closed",
        "smallest_batch": 10,
    }
    assert plan.study.budget.epsilon == 2
    assert plan.study.budget.rho is None


def test_a_concentrated_study_s_budget_keeps_the_promise_of_its_plan(draft):
    plan = opened(draft, cap_delta=Delta.SIX)
    caps, budget = plan.content.caps, plan.study.budget
    assert to_document(caps) == {
        "central_epsilon": "2",
        "central_delta": "0.000001",
        "central_rho": "0.083441717",
    }
    assert (budget.rho, budget.delta) == (Decimal("0.083441717"), MILLIONTH / 2)
    assert epsilon_of(Fraction(budget.rho), Fraction(MILLIONTH) - Fraction(budget.delta)) <= 2


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "7.123456789", "20"])
@pytest.mark.parametrize("delta", [delta for delta in Delta if delta != Delta.NONE])
def test_no_rho_of_a_cap_passes_its_epsilon_and_none_is_wasted(epsilon, delta):
    rho = Fraction(terms.rho_within(Decimal(epsilon), delta))
    assert epsilon_of(rho, Fraction(delta) / 2) <= Decimal(epsilon)
    assert epsilon_of(rho + Fraction(1, 500_000_000), Fraction(delta) / 2) > Decimal(epsilon)


def test_a_publication_s_rho_stands_in_a_concentrated_plan_and_its_horizon_in_a_continual_one(
    draft,
):
    plan = opened(draft, cap_delta=Delta.SIX, rule=Rule.CONTINUAL, horizon=30, hours=12)
    assert to_document(plan.content.publication) == {
        "epsilon": "1",
        "rho": "0.022937446",
        "rule": "continual",
        "horizon": 30,
        "hours": 12,
        "smallest_batch": 10,
    }


def test_three_publications_fit_where_adding_epsilons_would_pay_for_two(draft):
    assert terms.publications_paid(draft) == 2
    draft.cap_delta = Delta.SIX
    assert terms.publications_paid(draft) == 3


DAY = datetime.date(2026, 5, 1)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        (
            {"rule": Rule.CONTINUAL},
            "rule",
            "Publications paid on the first day need a cap with a δ; it is a cap without one.",
        ),
        (
            {"release_epsilon": Decimal(3)},
            "release_epsilon",
            "One publication must cost at most the cap of 2; it is 3.",
        ),
        (
            {"closes_on": DAY, "retires_on": DAY},
            "retires_on",
            "The study must end after the last day of collecting, 1 May 2026 (UTC), but ends on "
            "1 May 2026 (UTC).",
        ),
        (
            {"epsilon_floor": Decimal(2), "epsilon_ceiling": Decimal(1)},
            "epsilon_ceiling",
            "The maximum ε must be at least the minimum, 2; it is 1.",
        ),
        ({"cap": Decimal(0)}, "cap", "Ensure this value is greater than or equal to 0.01."),
    ],
    ids=str,
)
def test_terms_that_cannot_be_are_refused_by_the_name_of_their_field(
    draft, changes, field, message
):
    for name, value in changes.items():
        setattr(draft, name, value)
    with pytest.raises(ValidationError) as refused:
        draft.full_clean()
    assert message in refused.value.message_dict[field]


def test_a_study_that_was_saved_with_impossible_terms_does_not_open(draft):
    Study.objects.filter(pk=draft.pk).update(rule=Rule.CONTINUAL)
    with pytest.raises(CannotOpen, match="need a cap with a δ"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_a_study_to_be_retired_today_does_not_open(draft, today):
    Study.objects.filter(pk=draft.pk).update(retires_on=today)
    with pytest.raises(CannotOpen, match="choose a day after today"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


@pytest.mark.parametrize(
    ("floor", "ceiling", "opens"),
    [("1", "1", True), ("1.000000001", "4", False), ("0.01", "0.999999999", False)],
)
def test_a_question_outside_the_limits_does_not_open_and_one_on_them_does(
    draft, floor, ceiling, opens
):
    Study.objects.filter(pk=draft.pk).update(
        epsilon_floor=Decimal(floor), epsilon_ceiling=Decimal(ceiling)
    )
    if opens:
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
        return
    with pytest.raises(
        CannotOpen, match=f"Copied: ε must be between {floor} and {ceiling}; it is 1."
    ):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    assert not draft.plans.exists()


def test_waves_with_budgets_of_their_own_are_fixed_parts_of_one(draft):
    budget = opened(draft, unit="respondent-in-wave").study.budget
    assert (budget.unit, budget.fixed_parts) == ("respondent-in-wave", True)


def test_the_cap_is_said_in_odds_and_its_delta_in_people():
    study = Study(cap=Decimal(2), cap_delta=Delta.SIX)
    said = wording.cap_means(study)
    assert "at most 89 in 100 sure" in said
    assert "Someone who knows all other answers" in said
    assert "more than twice what the cap says, with a chance of 1 in 500,000 at most" in said
    assert "With this δ that bound holds on average, and in rare cases it does not" in said
    assert "up to 10,000 answers" in said
    assert "δ" in wording.cap_means(Study(cap=Decimal(2)))


def test_a_cap_above_what_devices_give_away_is_said_by_them_for_the_first_wave():
    """e^ε = 3: 75 of 100, not the 100 of a cap of 8; where answers' losses are counted only."""
    study = Study(cap=Decimal(8))
    said = wording.cap_means(study, Fraction(3))
    assert "at most 75 in 100 sure from all releases of this wave" in said
    assert "up to the cap" in said
    for other, loss in (
        (Study(cap=Decimal(8)), None),  # something is sent as given
        (Study(cap=Decimal(1)), Fraction(3)),
        (Study(cap=Decimal(8), neighbours="add-remove"), Fraction(3)),
        (Study(cap=Decimal(8), wave=2, waves=2, draws="kept"), Fraction(3)),
        (Study(cap=Decimal(8), wave=2, draws=""), Fraction(3)),  # an older one
    ):
        assert "of this wave" not in wording.cap_means(other, loss)


@pytest.mark.parametrize("rule", [Rule.WHEN_CLOSED, Rule.EVERY, Rule.ON_REQUEST])
def test_a_publication_costs_no_more_than_devices_give_away(rule):
    terms = {"cap": Decimal(8), "release_epsilon": Decimal(8), "rule": rule}
    assert "ε 1.1 of the cap of 8" in wording.rule_means(Study(**terms), Fraction(3))
    assert "ε 8 of the cap of 8" in wording.rule_means(Study(**terms))


def test_what_a_delta_lets_through_is_said_as_it_is_of_a_gaussian():
    """A Gaussian of ρ has loss N(ρ, 2ρ): it passes ε ten times as often as δ says, and ε + ln 2
    seldom.
    """
    delta = Fraction(MILLIONTH) / 2
    rho = float(terms.rho_within(Decimal("0.5"), str(MILLIONTH)))
    beyond, beyond_twice = (
        math.erfc((epsilon - rho) / math.sqrt(2 * rho) / math.sqrt(2)) / 2
        for epsilon in (0.5, 0.5 + math.log(2))
    )
    assert beyond > 5 * delta
    assert beyond_twice < 2 * delta
    assert wording.twice(delta) == "1 in 1,000,000"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            Rule.WHEN_CLOSED,
            "One publication when a wave has closed, for ε 1: the cap of 4 pays for",
        ),
        (Rule.EVERY, "One publication every day, for ε 1 each"),
        (
            Rule.CONTINUAL,
            "52 publications, one every day: 52 days in all. All are paid on the first day, with "
            "ε 1 (ρ",
        ),
        (Rule.ON_REQUEST, "By itself, a query costs up to ε 1 of the cap of 4."),
    ],
)
def test_every_rule_says_what_it_costs(rule, said):
    assert said in wording.rule_means(
        Study(cap=Decimal(4), cap_delta=Delta.SIX, release_epsilon=Decimal(1), rule=rule)
    )


def test_a_rule_that_could_never_be_paid_says_so():
    assert "nothing would ever be published" in wording.rule_means(
        Study(cap=Decimal(1), release_epsilon=Decimal(2))
    )


def test_a_panel_s_cap_for_answers_is_said_in_odds():
    assert "at most 75 in 100 sure" in wording.panel_means(Panel(local_cap=Decimal("1.0986")))


def test_so_many_choices_in_all_and_no_more(db, now):
    """Each is a row of results that anybody may ask for."""
    rows = "\n".join(f"c{at}" for at in range(1, 1_000))
    many = [
        {"name": f"q{at}", "kind": "single", "text": "Which?", "label": "Which", "choices": rows}
        for at in range(6)
    ]
    few = {**many[0], "name": "last", "choices": "\n".join(f"c{at}" for at in range(6))}
    draft = services.draft_study(study=STUDY, questions=[*many, few])
    assert terms.problem_of_choices(draft.questions.all()) is None
    one_more = {**few, "choices": f"{few['choices']}\nc6"}
    draft = services.draft_study(study={**STUDY, "slug": "more"}, questions=[*many, one_more])
    said = "All questions together have 6,000 choices at most; these have 6,001."
    assert said in [problem.text for problem in Readiness(draft).problems(now)]
    with pytest.raises(CannotOpen, match="have 6,000 choices at most"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
