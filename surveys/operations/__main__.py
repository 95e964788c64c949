"""The supervisor of one site. `manage.py up` prepares the site and becomes this; nobody else starts it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from surveys.operations import processes
from surveys.operations.claims import CannotStart
from surveys.operations.supervisor import Supervisor

READY_SECONDS = 120  # on a slow machine, or a busy one; what ends three times before is not waited for
PATIENCE = 3  # endings before it ever answered


def main(accounts: int) -> None:
    supervisor = Supervisor(Path(settings.BASE_DIR), say)
    with supervisor.listening():
        start(supervisor)
        if not supervisor.stopping:
            welcome(accounts)
        supervisor.run()
    say("ended")


def start(supervisor: Supervisor) -> None:
    """Start what others lean on first. The web server starts alone: its first page then comes sooner."""
    if settings.EMBEDDED_REDIS:
        supervisor.start(processes.broker())
        wait_for("valkey", supervisor, lambda: processes.broker_answers(settings.VALKEY_SOCKET))
    supervisor.start(processes.web())
    wait_for("web", supervisor, page_answers)
    if not supervisor.stopping:
        supervisor.start(processes.worker())
        supervisor.start(processes.beat())


def wait_for(name: str, supervisor: Supervisor, ready: Callable[[], bool]) -> None:
    """Wait until it is ready, or the person has asked to end."""
    if not supervisor.wait_until(ready, READY_SECONDS, give_up=lambda: supervisor.endings(name) >= PATIENCE):
        raise CannotStart(f"{name} did not start. What it said itself is above.")


def page_answers() -> bool:
    return processes.first_page_answers(settings.CANDOR_HOST, settings.CANDOR_PORT)


def welcome(accounts: int) -> None:
    host = f"[{settings.CANDOR_HOST}]" if ":" in settings.CANDOR_HOST else settings.CANDOR_HOST
    say(f"running on http://{host}:{settings.CANDOR_PORT}/ (data in {settings.DATA_DIR}); Ctrl-C ends it")
    with os.fdopen(accounts) as lines:
        sys.stdout.write(lines.read())
    sys.stdout.flush()


def say(line: str) -> None:
    print(f"candor: {line}", flush=True)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except CannotStart as refusal:
        sys.exit(f"candor: {refusal}")
