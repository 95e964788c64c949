import datetime
from contextlib import suppress

from celery import shared_task
from django.db import OperationalError

from surveys.aggregation import services
from surveys.erasing import InUse


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def sweep_all() -> None:
    services.sweep_all(today=datetime.datetime.now(datetime.UTC).date())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_retired() -> None:
    with suppress(InUse):  # the next minute it is free
        services.erase_retired()
