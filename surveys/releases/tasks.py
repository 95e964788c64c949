import datetime
from contextlib import suppress

from celery import shared_task
from django.db import OperationalError

from surveys.erasing import InUse
from surveys.releases import services


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish_due() -> None:
    services.publish_due(now=_now())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish(request_id: int) -> None:
    services.try_to_publish(request_id=request_id, now=_now())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def retire_spent() -> None:
    services.retire_spent(now=_now())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish_asked() -> None:
    try:
        services.publish_asked(now=_now())
    finally:  # a request that fails keeps no series waiting
        services.step_due(now=_now())


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_over() -> None:
    with suppress(InUse):  # the next minute it is free
        services.erase_over()
