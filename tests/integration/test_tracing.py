"""Spans of OpenTelemetry: a job, its layers, and the steps of workers within them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cluster import Cluster, until
from farthest import tracing
from farthest.errors import SettingError
from servers import RedisServer


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    monkeypatch.setattr(tracing, "_tracers", [])
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.record_with(provider.get_tracer("farthest"))
    yield exporter
    provider.shutdown()


def test_a_message_carries_its_span(exporter: InMemorySpanExporter) -> None:
    with tracing.span("job", job=7, puzzle="8-puzzle"), tracing.span("layer", depth=3):
        sent = tracing.to_send()
    with tracing.span("step", sent, block=1):
        tracing.tell(result="done")
    with tracing.span("step", {"traceparent": "no span"}):
        pass
    layer, job, step, lost = exporter.get_finished_spans()
    assert [span.name for span in (job, layer, step)] == ["job", "layer", "step"]
    assert layer.parent is not None
    assert step.parent is not None
    assert (layer.parent.span_id, step.parent.span_id) == (job.context.span_id, layer.context.span_id)
    assert step.context.trace_id == job.context.trace_id
    assert dict(step.attributes or {}) == {"farthest.block": 1, "farthest.result": "done"}
    assert lost.parent is None


def test_nothing_is_imported_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; from farthest import tracing; tracing.load()\nwith tracing.span('job'): pass"
    check = "assert not tracing.to_send() and not [name for name in sys.modules if name.startswith('opentelemetry')]"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    subprocess.run([sys.executable, "-c", f"{code}\n{check}"], env=environment, check=True)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "jaeger")
    with pytest.raises(SettingError, match="OTEL_TRACES_EXPORTER is 'jaeger'; expected otlp or none"):
        tracing.load()


class Collector(ThreadingHTTPServer):
    """Takes spans as OpenTelemetry's own collector does."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Any]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                for one in ExportTraceServiceRequest.FromString(body).resource_spans:
                    service = next(
                        each.value.string_value
                        for each in one.resource.attributes
                        if each.key == "service.name"
                    )
                    for scope in one.scope_spans:
                        collector.spans += [(service, span) for span in scope.spans]
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.mark.slow
def test_the_spans_of_a_job_with_a_worker(redis_server: RedisServer, tmp_path: Path) -> None:
    redis_server.flush()
    environment = {"SMALL_LAYER_STATES": 0, "BLOCK_SIZE": "2KiB"}
    database = f"sqlite:///{tmp_path}/jobs.db"
    with (
        Collector() as collector,
        Cluster(tmp_path / "c", redis_server.url, database, environment) as cluster,
    ):
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{collector.server_address[1]}"
        cluster.environment |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        cluster.add_coordinator()
        cluster.add_worker()
        job = cluster.submit("8-puzzle", "--max-depth", "4")
        cluster.wait(job)
        until(
            lambda: "job" in {span.name for _, span in collector.spans} or None, 20, "the job's span is sent"
        )
        for service in (*cluster.workers, *cluster.coordinators):
            assert service.stop() == 0
        collector.shutdown()
        spans = list(collector.spans)
    of = {name: [span for _, span in spans if span.name == name] for name in ("job", "layer", "step")}
    (whole,) = of["job"]
    layers = {span.span_id for span in of["layer"]}
    assert len(layers) == 4
    assert {span.parent_span_id for span in of["layer"]} == {whole.span_id}
    assert of["step"]
    assert {span.parent_span_id for span in of["step"]} <= layers
    assert {service for service, span in spans if span.name == "step"} == {"farthest-worker"}
    assert {service for service, span in spans if span in (whole, *of["layer"])} == {"farthest-coordinator"}
    facts = {each.key: each.value for each in of["step"][0].attributes}
    assert facts["farthest.result"].string_value == "done"
    assert facts["farthest.depth"].int_value >= 1
    assert "farthest.block" in facts
