"""Letters: one when something begins to be wrong, one when it is over, and none in between."""

import datetime
from collections import namedtuple
from decimal import Decimal
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.core.management import call_command
from django.db import DatabaseError

from surveys.ledger import selectors as ledger, services as charges
from surveys.operations import alarms, backlog, database, health, refusals, services
from surveys.operations.check import CAP
from surveys.operations.models import Alarm
from surveys.releases import services as publishing
from tests.conftest import NOW
from tests.ports import free_port
from tests.surveys.ledger.small import open_budget, pay
from tests.surveys.releases import conftest as asked

MINUTE = datetime.timedelta(minutes=1)
LATER = NOW + MINUTE
MUCH_LATER = NOW + alarms.LONGEST + MINUTE
Disk = namedtuple("Disk", "total used free")


class Sink:
    """Takes letters as a server of letters does."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.refuses = False

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.refuses:
            return "451 not now"
        self.letters.append(envelope)
        return "250 taken"

    def subjects(self) -> list[str]:
        found = []
        for letter in self.letters:
            lines = letter.content.decode().splitlines()
            found += [line.removeprefix("Subject: ") for line in lines if "Subject:" in line]
        return found


@pytest.fixture
def sink(settings):
    """A real server of letters on this machine, to which this site sends."""
    own = Sink()
    server = Controller(own, hostname="127.0.0.1", port=free_port())
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    settings.EMAIL_CONFIGURED, settings.ALARMS_TO = True, ["sunday@example.org"]
    settings.ALLOWED_HOSTS = ["candor.example.org"]
    yield own
    server.stop(no_assert=True)


def look_and_be_killed(monkeypatch):
    """Have a process end while it sends the letter."""

    def killed(about: str, text: str) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(alarms, "_sent", killed)
        with pytest.raises(KeyboardInterrupt):
            alarms.watch(now=NOW)


def logged(caplog):
    return [record.msg for record in caplog.records if record.name == alarms.__name__]


@pytest.fixture(autouse=True)
def well(db, monkeypatch):
    monkeypatch.setattr(backlog, "look", lambda: backlog.Queue(answers=True))
    monkeypatch.setattr(refusals, "waiting", refusals.Waiting())
    monkeypatch.setattr(health.shutil, "disk_usage", lambda folder: Disk(100, 50, 50))
    services.live(now=NOW, sent=NOW)
    services.note(kind="verification", went_well=True, said="", size=1, now=NOW)
    services.note(kind="backup", went_well=True, said="file", size=1, now=NOW)
    services.note(kind="forgetting", went_well=True, said="", size=None, now=NOW)


def test_a_site_that_is_well_sends_nothing(sink):
    assert alarms.watch(now=NOW) == []
    assert sink.letters == []


def test_a_fault_is_told_once_and_again_when_it_ends(sink):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    for _ in range(3):
        assert alarms.watch(now=NOW) == ["backup"]
    assert sink.subjects() == ["[candor.example.org] Last backup"]
    (letter,) = sink.letters
    assert letter.rcpt_tos == ["sunday@example.org"]
    assert "The last one failed" in letter.content.decode()
    services.note(kind="backup", went_well=True, said="file", size=1, now=LATER + MINUTE)
    for _ in range(3):
        assert alarms.watch(now=NOW) == []
    assert sink.subjects()[1:] == ["[candor.example.org] backup: over"]
    assert not Alarm.objects.exists()


def ledger_broken(monkeypatch):
    services.note(kind="verification", went_well=False, said="row 5", size=None, now=LATER)


def disk_nearly_full(monkeypatch):
    monkeypatch.setattr(health.shutil, "disk_usage", lambda folder: Disk(1000, 901, 99))


def queue_old(monkeypatch):
    old = backlog.Queue(True, 9, oldest=NOW - datetime.timedelta(minutes=11), newest=NOW)
    monkeypatch.setattr(backlog, "look", lambda: old)


def backup_old(monkeypatch):
    monkeypatch.setattr(health.settings, "PRODUCTION", True)
    monkeypatch.setattr(health, "_settings", list)  # which are not those of production
    health.Event.objects.filter(kind="backup").update(at=NOW - datetime.timedelta(hours=27))


def worker_gone(monkeypatch):
    services.Sign.objects.filter(name="worker").update(at=NOW - datetime.timedelta(minutes=11))


@pytest.mark.parametrize(
    ("breaks", "key"),
    [
        (ledger_broken, "ledger"),
        (disk_nearly_full, "disk"),
        (queue_old, "queue"),
        (backup_old, "backup"),
        (worker_gone, "worker"),
    ],
)
def test_what_is_wrong_is_told_and_logged(sink, monkeypatch, caplog, breaks, key):
    with monkeypatch.context() as patched:
        breaks(patched)
        assert alarms.watch(now=NOW) == [key]
    assert [(each["event"], each["alarm"]) for each in logged(caplog)] == [("alarm", key)]
    assert len(sink.letters) == 1


def test_a_cap_that_is_nearly_reached_is_told_and_one_that_is_not_is_not(sink):
    full, half = open_budget("full", epsilon=1), open_budget("half", epsilon=1)
    pay(full, "0.91")
    pay(half, "0.5")
    assert [account.budget.pk for account in ledger.near_caps(health.NEAR)] == [full.pk]
    assert alarms.watch(now=NOW) == [f"cap of {full.pk}"]
    assert "Cap of" in sink.subjects()[0]
    charges.retire_budget(budget_id=full.pk, who="ada", now=NOW, why="a test")
    assert alarms.watch(now=NOW) == []


def test_a_letter_that_is_not_taken_is_sent_with_the_next_look(sink, caplog):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    sink.refuses = True
    alarms.watch(now=NOW)
    assert "letter not sent" in [each["event"] for each in logged(caplog)]
    sink.refuses = False
    alarms.watch(now=NOW)
    assert len(sink.letters) == 1
    services.note(kind="backup", went_well=True, said="file", size=1, now=LATER + MINUTE)
    sink.refuses = True
    alarms.watch(now=NOW)
    sink.refuses = False
    alarms.watch(now=NOW)
    alarms.watch(now=NOW)
    assert sink.subjects()[1:] == ["[candor.example.org] backup: over"]


@pytest.mark.parametrize("later", [False, True], ids=["who looked before", "who looked after"])
def test_two_who_look_at_once_send_one_letter(sink, monkeypatch, later):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    sent = alarms._sent

    def another_looks_meanwhile(about: str, text: str) -> bool:
        monkeypatch.setattr(alarms, "_sent", sent)
        alarms.watch(now=NOW + (2 * later - 1) * datetime.timedelta(seconds=5))
        return sent(about, text)

    monkeypatch.setattr(alarms, "_sent", another_looks_meanwhile)
    alarms.watch(now=NOW)
    assert len(sink.letters) == 1


def test_what_ends_while_another_tells_of_it_is_told_to_be_over(sink, monkeypatch):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    sent = alarms._sent

    def ends_meanwhile(about: str, text: str) -> bool:
        monkeypatch.setattr(alarms, "_sent", sent)
        services.note(kind="backup", went_well=True, said="file", size=1, now=LATER + MINUTE)
        alarms.watch(now=NOW)
        return sent(about, text)

    monkeypatch.setattr(alarms, "_sent", ends_meanwhile)
    alarms.watch(now=NOW)
    alarms.watch(now=NOW)
    assert sink.subjects() == [
        "[candor.example.org] Last backup",
        "[candor.example.org] backup: over",
    ]


def test_a_letter_is_claimed_when_it_is_begun_however_long_those_before_it_took(sink, monkeypatch):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    disk_nearly_full(monkeypatch)
    clock = [0.0]
    monkeypatch.setattr(alarms.time, "monotonic", lambda: clock[0])
    sent, wait = alarms._sent, alarms.LONGEST.total_seconds() + 60

    def slowly(about: str, text: str) -> bool:
        done = sent(about, text)
        if clock[0]:  # the second: another looks before it is noted as sent
            monkeypatch.setattr(alarms, "_sent", sent)
            alarms.watch(now=NOW + datetime.timedelta(seconds=clock[0]))
        clock[0] += wait
        return done

    monkeypatch.setattr(alarms, "_sent", slowly)
    services.live(now=MUCH_LATER, sent=MUCH_LATER)
    alarms.watch(now=NOW)
    assert len(sink.letters) == 2


@pytest.mark.parametrize("began", [MINUTE, -MINUTE])  # after ours, or before it and slower
def test_what_began_while_a_look_sent_its_letters_is_not_over(sink, monkeypatch, began):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    sent = alarms._sent

    def another_looks(about: str, text: str) -> bool:
        monkeypatch.setattr(alarms, "_sent", sent)
        disk_nearly_full(monkeypatch)
        assert "disk" in alarms.watch(now=NOW + began)
        return sent(about, text)

    monkeypatch.setattr(alarms, "_sent", another_looks)
    alarms.watch(now=NOW)
    assert Alarm.objects.filter(name="disk", told=True).exists()
    assert not [subject for subject in sink.subjects() if "over" in subject]


def test_a_letter_that_cannot_be_written_keeps_no_other_back(sink, monkeypatch):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    disk_nearly_full(monkeypatch)
    send, tries = alarms.send_mail, []

    def first_fails(subject: str, *rest: Any) -> int:
        tries.append(subject)
        return send(f"{subject}\n" if len(tries) == 1 else subject, *rest)

    monkeypatch.setattr(alarms, "send_mail", first_fails)
    alarms.watch(now=NOW)
    assert len(sink.letters) == 1
    alarms.watch(now=NOW)
    assert len(sink.letters) == 2


@pytest.mark.parametrize("went_well", [False, True], ids=["of what began", "of what is over"])
def test_the_letter_of_a_worker_that_was_killed_is_sent_by_another(sink, monkeypatch, went_well):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    if went_well:
        alarms.watch(now=NOW)
        services.note(kind="backup", went_well=True, said="file", size=1, now=LATER + MINUTE)
    look_and_be_killed(monkeypatch)
    before = len(sink.letters)
    alarms.watch(now=NOW)  # it may still be sending
    assert len(sink.letters) == before
    services.live(now=MUCH_LATER, sent=MUCH_LATER)
    for _ in range(2):
        alarms.watch(now=MUCH_LATER)
    assert sink.subjects()[before:] == [
        f"[candor.example.org] {'backup: over' if went_well else 'Last backup'}"
    ]


def test_what_is_over_before_anybody_was_told_is_forgotten(sink, monkeypatch):
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    look_and_be_killed(monkeypatch)
    services.note(kind="backup", went_well=True, said="file", size=1, now=LATER + MINUTE)
    services.live(now=MUCH_LATER, sent=MUCH_LATER)
    alarms.watch(now=MUCH_LATER)
    assert (sink.letters, Alarm.objects.count()) == ([], 0)


def test_where_nobody_is_named_the_log_says_it_all_the_same(settings, caplog):
    settings.ALARMS_TO = []
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    alarms.watch(now=NOW)
    assert [each["alarm"] for each in logged(caplog)] == ["backup"]


def test_what_is_still_wrong_when_somebody_is_named_is_told_then(sink, settings):
    named, settings.ALARMS_TO = settings.ALARMS_TO, []
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    alarms.watch(now=NOW)
    assert sink.letters == []
    settings.ALARMS_TO = named
    for _ in range(2):
        alarms.watch(now=NOW)
    assert len(sink.letters) == 1


def test_a_timer_looks_without_a_worker(sink, capsys, monkeypatch):
    monkeypatch.setattr(health.shutil, "disk_usage", lambda folder: Disk(1000, 990, 10))
    call_command("watch")
    said = capsys.readouterr().out.split()
    assert "disk" in said
    assert "[candor.example.org] Disk" in sink.subjects()


@pytest.mark.parametrize(
    ("rule", "cap", "then", "warned"),
    [
        ("when-closed", 1, "closed", False),  # all of it, as it was planned
        ("every", 2, "open", True),  # twice, and more will come
        ("every", 2, "closed", False),  # twice, and no more came
        ("on-request", 1, "asked", True),  # who asks may want more
    ],
)
def test_a_cap_that_is_spent_as_planned_is_no_alarm(db, rule, cap, then, warned):
    plan = asked.open_asked(rule=rule, cap=cap, release_epsilon=1, hours=1)
    if then == "asked":
        found = publishing.ask_for(
            plan=plan,
            kind="shares",
            parameters={"questions": ["copied"], "epsilon": Decimal(1)},
            who="ada",
            now=asked.NOW,
        )
        publishing.publish(request_id=found.pk, now=asked.NOW)
    elif rule == "every":
        for hours in (1, 3):
            publishing.publish_due(now=asked.NOW + datetime.timedelta(hours=hours))
            asked.answer(plan, 0 if hours == 3 else 30)
    if then == "closed":
        asked.close(plan)
        publishing.publish_due(now=asked.NOW + datetime.timedelta(hours=5))
    assert [each.budget.pk for each in ledger.near_caps(health.NEAR)] == [plan.study.budget_id]
    told = [line.key for line in health.look(asked.NOW) if line.key.startswith(CAP)]
    assert told == warned * [f"cap of {plan.study.budget_id}"]


def test_a_letter_goes_out_where_the_database_stores_nothing(sink, settings, tmp_path, monkeypatch):
    def full(**_row):
        raise DatabaseError("no space left on device")

    monkeypatch.setattr(database, "tried", {"at": float("-inf"), "well": True})
    settings.DATA_DIR = tmp_path
    disk_nearly_full(monkeypatch)  # so there is an alarm to note
    with monkeypatch.context() as patched:
        for name in ("get_or_create", "update_or_create"):
            patched.setattr(Alarm.objects, name, full)
            patched.setattr(services.Sign.objects, name, full)
        sink.refuses = True
        assert alarms.watch(now=NOW) == ["database"]
        sink.refuses = False
        for _look in range(3):  # none for each look
            assert alarms.watch(now=NOW) == ["database"]
    assert sink.subjects() == ["[candor.example.org] database"]
    database.tried["at"] = float("-inf")
    assert alarms.watch(now=NOW) == ["disk"]
    assert "[candor.example.org] database: over" in sink.subjects()
    assert list(tmp_path.iterdir()) == []


def test_what_fails_for_another_reason_is_no_alarm_of_the_database(monkeypatch):
    def locked(now):
        raise DatabaseError("database is locked")

    monkeypatch.setattr(health, "look", locked)
    with pytest.raises(DatabaseError, match="locked"):
        alarms.watch(now=NOW)


def test_no_command_is_put_into_another_where_the_site_runs_by_hand():
    check = next(each for each in health.look(NOW) if each.key == "worker")
    assert check.to_do.endswith("start the site again: python manage.py up.")


def test_a_letter_names_commands_as_they_are_typed_where_the_site_runs(sink, settings):
    settings.MANAGE, settings.RESTART = (
        "/opt/candor/deploy/manage",
        "systemctl restart candor.target",
    )
    services.Sign.objects.filter(name="worker").update(at=NOW - datetime.timedelta(minutes=11))
    services.note(kind="backup", went_well=False, said="OSError", size=None, now=LATER)
    assert sorted(alarms.watch(now=NOW)) == ["backup", "worker"]
    said = " ".join(" ".join(letter.content.decode() for letter in sink.letters).split())
    assert "start the site again: systemctl restart candor.target." in said
    assert "Run /opt/candor/deploy/manage backup every day" in said
    assert "manage.py" not in said
