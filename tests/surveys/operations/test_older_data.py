"""What an older version wrote opens, byte for byte, in this one: on both engines."""

import hashlib

import pytest

from tests.surveys.operations.older import KEPT, VERSIONS, laid_out, said, stored

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
import datetime, json
from surveys.aggregation.services import sweep_all
from surveys.demo.services import answer_as_browsers
from surveys.design import selectors as design
from surveys.intake import digest_keys
plan = design.latest_plan("medicines-and-help")
today = datetime.date.today()
person = {name: 0 for name in plan.content.channels}
answer_as_browsers(plan, [person] * 40, plan.opened_on)
sweep_all(today=plan.opened_on)
from surveys.aggregation.selectors import batch_sizes
print(json.dumps([digest_keys.open_all(), sum(batch_sizes(plan))]))
"""

COLUMNS = """
import json
from django.apps import apps
from django.db import connection
wrong = []
with connection.cursor() as cursor:
    for model in apps.get_models(include_auto_created=True):
        table = connection.introspection.get_table_description(cursor, model._meta.db_table)
        found, meant = {each.name for each in table}, {each.column for each in model._meta.local_concrete_fields}
        wrong += [f"{model._meta.db_table}.{name}" for name in sorted(found ^ meant)]
print(json.dumps(wrong))
"""
OF_THAT_DAY = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("ALTER TABLE issuer_invitation DROP COLUMN asked")
    cursor.execute("DELETE FROM django_migrations WHERE app = 'issuer' AND name LIKE '0003%%'", [])
print("[]")
"""


@pytest.fixture(scope="module", params=VERSIONS)
def older(request, tmp_path_factory):
    """A site as that version left it, and what it held; migrated forwards then."""
    site = laid_out(request.param, tmp_path_factory.mktemp("older"))
    before = stored(site)
    site.manage("migrate", "--verbosity", "0")
    return site, before


@pytest.fixture(scope="module", autouse=True)
def on_either_engine(django_db_setup):
    """Said so that these run with PostgreSQL too; nothing is read from the tests' database."""


@pytest.mark.parametrize("name", KEPT)
def test_migrations_change_no_byte_of_it(older, name):
    site, before = older
    assert before[name]
    assert stored(site)[name] == before[name]


def test_its_tables_have_the_columns_of_a_new_site(older):
    assert said(older[0], COLUMNS) == []


def test_a_column_that_the_first_migration_got_a_day_later_is_added(older):
    site, _before = older
    said(site, OF_THAT_DAY)
    assert said(site, COLUMNS) == ["issuer_invitation.asked"]
    site.manage("migrate", "--verbosity", "0")
    assert said(site, COLUMNS) == []


def test_its_ledger_verifies(older):
    older[0].manage("verify_ledger")


def test_its_plans_are_read_and_written_again_alike_and_its_records_are_shown(older):
    site, before = older
    plans, pages = said(site, READ_AGAIN)
    assert plans == [[digest, document] for digest, document in before["plans"]]
    assert all(hashlib.sha256(text.encode()).hexdigest() == digest for digest, text in plans)
    assert pages
    assert set(pages.values()) == {200}


def test_it_goes_on_taking_and_sealing_reports(older):
    keys, sealed = said(older[0], GOES_ON)
    assert keys > 0
    assert sealed == 40
