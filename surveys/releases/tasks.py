import datetime

from celery import shared_task
from django.db import OperationalError

from surveys.releases import services


@shared_task(autoretry_for=(OperationalError,), retry_backoff=True)
def publish_due() -> None:
    services.publish_due(now=datetime.datetime.now(datetime.UTC))
