"""Spans: of who works here and of tasks, to a collector that is named; of respondents none."""

import http.server
import threading
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from surveys import tracing
from tests.patience import became


class Collector(http.server.BaseHTTPRequestHandler):
    spans: list[Any]

    def do_POST(self) -> None:
        message = ExportTraceServiceRequest()
        message.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
        for group in message.resource_spans:
            for scope in group.scope_spans:
                self.spans.extend(scope.spans)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def collected(settings, monkeypatch):
    """The spans that a real collector of OTLP got; asking for them hands on what waits."""
    kind = type("Own", (Collector,), {"spans": []})
    server = http.server.HTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    settings.TRACES_TO = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", settings.TRACES_TO)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")  # milliseconds
    tracing.tracer.cache_clear()
    yield kind.spans
    tracing.tracer().span_processor.shutdown()
    tracing.tracer.cache_clear()
    server.shutdown()
    thread.join()
    server.server_close()


def test_who_works_here_is_traced_by_route_and_nobody_else(
    collected, client, plan, researcher, django_capture_on_commit_callbacks
):
    client.get("/s/exam-honesty/")
    client.post("/api/v1/studies/exam-honesty/reports", b"{}", content_type="application/json")
    client.get("/registry/exam-honesty/")
    client.get("/")
    client.force_login(researcher)
    client.get("/s/exam-honesty/")
    client.get("/studies/exam-honesty/?secret=1")
    assert became(lambda: collected)
    (span,) = collected
    assert span.name == "GET dashboard:study"
    told = {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
    number = told.pop("candor.request_id")
    assert len(number) == 32
    assert told == {
        "http.request.method": "GET",
        "http.route": "studies/<slug:slug>/",
        "http.response.status_code": 200,
    }


def test_a_task_is_traced_by_its_name(collected):
    from surveys.operations.tasks import ping

    ping.apply()
    assert became(lambda: collected)
    assert [span.name for span in collected] == ["surveys.operations.tasks.ping"]


def test_without_a_collector_nothing_is_made(settings):
    settings.TRACES_TO = ""
    with tracing.span() as span:
        assert span.own is None
