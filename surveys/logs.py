"""Logging: one line of JSON an event, to standard error.

No request body, address, user agent or cookie is ever handed to a logger; what a library might add
(the request object on Django's own log records) is left out by the formatter, which prints the
event, its level, its logger and the time. Respondents' requests are not logged, but for a report
that could not be stored: that one failed, and how. A page that fails has its number there and its
traceback, not its address, which may be a receipt's. PostgreSQL adds to an error the row that
failed (“DETAIL: Failing row contains …”), and libraries print errors whole: those lines are cut.
"""

import logging
import re
import time
from collections.abc import MutableMapping
from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

BROKER = ("kombu", "redis", "valkey")  # whose errors tell that it is away
OUTAGE = 60  # seconds without such an error, after which it was back
ROW = re.compile(
    r"(?:\\n|\n)(?:DETAIL|CONTEXT):.*?(?=\n\n|\Z)", re.DOTALL
)  # also where repr() escaped the line's end


def cut_rows(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut from an event what a database says of the row that failed."""
    for part in ("event", "exception"):
        if isinstance(event.get(part), str):
            event[part] = ROW.sub(" [its row is left out]", event[part])
    return event


def cut_paths(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut the address from what Django says of a request that failed."""
    if event.get("logger") == "django.request":
        event["event"] = str(event["event"]).partition(":")[0]
    return event


class OncePerOutage(logging.Filter):
    """Let one line say that the broker is away, not one for each task that is due meanwhile."""

    last = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info and record.exc_info[1]
        errors = (*(record.args or ()), error and error.__context__)
        if not any(type(each).__module__.partition(".")[0] in BROKER for each in errors):
            return True
        is_new, self.last = time.monotonic() - self.last > OUTAGE, time.monotonic()
        record.msg, record.args = "no broker: what is due is sent when it is back", ()
        record.exc_info = None
        return is_new


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"outage": {"()": OncePerOutage}},
    "formatters": {
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": SHARED,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                cut_rows,
                cut_paths,
                structlog.processors.JSONRenderer(),
            ],
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "celery.beat": {"filters": ["outage"]},
        "surveys": {"level": "INFO"},
        # Django prints "Not Found: /path" for every 404: a path is not an answer, but nobody needs
        # the list.
        "django.request": {"level": "ERROR"},
        "django.security.csrf": {
            "level": "ERROR"
        },  # it prints paths too: of a receipt, of a link that sets a password
        # Anybody can ask for a host that is not ours; they get 400, and no traceback for each.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "django.server": {"level": "WARNING"},
    },
}

structlog.configure(
    processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
