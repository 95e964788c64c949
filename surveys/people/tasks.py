from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError

from surveys.celery import app
from surveys.people import audit


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def clear_sessions() -> None:
    """Delete sessions that have expired: each says whose it was, and what they had begun."""
    SessionStore.clear_expired()


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def tell() -> None:
    """Tell owners by e-mail what was done with their studies and accounts."""
    audit.tell()
