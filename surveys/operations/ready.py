"""Whether all that the site needs to do its work is there: for a machine that watches it.

Without a worker or a scheduler reports are still taken, and nothing is lost: so what decides where
to send visitors asks `/health/live`, and what wakes somebody up asks `/health/ready`.
"""

import datetime

import structlog

from surveys.operations import health

log = structlog.get_logger(__name__)
logged: set[tuple[str, ...]] = {()}  # what was said last: a probe comes every few seconds


def missing(now: datetime.datetime) -> list[str]:
    """Return what is not there, in few words; say it in the log when it changes."""
    found = [check.missing for check in health.needed(now) if check.missing]
    if tuple(found) not in logged:
        logged.clear()
        logged.add(tuple(found))
        (log.error if found else log.info)("not ready" if found else "ready again", missing=found)
    return found
