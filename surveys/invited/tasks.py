import datetime
from contextlib import suppress

from django.db import OperationalError

from surveys.celery import app
from surveys.erasing import InUse
from surveys.invited import sending, services


@app.task
def send() -> None:
    """Send letters for half a minute. What is claimed when it ends is never sent by itself."""
    sending.send_due(now=datetime.datetime.now(datetime.UTC))


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def count_day() -> None:
    services.count_day(today=datetime.datetime.now(datetime.UTC).date())


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def end() -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    with suppress(InUse):  # the next minute it is free
        services.erase_due(today=today)
        sending.forget_stopped(today=today)
        services.close_ended()
        services.drop_unopened()
