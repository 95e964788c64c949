"""The Celery application as the scheduler needs it: which task is due when, by name.

Without Django's applications and without the tasks, which only workers run: a third of the memory.
"""

import os
from logging.config import dictConfig
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging

from surveys import turns as turns  # which writes into a task when it was sent
from surveys.checks import ENVIRONMENT, refuse_to_start_if_unsafe
from surveys.logs import LOGGING

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")

# where both are loaded, tasks are of the worker's application, which names them
app = Celery("surveys", fixups=[], set_as_current=False)
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect
def log_as_all_do(**kwargs: Any) -> None:
    dictConfig(LOGGING)


@beat_init.connect
def refuse_unsafe_settings(**kwargs: Any) -> None:
    refuse_to_start_if_unsafe(ENVIRONMENT)
