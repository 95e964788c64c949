import datetime
from contextlib import suppress

from django.db import OperationalError

from surveys.celery import app
from surveys.erasing import InUse
from surveys.issuer import tables


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def settle() -> None:
    with suppress(InUse):  # in ten minutes it is free
        tables.settle(datetime.datetime.now(datetime.UTC).date())
