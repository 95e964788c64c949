import datetime
from contextlib import suppress

from django.db import OperationalError, connection

from surveys.celery import app
from surveys.erasing import InUse, checkpoint
from surveys.intake import services

MAX_REQUEST = datetime.timedelta(minutes=5)


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_retired() -> None:
    for act in (services.erase_retired, services.drop_closed):
        with suppress(InUse):  # the next minute it is free
            act()


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def settle() -> None:
    """Settle a day once no request can be under way that began in it: one that comes later would
    stand out.
    """
    with suppress(InUse):
        services.settle(today=(datetime.datetime.now(datetime.UTC) - MAX_REQUEST).date())


@app.task
def cut_journal() -> None:
    """Cut SQLite's journal of what was erased while somebody, a backup say, read it: no erasing
    may follow.
    """
    if connection.vendor == "sqlite":
        checkpoint(connection)
