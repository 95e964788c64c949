from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError

from surveys.celery import app


@app.task(autoretry_for=(OperationalError,), retry_backoff=True)
def forget_sessions() -> None:
    """Delete what is kept of visits that are over: whose each was, and what they had begun."""
    SessionStore.clear_expired()
