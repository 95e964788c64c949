"""Servers of the tests' own: PostgreSQL, Redis, and the browser they drive.

As a context manager each gives what the site reads from its environment. As a command

    python -m tests.services postgres -- pytest tests/surveys

starts the server, sets that variable, runs the command, and ends the server however the
command ends. Where the server is not installed it says so, and how to get it; with CI=true
that is a failure.
"""

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.patience import PATIENCE, became

FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
T = TypeVar("T")


class Missing(Exception):
    """A program is not installed: name the Debian package that has it."""

    def __init__(self, package: str) -> None:
        super().__init__(f"{package} is not installed: apt-get install {package}")


@contextlib.contextmanager
def postgres(*, durable: bool = False) -> Iterator[str]:
    """Yield the DATABASE_URL of a new cluster on a socket in a temporary folder. It forgets
    everything, and what was committed at a crash too unless it is durable.
    """
    initdb, owner = find_postgres("initdb"), unprivileged_user()
    with temporary_folder(owner) as folder:
        data = folder / "data"
        create = [
            initdb,
            "-D",
            str(data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL, **as_user(owner))
        with serving(folder, owner, durable=durable):
            yield f"postgres://postgres@/{folder}/postgres"


@contextlib.contextmanager
def standby(primary: str) -> Iterator[str]:
    """Yield the URL of a streaming replica of such a cluster, given by the folder of its socket;
    it is in a folder of its own.
    """
    owner = unprivileged_user()
    with temporary_folder(owner) as folder:
        copy = [find_postgres("pg_basebackup"), "-h", primary, "-U", "postgres"]
        copy += ["-D", str(folder / "data"), "-R", "-c", "fast", "--no-sync"]
        subprocess.run(copy, check=True, stdout=subprocess.DEVNULL, **as_user(owner))
        with serving(folder, owner):
            yield f"postgres://postgres@/{folder}/postgres"


@contextlib.contextmanager
def serving(
    folder: Path, owner: pwd.struct_passwd | None, *, durable: bool = False
) -> Iterator[None]:
    """Run PostgreSQL on what is in `data`, with its socket beside it."""
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "deadlock_timeout": "100ms",  # after which its own vacuum gives way to an erasure
        **({} if durable else FORGETFUL),
        "shared_buffers": "64MB",
        # as README asks: else files of the log are used again with what stands in them
        "wal_recycle": "off",
    }
    command = [
        find_postgres("postgres"),
        "-D",
        str(folder / "data"),
        *(part for key, value in options.items() for part in ("-c", f"{key}={value}")),
    ]
    ready = folder / ".s.PGSQL.5432"
    with running(command, folder / "log", ready.exists, signal.SIGINT, owner):
        became_ready(lambda: accepts_connections(folder), "postgres", folder / "log")
        yield


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """Yield the REDIS_URL of a new server on a socket in a temporary folder."""
    server = shutil.which("redis-server")
    if server is None:
        raise Missing("redis-server")
    with temporary_folder() as folder:
        path = folder / "redis.sock"
        command = [
            server,
            "--port",
            "0",
            "--unixsocket",
            str(path),
            "--dir",
            str(folder),
            "--save",
            "",
            "--daemonize",
            "no",
        ]
        with running(command, folder / "log", path.exists):
            yield f"redis+socket://{path}"


@contextlib.contextmanager
def chromium() -> Iterator[str]:
    """Yield the path of the browser: there is nothing to start."""
    yield find_chromium()


def find_chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise Missing("chromium")
    return found


@contextlib.contextmanager
def or_skip(start: Callable[[], contextlib.AbstractContextManager[T]]) -> Iterator[T]:
    """Yield what the service gives. Without the program the test is skipped, but in CI it fails."""
    with contextlib.ExitStack() as stack:
        try:
            value = stack.enter_context(start())
        except Missing as missing:
            (pytest.fail if in_ci() else pytest.skip)(str(missing))
        yield value


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


SERVICES = {
    "postgres": (postgres, "DATABASE_URL"),
    "redis": (redis, "REDIS_URL"),
    "chromium": (chromium, "CHROMIUM"),
}


def find_postgres(name: str) -> str:
    """Return a program of PostgreSQL: Debian keeps them off the PATH, by version."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3])
    )
    found = str(versions[-1]) if versions else shutil.which(name)
    if found is None:
        raise Missing("postgresql")
    return found


def unprivileged_user() -> pwd.struct_passwd | None:
    """Return whom to run PostgreSQL as, which refuses to run as root."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres")
    return pwd.getpwnam("nobody")


def as_user(owner: pwd.struct_passwd | None) -> dict[str, Any]:
    """Return the arguments of `subprocess` that run a program as this user, in a folder it may
    enter.
    """
    return {"cwd": "/"} | (
        {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
    )


@contextlib.contextmanager
def temporary_folder(owner: pwd.struct_passwd | None = None) -> Iterator[Path]:
    """Yield a folder with a short path: that of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(
        prefix="candor-", dir="/tmp", ignore_cleanup_errors=True
    ) as name:
        if owner:
            os.chown(name, owner.pw_uid, owner.pw_gid)
        yield Path(name)


def die_with_parent() -> None:
    """Have Linux kill this process when its parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def running(
    command: Sequence[str],
    log: Path,
    ready: Callable[[], bool],
    end_by: signal.Signals = signal.SIGTERM,
    owner: pwd.struct_passwd | None = None,
) -> Iterator[None]:
    """Run a server. Ctrl-C does not reach it: what uses it ends first, then the server."""
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
            **as_user(owner),
        )
    try:
        became_ready(lambda: ready() or server.poll() is not None, command[0], log)
        if server.poll() is not None:
            raise RuntimeError(f"{command[0]} ended:\n{log.read_text()}")
        yield
    finally:
        server.send_signal(end_by)
        try:
            server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def became_ready(ready: Callable[[], bool], what: str, log: Path) -> None:
    if not became(ready, pause=0.02):
        raise RuntimeError(f"{what} was not ready in {PATIENCE:.0f} s:\n{log.read_text()}")


def accepts_connections(folder: Path) -> bool:
    import psycopg  # the browser's tests do without

    try:
        psycopg.connect(host=str(folder), user="postgres", dbname="postgres").close()
    except psycopg.OperationalError:
        return False
    return True


def main(arguments: Sequence[str]) -> int:
    name, command = arguments[0], list(arguments[arguments.index("--") + 1 :])
    start, variable = SERVICES[name]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        with start() as value:
            return run({**os.environ, variable: value}, command)
    except Missing as missing:
        print(f"left out: the tests with {name}; {missing}")
        return int(in_ci())


def run(environment: dict[str, str], command: Sequence[str]) -> int:
    """Run the command to its end: on Ctrl-C it has heard the same, and says its last words
    before the server goes.
    """
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
        except SystemExit:
            process.terminate()
            process.wait()
            raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
