"""A data folder that an older version wrote opens, byte for byte, in this one."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.journeys.site import HOUSE

FOLDER = HOUSE / "tests" / "data" / "folder_before_the_house.tar.xz"
KEPT = {  # what must not change by a byte, whatever migrations do
    "plans": "SELECT digest, document FROM design_plan ORDER BY id",
    "ledger": "SELECT position, digest FROM ledger_entry ORDER BY position",
    "releases": "SELECT id, numbers FROM releases_release ORDER BY id",
    "requests": "SELECT id, statistic FROM releases_request ORDER BY id",
    "receipts": "SELECT id_digest, content_digest FROM intake_receipt ORDER BY 1",
}
READ_AGAIN = """
import json
from django.test import Client
from surveys.design.models import Plan
from surveys.plan.content import canonical, read
stored = Plan.objects.order_by("pk")
plans = [[plan.digest, canonical(read(plan.document))] for plan in stored]
pages = {slug: Client().get(f"/registry/{slug}/", headers={"host": "localhost"}).status_code
         for slug in sorted({plan.study.slug for plan in Plan.objects.all()})}
print(json.dumps([plans, pages]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("older")
    with tarfile.open(FOLDER) as archive:
        archive.extractall(found, filter="data")
    return found


@pytest.fixture(scope="module")
def before(folder):
    return stored(folder)


@pytest.fixture(scope="module")
def migrated(folder, before):
    manage(folder, "migrate", "--verbosity", "0")
    return folder


def manage(folder: Path, *words: str) -> str:
    ours = ("DATABASE_URL", "REDIS_URL", "PUBLICATION_KEYS", "SECRET_KEY")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(
        command,
        cwd=HOUSE,
        env={**environment, "CANDOR_DATA": str(folder), "CANDOR_MODE": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stored(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(folder / "candor.sqlite3") as database:
        return {name: database.execute(query).fetchall() for name, query in KEPT.items()}


@pytest.mark.parametrize("name", KEPT)
def test_migrations_change_no_byte_of_it(migrated, before, name):
    assert before[name]
    assert stored(migrated)[name] == before[name]


def test_its_ledger_verifies(migrated):
    manage(migrated, "verify_ledger")


def test_its_plans_are_read_and_written_again_alike_and_its_records_are_shown(migrated, before):
    plans, pages = json.loads(manage(migrated, "shell", "--no-imports", "-c", READ_AGAIN))
    assert plans == [[digest, document] for digest, document in before["plans"]]
    assert all(hashlib.sha256(text.encode()).hexdigest() == digest for digest, text in plans)
    assert pages
    assert set(pages.values()) == {200}
