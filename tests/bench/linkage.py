"""The insider (tests/linkage) against a site of known people, on SQLite and on PostgreSQL: nothing beyond the
anonymity sets is told by the site as it is, and each of three bad builds is found (tests/linkage/site.py).

PEOPLE in three strata fetch and answer one after another over DAYS days, with a copy each night.

    python -m tests.bench.linkage [people] [days]                     both engines, all builds
    python -m tests.bench.linkage here <build> <people> <days>        on the environment's database
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.report import save, table
from tests.bench.site import fresh_site

PEOPLE, DAYS = 2000, 5
HERE = "here"
BUILDS = ("honest", "dated", "ordered", "unsettled")  # tests/linkage/site.py


def audited_here(build: str, people: int, days: int) -> int:
    """Fill the environment's database, audit the copies, and print what was found."""
    with fresh_site(), tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        from tests.linkage.audit import main as audit
        from tests.linkage.site import filled

        return audit(filled(Path(folder), people=people // 3, days=days, build=build))


def audited(engine: str, build: str, people: int, days: int) -> subprocess.CompletedProcess[str]:
    """Audit a build in a process of its own, on a new database."""
    with database(engine) as url:
        command = [sys.executable, "-m", "tests.bench.linkage", HERE, build]
        environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": ""}
        environment = {name: value for name, value in environment.items() if value}
        return subprocess.run(
            [*command, str(people), str(days)],
            env=environment,
            text=True,
            capture_output=True,
            check=False,
        )


@contextlib.contextmanager
def database(engine: str) -> Iterator[str]:
    from tests.services import postgres

    if engine == "sqlite":
        yield ""
        return
    with postgres() as url:
        yield url


def main(people: int = PEOPLE, days: int = DAYS) -> None:
    rows: list[dict[str, Any]] = []
    for engine in ("sqlite", "postgresql"):
        for build in BUILDS:
            done = audited(engine, build, people, days)
            lines = done.stdout.splitlines() or done.stderr.splitlines()[-1:]
            if build == "honest":
                print("\n".join(lines))
            rows.append(
                {"engine": engine, "build": build, "exit": done.returncode, "said": lines[-1]}
            )
    table(f"{people:,} people, {days} days, a copy each night", rows)
    save("linkage", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == [HERE]:
        sys.exit(audited_here(sys.argv[2], *map(int, sys.argv[3:])))
    main(*map(int, sys.argv[1:]))
