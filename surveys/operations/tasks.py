"""Tasks by which the site looks after itself."""

import datetime
from typing import Any

from django.db import OperationalError

from surveys.celery import app
from surveys.operations import alarms, checks, services
from surveys.turns import SENT

MAX_CHECK_SECONDS = 3_600  # for the whole ledger: a million rows take minutes


@app.task
def ping() -> str:
    """Do nothing, so that a person or a probe can ask whether tasks are done at all."""
    return "pong"


@app.task(bind=True, autoretry_for=(OperationalError,), retry_backoff=True)
def live(self: Any) -> None:
    sent = getattr(self.request, SENT, None)
    moment = (
        datetime.datetime.fromtimestamp(sent, datetime.UTC) if isinstance(sent, float) else None
    )
    services.live(now=datetime.datetime.now(datetime.UTC), sent=moment)


@app.task(autoretry_for=(OperationalError,), retry_backoff=True, time_limit=MAX_CHECK_SECONDS)
def verify_if_due() -> None:
    checks.verify_if_due(now=datetime.datetime.now(datetime.UTC))


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def watch() -> None:
    alarms.watch(now=datetime.datetime.now(datetime.UTC))
