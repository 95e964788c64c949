"""Spans for OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT names a collector; elsewhere nothing
is made, and nothing loaded for it.

A span is a moment to the microsecond, kept elsewhere. So there is one for each request of who works
here, named by its route, and for each task, named by it: without address, path, query, user or
browser. Requests of respondents and of strangers who only read have none. What else may be set is
OpenTelemetry's own (`OTEL_SERVICE_NAME`, `OTEL_EXPORTER_OTLP_HEADERS`, …).

It needs the packages of `requirements-traces.txt`.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.http import HttpRequest

WORK = (  # rooms whose requests are of people who work here
    "surveys.dashboard.",
    "surveys.drafting.",
    "surveys.limits.",
    "surveys.operations.",
    "surveys.people.",
)


class Span:
    """What happens in a span that is kept nowhere; with `own`, in one that is."""

    def __init__(self, own: Any = None) -> None:
        self.own = own
        self.is_kept = False

    def of_request(self, request: HttpRequest, status: int, number: str) -> None:
        """Name it by its route, and keep it if it is of somebody signed in at work."""
        match = request.resolver_match
        if self.own is None or match is None or status >= 500:
            return  # who it was may not be known where the database is gone
        user = getattr(request, "user", None)
        self.is_kept = match.func.__module__.startswith(WORK) and bool(
            user is not None and user.is_authenticated
        )
        if self.is_kept:
            self.own.update_name(f"{request.method} {match.view_name}")
            self.own.set_attribute("http.request.method", str(request.method))
            self.own.set_attribute("http.route", str(match.route))
            self.own.set_attribute("http.response.status_code", status)
            self.own.set_attribute("candor.request_id", number)

    def of_task(self, name: str) -> None:
        self.is_kept = True
        if self.own is not None:
            self.own.update_name(name)


@contextmanager
def span() -> Iterator[Span]:
    """Yield a span, and hand it on at the end if it is to be kept: one that never ends is never
    handed on.
    """
    if not settings.TRACES_TO:
        yield Span()
        return
    made = Span(tracer().start_span("request"))
    try:
        yield made
    finally:
        if made.is_kept:
            made.own.end()


@functools.cache
def tracer() -> Any:
    """Return what makes spans, made at the first one: a process that forks before has no thread."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    own = Resource({"service.name": "candor"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=own)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("candor")
