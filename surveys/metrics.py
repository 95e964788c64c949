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
from typing import Any

from django.conf import settings

SECONDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # buckets end here
# What one request adds to: shown in steps of many (`exposition.py`).
OF_REQUESTS = ("candor_reports", "candor_report_seconds", "candor_page_seconds")


def reports(status: int, count: int = 1) -> None:
    """Count posts to the door by how they were answered: 201, 200, 409, …; a group at once."""
    if settings.METRICS_TOKEN:
        _kinds()["reports"].labels(str(status)).inc(count)


def report_took(seconds: float) -> None:
    """Count how long one post to the door waited for its answer, in seconds."""
    if settings.METRICS_TOKEN:
        _kinds()["report_seconds"].observe(seconds)


def page_took(seconds: float, status: int) -> None:
    """Count how long any other request took, in seconds, by the hundred of its status: 2xx."""
    if settings.METRICS_TOKEN:
        _kinds()["page_seconds"].labels(f"{status // 100}xx").observe(seconds)


def budget_refused(kind: str) -> None:
    """Count a publication that the ledger refused, by the refusal's kind: Overspent, TooFast, …"""
    if settings.METRICS_TOKEN:
        _kinds()["budget_refusals"].labels(kind).inc()


def clear() -> None:
    """Forget what was counted before this start: nobody reads the counts of processes long gone."""
    shutil.rmtree(settings.METRICS_DIR, ignore_errors=True)


@functools.cache
def _kinds() -> dict[str, Any]:
    """Return what counts, made at the first count: the client looks for its folder when loaded."""
    settings.METRICS_DIR.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)
    from prometheus_client import CollectorRegistry, Counter, Histogram, values

    # by machine too: in containers that share the folder every process has the number 1
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
