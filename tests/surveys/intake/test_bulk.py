"""Many rows in one statement: what goes in comes out, on either engine."""

import pytest

from surveys.intake import bulk, group
from surveys.intake.models import OpenReport, Receipt, Settled
from surveys.intake.report_tables import COLUMNS, TABLE, make_place
from tests.conftest import TODAY

TEXTS = ["[1,[3],[0]]", "", "NULL", '"', "\\", '\\"', "{a,b}", "a b", "é", "[null]", "'", "%s"]


def test_every_text_and_every_byte_comes_back_as_it_went_in(plan):
    if bulk.connection.vendor == "postgresql":
        make_place(plan.pk)
    rows = [
        (plan.pk, text, bytes(range(256))[number:], number % 3 or None)
        for number, text in enumerate(TEXTS)
    ]
    assert bulk.insert(TABLE, COLUMNS, rows) == len(rows)
    stored = OpenReport.objects.order_by("pk").values_list("plan_id", "values", "given", "stratum")
    assert [(pk, values, bytes(given), own) for pk, values, given, own in stored] == rows


@pytest.mark.django_db
def test_a_row_is_found_in_whichever_table_it_is():
    here, there, both, nowhere = (bytes([number * 16]) * 32 for number in (1, 2, 15, 7))
    kept = lambda kind, one: kind(id_digest=one, content_digest=one, plan_id=7, day=TODAY)  # noqa: E731
    Receipt.objects.bulk_create([kept(Receipt, here), kept(Receipt, both)])
    Settled.objects.bulk_create([kept(Settled, there), kept(Settled, both)])
    rows = bulk.find(group.TABLES, group.COLUMNS, [nowhere, both, there, here])
    assert {bytes(row[0]) for row in rows} == {here, there, both}
    assert {(bytes(row[0]) == bytes(row[1]), row[2], bulk.as_day(row[3])) for row in rows} == {
        (True, 7, TODAY)
    }
