"""The Celery application: the worker that sweeps and publishes, the beat that says when."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, celeryd_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")

app = Celery("surveys", task_cls="surveys.operations.turns:InTurn")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
@beat_init.connect
def refuse_unsafe_settings(**kwargs: Any) -> None:
    """A worker starts without Django's system checks unless it asks for them."""
    from surveys.checks import refuse_to_start_if_unsafe

    refuse_to_start_if_unsafe()
