"""A site beside the one of the tests: a database of its own, on the engine of this run."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection


@contextlib.contextmanager
def another_site(folder: Path, name: str) -> Iterator[dict[str, str]]:
    """Give the environment of a site that is not there yet."""
    found = {"CANDOR_DATA": str(folder), "PATH": "/usr/bin:/bin"}
    if connection.vendor == "sqlite":
        yield found
        return
    import psycopg

    here = settings.DATABASES["default"]
    with psycopg.connect(
        host=here["HOST"], user=here["USER"], dbname="postgres", autocommit=True
    ) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield {**found, "DATABASE_URL": f"postgres://{here['USER']}@/{here['HOST']}/{name}"}
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")
