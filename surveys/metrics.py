"""Count what the site does, in whichever process does it: `/metrics` shows it
(`surveys/operations/exposition.py`), and only there is it made coarse.

Nothing is counted, kept or loaded for it unless CANDOR_METRICS_TOKEN is set. Counts stand in a file
a process in CANDOR_METRICS_DIR, so that those of all processes add up; they hold no study, no
address and no time.
"""

import contextlib
import errno
import functools
import os
import platform
import shutil
from collections.abc import Callable
from typing import Any

from django.conf import settings

SECONDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # buckets end here
ROOM = 16 * 2**20  # bytes; a process has two files of a few MB at most
# What one request adds to: shown in steps of many (`exposition.py`).
OF_REQUESTS = ("candor_reports", "candor_report_seconds", "candor_page_seconds")


def reports(status: int, count: int = 1) -> None:
    """Count posts to the door by how they were answered: 201, 200, 409, …; a group at once."""
    _count(lambda kinds: kinds["reports"].labels(str(status)).inc(count))


def report_took(seconds: float) -> None:
    """Count how long one post to the door waited for its answer, in seconds."""
    _count(lambda kinds: kinds["report_seconds"].observe(seconds))


def page_took(seconds: float, status: int) -> None:
    """Count how long any other request took, in seconds, by the hundred of its status: 2xx."""
    _count(lambda kinds: kinds["page_seconds"].labels(f"{status // 100}xx").observe(seconds))


def budget_refused(kind: str) -> None:
    """Count a publication that the ledger refused, by the refusal's kind: Overspent, TooFast, …"""
    _count(lambda kinds: kinds["budget_refusals"].labels(kind).inc())


def _count(act: Callable[[dict[str, Any]], None]) -> None:
    """Count, where somebody can read it; a disk that is full costs a count, and nothing else."""
    if settings.METRICS_TOKEN:
        with contextlib.suppress(OSError):
            act(_kinds())


def clear() -> None:
    """Forget what was counted before this start: nobody reads the counts of processes long gone."""
    shutil.rmtree(settings.METRICS_DIR, ignore_errors=True)


@functools.cache
def _kinds() -> dict[str, Any]:
    """Return what counts, made at the first count: the client looks for its folder when loaded.

    Its files have holes, and a write into a hole for which the disk has no room ends the process:
    so there must be room for all of them first.
    """
    settings.METRICS_DIR.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(settings.METRICS_DIR).free < ROOM:
        raise OSError(errno.ENOSPC, "expected room to count, got a full disk")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)
    from prometheus_client import CollectorRegistry, Counter, Histogram, values

    # by machine too: in containers that share the folder every process has the number 1
    values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
        lambda: f"{platform.node()}-{os.getpid()}"
    )

    own: dict[str, Any] = {"registry": CollectorRegistry(), "namespace": "candor"}
    kinds = {
        "reports": Counter("reports", "Posts to the door, by answer", ["status"], **own),
        "report_seconds": Histogram(
            "report_seconds", "Seconds until a post was answered", buckets=SECONDS, **own
        ),
        "page_seconds": Histogram(
            "page_seconds", "Seconds of any other request", ["status"], buckets=SECONDS, **own
        ),
        "budget_refusals": Counter(
            "budget_refusals", "Publications refused by the ledger", ["kind"], **own
        ),
    }
    kinds["reports"].labels("201")  # so that both files are there
    for path in settings.METRICS_DIR.glob(f"*_{platform.node()}-{os.getpid()}.db"):
        with path.open("r+b") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return kinds
