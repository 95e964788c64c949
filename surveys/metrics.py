"""Count what the site does, in whichever process does it: `/metrics` shows it
(`surveys/operations/exposition.py`), and only there is it made coarse.

Nothing is counted, kept or loaded for it unless CANDOR_METRICS_TOKEN is set. Counts stand in a file
a process in CANDOR_METRICS_DIR, so that those of all processes add up; they hold no study, no
address and no time.
"""

import functools
import os
import platform
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings

SECONDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # buckets end here
SIZE = 65_536  # bytes of a file, which is more than all that is counted takes
_making = threading.Lock()
log = structlog.get_logger(__name__)
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
        try:
            with _making:
                kinds = _kinds()
            act(kinds)
        except OSError as error:
            _say_once(type(error).__name__)


@functools.cache
def _say_once(kind: str) -> None:
    log.error("requests are not counted", kind=kind)


def clear() -> None:
    """Forget what was counted before this start: nobody reads the counts of processes long gone."""
    shutil.rmtree(settings.METRICS_DIR, ignore_errors=True)


@functools.cache
def _kinds() -> dict[str, Any]:
    """Return what counts, made at the first count: the client looks for its folder when loaded.

    Its files are made here, without holes: a write into a hole for which the disk has no room would
    end the process.
    """
    # by machine too: in containers that share the folder every process has the number 1
    own_name = f"{platform.node()}-{os.getpid()}"
    settings.METRICS_DIR.mkdir(parents=True, exist_ok=True)
    for kind in ("counter", "histogram"):
        _allocate(settings.METRICS_DIR / f"{kind}_{own_name}.db")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)
    from prometheus_client import CollectorRegistry, Counter, Histogram, values

    values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
        lambda: f"{platform.node()}-{os.getpid()}"
    )

    own: dict[str, Any] = {"registry": CollectorRegistry(), "namespace": "candor"}
    return {
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


def _allocate(path: Path) -> None:
    """Make a file of zeros that has its room on the disk, or none."""
    try:
        with path.open("ab") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, SIZE)
            else:
                file.truncate(SIZE)
    except OSError:
        path.unlink(missing_ok=True)
        raise
