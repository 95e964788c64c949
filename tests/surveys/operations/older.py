"""Sites that older versions of this code wrote, laid out to be opened: data folders of SQLite, and
dumps of PostgreSQL with the keys of the folder of the same day.
"""

import json
import lzma
import os
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
FOLDERS = ("folder_before_the_house", "folder_of_2026_11_24")
DUMPS = {"dump_of_2026_11_24": "folder_of_2026_11_24"}  # and the folder that has its keys
VERSIONS = tuple(DUMPS) if os.environ.get("DATABASE_URL", "").startswith("postgres") else FOLDERS
KEPT = {  # what must not change by a byte, whatever migrations do
    "plans": "SELECT digest, document FROM design_plan ORDER BY id",
    "ledger": "SELECT position, digest FROM ledger_entry ORDER BY position",
    "releases": "SELECT id, numbers FROM releases_release ORDER BY id",
    "requests": "SELECT id, statistic FROM releases_request ORDER BY id",
    "receipts": "SELECT id_digest, content_digest FROM intake_receipt ORDER BY 1",
}


def laid_out(version: str, folder: Path) -> Site:
    """Return a site that does not run, with the data of that version, not migrated yet."""
    with tarfile.open(DATA / f"{DUMPS.get(version, version)}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    site = Site("", own_environment(folder), folder)
    if version in DUMPS:
        (folder / "candor.sqlite3").unlink()
        text = lzma.decompress((DATA / f"{version}.sql.xz").read_bytes())
        postgres(site, "psql", "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", given=text)
    return site


def postgres(site: Site, program: str, *words: str, given: bytes = b"") -> None:
    """Run a program of PostgreSQL on the site's database, as an operator does."""
    config = environ.Env.db_url_config(site.environment["DATABASE_URL"])
    own = ["-h", config["HOST"], "-U", config["USER"], "-d", config["NAME"]]
    found = find_postgres(program)
    done = subprocess.run([found, *own, *words], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def stored(site: Site) -> dict[str, Any]:
    """Return what must stay, as the database holds it."""
    if url := site.environment.get("DATABASE_URL"):
        config = environ.Env.db_url_config(url)
        with psycopg.connect(
            host=config["HOST"], user=config["USER"], dbname=config["NAME"]
        ) as server:
            return {name: server.execute(query).fetchall() for name, query in KEPT.items()}
    with sqlite3.connect(Path(site.environment["CANDOR_DATA"]) / "candor.sqlite3") as database:
        return {name: database.execute(query).fetchall() for name, query in KEPT.items()}


def restored(site: Site, backup: Path, folder: Path) -> Site:
    """Return another site, made from a backup and the keys of the first by what docs/backups.md
    says.
    """
    folder.mkdir()
    for key in ("secret.key", "publication.key"):
        shutil.copy(Path(site.environment["CANDOR_DATA"]) / key, folder)
    found = Site("", own_environment(folder), folder)
    if "DATABASE_URL" in found.environment:
        postgres(found, "pg_restore", "--clean", "--if-exists", str(backup))
    else:
        shutil.copy(backup, folder / "candor.sqlite3")
    return found


def said(site: Site, code: str) -> Any:
    """Run code inside the site's Django; return what its last line prints, as JSON."""
    return json.loads(site.manage("shell", "--no-imports", "-c", code).splitlines()[-1])
