import datetime

from django.db import OperationalError

from surveys.celery import app
from surveys.design import services


@app.task
def close_due() -> None:
    services.close_due(now=datetime.datetime.now(datetime.UTC))


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def retire_due() -> None:
    services.retire_due(now=datetime.datetime.now(datetime.UTC))
