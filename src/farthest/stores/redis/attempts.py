"""Attempts: one coordinator's attempt at a job, as it is stored in Redis.

All its keys have the prefix ``farthest:attempt:{attempt}:``. Those of a search are in worker/search_batches.py; an
enumeration's, on the main node except for the blobs:

    meta                    hash: what the puzzle is, how it is cut (``AttemptFacts``); ``depth``, the layer under way;
                            for each complete layer that steps read ``sealed:{depth}``, its number of records
    c:{depth}               hash: for each block committed at the depth its record: the nonce of its blobs, states by
                            shard, and the parts of its outbox
    v                       hash: where moves are one-way, for each block a pointer to the blobs of all its found states
    b:{depth}:{block}:{nonce}   a block's states at the depth: a bitmap (stores/redis/gather_store.py) or a sorted run
    o:{depth}:{block}:{nonce}   where states are scattered (stores/redis/scatter_store.py): what they lead to, by shard;
                            or all states of a block up to the depth, by ranges of codes (stores/redis/run_parts.py)
    v:{depth}:{block}:{nonce}   all found states of a block up to the depth, or some of them
    p:{depth}:{part}:{nonce}    the chunks of a map part that are not in the database (stores/redis/records.py)
    m:0:0:{nonce}           shows that a process sees the place of the attempt's blobs
                            these five are blobs, on the block's node; never changed once they are named. They are in
                            Redis only where FARTHEST_BLOBS says so (stores/blobs/place.py)
    fold                    field of meta: what map is to be made by workers now
    parts:{depth}, bases:{depth}, cuts:{depth}  hashes: the records of its parts that were made; of those of the
                            checkpoint that it is made from, where they are in the place of blobs; of a sparse one the
                            records of its shards, cut for the parts
    todo, done, lease       worker/work.py

``farthest:attempts`` has every attempt by the time when its coordinator was last seen, so that what a dead one left is
removed. Keys of workers are those of worker/registry.py and worker/leases.py, those of messages Celery's
(worker/app.py).
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from farthest.errors import (
    LateStepError,
    LostStateError,
    PuzzleError,
    StorageError,
    VersionError,
    named_in,
)
from farthest.puzzles.puzzle import Direction, Origin, Puzzle
from farthest.spaces import compile_space
from farthest.stores.blobs.place import ATTEMPT_NAME, DAY, NONCE, BlobPlace, new_nonce
from farthest.stores.contract import Excluded
from farthest.typed import convert
from farthest.untrusted_json import read_json_object
from farthest.version import __version__

if TYPE_CHECKING:
    from redis import Redis

    from farthest.spaces.contract import Space
    from farthest.stores.redis.connections import RedisNodes

PROTOCOL = 11
"""The version of keys, blobs and messages. Workers and coordinators of different versions cannot work together."""

SPARSE = -1
"""The number of keys of a space that has none."""
NO_LIMIT = -1

ATTEMPTS = "farthest:attempts"
DEAD_SECONDS = 3600.0
"""An attempt whose coordinator was not seen for so long is removed by the next one."""


SEEN_SECONDS = 60.0
"""A coordinator is alive if it was seen within so many."""


def new_attempt(attempt_of: str) -> str:
    """A name for a new attempt at the job that ``attempt_of`` stands for (the same text for all of its attempts)."""
    return f"{attempt_of}-{secrets.token_hex(4)}"


def job_of(attempt: str) -> str:
    """What stands for the job of an attempt."""
    return attempt.rpartition("-")[0]


def prefix(attempt: str) -> str:
    """What the names of the attempt's keys begin with."""
    return f"farthest:attempt:{attempt}:"


class AttemptKeys:
    """The keys of the attempt called ``attempt`` on the main node; the module says what is in them."""

    def __init__(self, attempt: str) -> None:
        self.attempt = attempt
        self.meta_key = f"{prefix(attempt)}meta"
        self.done_key = f"{prefix(attempt)}done"
        self.visited_key = f"{prefix(attempt)}v"

    def records_key(self, depth: int) -> str:
        """The records of a layer."""
        return f"{prefix(self.attempt)}c:{depth}"

    def parts_key(self, depth: int) -> str:
        """The records of the parts of the map up to a depth."""
        return f"{prefix(self.attempt)}parts:{depth}"

    def cuts_key(self, depth: int) -> str:
        """The records of the shards that are cut for the parts of a sparse map up to a depth."""
        return f"{prefix(self.attempt)}cuts:{depth}"

    def bases_key(self, depth: int) -> str:
        """The records of those parts of the map up to a depth, a checkpoint, that are in the place of blobs."""
        return f"{prefix(self.attempt)}bases:{depth}"


Count = Annotated[int, msgspec.Meta(ge=1, le=2**24)]
"""Its greatest value bounds what processes keep of each shard."""
DepthOrNone = Annotated[int, msgspec.Meta(ge=NO_LIMIT, le=2**63 - 1)]


class AttemptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker needs to know of an attempt. ``keys``: SPARSE where states have none; ``max_depth``: of the last
    layer, or NO_LIMIT; ``counted``: the depth of the layer of which only the number of states and the least of them are
    kept, or NO_LIMIT; ``outboxes``: whether shards send on what their states lead to (stores/redis/scatter_store.py).
    ``blobs``: the place of its blobs, for messages alone; ``mark``: the nonce of the mark there. ``part_chunks``: of a
    map part."""

    engine: Literal["gather", "scatter"]
    puzzle: str
    direction: Direction
    where: str
    layout: str
    shard_classes: Annotated[int, msgspec.Meta(ge=0, le=255)]
    per_block: Count
    exclude: Excluded
    keys: Annotated[int, msgspec.Meta(ge=SPARSE, le=2**63 - 1)]
    shards: Count
    nodes: Annotated[int, msgspec.Meta(ge=1, le=2**16)]
    blobs: str
    mark: Annotated[str, msgspec.Meta(pattern=rf"^{NONCE.pattern}\Z")]
    part_chunks: Count
    max_depth: DepthOrNone
    counted: DepthOrNone
    outboxes: bool
    protocol: Annotated[int, msgspec.Meta(ge=PROTOCOL, le=PROTOCOL)]
    version: str

    def __post_init__(self) -> None:
        if self.engine == "scatter" and self.exclude in ("before", "united"):
            raise ValueError("the scatter engine has neither colours nor united layers")

    @classmethod
    def new(cls, space: Space, nodes: int, place: BlobPlace, **cut: Any) -> AttemptFacts:
        """Of a new attempt; ``place``: of its blobs; ``cut``: the other fields."""
        assert space.engine != "pattern", "made as a whole"
        return cls(
            protocol=PROTOCOL,
            version=__version__,
            engine=space.engine,
            puzzle=space.puzzle.to_json(),
            direction=space.origin.direction,
            where=space.origin.where,
            layout=json.dumps(space.layout_fields()),
            nodes=nodes,
            blobs=place.url,
            mark=new_nonce(),
            **{"part_chunks": 1, "max_depth": NO_LIMIT, "counted": NO_LIMIT, "outboxes": False, **cut},
        )

    def fields(self) -> dict[str, str]:
        """As stored in ``meta``."""
        return {name: str(value) for name, value in msgspec.structs.asdict(self).items()}

    @classmethod
    def of(cls, fields: dict[str, str], attempt: str) -> AttemptFacts:
        """Inverse of ``fields``. Raises LateStepError when there is no such attempt, VersionError for another
        version's, LostStateError for what no coordinator has written."""
        if "puzzle" not in fields:
            raise LateStepError(f"attempt {attempt} has ended")
        try:
            return convert(fields, cls, strict=False)
        except msgspec.MsgspecError as error:
            version = fields.get("version", "unknown")
            if (fields.get("protocol"), version) != (str(PROTOCOL), __version__):
                raise VersionError(other_version(attempt, version)) from None
            raise unbelievable(attempt, error) from error

    def space(self, attempt: str, nodes: int) -> Space:
        """The space. Raises VersionError when this process knows another number of ``nodes``, and what
        ``compile_space`` does."""
        if nodes != self.nodes:
            raise VersionError(
                f"attempt {attempt} keeps its blobs on {self.nodes} Redis servers, this process knows {nodes}: give "
                "all workers and coordinators the same FARTHEST_REDIS_NODES"
            )
        with unbelieved(attempt):
            try:
                puzzle = Puzzle.from_json(self.puzzle)
            except PuzzleError as error:
                raise ValueError(error) from error
            layout = read_json_object(self.layout)
            with named_in(f"attempt {attempt}"):
                space = compile_space(puzzle, Origin(self.direction, self.where), layout)
            if space.engine != self.engine:
                raise ValueError(f"the engine is {self.engine}, the puzzle needs {space.engine}")
            return space

    def check(self, attempt: str, keys: int, shards: int) -> None:
        """Raises VersionError when this process makes something else of the space."""
        if (keys, shards) != (self.keys, self.shards):
            raise VersionError(other_version(attempt, self.version))


@contextmanager
def unbelieved(attempt: str) -> Iterator[None]:
    """Turns what is raised where ``meta`` says what cannot be into LostStateError: the attempt is to be made again."""
    try:
        yield
    except (StorageError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise unbelievable(attempt, error) from error


def unbelievable(attempt: str, error: Exception) -> LostStateError:
    """The error where ``meta`` says what cannot be."""
    return LostStateError(f"{prefix(attempt)}meta: what Redis says of the attempt is damaged: {error}")


def other_version(attempt: str, version: str) -> str:
    """The message for an attempt that another version has begun."""
    return (
        f"attempt {attempt} was begun by farthest {version}, this worker is {__version__}: run the same version in all "
        "workers and coordinators"
    )


def read_meta(nodes: RedisNodes, attempt: str) -> dict[str, str]:
    """What ``meta`` says. Raises as ``RedisNodes.call``."""
    fields: Any = nodes.call(lambda: nodes.main.hgetall(AttemptKeys(attempt).meta_key))
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, value in fields.items()}


def touch(nodes: RedisNodes, attempt: str) -> None:
    """Says that the attempt's coordinator is alive."""
    nodes.main.zadd(ATTEMPTS, {attempt: nodes.now()})


def drop(nodes: RedisNodes, attempt: str, place: BlobPlace | None = None) -> None:
    """Removes all keys of an attempt, and its blobs in a ``place`` elsewhere. Harmless while workers still step for it:
    they find that it has ended."""
    # First nothing is under way any more: who writes a blob from now on cannot commit it, and removes it. Were a step
    # committed after the blobs have been removed, its blobs would stay for good.
    nodes.main.unlink(AttemptKeys(attempt).meta_key)
    if place is not None:
        place.drop(attempt)  # before the other keys: while these are there, the attempt is found again
    for client in nodes.clients:
        names = _keys(client, attempt)
        for start in range(0, len(names), 1000):
            client.unlink(*names[start : start + 1000])
    nodes.main.zrem(ATTEMPTS, attempt)


def _keys(client: Redis, attempt: str) -> list[bytes]:
    return list(client.scan_iter(match=f"{prefix(attempt)}*", count=10_000))


def seen(nodes: RedisNodes) -> dict[str, float]:
    """The attempts of coordinators that have not dropped them, by the seconds since each was seen. Raises what redis-py
    does."""
    listed: Any = nodes.main.zrange(ATTEMPTS, 0, -1, withscores=True)
    now = nodes.now()
    return {name: now - moment for name, moment in _named(listed)}


def _named(found: Iterable[tuple[bytes, float]]) -> Iterator[tuple[str, float]]:
    """Those that can be names of attempts."""
    for name, moment in found:
        if ATTEMPT_NAME.fullmatch(text := name.decode(errors="replace")):
            yield text, moment


def others(nodes: RedisNodes, attempt_of: str) -> bool:
    """Whether there are attempts at other jobs whose coordinators were seen of late. Raises what redis-py does."""
    return any(job_of(name) != attempt_of for name, age in seen(nodes).items() if age <= SEEN_SECONDS)


def begun_on(nodes: RedisNodes) -> set[str]:
    """The attempts that have keys on any node. Raises what redis-py does."""
    names = {name.split(b":")[2] for client in nodes.clients for name in _keys(client, "*")}
    return {name for name, _ in _named((name, 0.0) for name in names)}


def drop_dead(nodes: RedisNodes, attempt_of: str, place: BlobPlace | None = None) -> None:
    """Removes what earlier attempts at the same job, and coordinators that were lost long ago, have left; their blobs,
    too, in a ``place`` elsewhere."""
    ages = seen(nodes)
    here = begun_on(nodes) | set(ages)
    for attempt in here:
        # One that is not among the seen has been dropped, and a worker that was slow wrote to it.
        if job_of(attempt) == attempt_of or ages.get(attempt, math.inf) > DEAD_SECONDS:
            drop(nodes, attempt, place)
    if place is not None:
        for attempt in set(place.attempts()) - here:
            if job_of(attempt) == attempt_of or place.silence(attempt) > DAY:
                place.drop(attempt)


def drop_ended(
    nodes: RedisNodes, ended: Callable[[], Container[str]], place: BlobPlace | None = None
) -> list[str]:
    """Removes attempts whose coordinators were not seen of late, and those that are in the ``place`` alone (a worker
    was killed after it had written blobs for an attempt that had been dropped): those at jobs that have ``ended``,
    which is asked after they were found. Returns their names. Raises what redis-py and the place do."""
    ages = seen(nodes)
    found = {name for name, age in ages.items() if age > SEEN_SECONDS}
    if place is not None:
        found |= set(place.attempts()) - set(ages)
    if not found:
        return []
    jobs = ended()
    dropped = [attempt for attempt in sorted(found) if job_of(attempt) in jobs]
    for attempt in dropped:
        drop(nodes, attempt, place)
    return dropped
