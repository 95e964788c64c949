"""Sweeps of a list in strata: no batch tells of few, nothing is lost, and n of each is known."""

import pytest

from surveys.aggregation import selectors, services
from surveys.aggregation.models import Batch, Tally
from surveys.design import services as design
from surveys.intake import report_tables, selectors as intake
from surveys.intake.models import OpenReport
from tests.conftest import NOW
from tests.strata import answer_of, asking

LIST = [100, 300, 600]


@pytest.fixture
def invited(draft):
    with asking(LIST):
        return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def answer(plan, stratum, people, today):
    truths = [{"copied": i % 2, "fair": i % 5, "often": i % 4} for i in range(people)]
    answer_of(plan, stratum, truths, today)


def batches():
    return list(Batch.objects.order_by("number").values_list("size", "strata"))


def test_a_batch_is_of_one_stratum_and_leaves_as_many_as_hide_one_another(invited, today):
    answer(invited, 0, 59, today)
    answer(invited, 1, 75, today)
    assert services.sweep_all(today=today) == 45
    assert batches() == [(45, [0, 45, 0])]
    assert report_tables.waiting_of_strata(invited.pk) == {0: 59, 1: 30}
    assert selectors.received(invited) == 134
    assert intake.accepted_of_strata(invited) == [59, 75, 0]


def test_what_is_not_due_is_neither_taken_nor_written_anew(invited, today):
    answer(invited, 0, 59, today)
    ids = set(OpenReport.objects.values_list("pk", flat=True))
    assert services.sweep_all(today=today) == 0
    assert set(OpenReport.objects.values_list("pk", flat=True)) == ids
    assert report_tables.marked() == []


def test_a_sweep_that_leaves_some_has_no_more_to_look_at_after_the_next(invited, today):
    answer(invited, 0, 70, today)
    services.sweep_all(today=today)
    services.sweep_all(today=today)
    assert report_tables.marked() == []
    assert OpenReport.objects.count() == 30


def test_those_who_stay_are_drawn_by_chance_and_keep_no_order(invited, today):
    """Of 30 that stay, all are the last to come once in 10^17 draws; and they are shuffled."""
    answer(invited, 0, 30, today)
    late = OpenReport.objects.values_list("values", flat=True)
    before = list(late)
    answer(invited, 0, 30, today)
    services.sweep_all(today=today)
    assert list(late.order_by("pk")) != before
    assert len(before) == OpenReport.objects.count() == 30


def test_at_the_last_sweep_those_of_few_are_sealed_as_one(invited, today):
    answer(invited, 0, 12, today)
    answer(invited, 1, 70, today)
    answer(invited, 2, 25, today)
    services.sweep_all(today=today)
    design.close_plan(plan_id=invited.pk, today=today)
    assert services.sweep_all(today=today) == 67
    assert sorted(batches(), key=str) == [(30, [0, 30, 0]), (37, [12, 0, 25]), (40, [0, 40, 0])]
    assert not OpenReport.objects.exists()
    assert intake.accepted_of_strata(invited) == [12, 70, 25]


def test_fewer_than_hide_one_another_are_sealed_with_the_next_smallest(invited, today):
    answer(invited, 0, 7, today)
    answer(invited, 1, 90, today)
    answer(invited, 2, 40, today)
    design.close_plan(plan_id=invited.pk, today=today)
    services.sweep_all(today=today)
    assert sorted(batches(), key=str) == [(47, [7, 0, 40]), (90, [0, 90, 0])]


def test_tally_and_batches_agree_and_parts_add_up_to_all(invited, today):
    for stratum, people in enumerate((45, 61, 90)):
        answer(invited, stratum, people, today)
    services.sweep_all(today=today)
    design.close_plan(plan_id=invited.pk, today=today)
    services.sweep_all(today=today)
    tally = Tally.objects.get()
    assert tally.reports == sum(size for size, _ in batches()) == 196
    assert tally.counts == selectors.recount(
        invited, selectors.sealed(invited, tally.batches), invited.content.reports
    )
    parts = selectors.parts(invited, tally.batches)
    assert [part.reports for part in parts] == [(45, 0, 0), (0, 61, 0), (0, 0, 90)]
    for name, counts in selectors.totals(invited).items():
        by_part = [part.counts[name] for part in parts]
        assert [sum(each) for each in zip(*by_part, strict=True)] == counts
    assert [sum(part.counts["copied"]) for part in parts] == [45, 61, 90]


def test_a_list_that_is_one_is_swept_like_an_open_link(draft, today):
    with asking([500]):
        plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    answer(plan, 0, 12, today)
    assert OpenReport.objects.filter(stratum=None).count() == 12
    assert services.sweep_all(today=today) == 12
    assert batches() == [(12, None)]


def test_large_parts_are_cut_and_none_is_left_too_small(invited, today, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 40)
    answer(invited, 2, 139, today)
    design.close_plan(plan_id=invited.pk, today=today)
    services.sweep_all(today=today)
    assert batches() == [(40, [0, 0, 40]), (40, [0, 0, 40]), (59, [0, 0, 59])]


def test_health_owes_no_sweep_of_what_waits_for_others_of_its_stratum(invited, today):
    for stratum in range(3):
        answer(invited, stratum, 59, today)
    assert not intake.has_waiting(invited.pk, 10)
    answer(invited, 1, 1, today)
    assert intake.has_waiting(invited.pk, 10)
    assert intake.has_waiting(invited.pk, 1)
