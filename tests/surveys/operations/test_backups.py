"""Backups: whole or not there, for their owner's eyes, without what was erased, and noted."""

import contextlib
import datetime
import os
import sqlite3
import stat
import subprocess

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from surveys.operations import backups
from surveys.operations.models import Event
from tests.conftest import NOW


@pytest.fixture
def copied(monkeypatch):
    """Copy as VACUUM INTO does: inside a test's transaction SQLite refuses it."""
    if connection.vendor == "sqlite":
        monkeypatch.setattr(backups, "_copy_sqlite", lambda path: path.write_bytes(b"a copy"))


def test_only_its_owner_may_read_it(db, tmp_path, copied):
    made = backups.make(folder=tmp_path / "new", keep=3, now=NOW)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert made.stem == "candor-20260511T120000Z"


def test_it_is_noted_with_its_size(db, tmp_path, copied):
    made = backups.make(folder=tmp_path, keep=3, now=NOW)
    event = Event.objects.get()
    assert (event.kind, event.went_well, event.said, event.size) == (
        "backup",
        True,
        made.name,
        made.stat().st_size,
    )


def test_the_newest_few_are_kept_and_nothing_else_is_touched(db, tmp_path, copied):
    (tmp_path / "candor-notes.txt").write_text("mine")
    for day in range(5):
        backups.make(folder=tmp_path, keep=2, now=NOW + datetime.timedelta(days=day))
    assert sorted(path.name[:15] for path in tmp_path.iterdir()) == [
        "candor-20260514",
        "candor-20260515",
        "candor-notes.tx",
    ]


def test_one_that_a_clock_ahead_named_goes_before_those_that_come(db, tmp_path, copied):
    for days in (400, 401, 0, 1, 2):
        backups.make(folder=tmp_path, keep=2, now=NOW + datetime.timedelta(days=days))
    assert sorted(path.name[:15] for path in tmp_path.iterdir()) == [
        "candor-20260512",
        "candor-20260513",
    ]


def test_what_one_that_was_cut_off_has_left_goes_and_what_is_being_written_stays(
    db, tmp_path, copied
):
    cut_off, written = tmp_path / "candor-1.half", tmp_path / "candor-2.half"
    for path, ago in ((cut_off, 3 * backups.MAX_SECONDS), (written, 10)):
        path.write_bytes(b"answers that were erased since")
        os.utime(path, (NOW.timestamp() - ago,) * 2)
    backups.make(folder=tmp_path, keep=3, now=NOW)
    assert (cut_off.exists(), written.exists()) == (False, True)


def test_one_that_fails_leaves_nothing_behind_and_is_noted(db, tmp_path, monkeypatch):
    def broken(path):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(backups, "_copy_sqlite", broken)
    monkeypatch.setattr(backups, "_dump_postgres", broken)
    with pytest.raises(backups.Failed):
        backups.make(folder=tmp_path, keep=3, now=NOW)
    assert list(tmp_path.iterdir()) == []
    assert (Event.objects.get().went_well, Event.objects.get().said) == (False, "OSError")


def test_the_command_says_where_it_is_and_that_keys_are_not_in_it(db, tmp_path, copied, capsys):
    call_command("backup", to=tmp_path)
    said = capsys.readouterr().out
    assert str(tmp_path) in said
    assert "The keys are not in it" in said


def test_the_command_keeps_one_at_least(db, tmp_path):
    with pytest.raises(CommandError, match="--keep must be 1 or more"):
        call_command("backup", to=tmp_path, keep=0)


@pytest.mark.engine("postgresql")
def test_a_dump_has_the_rows_and_can_be_read(plan, tmp_path):
    made = backups.make(folder=tmp_path, keep=3, now=NOW)
    listed = subprocess.run(
        ["pg_restore", "--list", str(made)], capture_output=True, text=True, check=True
    ).stdout
    assert "ledger_entry" in listed


def test_a_copy_has_no_free_pages_in_which_erased_rows_could_stand(tmp_path):
    """What the copy relies on, of SQLite itself."""
    source = sqlite3.connect(tmp_path / "source", isolation_level=None)
    source.executescript("CREATE TABLE t (x); PRAGMA secure_delete = OFF")
    source.executemany(
        "INSERT INTO t VALUES (?)", [(f"erased {number} " * 50,) for number in range(200)]
    )
    source.execute("DELETE FROM t")
    source.execute("VACUUM INTO ?", [str(tmp_path / "copy")])
    source.close()
    assert b"erased 7 " in (tmp_path / "source").read_bytes()
    assert b"erased 7 " not in (tmp_path / "copy").read_bytes()


def test_a_dump_that_does_not_end_is_noted_as_failed_too(db, tmp_path, monkeypatch):
    def too_long(command, timeout, **more):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(backups.shutil, "which", lambda name: name)
    monkeypatch.setattr(backups.subprocess, "run", too_long)
    monkeypatch.setattr(backups, "_copy_sqlite", backups._dump_postgres)
    # which SQLite has not
    monkeypatch.setattr(backups, "_moment", lambda: contextlib.nullcontext("moment"))
    with pytest.raises(backups.Failed, match="did not end"):
        backups.make(folder=tmp_path, keep=3, now=NOW)
    assert list(tmp_path.iterdir()) == []
    assert not Event.objects.get().went_well
