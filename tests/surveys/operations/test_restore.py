"""A backup is worth what can be made of it: a site that has the same ledger, opens the same keys
and goes on. On both engines, by the words of docs/backups.md.
"""

import re

import pytest

from tests.surveys.operations.older import laid_out, restored, said, stored

SEALED = """
import json
from surveys.aggregation.models import Batch
from surveys.intake.models import DigestKey
from surveys.operations.models import Event
from surveys.sealed_keys import open_all
print(json.dumps([open_all(DigestKey), Batch.objects.count(), Event.objects.count()]))
"""


@pytest.fixture(scope="module", autouse=True)
def on_either_engine(django_db_setup):
    """Said so that these run with PostgreSQL too; nothing is read from the tests' database."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A site, the end of its ledger as an operator notes it, and the site made from its backup."""
    folder = tmp_path_factory.mktemp("backup")
    site = laid_out(folder / "site")
    site.manage("migrate", "--verbosity", "0")
    noted = re.search(r"whole: (\d+) rows. Head (\w+)", site.manage("verify_ledger"))
    assert noted
    site.manage("backup", "--to", str(folder / "backups"))
    (backup,) = (folder / "backups").iterdir()
    return site, noted.groups(), restored(site, backup, folder / "restored")


def test_the_ledger_of_what_was_restored_is_the_one_that_was_noted(pair):
    _site, (length, head), again = pair
    assert f"whole: {length} rows" in again.manage(
        "verify_ledger", "--head", head, "--length", length
    )


def test_every_row_that_must_stay_is_there(pair):
    site, _noted, again = pair
    assert all(stored(site).values())
    assert stored(again) == stored(site)


def test_its_keys_open_and_its_batches_are_there(pair):
    site, _noted, again = pair
    keys, batches, events = said(again, SEALED)
    assert [keys, batches] == said(site, SEALED)[:2]
    assert keys > 0
    assert batches > 0
    assert events == 0  # a backup is noted when it is made, so that the note is not in it


def test_a_backup_older_than_what_was_noted_is_found(pair):
    _site, (length, head), again = pair
    with pytest.raises(AssertionError, match=r"row|length|head"):
        again.manage("verify_ledger", "--head", head, "--length", str(int(length) + 1))
