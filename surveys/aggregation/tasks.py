import datetime
from contextlib import suppress

from django.conf import settings
from django.db import OperationalError

from surveys.aggregation import services
from surveys.celery import app
from surveys.design import selectors as design
from surveys.erasing import InUse
from surveys.intake import report_tables, services as receipts

MAX_REQUEST = datetime.timedelta(minutes=5)
MAX_SWEEP_SECONDS = 900  # for a portion of one study's backlog, which is one transaction


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def sweep_all() -> None:
    """Send a task for each Plan with news; one that waits too long is sent again, by the next."""
    for plan_id in report_tables.marked():
        sweep_plan.apply_async((plan_id,), expires=settings.SWEEP_SECONDS)


@app.task(autoretry_for=(OperationalError,), retry_backoff=True, time_limit=MAX_SWEEP_SECONDS)
def sweep_plan(plan_id: int) -> None:
    services.sweep_plan(design.plans().get(pk=plan_id), datetime.datetime.now(datetime.UTC).date())


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def erase_retired() -> None:
    with suppress(InUse):  # the next minute it is free
        services.erase_retired()


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def settle() -> None:
    """Settle the receipts of a day, wave by wave, once no report can come that counts for it: its
    receipt would stand out.
    """
    now = datetime.datetime.now(datetime.UTC) - MAX_REQUEST
    with suppress(InUse):  # ten minutes later it is free
        receipts.settle(today=now.date(), but=design.in_grace(now))
    # a sweep that began before midnight may be under way for so long
    last_sweep = now - datetime.timedelta(seconds=MAX_SWEEP_SECONDS)
    with suppress(InUse):
        services.settle(today=last_sweep.date())
