import datetime

from celery import shared_task
from django.db import OperationalError

from surveys.design import services


@shared_task
def close_due() -> None:
    services.close_due(today=datetime.datetime.now(datetime.UTC).date())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def retire_due() -> None:
    services.retire_due(now=datetime.datetime.now(datetime.UTC))
