"""Batches of earlier days on PostgreSQL: what no night may lose, and nobody change."""

import datetime

import pytest
from django.db import DatabaseError, connection, transaction

from surveys.aggregation import selectors, services, tables
from surveys.aggregation.models import Batch
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY

pytestmark = [pytest.mark.django_db, pytest.mark.engine("postgresql")]
COLUMNS = "id, plan_id, number, size, columns, given, strata, sealed_on"
DAY = datetime.timedelta(days=1)
ANSWERS = [{"copied": i % 2, "fair": i % 5, "often": i % 3} for i in range(30)]


@pytest.fixture
def plan():
    """A Plan of which a batch of the day before has been moved, and one of today has not."""
    study = design.draft_study(study=STUDY, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    for day in (TODAY, TODAY + DAY):
        answer_as_browsers(plan, ANSWERS, day)
        services.sweep_all(today=day)
    assert tables.swept(before=TODAY + DAY) == {plan.pk}
    tables.settle(before=TODAY + DAY)
    assert tables.swept(before=TODAY + DAY) == set()
    return plan


def refused(statement):
    with (
        pytest.raises(DatabaseError, match="a batch is sealed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def count(table):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ONLY {table}")  # noqa: S608
        return cursor.fetchone()[0]


def test_who_reads_batches_has_those_of_all_days(plan):
    assert (count(tables.TODAY), count(tables.EARLIER)) == (1, 1)
    assert [batch.number for batch in Batch.objects.filter(plan=plan)] == [1, 2]
    assert sum(selectors.joint(plan, ["copied"]).values()) == 2 * len(ANSWERS)


@pytest.mark.parametrize(
    "act",
    [
        "UPDATE {} SET size = 1",
        "UPDATE {} SET strata = '[1]'",
        "DELETE FROM {}",
        "TRUNCATE {}",
    ],
)
@pytest.mark.parametrize("table", [tables.TODAY, tables.EARLIER])
def test_a_batch_is_not_changed_and_not_lost_wherever_it_stands(plan, table, act):
    refused(act.format(table))


@pytest.mark.parametrize(
    ("name", "other"),
    [("id", "id + 100"), ("number", "number + 7"), ("sealed_on", "sealed_on - 1")],
)
def test_nothing_comes_into_the_second_table_but_a_copy_of_the_first(plan, name, other):
    copied = COLUMNS.replace(name, other, 1)
    refused(f"INSERT INTO {tables.EARLIER} ({COLUMNS}) SELECT {copied} FROM ONLY {tables.TODAY}")  # noqa: S608


def test_no_number_is_given_twice(plan):
    refused(
        "INSERT INTO aggregation_batch (plan_id, number, size, columns, given, sealed_on) "
        "SELECT plan_id, number, size, columns, given, sealed_on FROM aggregation_settledbatch"
    )


def test_what_an_earlier_day_sealed_is_erased_with_its_study(plan):
    design.retire(study_id=plan.study_id, who="ada", now=NOW + DAY, because="asked to")
    assert services.erase_retired() == 2
    assert (count(tables.TODAY), count(tables.EARLIER)) == (0, 0)
