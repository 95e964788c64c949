"""What a log line may hold: how something failed, never the row that it failed on."""

import json
import logging
import re
from types import SimpleNamespace
from typing import Any

import pytest
from celery.beat import Scheduler
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.http import HttpResponse
from django.test import Client, RequestFactory
from kombu.exceptions import OperationalError as BrokerError
from structlog.stdlib import ProcessorFormatter

from surveys import logs, middleware
from surveys.aggregation.models import Tally
from surveys.logs import LOGGING, OncePerOutage, cut_rows

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


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/v1/receipts/ABCD-EFGH-2345", "/s/exam-honesty/"])
def test_a_page_that_fails_is_logged_without_its_address(
    client: Client, caplog: Any, monkeypatch: Any, path: str
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(CursorWrapper, "execute", fail)
    client.raise_request_exception = False
    assert client.get(path).status_code == 500
    failed = [record for record in caplog.records if record.name == "django.request"]
    said = [json.loads(line(record)) for record in failed]
    assert [each["event"] for each in said] == ["Internal Server Error"]
    assert "the database is away" in said[0]["exception"]
    assert not re.search("ABCD|/s/|exam-honesty", line(failed[0]))


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


GIVEN = "0123456789abcdef0123456789abcdef"
NOT_OURS = ["", "203.0.113.9", "x" * 32, GIVEN + "0", f"{GIVEN}\n", "2001:db8::1"]


def numbered(settings: Any, given: str, *, proxy: bool = True) -> str:
    settings.BEHIND_PROXY = proxy
    request = RequestFactory().get("/", HTTP_X_REQUEST_ID=given, REMOTE_ADDR="203.0.113.9")
    return str(middleware.Numbered(lambda request: HttpResponse())(request)["X-Request-ID"])


def test_a_request_has_the_number_that_our_proxy_gave_it(settings: Any) -> None:
    assert numbered(settings, GIVEN) == GIVEN
    assert numbered(settings, GIVEN, proxy=False) != GIVEN


@pytest.mark.parametrize("given", NOT_OURS)
def test_what_is_no_random_number_is_not_taken_over(settings: Any, given: str) -> None:
    first, second = numbered(settings, given), numbered(settings, given)
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert first != second


def test_a_log_line_has_its_requests_number_and_no_address(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.BEHIND_PROXY = True
    said = []

    def fails(request: Any) -> HttpResponse:
        record = logging.LogRecord("surveys", logging.ERROR, "", 1, "it failed", (), None)
        record.request = request
        said.append(json.loads(line(record)))
        return HttpResponse(status=500)

    request = RequestFactory().get(
        "/s/a/", HTTP_X_REQUEST_ID=GIVEN, REMOTE_ADDR="203.0.113.9", HTTP_USER_AGENT="Browser/1"
    )
    middleware.Numbered(fails)(request)
    assert said[0]["request_id"] == GIVEN
    assert set(said[0]) == {"event", "request_id", "level", "logger", "timestamp"}
    assert "request_id" not in line(logging.LogRecord("surveys", 40, "", 1, "later", (), None))


@pytest.mark.django_db
def test_every_answer_has_a_number_files_and_errors_too(client: Client) -> None:
    for address, host in (("/", "testserver"), ("/nowhere/", "testserver"), ("/", "evil.example")):
        assert re.fullmatch("[0-9a-f]{32}", client.get(address, HTTP_HOST=host)["X-Request-ID"])


def test_a_tasks_log_lines_say_which_task() -> None:
    from surveys.celery import app

    said = []

    @app.task(name="tests.says")
    def says() -> None:
        said.append(json.loads(line(logging.LogRecord("surveys", 40, "", 1, "x", (), None))))

    done = says.apply()
    assert (said[0]["task"], said[0]["task_id"]) == ("tests.says", done.id)


def test_a_scheduler_says_once_that_the_broker_is_away(monkeypatch: Any, caplog: Any) -> None:
    from surveys.celery import app

    now = [1000.0]
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(app.conf, "broker_url", "redis://127.0.0.1:1/0")
    logger, once = logging.getLogger("celery.beat"), OncePerOutage()
    logger.addFilter(once)
    try:
        scheduler = Scheduler(app, lazy=True)
        for seconds in (0, 0, 30, 50, 50):
            now[0] += seconds
            scheduler.apply_entry(
                Scheduler.Entry("a task", "surveys.operations.tasks.ping", app=app)
            )
            logger.error("beat: Connection error: %s.", BrokerError("refused"))
        assert [record.getMessage()[:9] for record in caplog.records] == ["no broker"]
        assert not caplog.records[0].exc_info
        logger.error("something else")
        now[0] += 61  # it was back
        scheduler.apply_entry(Scheduler.Entry("a task", "surveys.operations.tasks.ping", app=app))
    finally:
        logger.removeFilter(once)
    said = [record.getMessage()[:14] for record in caplog.records]
    assert said == ["no broker: wha", "something else", "no broker: wha"]
