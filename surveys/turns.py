"""A periodic task takes its turn before it does anything: so any number of schedulers are as one.

Each scheduler sends all periodic tasks, with how many seconds apart they come. Whoever is to do one
moves the moment of its last turn in the database, by an UPDATE that finds it long enough ago; or
finds it not so, and leaves the task: another scheduler's was done. Nothing is held, so that nothing
stays behind where a worker or a scheduler is killed: the next one that is sent takes the next turn.
"""

import datetime
from typing import Any

import structlog
from celery import Task
from celery.signals import before_task_publish

# headers: when a task was sent, in seconds since 1970; nothing else is added
SENT = "candor_sent"
EVERY = "candor_every"  # header: seconds
EARLY = 0.8  # of them: a scheduler is a little early or late
BEGIN = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@before_task_publish.connect
def say_when(headers: dict[str, object] | None = None, **kwargs: Any) -> None:
    """Write into every task when it was sent, so that the age of the oldest one that waits can
    be told, and that the scheduler is there.
    """
    if headers is not None:
        headers[SENT] = datetime.datetime.now(datetime.UTC).timestamp()


class InTurn(Task):
    """A task whose log lines say which it is; left out if it is periodic and was done in this
    period.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        every = getattr(self.request, EVERY, None)
        if isinstance(every, int | float) and not self.request.retries:
            name = self.name.removeprefix("surveys.").replace(".tasks", "")
            now = datetime.datetime.now(datetime.UTC)
            if not takes_turn(name=name, every=every, now=now):
                return None
        with structlog.contextvars.bound_contextvars(task=self.name, task_id=self.request.id):
            return self.run(*args, **kwargs)


def takes_turn(*, name: str, every: float, now: datetime.datetime) -> bool:
    """Tell whether it is this one's turn, and take it.

    A last turn that is still to come is of a clock that was put back, and no reason to wait.
    """
    from django.apps import apps  # a scheduler has this module, and no database
    from django.db.models import Q

    signs = apps.get_model("operations", "Sign")._default_manager
    signs.get_or_create(name=name, defaults={"at": BEGIN})
    is_over = Q(at__lte=now - datetime.timedelta(seconds=EARLY * every)) | Q(at__gt=now)
    return signs.filter(is_over, name=name).update(at=now) == 1
