"""A site that the last commit before 0.9 wrote, laid out to be opened: a data folder of SQLite, or a
dump of PostgreSQL with the keys of that folder.
"""

import json
import lzma
import shutil
import sqlite3
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import environ
import psycopg

from tests.journeys.site import HOUSE, Site, own_environment
from tests.services import find_postgres

DATA = HOUSE / "tests" / "data"
KEPT = {  # what must not change by a byte, whatever migrations do
    "plans": "SELECT digest, document FROM design_plan ORDER BY id",
    "ledger": "SELECT position, digest FROM ledger_entry ORDER BY position",
    "releases": "SELECT id, numbers FROM releases_release ORDER BY id",
    "requests": "SELECT id, statistic FROM releases_request ORDER BY id",
    "receipts": "SELECT id_digest, content_digest FROM intake_receipt ORDER BY 1",
}


def laid_out(folder: Path) -> Site:
    """Return a site that does not run, with that data, not migrated yet."""
    with tarfile.open(DATA / "folder_before_0_9.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    site = Site("", own_environment(folder), folder)
    if "DATABASE_URL" in site.environment:
        (folder / "candor.sqlite3").unlink()
        text = lzma.decompress((DATA / "dump_before_0_9.sql.xz").read_bytes())
        postgres(site, "psql", "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", given=text)
    return site


def postgres(site: Site, program: str, *words: str, given: bytes = b"") -> str:
    """Run a program of PostgreSQL on the site's database, as an operator does; return what it
    prints.
    """
    config = environ.Env.db_url_config(site.environment["DATABASE_URL"])
    own = ["-h", config["HOST"], "-U", config["USER"], "-d", config["NAME"]]
    found = find_postgres(program)
    done = subprocess.run([found, *own, *words], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def rows(site: Site, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds in the site's database."""
    if url := site.environment.get("DATABASE_URL"):
        config = environ.Env.db_url_config(url)
        own = {"host": config["HOST"], "user": config["USER"], "dbname": config["NAME"]}
        with psycopg.connect(**own) as server:
            return server.execute(query).fetchall()
    with sqlite3.connect(Path(site.environment["CANDOR_DATA"]) / "candor.sqlite3") as database:
        return database.execute(query).fetchall()


def stored(site: Site) -> dict[str, Any]:
    """Return what must stay, as the database holds it."""
    return {name: rows(site, query) for name, query in KEPT.items()}


def restored(site: Site, backup: Path, folder: Path) -> Site:
    """Return another site, made from a backup and the keys of the first by what docs/backups.md
    says.
    """
    folder.mkdir()
    for key in ("secret.key", "publication.key"):
        shutil.copy(Path(site.environment["CANDOR_DATA"]) / key, folder)
    found = Site("", own_environment(folder), folder)
    if "DATABASE_URL" in found.environment:
        postgres(found, "pg_restore", "--exit-on-error", "--single-transaction", str(backup))
    else:
        shutil.copy(backup, folder / "candor.sqlite3")
    return found


def said(site: Site, code: str) -> Any:
    """Run code inside the site's Django; return what its last line prints, as JSON."""
    return json.loads(site.manage("shell", "--no-imports", "-c", code).splitlines()[-1])
