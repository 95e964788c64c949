"""Nothing that cannot be undone is done by a wrong clock; a site that was off goes on by itself."""

import datetime

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from surveys import clock
from surveys.aggregation import services as aggregation
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.design.models import Study
from surveys.design.refusals import Refused
from surveys.invited import services as invited
from surveys.ledger.models import Entry
from surveys.operations import backlog, exposition, health, ready
from surveys.people.models import Role
from surveys.people.services import share
from surveys.releases import services as releases
from surveys.releases.models import Release
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY, known_as
from tests.surveys.intake.test_reports import URL, body
from tests.surveys.invited.conftest import listed, study  # noqa: F401 (fixtures)
from tests.surveys.releases.conftest import open_asked

HOUR, MINUTE = datetime.timedelta(hours=1), datetime.timedelta(minutes=1)
DAY = 24 * HOUR
JUMPS = {"26 h ahead": 26 * HOUR, "400 days ahead": 400 * DAY, "a day back": -DAY}


class Time:
    """Both clocks, which a test sets."""

    def __init__(self, now):
        self.here = self.there = now

    def jump(self, span):
        self.here += span
        self.there += span

    def run(self, span):
        """Let the site run so long, with a worker that notes the time."""
        end = self.here + span
        while self.here < end:
            self.jump(5 * MINUTE)
            clock.note()


@pytest.fixture
def time(db, monkeypatch):
    time = Time(NOW)
    monkeypatch.setattr(clock, "moments", lambda _noted: (time.here, time.there))
    clock.note()
    return time


@pytest.fixture
def due(draft, listed):  # noqa: F811
    """A wave to close, a study to retire, a list to delete, all by a date that is past on each of
    these clocks; and numbers that a rule publishes.
    """
    past = TODAY - datetime.timedelta(days=4)
    Study.objects.filter(pk=draft.pk).update(rule="every", hours=1, closes_on=past)
    opened = NOW - datetime.timedelta(days=8)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=opened)
    truths = [{"copied": i % 2, "fair": i % 5, "often": i % 4} for i in range(30)]
    answer_as_browsers(plan, truths, opened.date())
    aggregation.sweep_all(today=past)
    ending = open_asked(slug="ending")
    Study.objects.filter(pk=ending.study_id).update(retires_on=past)
    invited.set_erasure(study=listed, day=past)


def done(now):
    """Do all that is due by date, and return how many things were done."""
    return [
        len(releases.publish_due(now=now)),
        len(design.close_due(now=now)),
        len(design.retire_due(now=now)),
        len(invited.erase_due(today=now.date())),
    ]


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_a_clock_that_jumped_decides_nothing_for_two_hours(due, time, jump):
    time.jump(jump)
    rows = Entry.objects.count()
    assert done(time.here) == [0, 0, 0, 0]  # at once, before a worker has noted the jump
    time.run(2 * HOUR)
    assert done(time.here) == [0, 0, 0, 0]
    assert Entry.objects.count() == rows
    time.run(10 * MINUTE)
    assert done(time.here) == [1, 1, 1, 1]


def test_a_study_is_not_closed_early_by_a_clock_that_is_put_right_within_two_hours(draft, time):
    Study.objects.filter(pk=draft.pk).update(closes_on=TODAY)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    for jump in (26 * HOUR, -26 * HOUR, 400 * DAY, -400 * DAY):
        time.jump(jump)
        time.run(HOUR)
        assert design.close_due(now=time.here) == []
    time.run(3 * HOUR)  # the day is not over
    assert design.close_due(now=time.here) == []
    time.run(DAY)
    assert design.close_due(now=time.here) == [plan.pk]


def test_a_site_that_was_off_for_three_days_goes_on_after_two_hours_and_takes_reports_meanwhile(
    due, time, client
):
    draft = design.draft_study(study={**STUDY, "slug": "open"}, questions=QUESTIONS)
    open_one = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    time.run(HOUR)
    time.jump(3 * DAY)
    time.run(HOUR)
    assert done(time.here) == [0, 0, 0, 0]
    address = URL.replace("exam-honesty", "open")
    answer = client.post(address, body(open_one), content_type="application/json")
    assert answer.status_code == 201, answer.content
    time.run(HOUR + 10 * MINUTE)
    assert done(time.here) == [1, 1, 1, 1]


def test_two_hours_begin_anew_where_the_site_was_off_meanwhile(due, time):
    time.jump(26 * HOUR)
    time.run(HOUR)
    time.jump(HOUR)  # switched off, and on again
    time.run(HOUR)
    assert clock.doubt()
    time.run(HOUR + 10 * MINUTE)
    assert not clock.doubt()


@pytest.mark.parametrize("hours", [1, 24])
def test_a_night_off_is_no_jump(time, hours):
    time.jump(hours * HOUR)
    assert not clock.doubt()
    clock.note()
    assert not clock.doubt()


@pytest.mark.parametrize("seconds", [-130, 130, 26 * 3600])
def test_a_clock_that_is_not_the_databases_decides_nothing_until_they_agree(due, time, seconds):
    time.here += datetime.timedelta(seconds=seconds)
    clock.note()
    assert "differ by" in clock.doubt()
    assert done(time.here) == [0, 0, 0, 0]
    with pytest.raises(CommandError, match="differ by"):
        call_command("clock", "--is-right")
    time.here = time.there
    assert done(time.here) == [1, 1, 1, 1]


@pytest.mark.parametrize("seconds", [-110, 0, 110])
def test_two_minutes_are_no_difference(time, seconds):
    time.here += datetime.timedelta(seconds=seconds)
    assert not clock.doubt()


def test_a_person_says_that_it_is_right(due, time, capsys):
    time.jump(3 * DAY)
    time.run(HOUR)
    with pytest.raises(CommandError, match="People who run this site can end the wait"):
        call_command("clock")
    assert done(time.here) == [0, 0, 0, 0]
    call_command("clock", "--is-right")
    assert "decides what is due" in capsys.readouterr().out
    assert done(time.here) == [1, 1, 1, 1]


def test_who_publishes_or_retires_by_hand_is_told_why_not(time, client):
    plan, now = open_asked(), NOW
    ask = {
        "plan": plan,
        "kind": "shares",
        "parameters": {"epsilon": "0.5", "questions": ["copied"]},
        "who": "mira",
    }
    waiting = releases.ask_for(**ask, now=now)
    time.jump(26 * HOUR)
    with pytest.raises(releases.CannotAsk, match="clock jumped"):
        releases.ask_for(**ask, now=now)
    with pytest.raises(releases.CannotAsk, match="clock jumped"):
        releases.publish(request_id=waiting.pk, now=now)
    with pytest.raises(Refused, match="clock jumped"):
        design.retire(study_id=plan.study_id, because="Enough.", who="mira", now=now)
    share(study=plan.study, user=(mira := known_as("mira")), role=Role.OWNER)
    client.force_login(mira)
    for page, args in (("ask", []), ("asked", [waiting.digest])):
        shown = client.get(reverse(f"dashboard:{page}", args=[plan.study.slug, *args]))
        assert "clock jumped" in shown.content.decode(), page
    assert releases.try_to_publish(request_id=waiting.pk, now=now) is None
    assert not Release.objects.exists()
    call_command("clock", "--is-right")
    assert releases.try_to_publish(request_id=waiting.pk, now=now)


def test_page_letter_ready_and_gauges_say_it_with_what_to_do(time, monkeypatch):
    monkeypatch.setattr(backlog, "look", lambda: backlog.Queue(answers=True))
    assert "candor_clock_trusted 1\n" in exposition.standing(NOW).decode()
    time.jump(26 * HOUR)
    time.run(HOUR)
    (line,) = [check for check in health.look(NOW) if check.key == "clock"]
    assert line.is_told
    assert "clock jumped" in line.said
    assert "manage.py clock --is-right" in line.todo
    assert "clock" in ready.missing(NOW)
    assert "candor_clock_trusted 0\n" in exposition.standing(NOW).decode()
