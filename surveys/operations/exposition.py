"""What `/metrics` says, in the text format of Prometheus: the state of the site's parts as it is,
and counts of requests so coarsely that no single answer has a time.

A count that is read every 15 seconds is a clock, and who reads it keeps it for years. So counts
stand still for ten minutes of the wall clock, in all processes of a machine alike (the first that
is asked writes them down, the others read that), and counts of requests are rounded down to whole
fifties. Sums of seconds, which every request moves, are left out. Nothing is counted by study.
"""

import contextlib
import datetime
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from surveys import metrics
from surveys.operations import health

STILL = 600  # seconds, in which counts do not move
STEP = 50  # requests
KIND = "text/plain; version=0.0.4; charset=utf-8"
HELP = {
    "broker_answers": "1 if the broker answers",
    "queue_tasks": "Tasks that wait at the broker",
    "queue_oldest_seconds": "Age of the oldest task that waits",
    "worker_seen_seconds": "Since a worker was last seen",
    "scheduler_seen_seconds": "Since the scheduler was last seen to send",
    "clock_trusted": "1 if the clock decides what is published, closed and deleted by date",
    "sweep_owed_seconds": "Since a sweep has been due, in whole minutes; 0: none is",
    "publication_owed_seconds": "Since a publication has been due, in whole minutes; 0: none is",
    "ledger_rows": "Rows of the ledger, which is public",
    "ledger_holds": "1 if the last check of the ledger found it whole",
    "ledger_checked_seconds": "Since the ledger was last checked",
    "backup_seconds": "Age of the newest backup",
    "backup_bytes": "Size of the newest backup, in whole megabytes: it grows by each report",
    "backup_failed": "1 if the last backup failed",
    "disk_free_ratio": "Free part of the disk of data or backups, the fuller, in hundredths",
}


def text(now: datetime.datetime) -> bytes:
    """Return the whole exposition."""
    return counted(now) + standing(now)


def counted(now: datetime.datetime) -> bytes:
    """Return the counts as they were when somebody first asked in these ten minutes."""
    folder: Path = settings.METRICS_DIR
    shown = folder / f"shown-{int(now.timestamp()) // STILL}"
    if not shown.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="half-") as new:
            new.write(_coarse())
            new.flush()
            with contextlib.suppress(FileExistsError):
                os.link(new.name, shown)
        for old in folder.glob("shown-*"):
            if old.name < shown.name:
                old.unlink(missing_ok=True)
    return shown.read_bytes()


def _coarse() -> bytes:
    """Return what all processes counted, in steps."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    class Coarse:
        def collect(self) -> Iterator[Any]:
            whole: Any = MultiProcessCollector
            for family in whole(CollectorRegistry(), path=str(settings.METRICS_DIR)).collect():
                family.samples = [
                    sample._replace(value=sample.value // STEP * STEP)
                    if family.name in metrics.OF_REQUESTS
                    else sample
                    for sample in family.samples
                    if not sample.name.endswith("_sum")
                ]
                yield family

    registry = CollectorRegistry()
    registry.register(Coarse())
    return generate_latest(registry)


def standing(now: datetime.datetime) -> bytes:
    """Return how the site's parts are; of what is not known, nothing."""
    known, lines = health.gauges(now), []
    for name, about in HELP.items():
        if (value := known.get(name)) is not None:
            lines += [f"# HELP candor_{name} {about}", f"# TYPE candor_{name} gauge"]
            lines.append(f"candor_{name} {float(value):.15g}")
    return "".join(f"{line}\n" for line in lines).encode()
