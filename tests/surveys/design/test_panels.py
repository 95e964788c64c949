"""People who meet several studies: what all of these lose about one of them is charged to one
budget, and capped.
"""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction

from dpengine.privacy import epsilon_above
from surveys.design import launch, services
from surveys.design.models import Delta, Panel, Plan, Question, Study
from surveys.design.panels import lock_panel
from surveys.design.refusals import CannotOpen, Refused
from surveys.ledger import selectors as ledger, services as budgets
from surveys.ledger.models import Budget, Side
from surveys.ledger.services import Overspent
from tests.conftest import NOW, QUESTIONS, STUDY

BY = {"who": "ada", "now": NOW}


@pytest.fixture
def panel(db):
    return Panel.objects.create(slug="class-of-26", name="Class of 26", local_cap=Decimal("7"))


def study_of(panel, slug, **changes):
    return services.draft_study(
        study={**STUDY, "slug": slug, "panel": panel, **changes}, questions=QUESTIONS
    )


def local(panel):
    panel.refresh_from_db()
    return ledger.account(panel.local_budget_id)


def test_opening_a_wave_charges_what_its_answers_lose_to_the_panel(panel):
    plan = services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    loss = epsilon_above(plan.content.loss)
    (entry,) = local(panel).entries
    assert (entry.epsilon, entry.statistic, entry.who) == (loss, plan.digest, "ada")
    assert panel.local_budget.side == Side.LOCAL
    assert Decimal("2.99") < loss <= 3


def test_a_wave_that_the_panel_cannot_pay_opens_nothing_and_says_by_how_much(panel):
    for slug in ("first", "second"):
        services.open_study(why="A test.", study_id=study_of(panel, slug).pk, **BY)
    third = study_of(panel, "third")
    left = local(panel).amount_left
    with pytest.raises(
        Overspent, match=rf"this costs ε 2\.99\d*; ε {left} is left. Nothing was opened."
    ) as refused:
        services.open_study(why="A test.", study_id=third.pk, **BY)
    assert "class-of-26" in str(refused.value)
    third.refresh_from_db()
    assert (third.budget, third.plan) == (None, None)
    assert not Budget.objects.filter(name="study:third").exists()


def test_every_wave_is_charged_anew(panel):
    study = study_of(panel, "first", waves=2)
    first = services.open_study(why="A test.", study_id=study.pk, **BY)
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=study.pk)
    services.open_study(why="A test.", study_id=study.pk, **BY)
    assert len(local(panel).entries) == 2


def test_a_wave_holds_every_budget_it_touches_before_it_writes_a_row(panel, monkeypatch):
    """Else it could wait for a budget whose holder waits for the end of the chain, and neither
    would ever go on.
    """
    study = study_of(panel, "first", waves=2)
    services.close_plan(
        plan_id=services.open_study(why="A test.", study_id=study.pk, **BY).pk, today=NOW.date()
    )
    services.begin_wave(study_id=study.pk)
    held, late, lock, append = set(), [], budgets.lock, budgets._append
    monkeypatch.setattr(budgets, "lock", lambda *ids: held.update(ids) or lock(*ids))
    monkeypatch.setattr(budgets, "_append", lambda **row: late.append(set(held)) or append(**row))
    services.open_study(why="A test.", study_id=study.pk, **BY)
    assert len(late) == 2
    assert late[0] == late[1] == held


def test_the_terms_of_a_panel_are_those_it_has_when_its_budgets_open(panel, monkeypatch):
    """They could be edited until then by someone who does not hold the study."""
    Panel.objects.filter(pk=panel.pk).update(cap_delta=Delta.SIX)
    study = study_of(panel, "first", cap_delta=Delta.SIX)
    held = launch.hold_panel

    def edited_before(study):
        assert study.panel.cap_delta == Delta.SIX  # read before it was held
        Panel.objects.filter(pk=panel.pk).update(cap_delta=Delta.NONE)
        held(study)

    monkeypatch.setattr(launch, "hold_panel", edited_before)
    with pytest.raises(CannotOpen, match="δ must be none"):
        services.open_study(why="A test.", study_id=study.pk, **BY)


def test_a_panel_s_budgets_open_with_its_first_study_and_count_people_in_the_panel(panel):
    assert panel.central_budget is None
    plan = services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    panel.refresh_from_db()
    assert {panel.central_budget.unit, panel.local_budget.unit} == {"respondent-in-panel"}
    assert (panel.central_budget.epsilon, panel.local_budget.epsilon) == (4, 7)
    assert plan.content.caps.panel == "class-of-26"


def test_answers_that_are_sent_as_given_alone_cost_the_panel_nothing_that_can_be_counted(panel):
    study = study_of(panel, "first")
    study.questions.update(protection=Question.Protection.PUBLICATION)
    services.open_study(why="A test.", study_id=study.pk, **BY)
    assert local(panel).entries == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"unit": "respondent-in-wave"}, "unit"), ({"cap_delta": Delta.SIX}, "cap_delta")],
    ids=str,
)
def test_a_study_that_counts_otherwise_than_its_panel_is_refused(panel, changes, field):
    study = study_of(panel, "other", **changes)
    with pytest.raises(ValidationError) as refused:
        study.full_clean()
    assert field in refused.value.message_dict
    with pytest.raises(CannotOpen):
        services.open_study(why="A test.", study_id=study.pk, **BY)
    panel.refresh_from_db()
    assert panel.central_budget is None


@pytest.mark.parametrize(("side", "field"), [(Side.CENTRAL, "cap"), (Side.LOCAL, "local_cap")])
def test_a_panel_s_caps_fall_and_never_rise(panel, side, field):
    services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    lower = {"panel_id": panel.pk, "side": side, "why": "fewer studies", **BY}
    services.lower_panel_cap(new=Decimal("3.5"), **lower)
    panel.refresh_from_db()
    assert getattr(panel, field) == Decimal("3.5")
    budget = panel.local_budget if side == Side.LOCAL else panel.central_budget
    assert Fraction(budget.cap) == Fraction("3.5")
    for rising in ("3.5", "4", "0", "-1", "NaN"):
        with pytest.raises(Refused, match=r"above 0 and below 3\.5"):
            services.lower_panel_cap(new=Decimal(rising), **lower)


def test_a_panel_s_cap_does_not_fall_below_what_is_spent(panel):
    services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    with pytest.raises(Exception, match="is used already"):
        services.lower_panel_cap(
            panel_id=panel.pk, side=Side.LOCAL, new=Decimal(1), why="less", **BY
        )
    panel.refresh_from_db()
    assert panel.local_cap == 7


def test_a_panel_that_has_met_no_study_has_no_cap_to_lower(panel):
    with pytest.raises(Refused, match="has not met a study yet"):
        services.lower_panel_cap(
            panel_id=panel.pk, side=Side.LOCAL, new=Decimal(1), why="less", **BY
        )


@pytest.mark.parametrize(
    "change", [{"slug": "x"}, {"cap_delta": "0.000001"}, {"central_budget": None}], ids=str
)
def test_the_database_itself_keeps_a_panel_s_budgets_and_terms(panel, change):
    services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    with pytest.raises(DatabaseError, match="a panel keeps"), transaction.atomic():
        Panel.objects.filter(pk=panel.pk).update(**change)


def test_the_database_itself_keeps_a_study_in_its_panel(panel):
    inside = services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    outside = services.open_study(why="A test.", study_id=study_of(None, "second").pk, **BY)
    for plan, other in ((inside, None), (outside, panel)):
        with pytest.raises(DatabaseError, match="keeps its panel"), transaction.atomic():
            Study.objects.filter(pk=plan.study_id).update(panel=other)
    assert Plan.objects.count() == 2


def test_a_panel_s_terms_can_be_edited_until_it_has_met_a_study(panel):
    with transaction.atomic():
        assert lock_panel(panel_id=panel.pk, editing=["cap"]) == panel
    services.open_study(why="A test.", study_id=study_of(panel, "first").pk, **BY)
    with pytest.raises(Refused, match="its settings are locked"), transaction.atomic():
        lock_panel(panel_id=panel.pk, editing=["cap"])
    with transaction.atomic():
        lock_panel(panel_id=panel.pk, editing=["name"])
