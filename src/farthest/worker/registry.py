"""The living workers: Redis has a record of each, which is written every few seconds and expires soon after the worker
ended.

A worker's name is unique: leases, logs and `farthest workers` distinguish workers by it. A name is taken as long as its
record exists. A worker that was killed leaves its record for LIFE_SECONDS. If it is not certain at once whether a
worker is dead, its record either expires or is written again, which a dead worker does not do. A record without an
expiry, which no worker writes, counts as written again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from farthest.errors import SettingError, StorageError
from farthest.models.leases import owner_is_alive, owner_is_dead, owner_token
from farthest.typed import convert
from farthest.untrusted_json import read_json_object
from farthest.worker.leases import holder_name, working_key

if TYPE_CHECKING:
    from farthest.stores.redis.connections import RedisNodes


log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
LIFE_SECONDS = 15
"""A record expires after so long."""

MOST_WORKERS = 10_000
"""Most workers that are listed."""
MOST_BYTES = 2**16
"""Most bytes of a record."""

_SIGN = """
local held = redis.pcall('GET', KEYS[1])
if type(held) == 'string' then
  local read, fields = pcall(cjson.decode, held)
  local owned = read and type(fields) == 'table' and type(fields.owner) == 'string'
  if owned and fields.owner ~= ARGV[1] then return held end
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[4])
else
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  if ARGV[5] ~= '' then redis.call('ZADD', KEYS[2], ARGV[5], ARGV[4]) end
end
return false
"""
"""Writes or removes a worker's record, unless it is another process's: then returns that record. KEYS: the record, the
names. ARGV: the owner's token, the record or '' to remove it, seconds until it expires, the name, the time or '' not to
list it."""

_KEY = b"farthest:worker:"
_NAMES = "farthest:workers"
"""Sorted set: the names of the workers, by the time of their last record."""


Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class Work:
    """An item of work under way: ``block`` is its number. ``process``: the worker's process that does it; ``seconds``:
    for how long."""

    process: Count
    attempt: str
    depth: Count
    block: Count
    seconds: Count
    kind: str = "step"


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """One worker: a main process ``pid`` on ``host`` and the processes ``pids`` that step. ``started``: UTC, ISO 8601.
    ``memory``: bytes that it might use then; 0: not known.

    ``silent``: seconds since it has last written its record.
    """

    name: str
    host: str
    pid: Count
    version: str
    protocol: Count
    concurrency: Count
    started: str
    pids: tuple[Count, ...] = ()
    busy: tuple[Work, ...] = ()
    silent: float = 0.0
    memory: Count = 0


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has a name. ``owner``: its token (``models.leases``)."""

    owner: str
    host: str
    pid: Count


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Bytes of memory of a Redis server: now, at its peak, and what it may use (0: no limit); and how many keys it has
    removed since its start because it was full."""

    place: str
    used: int
    peak: int
    most: int
    evicted: int


def memory_of(nodes: RedisNodes) -> list[NodeMemory]:
    """The memory of each Redis server. Raises as ``RedisNodes.errors``."""
    with nodes.errors():
        found = [
            (place, {**client.info("memory"), **client.info("stats")})
            for place, client in zip(nodes.places, nodes.clients, strict=True)
        ]
    return [
        NodeMemory(
            place,
            info["used_memory"],
            info["used_memory_peak"],
            info.get("maxmemory", 0),
            info.get("evicted_keys", 0),
        )
        for place, info in found
    ]


def list_workers(nodes: RedisNodes) -> list[WorkerRecord]:
    """The workers that are alive, by name, with what each of their processes does. Raises as ``RedisNodes.errors``."""
    main = nodes.main
    with nodes.errors():
        now = nodes.now()
        main.zremrangebyscore(_NAMES, "-inf", now - 4 * LIFE_SECONDS)
        listed: list[Any] = main.zrange(_NAMES, 0, MOST_WORKERS - 1, withscores=True)
        # A time in the future was written before the server's clock was set back: a living worker soon writes again.
        names = [(name, moment) for name, moment in listed if moment <= now + BEAT_SECONDS]
        texts: list[Any] = main.mget([_KEY + name for name, _ in names]) if names else []
        found: list[WorkerRecord] = []
        for (name, moment), text in zip(names, texts, strict=True):
            if text:
                try:
                    found.append(_record(text, name, now - float(moment)))
                except ValueError as error:  # logged once: the worker, if it is one, is back soon
                    log.warning("%s is not a record of a worker and was left out: %s", _KEY + name, error)
                    main.zrem(_NAMES, name)
        holders = [(record, pid) for record in found for pid in record.pids]
        works: list[Any] = (
            main.mget([working_key(holder_name(record.name, pid)) for record, pid in holders])
            if holders
            else []
        )
    busy: dict[str, list[Work]] = {}
    for (record, pid), work in zip(holders, works, strict=True):
        with suppress(ValueError):  # for users only
            busy.setdefault(record.name, []).extend(_work(work, pid, now) if work else ())
    with_work = (replace(record, busy=tuple(busy.get(record.name, ()))) for record in found)
    return sorted(with_work, key=lambda record: record.name)


def _record(stored: bytes, name: bytes, silent: float) -> WorkerRecord:
    """A worker's record. Raises ValueError for anything else."""
    fields = read_json_object(stored, MOST_BYTES)
    ours = {"busy": (), "silent": round(max(0.0, silent), 1)}
    found = convert({"pids": None, **fields, **ours}, WorkerRecord)
    if found.name.encode() != name:
        raise ValueError("it is another worker's")
    return found


def _work(stored: bytes, pid: int, now: float) -> list[Work]:
    """What a process does. Raises ValueError for a wrong value."""
    fields = read_json_object(stored, MOST_BYTES)
    since = convert(fields.get("since"), Count)
    ours = {"process": pid, "seconds": max(0, int(now) - since)}
    return [convert({"kind": None, **fields, **ours}, Work)]


def _key(name: str) -> bytes:
    return _KEY + name.encode()


class Heartbeat:
    """Writes a worker's record. ``processes`` gives the numbers of its processes that do work. ``owner``: the token of
    its main process, by default this one's. ``due``: when the next record is due, by the monotonic clock. While Redis
    cannot be reached, or is full, it tries more often, so that the record is soon there again. That another process has
    the name is logged once.
    """

    def __init__(
        self,
        nodes: RedisNodes,
        record: WorkerRecord,
        processes: Callable[[], Iterable[int]],
        seconds: float = BEAT_SECONDS,
        *,
        owner: str | None = None,
    ) -> None:
        self.name = record.name
        self._nodes = nodes
        self._record = record
        self._processes = processes
        self._seconds = seconds
        self._owner = owner or owner_token()
        self._noted = False
        self._sign = nodes.main.register_script(_SIGN)
        self.due = 0.0

    def beat_if_due(self) -> None:
        """Writes the record if it is due."""
        if monotonic() < self.due:
            return
        try:
            other = self.beat()
        except StorageError as error:
            log.debug("%s", error)
            self.due = monotonic() + min(1.0, self._seconds)
            return
        self.due = monotonic() + self._seconds
        if other is not None and not self._noted:
            self._noted = True
            log.error(
                "another worker has the name %s now%s, so this one is not listed; %s",
                self.name,
                _place(other),
                ADVICE,
            )

    def end(self) -> None:
        """Removes the record if Redis can be reached."""
        with suppress(StorageError):  # if Redis cannot be reached, the record expires
            self._written(self._owner, "")

    def beat(self, *, listed: bool = True) -> Holder | None:
        """Writes the record once; returns the other process if another one has the name. ``listed``: the worker is
        listed, not only its name reserved. Raises as ``RedisNodes.errors``."""
        fields = {**asdict(self._record), "pids": sorted(self._processes()), "owner": self._owner}
        del fields["busy"], fields["silent"]
        return self._written(self._owner, json.dumps(fields), listed=listed)

    def bury(self, other: Holder) -> None:
        """Removes the record of another process, which is dead. Raises as ``RedisNodes.errors``."""
        self._written(other.owner, "")

    def left_ms(self) -> int:
        """How long until the record of the name expires. Raises as ``RedisNodes.errors``."""
        with self._nodes.errors():
            left: Any = self._nodes.main.pttl(_key(self.name))
        return int(left)

    def _written(self, owner: str, record: str, *, listed: bool = True) -> Holder | None:
        with self._nodes.errors():
            moment = self._nodes.now() if listed else ""
            arguments: list[str | int | float] = [owner, record, LIFE_SECONDS, self.name, moment]
            held: Any = self._sign(keys=[_key(self.name), _NAMES], args=arguments)
        if held is None:
            return None
        try:
            fields = read_json_object(held, MOST_BYTES)
            return convert(fields, Holder)
        except ValueError:  # no worker wrote it
            return Holder("", "unknown", 0)


LOOK_SECONDS = 0.2


def claim_name(heartbeat: Heartbeat) -> None:
    """Writes the worker's record, not listed yet, to reserve its name. Raises SettingError where another worker has the
    name. If Redis cannot be reached, the worker starts, and finds out later."""
    left: int | None = None
    try:
        while (other := heartbeat.beat(listed=False)) is not None:
            if owner_is_dead(other.owner):
                heartbeat.bury(other)
                continue
            before, left = left, heartbeat.left_ms()
            if owner_is_alive(other.owner) or (before is not None and left >= before):
                raise SettingError(f"a worker called {heartbeat.name} runs already{_place(other)}; {ADVICE}")
            if before is None:
                log.info(
                    "a worker called %s was registered before: checking whether it still runs", heartbeat.name
                )
            sleep(LOOK_SECONDS)
    except StorageError as error:
        log.debug("%s", error)


ADVICE = "give each worker a --name of its own"


def _place(other: Holder) -> str:
    return f", on host {other.host} as process {other.pid}"
