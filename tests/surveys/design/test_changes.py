"""Every act that touches ε is written down: a draft's in its own history, all others in the
ledger.
"""

from decimal import Decimal
from fractions import Fraction

import pytest

from surveys.design import changes, services, terms
from surveys.design.changes import record_changes
from surveys.design.models import Delta, DraftChange, Panel, Question, Study
from surveys.design.refusals import Refused
from surveys.ledger import selectors as ledger, services as ledger_services
from surveys.ledger.models import Entry, Kind
from tests.conftest import NOW

BY = {"who": "ada", "now": NOW}


def drafted():
    """Return what was written of drafts; the ledger must not hear of it."""
    assert not Entry.objects.exists()
    return list(DraftChange.objects.order_by("pk").values_list("what", "old", "new", "why", "who"))


def acts():
    return list(Entry.objects.filter(kind=Kind.ACT).values_list("what", "old", "new", "why", "who"))


def test_opening_is_written_down_with_the_plan_and_what_it_costs(plan):
    opened = Entry.objects.get(kind=Kind.ACT, what="opened wave 1")
    assert opened.budget == plan.study.budget
    assert (opened.who, opened.at) == ("ada", NOW)
    assert plan.digest in opened.new
    assert "one person's answers: ε 2.99" in opened.new
    assert opened.new.endswith("when-closed, ε 1; all publications: ε 2; one answer: ε 0.01 to 4")


def changed(draft, field, value):
    before = changes.terms_of(draft)
    Study.objects.filter(pk=draft.pk).update(**{field: value})
    return record_changes(
        of=Study.objects.get(pk=draft.pk), before=before, why="less is enough", **BY
    )


@pytest.mark.parametrize(
    ("field", "value", "what", "old", "new"),
    [
        ("cap", Decimal("1.5"), "cap for all publications, ε", "2", "1.5"),
        ("cap_delta", Delta.SIX, "δ of the cap", "0", "0.000001"),
        ("release_epsilon", Decimal("0.5"), "cost of one publication, ε", "1", "0.5"),
        ("epsilon_floor", Decimal("0.2"), "least ε of one answer", "0.01", "0.2"),
        ("epsilon_ceiling", Decimal("1.1"), "greatest ε of one answer", "4", "1.1"),
        ("rule", "every", "publish", "when-closed", "every"),
        ("retires_on", NOW.date(), "retires on", "none", "2026-05-11"),
    ],
)
def test_a_changed_term_of_a_draft_is_one_line_with_old_and_new(
    draft, field, value, what, old, new
):
    assert len(changed(draft, field, value)) == 1
    assert drafted() == [(what, old, new, "less is enough", "ada")]


def test_a_term_that_stays_writes_nothing(draft):
    assert changed(draft, "title", "Another") == []
    assert drafted() == []


def test_a_question_that_comes_goes_or_is_protected_otherwise_is_written_down(draft):
    before = changes.terms_of(draft)
    draft.questions.get(name="fair").delete()
    draft.questions.filter(name="copied").update(epsilon=Decimal("0.5"))
    draft.questions.filter(name="often").update(protection=Question.Protection.PUBLICATION)
    Question.objects.create(study=draft, name="new", text="New?", label="New")
    record_changes(of=draft, before=before, why="redrawn", **BY)
    assert [(what, old, new) for what, old, new, *_ in drafted()] == [
        ("ε of copied", "1, changed on the device", "0.5, changed on the device"),
        ("ε of fair", "1, changed on the device", "none"),
        ("ε of often", "1, changed on the device", "sent as given: no finite ε on the way"),
        ("ε of new", "none", "1, changed on the device"),
    ]


def test_the_longest_address_of_a_panel_leaves_room_for_the_name_of_each_of_its_terms(db):
    panel = Panel.objects.create(slug="p" * 60, name="P")
    before = changes.terms_of(panel)
    Panel.objects.update(cap=Decimal(1), cap_delta=Delta.SIX, local_cap=Decimal(1))
    assert (
        len(record_changes(of=Panel.objects.get(), before=before, why="less is enough", **BY)) == 3
    )


def test_a_change_without_a_reason_is_refused_and_nothing_is_written(draft):
    before = changes.terms_of(draft)
    draft.cap = Decimal(1)
    with pytest.raises(Refused, match="Say why"):
        record_changes(of=draft, before=before, why=" ", **BY)
    assert drafted() == []


@pytest.mark.parametrize(
    ("delta", "left"), [(Delta.NONE, "ε 1.25"), (Delta.SIX, "ε 1.25 or ρ 0.034826445, δ 0.0000005")]
)
@pytest.mark.usefixtures("two_waves")
def test_a_lowered_cap_holds_in_the_ledger_and_in_the_next_wave(draft, delta, left):
    Study.objects.filter(pk=draft.pk).update(cap_delta=delta)
    first = services.open_study(why="A test.", study_id=draft.pk, **BY)
    services.lower_cap(study_id=draft.pk, new=Decimal("1.25"), why="asked by the board", **BY)
    assert acts()[-1][0] == "lowered the cap"
    assert acts()[-1][2].startswith(left)
    assert acts()[-1][3] == "asked by the board"
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=draft.pk)
    second = services.open_study(why="A test.", study_id=draft.pk, **BY)
    assert (
        first.content.caps.central_epsilon,
        second.content.caps.central_epsilon,
    ) == ("2", "1.25")
    assert second.study.budget == first.study.budget
    assert ledger.account(draft_budget(draft)).amount_left == second.study.budget.cap


@pytest.mark.usefixtures("two_waves")
def test_the_cap_of_an_older_budget_is_lowered_in_rho_and_its_study_goes_on(draft, monkeypatch):
    Study.objects.filter(pk=draft.pk).update(cap_delta=Delta.SIX)
    older = {"rho": terms.rho_within(Decimal(2), Delta.SIX), "delta": Fraction(Delta.SIX) / 2}
    open_budget = ledger_services.open_budget
    monkeypatch.setattr(
        ledger_services,
        "open_budget",
        lambda **parts: open_budget(**{**parts, "epsilon": None, **older}),
    )
    first = services.open_study(why="A test.", study_id=draft.pk, **BY)
    assert (first.study.budget.pure_epsilon, first.study.budget.measure) == (None, "ρ")
    services.lower_cap(study_id=draft.pk, new=Decimal("1.25"), why="asked by the board", **BY)
    assert acts()[-1][2] == "ρ 0.034826445, δ 0.0000005"
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=draft.pk)
    assert (
        services.open_study(why="A test.", study_id=draft.pk, **BY).study.budget
        == first.study.budget
    )


def draft_budget(draft):
    draft.refresh_from_db()
    return draft.budget_id


@pytest.mark.parametrize("new", ["2", "2.1", "0", "-1", "NaN", "Infinity"])
def test_a_cap_does_not_rise_or_stay_or_end(plan, new):
    with pytest.raises(Refused, match="must be above 0 and below 2; it is"):
        services.lower_cap(study_id=plan.study_id, new=Decimal(new), why="more", **BY)
    plan.study.refresh_from_db()
    assert plan.study.cap == 2


def test_a_draft_has_no_cap_to_lower_for_good(draft):
    with pytest.raises(Refused, match="has not opened yet"):
        services.lower_cap(study_id=draft.pk, new=Decimal(1), why="less", **BY)


def test_a_limit_for_a_week_is_set_with_a_reason(plan, draft):
    services.set_weekly_limit(study_id=plan.study_id, weekly=Decimal("0.5"), why="slowly", **BY)
    plan.study.budget.refresh_from_db()
    assert plan.study.budget.weekly == Decimal("0.5")
    assert acts()[-1][:3] == ("set the weekly limit", "no limit", "ε 0.5 in any seven days")
