"""A task that does nothing, so that a person or a probe can ask whether tasks are done at all."""

from celery import shared_task


@shared_task
def ping() -> str:
    return "pong"
