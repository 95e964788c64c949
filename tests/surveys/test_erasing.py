"""What is erased is gone from the files of the database, not only from its tables."""

import copy
import datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from surveys.aggregation import services as aggregation, tasks as aggregation_tasks
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.erasing import checkpoint
from surveys.intake import services as intake, tasks as intake_tasks
from surveys.releases import services as release_services, tasks as release_tasks
from tests.conftest import NOW, TODAY

pytestmark = pytest.mark.engine("sqlite")  # on PostgreSQL: tests/journeys/test_erased.py
ANSWER = "an answer that somebody gave"


@pytest.fixture
def database(db: None, tmp_path: Path):
    """A file with the site's own settings, in which a row was written and deleted."""
    found = connections.create_connection("default")
    found.settings_dict = copy.deepcopy(found.settings_dict)
    found.settings_dict["NAME"] = tmp_path / "x.sqlite3"
    found.settings_dict["OPTIONS"] = settings.DATABASES["default"]["OPTIONS"]
    yield found
    found.close()


def holds(database: BaseDatabaseWrapper) -> bool:
    folder = Path(database.settings_dict["NAME"]).parent
    return any(ANSWER.encode() in file.read_bytes() for file in folder.iterdir())


def test_what_was_deleted_is_in_none_of_the_files(database):
    with database.cursor() as cursor:
        cursor.execute("CREATE TABLE reports (answer TEXT)")
        cursor.execute("INSERT INTO reports VALUES (%s)", [ANSWER])
        checkpoint(database)
        assert holds(database)
        cursor.execute("UPDATE reports SET answer = answer || answer")
        cursor.execute("DELETE FROM reports")
    assert holds(database)
    checkpoint(database)
    assert not holds(database)


@pytest.mark.parametrize("erase", [intake_tasks.erase_retired, aggregation_tasks.erase_retired])
def test_each_room_that_erased_something_empties_the_journal_and_one_that_did_not_does_not(
    answered, erase, django_capture_on_commit_callbacks
):
    plan = answered(25)
    aggregation.sweep_all(today=TODAY)
    answer_as_browsers(plan, [{"copied": 1, "fair": 2, "often": 0}], TODAY)
    design.retire(study_id=plan.study_id, because="the project ended", who="ada", now=NOW)
    with django_capture_on_commit_callbacks() as first:
        erase()
    with django_capture_on_commit_callbacks() as second:
        erase()
    assert (len(first), len(second)) == (1, 0)


def test_the_room_of_releases_empties_it_after_the_state_of_a_series(
    db, monkeypatch, django_capture_on_commit_callbacks
):
    state = Mock(exists=lambda: True, update=lambda **changes: 1)
    monkeypatch.setattr(release_services.Series.objects, "filter", lambda query: state)
    with django_capture_on_commit_callbacks() as emptied:
        release_tasks.erase_over()
    assert len(emptied) == 1


def test_a_sweep_and_a_night_empty_it_too(answered, django_capture_on_commit_callbacks):
    answered(25)
    with django_capture_on_commit_callbacks() as swept:
        aggregation.sweep_all(today=TODAY)
    with django_capture_on_commit_callbacks() as settled:
        intake.settle(today=TODAY + datetime.timedelta(days=1))
    assert (len(swept), len(settled)) == (1, 1)
