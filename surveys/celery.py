"""The Celery application: the worker that sweeps and publishes, the beat that says when."""

import os
from typing import Any

from celery import Celery, beat
from celery.signals import beat_init, celeryd_init

from surveys.turns import InTurn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")  # Django's, which load all views: 30 MB


# A worker's own scheduler (`-B`) is a thread of it: killed alone, a process would stay away, and it
# takes 50 MB. There is no public name for it; Celery's version is pinned.
beat._Process = None  # type: ignore[assignment, misc]

app = Celery("surveys", task_cls=InTurn)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
@beat_init.connect
def refuse_unsafe_settings(**kwargs: Any) -> None:
    """A worker serves no page, and checks its environment only."""
    from surveys.checks import ENVIRONMENT, refuse_to_start_if_unsafe

    refuse_to_start_if_unsafe(ENVIRONMENT)
