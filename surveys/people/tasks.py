import datetime

from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError

from surveys.celery import app
from surveys.people import attempts, audit


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def clear_sessions() -> None:
    """Delete sessions that have expired (each says whose it was, and what they had begun), and
    counts of wrong tries that no longer count.
    """
    SessionStore.clear_expired()
    attempts.forget_expired(datetime.datetime.now(datetime.UTC))


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def tell() -> None:
    """Tell owners by e-mail what was done with their studies and accounts."""
    audit.tell()
