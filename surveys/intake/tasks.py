from contextlib import suppress

from django.db import OperationalError, connection

from surveys.celery import app
from surveys.erasing import InUse, checkpoint
from surveys.intake import services


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_retired() -> None:
    for act in (services.erase_retired, services.drop_closed):
        with suppress(InUse):  # the next minute it is free
            act()


@app.task
def cut_journal() -> None:
    """Cut SQLite's journal of what was erased while somebody, a backup say, read it: no erasing
    may follow.
    """
    if connection.vendor == "sqlite":
        checkpoint(connection)
