"""Who is there: a record in Redis for each worker, written every few seconds, that vanishes soon after it has ended."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from farthest.errors import StorageError
from farthest.worker.leases import working_key

if TYPE_CHECKING:
    from farthest.worker.connections import RedisNodes

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
LIFE_SECONDS = 15
"""A record that was not written anew for so long is gone."""

_NAMES = "farthest:workers"
"""Sorted set: the names of the workers, by the time of their last record."""


@dataclass(frozen=True, slots=True)
class Work:
    """A step under way, or a piece of a search: then ``depth`` is its bound, ``block`` its number. ``process``: the
    worker's process that runs it; ``seconds``: since when."""

    process: int
    run: str
    depth: int
    block: int
    seconds: int
    kind: str = "step"


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """One worker: a main process ``pid`` on ``host`` and the processes ``pids`` that step. ``started``: UTC, ISO 8601.

    ``silent``: seconds since it has written its record.
    """

    name: str
    host: str
    pid: int
    version: str
    protocol: int
    concurrency: int
    started: str
    pids: tuple[int, ...] = ()
    busy: tuple[Work, ...] = ()
    silent: float = 0.0


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Bytes of memory of a Redis server: now, at its peak, and what it may use (0: no limit)."""

    place: str
    used: int
    peak: int
    most: int


def memory_of(nodes: RedisNodes) -> list[NodeMemory]:
    """The memory of each Redis server. Raises as ``RedisNodes.errors``."""
    with nodes.errors():
        found = [
            (place, client.info("memory")) for place, client in zip(nodes.places, nodes.clients, strict=True)
        ]
    return [
        NodeMemory(place, info["used_memory"], info["used_memory_peak"], info.get("maxmemory", 0))
        for place, info in found
    ]


def holder_name(worker: str, pid: int) -> str:
    """The name by which a worker's process holds leases."""
    return f"{worker}/{pid}"


def list_workers(nodes: RedisNodes) -> list[WorkerRecord]:
    """The workers that are alive, by name, with what each of their processes does. Raises as ``RedisNodes.errors``."""
    main = nodes.main
    with nodes.errors():
        now = nodes.now()
        main.zremrangebyscore(_NAMES, "-inf", now - 4 * LIFE_SECONDS)
        names: list[Any] = main.zrange(_NAMES, 0, -1, withscores=True)
        # What is of the future was written before the server's clock was set back: who lives writes anew soon.
        seen = {name.decode(): float(moment) for name, moment in names if moment <= now + BEAT_SECONDS}
        texts = main.mget([_key(name) for name in seen]) if seen else []
        found = [json.loads(text) for text in texts if text]
        holders = [holder_name(record["name"], pid) for record in found for pid in record["pids"]]
        works = main.mget([working_key(holder) for holder in holders]) if holders else []
    doing = {holder: json.loads(work) for holder, work in zip(holders, works, strict=True) if work}
    return sorted(
        (_record(fields, doing, now, now - seen[fields["name"]]) for fields in found),
        key=lambda record: record.name,
    )


def _record(
    fields: dict[str, Any], doing: dict[str, dict[str, Any]], now: float, silent: float
) -> WorkerRecord:
    busy = []
    for pid in fields["pids"]:
        work = doing.get(holder_name(fields["name"], pid))
        if work is not None:
            busy.append(
                Work(
                    pid,
                    work["run"],
                    work["depth"],
                    work["block"],
                    max(0, int(now) - work["since"]),
                    work["kind"],
                )
            )
    names = ("name", "host", "pid", "version", "protocol", "concurrency", "started")
    return WorkerRecord(
        **{name: fields[name] for name in names},
        pids=tuple(fields["pids"]),
        busy=tuple(busy),
        silent=round(max(0.0, silent), 1),
    )


def _key(name: str) -> str:
    return f"farthest:worker:{name}"


class Heartbeat:
    """Writes a worker's record. ``processes`` gives the numbers of its processes that step. ``due``: when it is to be
    written next, by the monotonic clock.

    While Redis cannot be reached, or has no room, it is tried more often: the record is there again soon after.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        record: WorkerRecord,
        processes: Callable[[], Iterable[int]],
        seconds: float = BEAT_SECONDS,
    ) -> None:
        self._nodes = nodes
        self._record = record
        self._processes = processes
        self._seconds = seconds
        self.due = 0.0

    def beat_if_due(self) -> None:
        """Writes the record if it is time to."""
        if monotonic() < self.due:
            return
        try:
            self.beat()
        except StorageError as error:
            log.debug("%s", error)
            self.due = monotonic() + min(1.0, self._seconds)

    def end(self) -> None:
        """Removes the record if Redis can be reached."""
        with suppress(StorageError), self._nodes.errors():  # where Redis is away, it will vanish by itself
            self._nodes.main.delete(_key(self._record.name))
            self._nodes.main.zrem(_NAMES, self._record.name)

    def beat(self) -> None:
        """Writes the record once. Raises as ``RedisNodes.errors``."""
        fields = {**asdict(self._record), "pids": sorted(self._processes())}
        del fields["busy"], fields["silent"]
        with self._nodes.errors():
            now = self._nodes.now()
            with self._nodes.main.pipeline() as pipeline:
                pipeline.set(_key(self._record.name), json.dumps(fields), ex=LIFE_SECONDS)
                pipeline.zadd(_NAMES, {self._record.name: now})
                pipeline.execute()
        self.due = monotonic() + self._seconds
