"""Workers side by side: one that finds a study held goes on, and no report is lost between them."""

import pytest

from tests.journeys.test_erased import (  # noqa: F401 (fixtures)
    OPEN,
    Database,
    database,
    go_on,
    line,
    migrated,
    server,
)

pytestmark = pytest.mark.engine("postgresql")
ANSWER = (
    "answer_as_browsers(Plan.objects.get(), [{'copied': 1, 'fair': 2, 'often': 0}] * %d, TODAY); "
)
SWEEP = "from surveys.intake import report_tables\n%ssay([aggregation.sweep_all(today=TODAY), report_tables.marked()])"
STUCK = """
sound = aggregation._seal
def stick(*given):
    sound(*given)
    say("in the middle")
    sys.stdin.readline()
aggregation._seal = stick
say(aggregation.sweep_all(today=TODAY))
"""
HALF_ACCEPTED = """
plan = Plan.objects.get()
sound = intake.report_tables.put
def stick(*given):
    sound(*given)
    say("in the middle")
    sys.stdin.readline()
intake.report_tables.put = stick
say(intake.accept_many(plan=plan, reports=[Report(report_id="7" * 32, values=[1, [2], [0]])], today=TODAY)[0].is_new)
"""


def test_a_worker_skips_a_study_that_another_sweeps_and_leaves_its_marks(database: Database):  # noqa: F811
    database.run(OPEN + ANSWER % 30 + "say(0)")
    with database.begin(STUCK) as other:
        assert line(other) == "in the middle"
        swept, marked = database.run(SWEEP % "")
        assert swept == 0
        assert len(marked) == 1
        go_on(other)
        assert line(other) == 30
    assert database.run(SWEEP % "") == [0, []]


def test_a_report_that_was_half_accepted_during_a_look_is_told_to_the_next(database: Database):  # noqa: F811
    """Its mark comes to be with it: a look that cannot see it leaves it."""
    database.run(OPEN + ANSWER % 9 + "say(0)")
    with database.begin(HALF_ACCEPTED) as door:
        assert line(door) == "in the middle"
        assert database.run(SWEEP % "") == [0, []]
        go_on(door)
        assert line(door) is True
    assert database.run(SWEEP % "") == [10, []]


OLD_DOOR = """
from django.db import connection
with connection.cursor() as cursor:
    for number in range(12):
        cursor.execute('INSERT INTO intake_openreport (plan_id, "values", given) VALUES (%s, %s, %s)',
            [Plan.objects.get().pk, "[1,[2],[0]]", b""])
say(0)
"""


def test_what_an_older_worker_stores_and_closes_is_found_by_a_new_one(database: Database):  # noqa: F811
    """An older one knows of no marks; nor does a door in another language."""
    database.run(OPEN + ANSWER % 1 + "say(aggregation.sweep_all(today=TODAY))")
    database.run(OLD_DOOR)
    assert database.run(SWEEP % "") == [13, []]
    database.run(ANSWER % 1 + "say(aggregation.sweep_all(today=TODAY))")
    database.run("Plan.objects.update(closed_on=TODAY); say(0)")
    assert database.run(SWEEP % "") == [1, []]
