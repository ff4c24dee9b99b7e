"""Figures for Prometheus: those that a process counts itself, and the server that answers with them. docs/metrics.md
has a row for each.

prometheus_client is imported, and anything is counted, only from ``count_here`` on. The processes of a worker count in
files of a folder, which its server reads: so nothing is lost or counted twice where one is killed.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from farthest.environment import METRICS_ADDRESS
from farthest.errors import SettingError

if TYPE_CHECKING:
    from pathlib import Path

    from prometheus_client import CollectorRegistry


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A figure. ``name``: without the ending _total of counters. ``labels``: the names of its labels, each with the
    values that are known before anything has happened."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """As it is scraped."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


WORK = ("step", "cut", "part", "search", "board", "survey")
"""The kinds of work (worker/app.py)."""

STATES = Figure(
    "farthest_states", "counter", "States found by the steps that this worker, or coordinator, has done."
)
BLOB_BYTES = Figure(
    "farthest_blob_bytes",
    "counter",
    "Bytes of blobs that were read or written, wherever blobs are.",
    {"direction": ("read", "written")},
)
WORK_SECONDS = Figure(
    "farthest_work_seconds",
    "histogram",
    "Items of work (steps, parts of maps, pieces of searches) that this worker has received, by how they ended: done; "
    "late: nobody waits for it any more; busy: a part of a survey was given back; dropped: a server was away; failed.",
    {"kind": WORK, "result": ()},
)
PROCESSES = Figure("farthest_worker_processes", "gauge", "Processes of this worker.")
BUSY = Figure("farthest_worker_processes_busy", "gauge", "Processes of this worker that do an item now.")
LEASES_LOST = Figure(
    "farthest_leases_lost",
    "counter",
    "Items that were under way and whose process has ended, or been silent for too long.",
    {"kind": WORK},
)
RESENT = Figure(
    "farthest_messages_resent",
    "counter",
    "Messages sent again, because nobody worked on their items.",
    {"kind": WORK},
)
CHECKPOINT_SECONDS = Figure(
    "farthest_checkpoint_seconds", "histogram", "Checkpoints that this coordinator has stored."
)
SOLVE_SECONDS = Figure(
    "farthest_solve_seconds",
    "histogram",
    "Boards that this server has solved for readers.",
    {"result": ("solved", "ended")},
)

COUNTED = (
    STATES,
    BLOB_BYTES,
    WORK_SECONDS,
    PROCESSES,
    BUSY,
    LEASES_LOST,
    RESENT,
    CHECKPOINT_SECONDS,
    SOLVE_SECONDS,
)
"""What processes count themselves."""

_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_live: dict[Figure, Any] = {}


def count_here(*figures: Figure, registry: CollectorRegistry | None = None) -> None:
    """Begins to count these figures in this process; ``registry``: what answers with them."""
    import prometheus_client

    for figure in figures:
        given: dict[str, Any] = {"registry": registry, "labelnames": [*figure.labels]}
        if figure.kind == "counter":
            _live[figure] = prometheus_client.Counter(figure.name, figure.meaning, **given)
        elif figure.kind == "gauge":
            _live[figure] = prometheus_client.Gauge(
                figure.name, figure.meaning, multiprocess_mode="livesum", **given
            )
        else:
            _live[figure] = prometheus_client.Histogram(
                figure.name, figure.meaning, buckets=_BUCKETS, **given
            )
        for values in product(*figure.labels.values()) if figure.labels else ():
            _live[figure].labels(*values)


def add(figure: Figure, amount: float = 1, **labels: str) -> None:
    """Adds to a counter or a gauge, where it is counted here."""
    if (metric := _of(figure, labels)) is not None:
        metric.inc(amount)


def observe(figure: Figure, seconds: float, **labels: str) -> None:
    """Adds one of so many seconds to a histogram, where it is counted here."""
    if (metric := _of(figure, labels)) is not None:
        metric.observe(seconds)


def _of(figure: Figure, labels: dict[str, str]) -> Any:
    metric = _live.get(figure)
    return metric.labels(**labels) if metric is not None and labels else metric


# Of workers, whose processes count in files


def load(folder: Path) -> None:
    """Imports what the processes of a worker need, so that those that it forks share it; they count in ``folder``."""
    os.environ[_FOLDER] = str(
        folder
    )  # prometheus_client reads it when it is imported, and when it makes a file
    import prometheus_client  # noqa: F401


def count_in_files(number: int) -> None:
    """Begins to count in this process of a worker; ``number``: of its place. The process that takes its place goes on
    with its files, so there are never more of them."""
    from prometheus_client import values

    values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]
    count_here(STATES, BLOB_BYTES, WORK_SECONDS, PROCESSES, BUSY)
    add(PROCESSES)
    add(BUSY, 0)


def process_ended(number: int) -> None:
    """Forgets what is true only of a living process of a worker."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(number)  # type: ignore[no-untyped-call]


def in_files() -> CollectorRegistry:
    """What all processes of this worker have counted."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def remove_files() -> None:
    """Removes what the processes have counted."""
    shutil.rmtree(os.environ[_FOLDER], ignore_errors=True)


# The server

_ADDRESS = re.compile(r"(?:(?P<host>[^\s\[\]:]+|\[[0-9a-fA-F:.]+\]):)?(?P<port>\d{1,5})")
PATIENCE_SECONDS = 10.0
"""A connection that says nothing for so long is ended."""


def listen() -> socket.socket | None:
    """A socket that listens at FARTHEST_METRICS_ADDRESS; None where that is not set. Raises SettingError."""
    text = METRICS_ADDRESS.text()
    if not text:
        return None
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise SettingError(
            f"{METRICS_ADDRESS.name} is {text!r}; expected a port, such as 9464, or HOST:PORT, such as 0.0.0.0:9464"
        )
    host = (match["host"] or "127.0.0.1").strip("[]")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, int(match["port"]), type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise SettingError(
            f"{METRICS_ADDRESS.name} is {text!r}: cannot listen there ({error.strerror or error}); each worker and "
            "coordinator of a machine needs a port of its own"
        ) from None


def shown_address(listening: socket.socket) -> str:
    """The address of the metrics, for users."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"


def answer(listening: socket.socket, registry: CollectorRegistry) -> None:
    """Answers Prometheus, in this thread, for ever."""
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

    from prometheus_client import make_wsgi_app

    class Handler(WSGIRequestHandler):
        timeout = PATIENCE_SECONDS

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: Prometheus asks every few seconds."""

        def address_string(self) -> str:
            return str(self.client_address[0])

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        address_family = listening.family

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Nothing: it is the client that has gone."""

    server = Server(listening.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.server_name, server.server_port = listening.getsockname()[:2]
    server.setup_environ()
    server.set_app(make_wsgi_app(registry))
    server.serve_forever()
