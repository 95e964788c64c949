from contextlib import suppress

from django.db import OperationalError
from django.utils import timezone

from surveys.celery import app
from surveys.erasing import InUse
from surveys.releases import services


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish_due() -> None:
    services.publish_due(now=timezone.now())


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish(request_id: int) -> None:
    services.try_to_publish(request_id=request_id, now=timezone.now())


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def retire_spent() -> None:
    services.retire_spent(now=timezone.now())


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish_asked() -> None:
    try:
        services.publish_asked(now=timezone.now())
    finally:  # a request that fails keeps no series waiting
        services.step_due(now=timezone.now())


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_over() -> None:
    with suppress(InUse):  # the next minute it is free
        services.erase_over()
