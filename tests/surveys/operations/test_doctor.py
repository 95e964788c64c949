"""What a deployment lacks: each lack is named with what to do, and ends the command with 1."""

import contextlib
import datetime
import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from surveys import clock
from surveys.operations import backlog, database, doctor, health, refusals, services
from tests.conftest import NOW
from tests.ports import free_port
from tests.surveys.intake.test_reports import URL, body

GOOD = "good"


@pytest.fixture(autouse=True)
def well(db, settings, tmp_path, monkeypatch):
    """A site that lacks nothing."""
    settings.DATA_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    settings.BACKUPS_DIR = tmp_path / "backups"
    shutil.copytree(Path(finders.find("form/SHA256SUMS")).parent, settings.STATIC_ROOT / "form")
    settings.EMAIL_CONFIGURED, settings.ALARMS_TO = True, ["sunday@example.org"]
    monkeypatch.setattr(backlog, "look", lambda: backlog.Queue(answers=True))
    monkeypatch.setattr(refusals, "waiting", refusals.Waiting())
    services.live(now=NOW, sent=NOW)
    for kind in ("backup", "verification"):
        services.note(kind=kind, went_well=True, said="file", size=1, now=NOW)
    services.note(kind="forgetting", went_well=True, said="", size=None, now=NOW)


def found(url=None):
    lines = doctor.look(now=NOW, url=url)
    return {line.key: line for line in lines if line.state != GOOD and line.key != "mode"}


def test_a_site_that_is_well_lacks_nothing(capsys):
    assert found() == {}


def static_gone(settings, monkeypatch):
    (settings.STATIC_ROOT / "form" / "plain.js").write_text("other")


def key_open_to_others(settings, monkeypatch):
    (settings.DATA_DIR / "secret.key").write_text("x")
    (settings.DATA_DIR / "secret.key").chmod(0o644)


def database_gone(settings, monkeypatch):
    def broken():
        raise DatabaseError("password=secret")

    monkeypatch.setattr(database.connection, "cursor", broken)


def read_only(settings, monkeypatch):
    monkeypatch.setattr(database, "is_read_only", lambda: True)


def migration_missing(settings, monkeypatch):
    MigrationRecorder.Migration.objects.filter(app="operations", name="0001_release_0_9").delete()


def clock_wrong(settings, monkeypatch):
    now = datetime.datetime.now(datetime.UTC)
    monkeypatch.setattr(clock, "moments", lambda _noted: (now, now + datetime.timedelta(hours=1)))


def broker_gone(settings, monkeypatch):
    monkeypatch.setattr(backlog, "look", lambda: backlog.Queue(answers=False))


def worker_gone(settings, monkeypatch):
    services.Sign.objects.filter(name="worker").update(at=NOW - datetime.timedelta(hours=1))


def nobody_hears(settings, monkeypatch):
    settings.ALARMS_TO = []


def token_without_an_issuer(settings, monkeypatch):
    monkeypatch.setattr(settings, "ISSUER_TOKEN", "t" * 40)


def issuer_gone(settings, monkeypatch):
    token_without_an_issuer(settings, monkeypatch)
    monkeypatch.setattr(settings, "ISSUER_URL", f"http://127.0.0.1:{free_port()}")


@pytest.mark.parametrize(
    ("breaks", "key", "todo"),
    [
        (static_gone, "static files", "collectstatic"),
        (key_open_to_others, "keys", "chmod 600"),
        (database_gone, "database", "DATABASE_URL"),
        (read_only, "database", "takes writes"),
        (migration_missing, "migrations", "manage.py migrate"),
        (clock_wrong, "clock", "NTP"),
        (broker_gone, "queue", "start the site again"),
        (worker_gone, "worker", "start the site again"),
        (nobody_hears, "letters", "CANDOR_ALARMS_TO"),
        (token_without_an_issuer, "tickets", "Set ISSUER_URL"),
        (issuer_gone, "tickets", "that it runs"),
    ],
)
def test_what_is_lacking_is_named_with_what_to_do(settings, monkeypatch, breaks, key, todo):
    with monkeypatch.context() as patched:
        breaks(settings, patched)
        lacking = found()
    assert list(lacking) == [key]
    assert todo in lacking[key].todo
    assert "secret" not in lacking[key].said or key == "keys"


@pytest.mark.engine("postgresql")
def test_a_server_with_too_little_room_for_the_locks_of_a_backup_is_named(monkeypatch):
    assert "locks" not in found()
    monkeypatch.setattr(doctor.report_tables, "plans_with_a_place", lambda: range(6000))
    lack = found()["locks"]
    assert "a backup takes 12,000" in lack.said
    assert "Set max_locks_per_transaction to 2" in lack.todo  # for 100 sessions: 240


@pytest.mark.engine("postgresql")
def test_what_the_first_forget_lacks_is_named_before_the_first_night(monkeypatch):
    assert list(doctor._rights()) == []
    monkeypatch.setitem(doctor.forget.SETTINGS, "wal_recycle", ("else", "why"))
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE candor_test; SET ROLE candor_test")
        lacking = {line.key: line for line in doctor._rights()}
        cursor.execute("RESET ROLE")
    assert list(lacking) == ["database's rights", "database's log", "database's disk"]
    assert all("deploy/setup.sql" in line.todo for line in lacking.values())


@pytest.mark.engine("postgresql")
def test_a_connection_to_another_machine_has_tls(monkeypatch):
    assert "database's TLS" not in found()
    monkeypatch.setattr(database, "is_here", lambda: False)
    assert "sslmode=verify-full" in found()["database's TLS"].todo


def test_keys_that_do_not_open_what_is_sealed_are_named(plan, client, settings):
    assert client.post(URL, body(plan), content_type="application/json").status_code == 201
    assert found() == {}
    settings.PUBLICATION_KEYS = (b"another key of 32 bytes, or less",)
    assert "PUBLICATION_KEYS" in found()["keys"].todo


def test_the_command_ends_with_1_only_if_something_must_be_done(settings, monkeypatch, capsys):
    well_now = datetime.datetime.now(datetime.UTC)
    services.live(now=well_now, sent=well_now)
    for kind in ("backup", "verification"):
        services.note(kind=kind, went_well=True, said="file", size=1, now=well_now)
    call_command("doctor")
    assert "Nothing must be done." in capsys.readouterr().out
    monkeypatch.setattr(database, "is_read_only", lambda: True)
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert said.startswith("MUST  database: It takes no writes")


class Proxy(BaseHTTPRequestHandler):
    """What stands before a site, well set up or not."""

    hands_on, door, metrics = False, 415, 404

    def do_GET(self):
        status = self.metrics if self.path == "/metrics" else 200
        number = self.headers["X-Request-ID"] if self.hands_on else "0" * 32
        if self.hands_on and self.headers["X-Forwarded-Proto"] == "http":
            status = 301
        self.send_response(status)
        self.send_header("X-Request-ID", number or "")
        self.send_header("Location", f"http://{self.headers['Host']}/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.send_response(self.door)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def proxy(**settings):
    server = HTTPServer(("127.0.0.1", 0), type("Own", (Proxy,), settings))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_site_is_asked_as_a_visitor_asks_it(settings):
    settings.BEHIND_PROXY = True
    with proxy() as url:
        assert found(url) == {}
    with proxy(door=502) as url:
        assert "candor-door" in found(url)["door"].todo
    with proxy(metrics=200) as url:
        assert found(url)["metrics"].state == "alarm"
    with proxy(hands_on=True) as url:
        assert "deploy/nginx" in found(url)["proxy"].todo or "both" in found(url)["proxy"].todo
    assert "does not answer" in found(url)["address"].said


def test_lines_of_health_are_among_them_once():
    keys = [line.key for line in doctor.look(now=NOW, url=None)]
    assert {line.key for line in health.look(NOW)} <= set(keys)
    assert len(keys) == len(set(keys))
