import datetime

from celery import shared_task
from django.db import OperationalError

from surveys.aggregation import services


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def sweep_all() -> None:
    services.sweep_all(today=datetime.datetime.now(datetime.UTC).date())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_retired() -> None:
    services.erase_retired()
