"""What the servers know of jobs, workers and themselves, for Prometheus: read when it asks. What processes count
themselves is in ``farthest.metrics``."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from farthest import metrics
from farthest.documents.workers import WorkersDocument, living_workers
from farthest.errors import FarthestError
from farthest.metrics import Figure
from farthest.models.job_reader import JobReader
from farthest.models.records import KINDS, RUNNING, STATUSES, JobRecord
from farthest.version import __version__

if TYPE_CHECKING:
    import socket

    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

    from farthest.models.database import Database

log = logging.getLogger(__name__)

BUILD = Figure("farthest_build_info", "gauge", "1; the version that answers.", {"version": ()})
DATABASE_UP = Figure("farthest_database_up", "gauge", "1 where the database has answered, else 0.")
REDIS_UP = Figure("farthest_redis_up", "gauge", "1 where Redis has answered, else 0.")
JOBS = Figure("farthest_jobs", "gauge", "Jobs of the database.", {"kind": (), "status": ()})
JOB = Figure(
    "farthest_job_info", "gauge", "1 for each job that runs.", {"job_id": (), "puzzle": (), "kind": ()}
)
DEPTH = Figure(
    "farthest_job_depth", "gauge", "The last complete layer; of a search its bound.", {"job_id": ()}
)
JOB_STATES = Figure("farthest_job_states", "gauge", "States found until now.", {"job_id": ()})
LAYER = Figure("farthest_job_layer_states", "gauge", "States of the last complete layer.", {"job_id": ()})
AT_MOST = Figure("farthest_job_states_limit", "gauge", "The most states that there can be.", {"job_id": ()})
NODES = Figure("farthest_job_nodes", "gauge", "Nodes that a search has expanded.", {"job_id": ()})
BLOCKS = Figure(
    "farthest_job_blocks",
    "gauge",
    "Blocks of the layer under way, or parts of the map: done; leased: a process works on them; waiting.",
    {"job_id": (), "state": ()},
)
AGE = Figure(
    "farthest_job_oldest_block_age_seconds",
    "gauge",
    "For how long the oldest block that is neither done nor leased has waited; 0 where none waits.",
    {"job_id": ()},
)
QUEUE = Figure("farthest_queue_messages", "gauge", "Messages that no worker has received.")
WORKERS = Figure("farthest_workers", "gauge", "Workers that are alive.")
PROCESSES = Figure("farthest_processes", "gauge", "Processes of all workers.")
BUSY = Figure("farthest_processes_busy", "gauge", "Processes of all workers that work now.", {"kind": ()})
REDIS_USED = Figure(
    "farthest_redis_memory_bytes", "gauge", "Memory that a Redis server uses.", {"server": ()}
)
REDIS_MOST = Figure(
    "farthest_redis_memory_max_bytes", "gauge", "Memory that it may use; 0: no limit.", {"server": ()}
)
EVICTED = Figure(
    "farthest_redis_evicted_keys",
    "counter",
    "Keys that it has removed because it was full: working state of jobs.",
    {"server": ()},
)

READ = (
    *(BUILD, DATABASE_UP, REDIS_UP, JOBS, JOB, DEPTH, JOB_STATES, LAYER, AT_MOST, NODES, BLOCKS, AGE),
    *(QUEUE, WORKERS, PROCESSES, BUSY, REDIS_USED, REDIS_MOST, EVICTED),
)
"""What is read when Prometheus asks."""

MOST_JOBS = 100
"""Running jobs with figures of their own, the newest: each adds some ten series."""
WAIT_SECONDS = 5.0
"""So long a question waits while another one is asked, which may wait for a server that is silent."""


class ServersCollector:
    """A collector of prometheus_client. ``redis``: whether Redis is asked, too."""

    def __init__(self, database: Database, *, redis: bool = True) -> None:
        self._jobs = JobReader(database)
        self._redis = redis
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        """The figures. One question at a time: a server that does not answer must not gather threads."""
        found: dict[Figure, dict[tuple[str, ...], float]] = {BUILD: {(__version__,): 1}}
        alone = self._lock.acquire(timeout=WAIT_SECONDS)
        try:
            self._ask(found, DATABASE_UP, alone, self._of_database)
            if self._redis:
                self._ask(found, REDIS_UP, alone, _of_redis)
        finally:
            if alone:
                self._lock.release()
        for figure, values in found.items():
            yield _metric(figure, values)

    def _ask(
        self,
        found: dict[Figure, dict[tuple[str, ...], float]],
        up: Figure,
        alone: bool,
        read: Callable[[], dict[Figure, dict[tuple[str, ...], float]]],
    ) -> None:
        answer = None
        if alone:
            try:
                answer = read()
            except FarthestError as error:
                log.debug("%s", error)
        found[up] = {(): answer is not None}
        found |= answer or {}

    def _of_database(self) -> dict[Figure, dict[tuple[str, ...], float]]:
        counts = Counter(self._jobs.statuses())
        running = []
        for record in self._jobs.running(MOST_JOBS):
            if record.abandoned:
                counts[record.kind, RUNNING] -= 1
                counts[record.kind, record.state_now] += 1
            else:
                running.append(record)
        found: dict[Figure, dict[tuple[str, ...], float]] = {
            JOBS: {(kind, status): counts[kind, status] for kind in KINDS for status in STATUSES}
        }
        for record in running:
            for figure, labels, value in _of_job(record):
                found.setdefault(figure, {})[str(record.id), *labels] = value
        return found


def _of_job(record: JobRecord) -> Iterator[tuple[Figure, tuple[str, ...], float]]:
    """What its coordinator has told last."""
    known = record.progress or {}
    yield JOB, (record.name, record.kind), 1
    depth = known.get("depth", known.get("bound", record.depth))
    single = {
        DEPTH: depth,
        JOB_STATES: known.get("states"),
        LAYER: known.get("layer_states"),
        AT_MOST: known.get("states_at_most"),
        NODES: known.get("nodes"),
    }
    for figure, value in single.items():
        if value is not None:
            yield figure, (), value
    done, leased = known.get("blocks_done") or 0, known.get("blocks_leased") or 0
    waiting = max(0, (known.get("blocks") or 0) - done - leased)
    for state, number in {"done": done, "leased": leased, "waiting": waiting}.items():
        yield BLOCKS, (state,), number
    since = known.get("waiting_since")
    yield AGE, (), 0.0 if since is None else max(0.0, time.time() - since)


def _of_redis() -> dict[Figure, dict[tuple[str, ...], float]]:
    return _of_workers(living_workers())


def _of_workers(known: WorkersDocument) -> dict[Figure, dict[tuple[str, ...], float]]:
    busy = Counter(work.kind for worker in known.workers for work in worker.busy)
    return {
        QUEUE: {(): known.queue},
        WORKERS: {(): len(known.workers)},
        PROCESSES: {(): sum(worker.concurrency for worker in known.workers)},
        BUSY: {(kind,): busy[kind] for kind in metrics.WORK},
        REDIS_USED: {(node.place,): node.used for node in known.redis},
        REDIS_MOST: {(node.place,): node.most for node in known.redis},
        EVICTED: {(node.place,): node.evicted for node in known.redis},
    }


def _metric(figure: Figure, values: dict[tuple[str, ...], float]) -> Metric:
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

    family = CounterMetricFamily if figure.kind == "counter" else GaugeMetricFamily
    metric = family(figure.name, figure.meaning, labels=[*figure.labels])
    for labels, value in values.items():
        metric.add_metric(labels, value)
    return metric


def registry_of(database: Database, *figures: Figure, redis: bool = True) -> CollectorRegistry:
    """What a process answers with: what the servers know, and the ``figures`` that it counts from now on."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    registry.register(ServersCollector(database, redis=redis))
    metrics.count_here(*figures, registry=registry)
    return registry


def serve_figures(listening: socket.socket, database: Database) -> None:
    """Answers with a coordinator's figures, in a thread of its own."""
    of_coordinators = (
        *(metrics.STATES, metrics.BLOB_BYTES, metrics.LEASES_LOST),
        *(metrics.RESENT, metrics.CHECKPOINT_SECONDS),
    )
    registry = registry_of(database, *of_coordinators)
    log.info("metrics: %s", metrics.shown_address(listening))
    threading.Thread(
        target=metrics.answer, args=(listening, registry), name="farthest-metrics", daemon=True
    ).start()
