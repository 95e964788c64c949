"""`manage.py up`: the whole site from one command, and one command's end is the end of it all."""

import fcntl
import os
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from surveys.checks import ENVIRONMENT
from surveys.operations import exposition


class Command(BaseCommand):
    """Prepares, then becomes the supervisor: the same process with a small program, without what
    Django has loaded.

    The checks of its environment run before `handle`, and refuse to go on in their own words. The
    web server runs them all, which takes loading every page.
    """

    help = (
        "Run the site: web server, worker, scheduler and, unless REDIS_URL is set, their "
        "broker. Ctrl-C ends all."
    )

    requires_system_checks = (ENVIRONMENT,)

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # reports and keys are for this user only
        try:
            lock = hold(settings.DATA_DIR)
            refuse_port_in_use(settings.CANDOR_HOST, settings.CANDOR_PORT)
            exposition.clear()
            accounts = self.prepare()
        except KeyboardInterrupt:
            raise CommandError("ended before it was up") from None
        for file in (lock, accounts):
            os.set_inheritable(file, True)
        os.execv(sys.executable, [sys.executable, "-m", "surveys.operations", str(accounts)])  # noqa: S606 (no shell)

    def prepare(self) -> int:
        """Bring database, static files and the demo up to date; return a file of what the demo
        says of its accounts.
        """
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
        with tempfile.TemporaryFile("w+") as accounts:
            if settings.CANDOR_DEMO:
                self.stdout.write("candor: preparing the demo studies")
                self.stdout.flush()
                call_command("demo", stdout=accounts, skip_checks=True)
            accounts.seek(0)
            return os.dup(accounts.fileno())


def hold(folder: Path) -> int:
    """Hold the data folder until this process ends, and return the file that does: two brokers
    would share one log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process = os.read(lock, 20).decode().strip()
        raise CommandError(
            f"Candor is already running on {folder} (process {process}). "
            "Stop it first, or set CANDOR_DATA to another folder and CANDOR_PORT to another port."
        ) from None
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def refuse_port_in_use(host: str, port: int, patience: float = 2.0) -> None:
    """Refuse a port that another program has. A site killed a moment ago may still hold it: wait
    for that one.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            with socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
            ):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise CommandError(
                    f"Port {port} on {host} cannot be used ({os.strerror(error.errno or 0)}). "
                    "Stop the program that has it, or choose another: CANDOR_PORT=8001."
                ) from error
            time.sleep(0.1)
