"""What is counted, for whom it is shown, and that it is no clock for a single answer."""

import datetime
import json
import os
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest
from django.test import Client

from surveys import metrics
from surveys.operations import backlog, exposition, health, services
from tests.conftest import NOW
from tests.journeys.site import HOUSE

TOKEN = "t" * 40
HEADER = {"Authorization": f"Bearer {TOKEN}"}
WELL = backlog.Queue(answers=True)


@pytest.fixture
def counting(settings, tmp_path, monkeypatch):
    """Count into a folder of this test's own, in a process of its own: the client looks once."""
    settings.METRICS_TOKEN, settings.METRICS_DIR = TOKEN, tmp_path / "metrics"
    monkeypatch.setattr(backlog, "look", lambda: WELL)
    # others write to it meanwhile
    monkeypatch.setattr(health.shutil, "disk_usage", lambda _: SimpleNamespace(total=100, free=50))
    return settings.METRICS_DIR


def count_elsewhere(folder, code):
    """Run code that counts in another process, as the door is one."""
    own = {"CANDOR_METRICS_TOKEN": TOKEN, "CANDOR_METRICS_DIR": str(folder)}
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import django; django.setup(); from surveys import metrics; {code}",
        ],
        cwd=HOUSE,
        env={
            **kept,
            **own,
            "DJANGO_SETTINGS_MODULE": "surveys.settings",
            "CANDOR_DATA": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def values(text):
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_without_the_token_there_is_nothing_here(client, db, settings):
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
    settings.METRICS_TOKEN = TOKEN
    for shown in ({}, {"Authorization": "Bearer x"}, {"Authorization": TOKEN}):
        assert client.get("/metrics", headers=shown).status_code == 404


def test_who_holds_it_reads_the_state_of_every_part(client, db, counting):
    services.live(now=datetime.datetime.now(datetime.UTC), sent=None)
    services.note(kind="backup", went_well=True, said="file", size=123, now=NOW)
    answer = client.get("/metrics", headers=HEADER)
    assert answer.status_code == 200
    found = values(answer.content)
    assert found["candor_broker_answers"] == 1
    assert found["candor_backup_bytes"] == 2**20
    assert found["candor_worker_seen_seconds"] < 60
    assert {"candor_ledger_rows", "candor_disk_free_ratio", "candor_queue_tasks"} <= set(found)
    assert "candor_scheduler_seen_seconds" not in found  # not known, so not said


def test_every_gauge_is_of_a_check_and_has_its_words(db, counting):
    assert set(health.gauges(NOW)) == set(exposition.HELP)


def test_counts_of_all_processes_add_up_and_move_in_fifties(db, counting):
    for status, count in ((201, 120), (201, 79), (409, 49)):
        count_elsewhere(counting, f"metrics.reports({status}, {count})")
    # in containers that share the folder every process has the number 1
    assert all(f"_{platform.node()}-" in path.name for path in counting.glob("*.db"))
    found = values(exposition.counted(NOW))
    assert found['candor_reports_total{status="201"}'] == 150  # of 199
    assert found['candor_reports_total{status="409"}'] == 0  # of 49


def test_no_sum_of_seconds_tells_of_one_request(db, counting):
    count_elsewhere(counting, "[metrics.report_took(0.007) for _ in range(70)]")
    found = values(exposition.counted(NOW))
    assert found['candor_report_seconds_bucket{le="0.005"}'] == 0
    assert found['candor_report_seconds_bucket{le="0.01"}'] == 50
    assert found["candor_report_seconds_count"] == 50
    assert not [name for name in found if name.endswith("_sum")]


def test_counts_stand_still_for_ten_minutes_whoever_asks(db, counting):
    """Two readers who ask at different moments see the same: else their difference is a clock."""
    count_elsewhere(counting, "metrics.reports(201, 50)")
    begun = NOW.replace(minute=20, second=1)
    assert values(exposition.counted(begun))['candor_reports_total{status="201"}'] == 50
    count_elsewhere(counting, "metrics.reports(201, 500)")
    late = begun.replace(minute=29, second=59)
    assert values(exposition.counted(late))['candor_reports_total{status="201"}'] == 50
    after = begun.replace(minute=30, second=0)
    assert values(exposition.counted(after))['candor_reports_total{status="201"}'] == 550
    assert [path.name for path in counting.glob("shown-*")] == [
        f"shown-{int(after.timestamp()) // 600}"
    ]


def test_a_report_through_the_site_moves_nothing_that_is_shown(plan, client, counting):
    """One report, and one page: what is shown before and after is the same, byte for byte."""
    before = exposition.text(NOW)
    client.get(f"/s/{plan.study.slug}/")
    client.post(
        f"/api/v1/studies/{plan.study.slug}/reports", b"{}", content_type="application/json"
    )
    # an hour later, when counts move
    shown = exposition.text(NOW + datetime.timedelta(hours=1))
    ours = [line for line in shown.decode().splitlines() if not line.startswith("#")]
    assert {line for line in ours if "report" in line or "page" in line} <= {
        line for line in ours if line.endswith(" 0.0")
    }
    assert exposition.standing(NOW) in before


def test_nothing_names_a_study(answered, counting):
    answered(30)
    services.live(now=NOW, sent=NOW)
    text = exposition.text(NOW).decode()
    assert "exam" not in text.lower()
    assert "30" not in [line.rsplit(" ", 1)[1] for line in text.splitlines()]
    assert "candor_sweep_owed_seconds 0" in text


def test_what_is_owed_is_told_in_whole_minutes(answered, counting):
    answered(30)
    services.live(now=NOW, sent=NOW)
    later = NOW + datetime.timedelta(seconds=179)
    assert values(exposition.standing(later))["candor_sweep_owed_seconds"] == 120


def test_a_budget_that_refuses_is_counted_by_kind(db, counting):
    count_elsewhere(counting, "metrics.budget_refused('Overspent')")
    found = values(exposition.counted(NOW))
    assert found['candor_budget_refusals_total{kind="Overspent"}'] == 1


def test_without_a_token_nothing_is_loaded(tmp_path):
    code = """
import sys, json
from django.test import Client
from surveys import celery, wsgi
loaded = [name for name in ("prometheus_client",) if name in sys.modules]
print(json.dumps(loaded))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=HOUSE,
        env={"PATH": os.environ["PATH"], "CANDOR_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_a_start_forgets_what_was_counted_before(counting):
    count_elsewhere(counting, "metrics.reports(201, 50)")
    assert list(counting.glob("*.db"))
    metrics.clear()
    assert not counting.exists()


def test_a_full_disk_costs_a_count_and_nothing_else(counting):
    full = "metrics.SIZE = 2**50"  # more than there is
    count_elsewhere(counting, f"{full}; metrics.reports(201); metrics.page_took(1.0, 200)")
    assert list(counting.glob("*.db")) == []
    count_elsewhere(counting, "metrics.reports(201)")
    assert all(path.stat().st_blocks * 512 >= path.stat().st_size for path in counting.glob("*.db"))
    assert len(list(counting.glob("*.db"))) == 2


def test_counting_is_off_without_a_token(settings, tmp_path):
    settings.METRICS_TOKEN, settings.METRICS_DIR = "", tmp_path / "metrics"
    metrics.reports(201)
    metrics.page_took(0.1, 200)
    assert not settings.METRICS_DIR.exists()


def test_a_stranger_at_health_ready_reads_one_word(db, counting):
    for at in (None, HEADER):
        answer = Client().get("/health/ready", headers=at)
        assert answer.status_code == 503
        assert (b"worker" in answer.content) == (at is not None)
