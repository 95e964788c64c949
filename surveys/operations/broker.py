"""Look at the queue: how long it is, and when its oldest and its newest task were sent. Nothing is taken from it."""

import datetime
import json
from dataclasses import dataclass
from typing import Any

from kombu.exceptions import OperationalError

QUEUE = "celery"
PATIENCE = 2  # seconds
SENT = "candor_sent"


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits at the broker; `answers` is False where it cannot be asked."""

    answers: bool
    waiting: int = 0
    oldest: datetime.datetime | None = None
    newest: datetime.datetime | None = None


def look() -> Queue:
    from surveys.celery import app

    once = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
    options = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE, **once}
    try:
        with app.connection_for_read(transport_options=options) as connection:
            channel: Any = connection.default_channel
            client = channel.client
            waiting = client.llen(QUEUE)
            oldest, newest = client.lindex(QUEUE, -1), client.lindex(QUEUE, 0)
    except (OperationalError, OSError):
        return Queue(answers=False)
    except Exception as error:  # the client's own errors, of which there is one family for each broker
        if type(error).__module__.partition(".")[0] not in ("redis", "valkey", "kombu"):
            raise
        return Queue(answers=False)
    return Queue(True, int(waiting), sent_at(oldest), sent_at(newest))


def sent_at(message: bytes | None) -> datetime.datetime | None:
    """Return when a task was sent, as its header says; its arguments are not looked at."""
    if message is None:
        return None
    try:
        return datetime.datetime.fromtimestamp(json.loads(message)["headers"][SENT], datetime.UTC)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
