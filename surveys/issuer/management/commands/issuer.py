"""`manage.py issuer`: an issuer by itself, with its own database and keys, until told to stop."""

import datetime
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import structlog
from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import Error

from surveys.erasing import InUse
from surveys.issuer import tables
from surveys.tables import refuse_older

LOOK = 1.0  # seconds between looks whether the server is there
SETTLE = 600  # looks between tries to put tables in order: ten minutes
SERVER = ("--interface", "wsgi", "--workers", "1", "--blocking-threads", "4")
MORE = ("--log-level", "warning", "--workers-kill-timeout", "5", "--respawn-failed-workers")
log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = (
        "Serves an issuer of tickets alone, for another owner than the site's: DATABASE_URL and "
        "PUBLICATION_KEYS are its own, ISSUER_TOKEN is the site's too, ISSUER_ORIGIN the origin "
        "of the site's pages."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.ISSUER_TOKEN:
            raise CommandError("ISSUER_TOKEN: expected the token that the site has, got none.")
        os.umask(0o077)  # keys are for this user only
        refuse_older("default")  # a site by itself has no command of its own for it
        call_command("migrate", "issuer", interactive=False, verbosity=0, skip_checks=True)
        stop = threading.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda *_: stop.set())
        where = ("--host", settings.CANDOR_HOST, "--port", str(settings.CANDOR_PORT))
        application = "surveys.wsgi:application"
        server = subprocess.Popen(
            [sys.executable, "-m", "granian", *SERVER, *MORE, *where, application],
            start_new_session=True,  # Ctrl-C reaches this process only
        )
        try:
            watch(server, stop)
        finally:
            server.terminate()
            server.wait()
        if not stop.is_set():
            raise CommandError("The server ended.")


def watch(server: "subprocess.Popen[bytes]", stop: threading.Event) -> None:
    """Have tables forget the order of what came, each night, while the server runs."""
    looks = 0
    while not stop.wait(LOOK) and server.poll() is None:
        if looks % SETTLE == 0:
            settle()
        looks += 1


def settle() -> None:
    try:
        with suppress(InUse):  # in ten minutes it is free
            tables.settle(datetime.datetime.now(datetime.UTC).date())
    except Error as error:
        log.error("marks are not in order", kind=type(error).__name__)
