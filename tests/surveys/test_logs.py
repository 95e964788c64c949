"""What a log line may hold: how something failed, never the row that it failed on."""

import json
import logging
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from structlog.stdlib import ProcessorFormatter

from surveys.aggregation.models import Tally
from surveys.logs import LOGGING, cut_rows

SECRET = "918273645"
DETAIL = f'DETAIL:  Failing row contains (1, -1, {{"fair": [{SECRET}]}}).'


def line(record: logging.LogRecord) -> str:
    settings = dict(LOGGING["formatters"]["json"])
    settings.pop("()")
    return ProcessorFormatter(**settings).format(record)


@pytest.mark.parametrize(
    "text",
    [
        f"violates check constraint\n{DETAIL}\n",
        f"Task raised unexpected: IntegrityError('violates\\n{DETAIL}\\n')",
        f'violates\nCONTEXT:  COPY tally, line 1: "{SECRET}"',
        f"psycopg.errors.CheckViolation: violates\n{DETAIL}\n\nThe above exception was the direct "
        f"cause",
    ],
)
@pytest.mark.parametrize("part", ["event", "exception"])
def test_the_row_that_a_database_repeats_is_cut(text: str, part: str) -> None:
    found = cut_rows(None, "", {part: text})[part]
    assert SECRET not in found
    assert "violates" in found
    assert ("The above" in text) == ("The above" in found)


def test_what_is_not_text_stays() -> None:
    event: dict[str, Any] = {"event": 3, "failed": SECRET}
    assert cut_rows(None, "", dict(event)) == event


@pytest.mark.django_db
@pytest.mark.engine("postgresql")
def test_an_error_of_postgresql_is_logged_without_its_row(plan: Any) -> None:
    words = (
        "INSERT INTO aggregation_tally (plan_id, reports, batches, counts) VALUES (%s, -1, 1, %s)"
    )
    with (
        pytest.raises(IntegrityError, match=SECRET) as caught,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(words, [plan.pk, json.dumps({"fair": [int(SECRET)]})])
    error = caught.value
    record = logging.LogRecord("celery", logging.ERROR, "", 1, "failed: %r", (error,), None)
    record.exc_info = (type(error), error, error.__traceback__)
    assert "failed" in line(record)
    assert SECRET not in line(record)
    assert not Tally.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address", ["/api/v1/receipts/CN4F-7QKM-2XW9", "/account/invitation/a-token/"]
)
def test_a_refused_request_leaves_no_receipt_and_no_link_in_the_log(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert Client(enforce_csrf_checks=True).post(address, {"a": "b"}).status_code == 403
    assert caplog.text == ""
