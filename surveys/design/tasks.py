import datetime

from celery import shared_task

from surveys.design import services


@shared_task
def close_due() -> None:
    services.close_due(today=datetime.datetime.now(datetime.UTC).date())
