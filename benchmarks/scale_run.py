"""A run in Redis stepped in this process, layer by layer, with everything counted: what the model is held against.

Workers are stores of their own, with caches of their own and the workers' way to choose, which take turns; there is no
Celery. So bytes and blobs are those of a real run. Seconds are of processor time: of this thread for the parts of a
step, of the server for its commands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from farthest.coordinator.enumeration.executors import Executor, next_layer
from farthest.coordinator.enumeration.workers_model import Shape
from farthest.models.chunks import CHUNK_KEYS, MapDigest, encode
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.blobs.place import BlobName
from farthest.stores.blocks import cut_for_workers
from farthest.stores.contract import ShardStore, step
from farthest.stores.redis import attempts
from farthest.stores.redis.attempt_stores import Access
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.gather_store import GatherStore
from farthest.worker.enumeration import BlockChoice, StepWork

PARTS = ("open", "kernel", "commit", "fetch", "send")


def shape_of(puzzle: Puzzle, block_size: int, layers: Sequence[int] | None = None) -> Shape:
    """The shape of a puzzle's search; without ``layers`` they are the published ones."""
    published = next((answer.layers for answer in puzzle.known if answer.layers), None)
    if layers is None and published is None:
        raise ValueError(f"puzzle {puzzle.name}: no layers are published; give them")
    space = gather(compile_space(puzzle))
    return Shape.of_space(space, cut_for_workers(space, block_size), layers or published or ())


@dataclass
class Layer:
    """What one layer took. ``written``, ``read``: bytes of blobs; ``blobs``, ``fetched``: how many they were; ``held``:
    bytes in Redis at its end, when the layer that it does not need has left; ``seconds`` by part of a step;
    ``redis_*``: the server's own count."""

    depth: int
    states: int = 0
    messages: int = 0
    steps: int = 0
    written: int = 0
    blobs: int = 0
    read: int = 0
    fetched: int = 0
    held: int = 0
    redis_bytes: int = 0
    redis_commands: int = 0
    redis_seconds: float = 0.0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))


@dataclass
class Counted:
    """A whole run. ``map_*``: making the map from the last layers, and its chunks as the database has them."""

    puzzle: str
    layers: list[Layer]
    map_seconds: float = 0.0
    store_seconds: float = 0.0
    map_bytes: int = 0

    @property
    def states(self) -> list[int]:
        """The layers' states, from depth 0 on."""
        return [1, *(layer.states for layer in self.layers)]

    def total(self, name: str) -> float:
        """The sum of a figure over all layers."""
        return float(sum(getattr(layer, name) for layer in self.layers))


class _Counter:
    """Where stores count; a step's moves of older layers, in another thread, are not counted."""

    def __init__(self) -> None:
        self.layer = Layer(0)
        self._thread = threading.get_ident()

    def here(self) -> bool:
        return threading.get_ident() == self._thread


class _CountedStore(GatherStore):
    """A store that tells what it reads and writes."""

    counter = _Counter()

    def fetch_parts(self, parts: Any) -> list[bytes]:
        begun = time.thread_time()
        blobs = super().fetch_parts(parts)
        if self.counter.here():
            layer = self.counter.layer
            layer.seconds["fetch"] += time.thread_time() - begun
            layer.read += sum(map(len, blobs))
            layer.fetched += len(blobs)
        return blobs

    def send(self, blobs: Mapping[BlobName, bytes]) -> None:
        begun = time.thread_time()
        super().send(blobs)
        layer = self.counter.layer
        layer.seconds["send"] += time.thread_time() - begun
        layer.written += sum(map(len, blobs.values()))
        layer.blobs += len(blobs)


class _CountedRun(_CountedStore, GatherAttempt):
    """The coordinator's."""

    def settle(self) -> None:
        """Waits until older layers have left Redis: how soon they do is up to the machine's load."""
        self.removals.settle()


class _InTurn(Executor):
    """``Executor``: workers that take turns, and the coordinator for small layers."""

    def __init__(self, nodes: RedisNodes, counter: _Counter, workers: list[GatherStore], small: int) -> None:
        self._nodes = nodes
        self._counter = counter
        self._workers = [_work_of(store) for store in workers]
        self._small = small

    def run_layer(self, store: ShardStore, depth: int, shards: Any) -> None:
        """See Executor."""
        assert isinstance(store, GatherAttempt)
        layer = self._counter.layer
        if sum(store.counts(depth - 1).values()) <= self._small:
            step(store, depth, shards)
            return
        blocks = store.blocks.of(shards)
        StepWork(self._nodes, store.attempt).offer(depth, blocks)
        for turn, named in enumerate(blocks):
            work = self._workers[turn % len(self._workers)]
            block = work.choose(depth, named, again=False)
            self._step(work.store, depth, block)
            work.choice.stepped(depth, block)
            layer.messages += 1

    def _step(self, store: Any, depth: int, block: int) -> None:
        """As stores/contract.py, with the time of its parts."""
        seconds, times = self._counter.layer.seconds, [time.thread_time()]
        step_input = store.open(depth, store.blocks.shards(block))
        times.append(time.thread_time())
        counts = step_input.run()
        times.append(time.thread_time())
        store.commit(depth, step_input, counts)
        times.append(time.thread_time())
        for part, begun, ended in zip(("open", "kernel", "commit"), times, times[1:], strict=False):
            seconds[part] += ended - begun


def _work_of(store: GatherStore) -> StepWork:
    """As a worker's process has it."""
    work = StepWork(store.nodes, store.attempt)
    work.store, work.choice = store, BlockChoice(store.sources_of)
    return work


def held(nodes: RedisNodes) -> int:
    """Bytes that the servers hold: keys and values, and what their allocator needs for them. Key by key: of a server's
    own figures some change with the buffers of its connections, and with what it has not freed yet."""
    size = 0
    for client in nodes.clients:
        pipe = client.pipeline(transaction=False)
        for name in client.scan_iter(count=1000):
            pipe.memory_usage(name, samples=0)
        size += sum(one or 0 for one in pipe.execute())
    return size


def _server(nodes: RedisNodes) -> tuple[int, int, float]:
    size, commands, seconds = 0, 0, 0.0
    for client in nodes.clients:
        said: Any = client.info()
        size += said["total_net_input_bytes"] + said["total_net_output_bytes"]
        commands += said["total_commands_processed"]
        seconds += said["used_cpu_user"] + said["used_cpu_sys"]
    return size, commands, seconds


def counted_run(
    puzzle: Puzzle,
    url: str,
    *,
    block_size: int = 4 * 2**20,
    workers: int = 1,
    worker_memory: int = 0,
    small_states: int = 1000,
    make_map: bool = False,
) -> Counted:
    """Enumerates the puzzle in the Redis server at ``url``, which nobody else uses meanwhile."""
    nodes = RedisNodes([url])
    space = gather(compile_space(puzzle))
    counter = _CountedStore.counter = _Counter()
    base = held(nodes)
    run = _CountedRun.create(
        nodes, attempts.new_attempt("1-scale"), space, cut_for_workers(space, block_size), distances=make_map
    )
    assert isinstance(run, _CountedRun)
    try:
        stores: list[GatherStore] = []
        for number in range(workers):
            store = _CountedStore.attach(
                Access.found(nodes, run.attempt, BlobCache(worker_memory), f"scale-{number}")
            )
            stores.append(store)
        executor = _InTurn(nodes, counter, stores, small_states)
        done: list[Layer] = []
        while not done or done[-1].states:
            counter.layer = layer = Layer(len(done) + 1)
            before = _server(nodes)
            layer.states = next_layer(run, executor, layer.depth)
            after = _server(nodes)
            layer.steps = len(StepWork(run.nodes, run.attempt).finished(layer.depth))
            run.settle()
            layer.held = held(nodes) - base
            layer.redis_bytes, layer.redis_commands = after[0] - before[0], after[1] - before[1]
            layer.redis_seconds = after[2] - before[2]
            done.append(layer)
        result = Counted(puzzle.name, done)
        if make_map:
            _make_map(run, result)
        return result
    finally:
        run.drop()
        nodes.close()


def _make_map(run: GatherAttempt, result: Counted) -> None:
    depth = result.layers[-1].depth - 1
    digest = MapDigest(result.states[:-1])
    begun = time.process_time()
    for one in run.chunks(depth, CHUNK_KEYS, 1):
        made = time.process_time()
        result.map_seconds += made - begun
        digest.add(one)
        result.map_bytes += len(encode(one).payload)
        begun = time.process_time()
        result.store_seconds += begun - made
