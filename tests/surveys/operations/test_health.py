"""How the site is: for staff only, and one word for machines."""

import datetime
import re

import pytest
from django.core.management import CommandError
from django.db import DatabaseError

from surveys.aggregation.selectors import batch_sizes
from surveys.aggregation.services import sweep_all
from surveys.design import services as design
from surveys.design.models import Study
from surveys.intake import report_tables
from surveys.operations import backlog, health, refusals, services, views
from surveys.operations.management.commands import forget
from surveys.operations.models import Event, Refusal
from tests.conftest import NOW
from tests.surveys import test_who_took_part as who_took_part
from tests.surveys.releases import test_strata as strata

NOTHING = backlog.Queue(answers=True)


@pytest.fixture(autouse=True)
def queue(monkeypatch):
    found = {"is": NOTHING}
    monkeypatch.setattr(backlog, "look", lambda: found["is"])
    # nothing that other tests had turned away
    monkeypatch.setattr(refusals, "waiting", refusals.Waiting())
    return found


def before(**span):
    return NOW - datetime.timedelta(**span)


def line(name):
    return next(each for each in health.look(NOW) if each.name == name)


def well(now=NOW):
    """Note all that a site that is well has noted."""
    services.live(now=now, sent=now)
    for kind in Event.Kind.values:
        said = "" if kind == Event.Kind.FORGETTING else "file"  # nothing is kept anyway
        services.note(kind=kind, went_well=True, said=said, size=1, now=now)


def test_a_site_that_is_well_says_so(db, client, admin_user):
    well(datetime.datetime.now(datetime.UTC))
    client.force_login(admin_user)
    page = client.get("/health/").content.decode()
    assert "All checks are OK." in page


NAMES = re.compile(r'<h2 class="h3">([^<]+)</h2>')


@pytest.mark.parametrize(
    ("seen", "state"),
    [(before(seconds=40), "good"), (before(minutes=5), "watch"), (before(hours=1), "alarm")],
    ids=str,
)
def test_a_worker_that_was_not_seen_for_long_is_an_alarm(db, seen, state):
    services.live(now=seen, sent=seen)
    assert (line("Worker").state, line("Scheduler").state) == (state, state)


def test_a_scheduler_is_seen_by_what_it_sent_even_where_no_worker_takes_it(db, queue):
    services.live(now=before(hours=1), sent=before(hours=1))
    queue["is"] = backlog.Queue(
        answers=True, waiting=9, oldest=before(hours=1), newest=before(seconds=5)
    )
    assert (line("Worker").state, line("Scheduler").state, line("Task queue").state) == (
        "alarm",
        "good",
        "alarm",
    )
    assert line("Task queue").said == "9 tasks wait. The oldest was sent 60 minutes ago."


def test_a_broker_that_does_not_answer_is_an_alarm(db, queue):
    queue["is"] = backlog.Queue(answers=False)
    assert line("Task queue").state == "alarm"
    assert health.look(NOW)[0].name == "Task queue"  # what is wrong comes first


def test_a_ledger_that_does_not_hold_is_an_alarm_and_names_the_row(db):
    services.note(
        kind="verification",
        went_well=False,
        said="row 5: was changed",
        size=None,
        now=before(hours=1),
    )
    assert line("Last check of the ledger").state == "alarm"
    assert line("Last check of the ledger").said.endswith("errors in row 5.")


@pytest.mark.parametrize("name", ["Last backup", "Last check of the ledger"])
def test_what_should_be_done_daily_and_was_not_is_said(db, name):
    assert line(name).state == "watch"
    well(before(hours=1))
    assert line(name).state == "good"
    Event.objects.update(at=before(hours=30))
    assert line(name).state == "watch"


@pytest.mark.parametrize("name", ["Last backup", "Last check of the ledger"])
def test_what_a_clock_ahead_noted_hides_nothing_that_was_not_done(db, name):
    well(before(hours=30))
    assert line(name).state == "watch"
    well(before(hours=-9600))
    assert line(name).state == "watch"


def test_a_backup_that_failed_is_an_alarm_though_an_earlier_one_is_there(db):
    services.note(kind="backup", went_well=True, said="file", size=1, now=before(hours=2))
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=before(hours=1))
    assert line("Last backup").state == "alarm"


@pytest.mark.engine("postgresql")
def test_what_was_erased_and_is_in_the_log_still_is_an_alarm(db, settings, monkeypatch):
    def of_the_log(at=None):  # at what time the command notes what it did, unless another is said
        look = health.look(at or datetime.datetime.now(datetime.UTC))
        found = [each for each in look if each.key == "forgetting"]
        return found[0].state, found[0].said

    def refuse():
        raise CommandError("Another transaction may still see it.")

    monkeypatch.setattr(forget, "log_kept", lambda: kept)
    monkeypatch.setattr(forget, "files_kept", lambda: ["Files of no table: got 7."])
    kept = ["wal_recycle: expected off, got on."]
    settings.PRODUCTION = True
    assert of_the_log() == ("alarm", "This site has not done it.")
    with pytest.raises(CommandError):
        forget.noted(refuse)
    assert of_the_log()[0] == "alarm"
    assert "Another transaction" in of_the_log()[1]
    with pytest.raises(CommandError, match="wal_recycle"):
        forget.noted(lambda: None)
    assert of_the_log()[0] == "alarm"
    assert "wal_recycle" in of_the_log()[1]
    kept.clear()
    assert forget.noted(lambda: None) == ["Files of no table: got 7."]
    assert of_the_log()[0] == "watch"
    assert "got 7" in of_the_log()[1]
    Event.objects.all().delete()
    well(before(hours=1))
    assert of_the_log(NOW)[0] == "good"
    Event.objects.update(at=before(hours=30))
    assert of_the_log(NOW)[0] == "alarm"


def test_refusals_are_said_by_reason_and_about_how_many(db):
    Refusal.objects.create(day=NOW.date(), reason="closed", count=17)
    Refusal.objects.create(day=before(days=30).date(), reason="body", count=5)
    said = line("Rejected responses")
    assert said.said == "In the last seven days: the study had closed: fewer than 30."
    assert said.state == "good"
    Refusal.objects.create(day=NOW.date(), reason="not stored", count=1)
    assert line("Rejected responses").state == "watch"


def test_floods_have_a_line_of_their_own(db):
    assert line("Responses asked to come later").state == "good"
    Refusal.objects.create(day=NOW.date(), reason="study", count=400)
    said = line("Responses asked to come later")
    assert (said.state, said.said) == (
        "watch",
        "In the last seven days: too many at once to one study: fewer than 1000.",
    )
    assert line("Rejected responses").state == "good"


def test_what_waits_is_told_in_days_of_batches_and_never_in_times_of_arrival(answered, now):
    answered(25)
    services.live(now=now, sent=now)
    said = line("Responses that wait for their batch")
    assert said.said == "25 responses wait. A run has been due since 0 seconds ago."
    assert line("Batches that wait for their release").said == "None waits."
    sweep_all(today=now.date())
    services.live(now=now, sent=now)
    assert line("Responses that wait for their batch").said == "0 responses wait. None is due."
    assert (
        line("Batches that wait for their release").said
        == "The oldest was closed 0 days ago, in “Exam honesty”."
    )


def test_nothing_tells_how_many_took_part_where_that_is_protected(db):
    plan = who_took_part.opened()
    who_took_part.answer(plan, 60)
    services.live(now=NOW, sent=NOW)
    assert line("Responses that wait for their batch").said == "0 responses wait. None is due."
    sweep_all(today=NOW.date())
    assert batch_sizes(plan) == [60]
    assert line("Batches that wait for their release").said == "None waits."


def asked_list():
    plan = strata.opened()
    Study.objects.update(is_invited=True)
    strata.answer(plan)
    return plan


def test_nothing_tells_when_answers_of_a_list_come(db):
    plan = asked_list()
    assert (backlog.unsealed(), backlog.owes_a_sweep()) == (0, False)
    sweep_all(today=NOW.date())
    assert batch_sizes(plan)
    assert backlog.oldest_unpublished() is None
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    assert backlog.oldest_unpublished() == (NOW.date(), plan.study)


def test_a_sweep_that_a_list_owes_is_told_once_it_is_closed(db):
    plan = asked_list()
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    assert backlog.owes_a_sweep()
    assert backlog.unsealed() == 0  # how many are left over is nobody's before midnight


def test_whether_a_sweep_is_owed_is_asked_only_where_one_has_to_look(answered, now):
    plan = answered(25)
    assert backlog.owes_a_sweep()
    report_tables.unmark(plan)
    assert not backlog.owes_a_sweep()
    assert backlog.unsealed() == 25
    report_tables.mark(plan.pk)
    assert backlog.owes_a_sweep()


def test_fewer_than_a_smallest_batch_owe_a_sweep_once_the_study_is_closed(answered, now):
    plan = answered(9)
    assert not backlog.owes_a_sweep()
    design.close_plan(plan_id=plan.pk, today=now.date())
    assert backlog.owes_a_sweep()


def test_a_study_that_is_done_owes_nothing(answered, now):
    from surveys.design.services import close_plan
    from surveys.releases.services import publish_due

    plan = answered(25)
    sweep_all(today=now.date())
    close_plan(plan_id=plan.pk, today=now.date())
    services.live(now=now, sent=now)
    assert "has been due since" in line("Batches that wait for their release").said
    publish_due(now=now)
    services.live(now=now, sent=now)
    assert line("Batches that wait for their release").said == "None waits."


def test_only_staff_see_it(client, researcher, admin_user):
    assert client.get("/health/").status_code == 302
    client.force_login(researcher)
    answer = client.get("/health/")
    assert answer.status_code == 403
    assert "Only admins of this site" in answer.content.decode()
    client.force_login(admin_user)
    answer = client.get("/health/")
    assert answer.status_code == 200
    shown, _summary, folded = answer.content.decode().partition("<summary>")
    wrong = {each.name for each in answer.context["wrong"]}
    assert "Last backup" in wrong
    assert wrong == set(NAMES.findall(shown))
    assert "Clock" in NAMES.findall(folded)


def test_machines_get_one_word(client, db):
    answer = client.get("/health/live")
    assert (answer.status_code, answer.content) == (200, b"live")
    assert not answer.cookies


def test_a_database_that_does_not_answer_is_503_without_details(client, db, monkeypatch):
    def broken():
        raise DatabaseError("password=secret")

    with monkeypatch.context() as patched:
        patched.setattr(views.connection, "cursor", broken)
        answer = client.get("/health/live")
    assert (answer.status_code, answer.content) == (503, b"")
