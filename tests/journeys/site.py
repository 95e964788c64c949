"""A running Candor: the supervisor's whole process tree, on a port and in a folder of its own."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environ
import psycopg
from psycopg.sql import SQL, Identifier

from tests.patience import PATIENCE, became

HOUSE = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Site:
    base: str
    environment: dict[str, str]
    log: Path

    def manage(self, *words: str) -> str:
        """Run a management command beside the running site."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=HOUSE,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, code: str) -> Any:
        """Run code inside the site's Django; return what its last line prints, as JSON."""
        return json.loads(self.manage("shell", "--no-imports", "-c", code).splitlines()[-1])

    def begin(self, code: str) -> subprocess.Popen[str]:
        """Start code inside the site's Django, in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
            cwd=HOUSE,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, holds: Callable[[], Any], what: str) -> Any:
        found = became(holds, pause=0.25)
        assert found, f"{what}, after {PATIENCE:.0f} s\n{self.log.read_text()[-3000:]}"
        return found


@contextlib.contextmanager
def running_site(folder: Path, **settings: str) -> Iterator[Site]:
    """Run `manage.py up` until the block ends."""
    port = free_port()
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {
        **kept,
        **own_database(),
        "CANDOR_DATA": str(folder),
        "CANDOR_PORT": str(port),
        "CANDOR_SWEEP_SECONDS": "1",
        "CANDOR_REPORTS_AT_ONCE": "100000",  # all of the tests' come from one address
        **settings,
    }
    site = Site(base=f"http://127.0.0.1:{port}", environment=environment, log=folder / "up.log")
    with site.log.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=HOUSE,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        site.wait_for(lambda: process.poll() is not None or answers(site.base), "no first page")
        assert process.poll() is None, site.log.read_text()
        yield site
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def own_database() -> dict[str, str]:
    """Make a new database where the tests have a PostgreSQL server; return the setting that
    names it.
    """
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        return {}
    name = f"site_{secrets.token_hex(4)}"
    config = environ.Env.db_url_config(server)
    with psycopg.connect(
        host=config["HOST"], user=config["USER"], dbname=config["NAME"], autocommit=True
    ) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    return {"DATABASE_URL": f"{server.rpartition('/')[0]}/{name}"}


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
