"""Spans of OpenTelemetry: a job, its layers, and the work of workers for them. Nothing of it is imported, and nothing
is recorded, unless the environment names where traces go, as OpenTelemetry has it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from farthest.errors import SettingError

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

ASKED_BY = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of OpenTelemetry: traces are wanted where one is set, and the first is not ``none``."""

_tracers: list[Tracer] = []


def wanted() -> bool:
    """Whether the environment asks for traces."""
    given = [name for name in ASKED_BY if os.environ.get(name)]
    return bool(given) and os.environ.get(ASKED_BY[0]) != "none"


def load() -> None:
    """Imports what recording needs, where that is wanted. Raises SettingError."""
    if not wanted():
        return
    if (named := os.environ.get(ASKED_BY[0], "otlp")) != "otlp":
        raise SettingError(f"{ASKED_BY[0]} is {named!r}; expected otlp or none")
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter
        import opentelemetry.sdk.trace.export  # noqa: F401
    except ImportError as error:
        raise SettingError(
            f"traces need {error.name}, which is not installed: pip install 'farthest[otel]', or set no variable of "
            f"{', '.join(ASKED_BY)}"
        ) from None


@contextmanager
def recorded(service: str) -> Iterator[None]:
    """Records the spans of this process during the block, where that is wanted. ``service``: its name. Raises
    SettingError."""
    load()
    if not wanted():
        yield
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    record_with(provider.get_tracer("farthest"))
    try:
        yield
    finally:
        provider.shutdown()  # sends what it has


def record_with(tracer: Tracer) -> None:
    """Records the spans of this process with a tracer."""
    _tracers[:] = [tracer]


@contextmanager
def span(name: str, sent: Mapping[str, Any] | None = None, **facts: Any) -> Iterator[None]:
    """A span for the block, within that of this thread; or within the one that a message was ``sent`` in. ``facts``:
    its attributes, as farthest.NAME."""
    if not _tracers:
        yield
        return
    context = None
    if sent is not None:
        from opentelemetry.propagate import extract

        context = extract({name: str(value) for name, value in sent.items()})
    attributes = {f"farthest.{name}": value for name, value in facts.items() if value is not None}
    with _tracers[0].start_as_current_span(name, context=context, attributes=attributes):
        yield


def tell(**facts: Any) -> None:
    """Adds facts to the span of this thread."""
    if _tracers:
        from opentelemetry.trace import get_current_span

        for name, value in facts.items():
            get_current_span().set_attribute(f"farthest.{name}", value)


def to_send() -> dict[str, str]:
    """What a message says of the span that it is sent in: headers, none where nothing is recorded."""
    headers: dict[str, str] = {}
    if _tracers:
        from opentelemetry.propagate import inject

        inject(headers)
    return headers
