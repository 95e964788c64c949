"""What the last commit before 0.9 wrote opens, byte for byte, in this version: on both engines. What
is older is refused, and left as it is.
"""

import hashlib

import pytest

from tests.journeys.site import Site, own_environment
from tests.surveys.operations.older import KEPT, laid_out, postgres, rows, said, stored

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
GOES_ON = """
import json
from surveys.aggregation.services import sweep_all
from surveys.demo.services import answer_as_browsers
from surveys.design import selectors as design
from surveys.intake.models import DigestKey
from surveys.sealed_keys import open_all
plan = design.latest_plan("medicines-and-help")
person = {name: 0 for name in plan.content.channels}
answer_as_browsers(plan, [person] * 40, plan.opened_on)
sweep_all(today=plan.opened_on)
from surveys.aggregation.selectors import batch_sizes
print(json.dumps([open_all(DigestKey), sum(batch_sizes(plan))]))
"""
# Not the tables of open reports, which are made for each Plan, nor allauth's, an index of which
# reads otherwise once it has been restored.
SCHEMA = ("--schema-only", "--exclude-table=intake_openreport_*", "--exclude-table=mfa_*")
MIGRATIONS = "SELECT app, name FROM django_migrations"
FOUND = "SELECT what, why FROM ledger_entry WHERE what LIKE 'found%' ORDER BY position"
CHANGED = """
from django.db import connection
on = " ON releases_release" if connection.vendor == "postgresql" else ""
with connection.cursor() as cursor:
    cursor.execute(f"DROP TRIGGER releases_release_no_update{on}")
    cursor.execute("UPDATE releases_release SET published_on = '2026-05-12' WHERE id = 1")
print(0)
"""
LACKS, HAS = (
    f"ALTER TABLE {old} RENAME TO {new}"
    for old, new in (("ledger_budget", "ledger_cap"), ("ledger_cap", "ledger_budget"))
)
OLDER = "DELETE FROM django_migrations WHERE (app, name) = ('ledger', '0007_no_checkpoints')"


@pytest.fixture(scope="module", autouse=True)
def on_either_engine(django_db_setup):
    """Said so that these run with PostgreSQL too; nothing is read from the tests' database."""


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A site as that commit left it, and what it held; opened by this version then."""
    site = laid_out(tmp_path_factory.mktemp("older"))
    before = stored(site), set(rows(site, MIGRATIONS))
    site.manage("migrate", "--verbosity", "0")
    return site, *before


@pytest.mark.parametrize("name", KEPT)
def test_opening_it_changes_no_byte_of_it(older, name):
    site, before, _migrations = older
    assert before[name]
    assert stored(site)[name] == before[name]


def test_no_migration_is_run_again(older):
    site, _before, migrations = older
    added = {(app, name) for app, name in rows(site, MIGRATIONS)} - migrations
    assert added
    assert {name for _app, name in added if name < "0002"} == {"0001_release_0_9"}


def schema(site: Site) -> list[str]:
    """Return what makes the site's tables, triggers and indexes."""
    if "DATABASE_URL" in site.environment:
        lines = postgres(site, "pg_dump", *SCHEMA).splitlines()
        return [line for line in lines if not line.startswith("\\")]  # a word of chance
    found = rows(site, "SELECT sql FROM sqlite_master WHERE sql <> '' ORDER BY tbl_name, name")
    return [sql.replace('"', "") for (sql,) in found]


def test_its_database_is_that_of_a_new_site(older, tmp_path):
    new = Site("", own_environment(tmp_path), tmp_path)
    new.manage("migrate", "--verbosity", "0")
    assert schema(older[0]) == schema(new)


TO_DO = """
import json
from surveys.operations import database
print(json.dumps(" ".join(each.todo for each in database.checks())))
"""


def test_a_site_that_has_not_come_so_far_is_refused_and_left_as_it_is(tmp_path):
    site = laid_out(tmp_path)
    said(
        site, f"from django.db import connection\nconnection.cursor().execute({OLDER!r})\nprint(0)"
    )
    before, migrations, tables = stored(site), rows(site, MIGRATIONS), schema(site)
    for words in (["migrate"], ["migrate", "issuer"], ["prepare"]):
        with pytest.raises(
            AssertionError, match=r"of a version before 0\.9.*Check out that commit"
        ):
            site.manage(*words)
    assert "Check out that commit" in said(site, TO_DO)
    said(
        site, f"from django.db import connection\nconnection.cursor().execute({LACKS!r})\nprint(0)"
    )
    for words in (["verify_ledger"], ["demo"]):
        with pytest.raises(AssertionError, match=r"This database is of a version before 0\.9"):
            site.manage(*words)
    said(site, f"from django.db import connection\nconnection.cursor().execute({HAS!r})\nprint(0)")
    assert (stored(site), rows(site, MIGRATIONS), schema(site)) == (before, migrations, tables)


def test_its_ledger_verifies(older):
    older[0].manage("verify_ledger")


def test_what_was_published_before_rows_held_digests_is_covered_as_it_was_found(older):
    site, _before, _migrations = older
    found = rows(site, FOUND)
    assert [what for what, _why in found] == [
        *("found release", "found release", "found step 1", "found step 1", "found step 2")
    ]
    assert all("this is what was there on" in why for _what, why in found)
    with pytest.raises(AssertionError, match="drawn once"):
        said(site, CHANGED.replace("cursor.execute(f", "str("))


def test_a_release_that_was_found_and_is_changed_is_named_by_the_row_that_covers_it(tmp_path):
    site = laid_out(tmp_path)
    site.manage("migrate", "--verbosity", "0")
    said(site, CHANGED)
    with pytest.raises(AssertionError, match="row 13: release of request") as refusal:
        site.manage("verify_ledger")
    assert "row 5: release of request" not in str(refusal.value)


def test_its_plans_are_read_and_written_again_alike_and_its_records_are_shown(older):
    site, before, _migrations = older
    plans, pages = said(site, READ_AGAIN)
    assert plans == [[digest, document] for digest, document in before["plans"]]
    assert all(hashlib.sha256(text.encode()).hexdigest() == digest for digest, text in plans)
    assert pages
    assert set(pages.values()) == {200}


def test_it_goes_on_taking_and_sealing_reports(older):
    keys, sealed = said(older[0], GOES_ON)
    assert keys > 0
    assert sealed == 40
