"""Sweeps: nothing lost, nothing counted twice, no order kept."""

import itertools
import json

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from surveys.aggregation import selectors, services, tasks
from surveys.aggregation.models import Batch, Tally
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.intake import report_tables, selectors as intake
from surveys.intake.models import OpenReport, Receipt
from tests.conftest import NOW, QUESTIONS, STUDY


def counted(reports, plan):
    """Count reports by hand, one at a time."""
    counts = {"copied": [0] * 2, "fair": [0] * 5, "often": [0] * 4}
    for report in reports:
        counts["copied"][report[0]] += 1
        for choice in report[1]:
            counts["fair"][choice] += 1
        for choice in report[2]:
            counts["often"][choice] += 1
    return counts


def open_reports():
    return [json.loads(values) for values in OpenReport.objects.values_list("values", flat=True)]


def test_a_sweep_seals_every_open_report_and_deletes_its_row(answered, today):
    plan = answered(40)
    by_hand = counted(open_reports(), plan)
    assert services.sweep_all(today=today) == 40
    assert not OpenReport.objects.exists()
    assert Receipt.objects.count() == 40
    assert Tally.objects.get().counts == by_hand
    assert selectors.sealed_reports(plan) == selectors.received(plan) == 40


def test_a_sweep_between_two_statements_changes_no_count(answered, today):
    plan, statements = answered(40), itertools.count()

    def after_the_first(execute, *said):
        if next(statements) == 1:
            services.sweep_all(today=today)
        return execute(*said)

    with connection.execute_wrapper(after_the_first):
        assert [selectors.received(plan), selectors.received(plan)] == [40, 40]
    assert selectors.sealed_reports(plan) == 40


def test_what_is_sealed_counts_like_the_tally_batch_by_batch(answered, today, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 25)
    plan = answered(60)
    assert services.sweep_all(today=today) == 60
    assert list(Batch.objects.values_list("number", "size")) == [(1, 25), (2, 25), (3, 10)]
    assert selectors.recount(
        plan, selectors.sealed(plan, 3), plan.content.channels
    ) == selectors.totals(plan)
    assert sum(selectors.totals(plan, 2)["copied"]) == 50


def test_a_second_sweep_finds_nothing_to_count_again(answered, today):
    plan = answered(20)
    services.sweep_all(today=today)
    assert services.sweep(plan=plan, today=today) == 0
    assert selectors.sealed_reports(plan) == 20


def test_a_sweep_that_dies_in_the_middle_has_done_nothing(answered, today, monkeypatch):
    plan = answered(20)

    def die(**kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Batch.objects, "create", die)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        services.sweep(plan=plan, today=today)
    monkeypatch.undo()
    assert OpenReport.objects.count() == 20
    assert services.sweep_all(today=today) == 20
    assert selectors.sealed_reports(plan) == 20


def test_fewer_reports_than_hide_each_other_wait_while_the_study_is_open(answered, today):
    plan = answered(9)  # the smallest batch is 10
    assert services.sweep_all(today=today) == 0
    design.close_plan(plan_id=plan.pk, today=today)
    assert services.sweep_all(today=today) == 9


def test_the_order_of_arrival_is_not_the_order_in_the_batch(answered, today):
    """Forty arrivals keep their order by chance once in 40! shuffles."""
    plan = answered(40)
    arrived = [report[0] for report in open_reports()]
    services.sweep_all(today=today)
    column = bytes(Batch.objects.get().columns)[:40]
    assert sorted(column) == sorted(arrived)
    assert plan.content.channels["copied"].width == 1


def test_shuffling_is_asked_for(answered, today, monkeypatch):
    answered(20)
    asked = []
    monkeypatch.setattr(services, "shuffled", lambda reports: asked.append(len(reports)) or reports)
    services.sweep_all(today=today)
    assert asked == [20]


def test_the_database_itself_refuses_to_change_a_batch(answered, today):
    answered(20)
    services.sweep_all(today=today)
    with pytest.raises(DatabaseError, match="a batch is sealed"), transaction.atomic():
        Batch.objects.update(size=1)


@pytest.mark.engine("postgresql")
def test_a_table_of_which_not_all_was_taken_is_not_cut_and_nothing_is_sealed(
    answered, today, monkeypatch
):
    plan, sound = answered(20), report_tables._take
    monkeypatch.setattr(report_tables, "_take", lambda plan, last, end: sound(plan, last, end - 1))
    with pytest.raises(RuntimeError, match="of which all was taken, found 1 left"):
        services.sweep(plan=plan, today=today)
    assert not Batch.objects.exists()
    assert OpenReport.objects.count() == 20


def test_no_batch_is_left_too_small_by_the_one_before(answered, today, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 25)
    answered(34)
    services.sweep_all(today=today)
    assert list(Batch.objects.values_list("size", flat=True)) == [34]


def test_a_task_ends_after_a_portion_and_the_next_one_goes_on(answered, today, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 25)
    monkeypatch.setattr(services, "PORTION", 50)
    plan = answered(137)  # the smallest batch is 10
    by_hand = counted(open_reports(), plan)
    for sealed in (50, 100, 137):
        assert report_tables.marked() == [plan.pk]
        tasks.sweep_plan(plan.pk)
        assert selectors.sealed_reports(plan) == sealed
        assert OpenReport.objects.count() == 137 - sealed
    assert report_tables.marked() == []
    assert selectors.batch_sizes(plan) == [25] * 5 + [12]
    assert selectors.totals(plan) == by_hand


def test_no_portion_leaves_fewer_than_a_smallest_batch(answered, today, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 25)
    monkeypatch.setattr(services, "PORTION", 50)
    plan = answered(84)
    tasks.sweep_plan(plan.pk)
    tasks.sweep_plan(plan.pk)
    assert selectors.batch_sizes(plan) == [25, 25, 34]


def test_a_task_that_dies_in_a_later_portion_has_lost_none_of_an_earlier(
    answered, today, monkeypatch
):
    monkeypatch.setattr(services, "MAX_BATCH", 25)
    monkeypatch.setattr(services, "PORTION", 50)
    plan, create = answered(137), Batch.objects.create
    by_hand = counted(open_reports(), plan)
    tasks.sweep_plan(plan.pk)

    def die(**kwargs):
        if kwargs["number"] == 4:
            raise KeyboardInterrupt
        return create(**kwargs)

    monkeypatch.setattr(Batch.objects, "create", die)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        tasks.sweep_plan(plan.pk)
    monkeypatch.setattr(Batch.objects, "create", create)
    assert selectors.sealed_reports(plan) == 137 - OpenReport.objects.count() == 50
    assert services.sweep_plan(plan, today) + services.sweep_plan(plan, today) == 87
    assert selectors.totals(plan) == by_hand


def test_a_sweep_that_comes_second_leaves_the_few_that_came_meanwhile(answered, today):
    """Both found the study due; the first took all but those who answered since."""
    plan = answered(20)
    services.sweep(plan=plan, today=today)
    answered(3)
    assert services.sweep(plan=plan, today=today) == 0
    assert OpenReport.objects.count() == 3


def queries_of(sweep):
    with CaptureQueriesContext(connection) as queries:
        sweep()
    return len(queries)


def test_a_report_says_where_to_look_and_a_look_that_finds_too_few_takes_that_away(answered, today):
    plan = answered(9)
    assert report_tables.marked() == [plan.pk]
    assert services.sweep_all(today=today) == 0
    assert report_tables.marked() == []
    answered(1)
    assert report_tables.marked() == [plan.pk]
    assert services.sweep_all(today=today) == 10


def test_a_closing_says_where_to_look_too(answered, today):
    plan = answered(9)
    services.sweep_all(today=today)
    design.close_plan(plan_id=plan.pk, today=today)
    assert report_tables.marked() == [plan.pk]


def test_a_closing_that_was_not_known_when_the_sweep_began_is_not_overlooked(answered, today):
    """Its mark goes with this sweep, which found the Plan open."""
    plan = answered(9)
    before = type(plan).objects.get(pk=plan.pk)
    design.close_plan(plan_id=plan.pk, today=today)
    assert before.is_open
    assert services.sweep_plan(before, today) == 9


def test_a_sweep_that_fails_is_told_again(answered, today, monkeypatch):
    plan = answered(20)

    def die(**kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr(Batch.objects, "create", die)
    with pytest.raises(ZeroDivisionError):
        services.sweep_all(today=today)
    assert report_tables.marked() == [plan.pk]


def test_what_one_transaction_leaves_is_told_again(answered, today, monkeypatch):
    """SQLite has one lock for all that is written, and takes a batch at a time: whoever dies after
    the first leaves a mark.
    """
    monkeypatch.setattr(services, "MAX_BATCH", 25)
    plan = answered(60)
    services.sweep(plan=plan, today=today)
    left = report_tables.waiting(plan.pk)
    assert left == (0 if connection.vendor == "postgresql" else 35)
    assert report_tables.marked() == [plan.pk] * (left > 0)


def test_a_sweep_costs_what_is_new_and_not_what_there_is(answered, today):
    answered(3)
    services.sweep_all(today=today)
    nothing = queries_of(lambda: services.sweep_all(today=today))
    for number in range(5):
        other = design.draft_study(study={**STUDY, "slug": f"o-{number}"}, questions=QUESTIONS)
        opened = design.open_study(why="A test.", study_id=other.pk, who="ada", now=NOW)
        answer_as_browsers(opened, [{"copied": 0, "fair": 0, "often": 0}] * 3, today)
    services.sweep_all(today=today)
    assert queries_of(lambda: services.sweep_all(today=today)) == nothing == 1


def test_each_plan_with_news_is_a_task_of_its_own(answered, today, monkeypatch):
    plan, sent = answered(20), []
    monkeypatch.setattr(
        tasks.sweep_plan, "apply_async", lambda args, expires: sent.append((args, expires))
    )
    tasks.sweep_all()
    assert sent == [((plan.pk,), 10)]
    tasks.sweep_plan(plan.pk)
    assert selectors.sealed_reports(plan) == 20
    tasks.sweep_all()
    assert len(sent) == 1


def test_a_plan_that_cannot_be_swept_does_not_keep_the_others_waiting(
    answered, today, monkeypatch, caplog
):
    answered(20)
    other = design.draft_study(study={**STUDY, "slug": "other"}, questions=QUESTIONS)
    opened = design.open_study(why="A test.", study_id=other.pk, who="ada", now=NOW)
    answer_as_browsers(opened, [{"copied": 0, "fair": 0, "often": 0}] * 20, today)
    sound = services.sweep

    def sweep(*, plan, today):
        if plan.study.slug == "exam-honesty":
            raise ZeroDivisionError("a report's values")
        return sound(plan=plan, today=today)

    monkeypatch.setattr(services, "sweep", sweep)
    with pytest.raises(ZeroDivisionError):
        services.sweep_all(today=today)
    assert Batch.objects.get().plan.study == other
    assert "ZeroDivisionError" in caplog.text
    assert "a report's values" not in caplog.text


@pytest.mark.engine("postgresql")
def test_no_statement_locks_the_tables_of_more_studies_than_a_server_has_room_for(
    answered, today, monkeypatch
):
    monkeypatch.setattr(intake, "AT_ONCE", 2)
    plans, counts = [answered(5)], [5]
    for people in (1, 2, 3, 4):
        study = {**STUDY, "slug": f"other-{people}", "title": f"Other {people}"}
        other = design.draft_study(study=study, questions=QUESTIONS)
        plans.append(design.open_study(why="A test.", study_id=other.pk, who="ada", now=NOW))
        answer_as_browsers(plans[-1], [{"copied": 0, "fair": 0, "often": 0}] * people, today)
        counts.append(people)
    expected = {plan.pk: count for plan, count in zip(plans, counts, strict=True)}
    for count, statements in ((selectors.received_of, 3), (lambda _: intake.open_counts(), 4)):
        with CaptureQueriesContext(connection) as asked:
            assert count(plans) == expected
        assert len(asked) == statements
