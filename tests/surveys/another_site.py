"""A site beside the one of the tests: a database of its own, on the engine of this run."""

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection


@contextlib.contextmanager
def another_site(folder: Path) -> Iterator[dict[str, str]]:
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
        name = f"another_{uuid.uuid4().hex}"  # tests beside each other have one each
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield {**found, "DATABASE_URL": f"postgres://{here['USER']}@/{here['HOST']}/{name}"}
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
