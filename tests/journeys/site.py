"""A running Candor: all processes of `manage.py up`, on a port and in a folder of its own."""

import contextlib
import fcntl
import functools
import json
import os
import secrets
import shutil
import signal
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
from tests.ports import free_port

HOUSE = Path(__file__).parent.parent.parent
LISTEN = """
import contextlib, io, json, sys, traceback
for told in sys.stdin:
    said, fault = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(said):
            exec(json.loads(told), {"__name__": "__main__"})
    except BaseException:
        fault = traceback.format_exc()
    print(json.dumps([said.getvalue(), fault]), flush=True)
"""
BARE = """
import os
from django.core.management import call_command
os.umask(0o077)
call_command("migrate", interactive=False, verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
print("true")
"""
DEMO = """
from django.core.management import call_command
call_command("demo")
print("true")
"""


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
        """Run code inside the site's Django; return what its last line prints, as JSON.

        One process beside the site runs it all, for Django takes a second to start; names are
        forgotten in between, and what code changes in modules is not.
        """
        assert self.shell.stdin
        assert self.shell.stdout
        self.shell.stdin.write(json.dumps(code) + "\n")
        self.shell.stdin.flush()
        said, fault = json.loads(self.shell.stdout.readline())
        assert fault is None, fault
        return json.loads(said.splitlines()[-1])

    @functools.cached_property
    def shell(self) -> subprocess.Popen[str]:
        return self.begin(LISTEN)

    def end(self) -> None:
        """End the process that runs code, if one does."""
        if "shell" in vars(self):
            with self.shell:
                pass  # it reads to the end, which is here

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
def running_site(folder: Path, like: Site | None = None, **settings: str) -> Iterator[Site]:
    """Run `manage.py up` until the block ends: from nothing, or from a copy of what another site
    has that does not run.
    """
    port = free_port()
    environment = {
        **own_environment(folder, like=like),
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
        site.end()
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def prepared(shared: Path, *, demo: bool = False, server: str | None = None) -> Site:
    """Return a site that does not run and has what `manage.py up` makes before the first page.

    It is made once in this folder, by whichever process comes first.
    """
    folder = shared / ("demo" if demo else "bare")
    like = prepared(shared, server=server) if demo else None
    shared.mkdir(exist_ok=True)
    with (shared / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = shared / f"{folder.name}.json"
        if not made.exists():
            environment = own_environment(folder, like=like, server=server)
            site = Site("", environment, folder)
            site.python(DEMO if demo else BARE)
            site.end()
            made.write_text(json.dumps(environment))
    return Site("", json.loads(made.read_text()), folder)


def own_environment(
    folder: Path, *, like: Site | None = None, server: str | None = None
) -> dict[str, str]:
    """Return the environment of a site in this folder, with a database of its own; both are copies
    of another site's, if one is given.
    """
    if like is not None:
        shutil.copytree(like.environment["CANDOR_DATA"], folder, dirs_exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    copied = like.environment.get("DATABASE_URL", "") if like is not None else ""
    return {**kept, **own_database(server, copied), "CANDOR_DATA": str(folder)}


def own_database(server: str | None = None, copied: str = "") -> dict[str, str]:
    """Make a new database where the tests have a PostgreSQL server, a copy of the one at this
    address; return the setting that names it.
    """
    server = os.environ.get("DATABASE_URL", "") if server is None else server
    if not server.startswith("postgres"):
        return {}
    name = f"site_{secrets.token_hex(4)}"
    config = environ.Env.db_url_config(server)
    template = Identifier(copied.rpartition("/")[2] or "template1")
    with psycopg.connect(
        host=config["HOST"], user=config["USER"], dbname=config["NAME"], autocommit=True
    ) as connection:
        connection.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), template))
    return {"DATABASE_URL": f"{server.rpartition('/')[0]}/{name}"}


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as response:
            return bool(response.status == 200)
    except OSError:
        return False
