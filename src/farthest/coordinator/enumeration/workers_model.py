"""The model of a run by workers: bytes, messages, memory and time as functions of the space and the machines.

Admission of such runs and `farthest estimate` both ask it. docs/scaling.md says it in words. ``benchmarks/scaling.py
measure`` holds it against runs and fits ``Costs`` anew.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain
from math import exp, log2, log10
from statistics import fmean
from typing import TYPE_CHECKING, Any

from farthest.coordinator.enumeration.resources import expected_layers
from farthest.coordinator.settings import Settings, WorkersEstimate
from farthest.environment import BLOBS, BLOCK_SIZE, REDIS_NODES, WORKER_MEMORY
from farthest.models.chunks import CHUNK_KEYS
from farthest.spaces.contract import GatherSpace, Space, gather
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.blobs.place import REDIS
from farthest.stores.blocks import Blocks, Cut, cut_for_workers, searches_in_place
from farthest.stores.contract import excluded
from farthest.stores.redis.gather_store import BLOBS_SHARE
from farthest.stores.redis.records import LEAST_CHUNKS
from farthest.stores.residues import residue_form
from farthest.worker.enumeration import BlockChoice

if TYPE_CHECKING:
    from farthest.map_files.form import ResidueForm


SMALL_LAYER_BLOCKS = 256
"""In more blocks than that even a few states are stepped faster by workers, and with less memory."""

# What a run works on: its layers, blocks and moves, and how often a worker has a block's input in memory. Nothing is
# stepped here: the blocks come from the compiled space, the layers from the puzzle's published answers or from whoever
# has counted them.


@dataclass(frozen=True)
class Shape:
    """A space cut into blocks. ``layers``: keys of the states by depth. ``exclude``: as in stores/contract.py.

    ``active[c]``: blocks that layers of colour c can have states in, with the keys that these can be at; without
    colours both are the same. ``bitmap``: bytes of a block's bitmap. ``sources(b)``: the blocks that moves lead
    from into b.
    """

    name: str
    layers: tuple[int, ...]
    exclude: str
    keys: int
    shards: int
    lines: int
    blocks: int
    bitmap: int
    row_bytes: int
    active: tuple[dict[int, int], dict[int, int]]
    sources: Callable[[int], list[int]]

    @classmethod
    def of_space(
        cls, space: GatherSpace, made: Cut, layers: Sequence[int] = (), *, counted_only: bool = False
    ) -> Shape:
        """The shape of the search of a space that is cut so, with these layers. ``counted_only``: no map is made."""
        kernel, blocks = made.kernel, Blocks(made.kernel.shards, made.per_block)
        origins = space.keys_of(space.origins)
        in_place = searches_in_place(kernel, origins)
        per_shard = kernel.keys // kernel.shards
        colours = kernel.colours if in_place else []
        first = colours[origins[0] // per_shard] if colours else 0
        active: tuple[dict[int, int], dict[int, int]] = ({}, {})
        for shard in range(kernel.shards):
            block = shard // blocks.per_block
            for parity in (colours[shard] ^ first,) if colours else (0, 1):
                active[parity][block] = active[parity].get(block, 0) + per_shard
        cached: dict[int, list[int]] = {}

        def sources(block: int) -> list[int]:
            if block not in cached:
                shards = {source for shard in blocks.shards(block) for source in kernel.sources(shard)}
                cached[block] = blocks.of(shards)
            return cached[block]

        return cls(
            name=space.puzzle.name,
            layers=tuple(layers),
            exclude=excluded(
                graded=False,
                undirected=kernel.reversible,
                alternating=in_place,
                united=kernel.united and counted_only,
            ),
            keys=kernel.keys,
            shards=kernel.shards,
            lines=kernel.lines,
            blocks=blocks.count,
            bitmap=(kernel.words_per_shard * 8 + kernel.lines_per_shard) * blocks.per_block,
            row_bytes=kernel.row_bytes,
            active=active,
            sources=sources,
        )

    def blocks_at(self, depth: int) -> dict[int, int]:
        """The blocks of a layer, with the keys in each that its states can be at."""
        return self.active[depth % 2]

    @property
    def united(self) -> bool:
        """Whether blobs have all states so far."""
        return self.exclude == "united"

    @cached_property
    def sizes(self) -> tuple[Counter[int], Counter[int]]:
        """How many blocks there are of each number of keys, for each parity of the depth."""
        even, odd = (Counter(blocks.values()) for blocks in self.active)
        return even, odd

    def inputs(self, depth: int, block: int) -> list[int]:
        """The blocks whose states at ``depth`` - 1 a step of the block reads: its sources, and its own, which those of
        all states found have already."""
        before = self.blocks_at(depth - 1)
        own = set() if self.exclude == "all" else {block}
        return [one for one in sorted(own.union(self.sources(block))) if one in before]

    @cached_property
    def inputs_per_block(self) -> float:
        """How many those are, on average (of some thousand blocks)."""
        some = [
            (depth, block)
            for depth in (0, 1)
            for block in list(self.blocks_at(depth))[:: max(1, self.blocks // 2000)]
        ]
        return sum(len(self.inputs(depth, block)) for depth, block in some) / len(some)


@dataclass(frozen=True)
class Locality:
    """How much of a step's input its process has in memory already: of the layer before, and of that two before."""

    before: float
    two_before: float


LAYERS_PLAYED = 4

NEAREST, NEAREST_BEND = 1.1, 0.7
"""Where layers are united, how often a process reads a block in a layer: so many times the part of all that it holds,
to minus that power. Fitted to the cube's edges (docs/symmetry.md: 5.6, 3.7, 2.8, 1.9 times with 10, 20, 30, 50 %)."""

CHECKPOINT_SECONDS = 60.0
"""Between two checkpoints, by default."""


@dataclass(frozen=True)
class _Bitmap:
    """What BlobCache needs of a bitmap."""

    bytes: int


def simulated_locality(shape: Shape, workers: int, memory: int) -> Locality:
    """Plays some layers in which all blocks have states, with the workers' own way to choose and to keep blocks.

    Processes take turns, as if all steps took equally long. Where there are few blocks, luck decides much: then it is
    the mean of several plays. Where layers are united nothing is played, as that takes long.
    """
    if shape.united:
        held = max(1, (memory - memory // BLOBS_SHARE) // shape.bitmap) / shape.blocks
        times = NEAREST * min(held, 1.0) ** -NEAREST_BEND + (workers - 1) * held
        return Locality(1 - min(1.0, times / shape.inputs_per_block), 0.0)
    plays = [_played(shape, workers, memory, seed) for seed in range(max(1, min(20, 2000 // shape.blocks)))]
    return Locality(
        before=fmean(play.before for play in plays),
        two_before=fmean(play.two_before for play in plays),
    )


def _played(shape: Shape, workers: int, memory: int, seed: int) -> Locality:
    """One play: the figures of its last layer."""
    rng = random.Random(seed)
    choices = [BlockChoice(shape.sources) for _ in range(workers)]
    caches = [BlobCache(memory) for _ in range(workers)]
    bitmap: Any = _Bitmap(shape.bitmap)
    hits = {1: 0, 2: 0}
    asked = {1: 0, 2: 0}
    for depth in range(2, LAYERS_PLAYED + 2):
        blocks = list(shape.blocks_at(depth))
        waiting, at_random = set(blocks), iter(rng.sample(blocks, len(blocks)))
        hits, asked = {1: 0, 2: 0}, {1: 0, 2: 0}
        for turn in range(len(blocks)):
            worker = turn % workers
            choice, cache = choices[worker], caches[worker]
            # Of the layer's to-do set in Redis: the first of the wishes that is there, or any (worker/work.py).
            block = next(one for one in chain(choice.wishes(depth), at_random) if one in waiting)
            waiting.remove(block)
            choice.taken(block)
            backs = [(1, source) for source in shape.inputs(depth, block)]
            if shape.exclude != "all":
                backs.append((2, block))
            for back, source in backs:
                if depth - back < 2:
                    continue
                asked[back] += 1
                if cache.get(f"{depth - back}:{source}", _Bitmap) is not None:
                    hits[back] += 1
                else:
                    cache.put(f"{depth - back}:{source}", bitmap)
            cache.put(f"{depth}:{block}", bitmap)
            choice.stepped(depth, block)
    return Locality(
        before=hits[1] / max(1, asked[1]),
        two_before=hits[2] / max(1, asked[2]),
    )


@dataclass(frozen=True)
class Costs:
    """What was measured, and on what. Seconds are processor time of one core of an AMD EPYC 7003."""

    # Blobs of sliding-3x4, -2x6 and -3x4-slide, in blocks of 2.5 MiB, by layer (``blob_bytes``).
    blob_header: float = 45.0
    entropy: float = 0.845
    entropy_bend: float = 0.0566
    # Redis's memory: its allocator's part (sliding-3x4), a record and a blob's name (sliding-2x6 in blocks of 24 KiB,
    # less its blobs), a shard in a record, a message (5,000 in a queue), a run.
    held_over: float = 1.07
    record_held: float = 330.0
    shard_held: float = 20.0
    message_held: float = 1010.0
    run_held: float = 20e3
    # A step through the main node, without blobs: bytes and commands by Redis's own count (sliding-2x6 in blocks of
    # 24 KiB in process, and the messages, leases and choices of Celery's workers).
    step_bytes: float = 5500.0
    step_commands: float = 40.0
    # A worker's processor time: a step by itself; what Celery adds (2x6 in blocks of 240 KiB); a byte of bitmap that
    # is made, filled from a blob, stepped from one source; a byte of blob that is read, written (sliding-3x4, with
    # nothing kept and with all).
    step_seconds: float = 0.4e-3
    celery_seconds: float = 0.6e-3
    fresh_seconds: float = 0.5e-9
    fill_seconds: float = 0.35e-9
    kernel_seconds: float = 0.28e-9
    decode_seconds: float = 0.5e-9
    encode_seconds: float = 1.2e-9
    # The Redis server's processor time, of the same runs.
    redis_command_seconds: float = 6e-6
    redis_byte_seconds: float = 0.4e-9
    # The coordinator's: its start; a layer that it steps itself, and each of its blocks (sliding-3x5 to depth 19); a
    # layer that it sends out; a block of it, and that each second while the layer lasts (5,000 messages, reports and
    # records). A worker's, for a key of the map: made, stored (sliding-3x4, one thread).
    start_seconds: float = 0.7
    small_layer_seconds: float = 0.0035
    small_block_seconds: float = 1.1e-3
    layer_seconds: float = 0.010
    block_seconds: float = 0.3e-3
    counting_seconds: float = 1.0e-6
    map_key_seconds: float = 5.9e-9
    store_key_seconds: float = 4.9e-9
    # Memory: the coordinator's for a block at a depth (its record), and for a shard; the kernel's for a shard, in every
    # process (both 4x4); a process without work.
    record_memory: float = 730.0
    shard_memory: float = 330.0
    kernel_memory: float = 62.0
    process_memory: float = 70e6
    # The database: bytes per key, between sliding-3x4 (0.39) and sliding-2x6 (0.46).
    map_bytes: float = 0.42


COSTS = Costs()


@dataclass(frozen=True)
class Cluster:
    """The machines and the settings. ``network``: bytes per second of one Redis node, both ways together. ``cores``: of
    the one machine that everything runs on; None: every process has a core. ``blobs_in_redis``: or in a place of their
    own, whose time the model does not know. ``residues``: the form of a residue map, else None; with it
    ``histogram_only`` is true, for there are no checkpoints."""

    workers: int = 8
    nodes: int = 1
    worker_memory: int = 256 * 2**20
    network: float = 1.25e9
    small_states: int = 1_000_000
    histogram_only: bool = False
    celery: bool = True
    blobs_in_redis: bool = True
    cores: int | None = None
    residues: ResidueForm | None = None


RAW = 0.25
"""The codec leaves bits as they are where more than this part of them is set, and more than this part is not."""

BEST, THINNEST = -2.7, -6.0
"""Decimal logarithms of the part of keys that is set: where blobs are smallest beside the entropy, and the least that
was measured."""

BOUNDS = ("worker_seconds", "redis_seconds", "coordinator_seconds", "shared_seconds")


@dataclass(frozen=True)
class LayerCost:
    """One layer. ``written``, ``read``: bytes of blobs by steps; ``kept``: of the layers that the next step and the
    residue map need; ``held``: in all of Redis then. Seconds of a worker's process, a node, the coordinator, and all of
    them on the cores that they share: the layer takes the longest."""

    depth: int
    states: int
    messages: int
    blobs: float
    written: float
    read: float
    kept: float
    held: float
    worker_seconds: float = 0.0
    redis_seconds: float = 0.0
    coordinator_seconds: float = 0.0
    shared_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return max(float(getattr(self, name)) for name in BOUNDS)


@dataclass(frozen=True)
class Prediction:
    """A whole run. ``peak``: bytes in Redis at the most, ``blobs``: of blobs, wherever they are, with those
    that a residue map is made of; ``older``: of the blobs that only wait for a checkpoint, at the most, on top of
    ``blobs`` where the place has room; ``map_seconds``: one checkpoint of the whole map, by the workers, or the
    residue map."""

    layers: list[LayerCost]
    peak: float
    blobs: float
    older: float
    checkpoints: int
    checkpoint_seconds: float
    map_seconds: float
    database: float
    worker_bytes: float
    coordinator_bytes: float
    start_seconds: float

    def total(self, name: str) -> float:
        """The sum of a figure over all layers."""
        return float(sum(getattr(layer, name) for layer in self.layers))

    @property
    def seconds(self) -> float:
        """From beginning to end."""
        return self.start_seconds + self.total("seconds") + self.checkpoint_seconds + self.map_seconds

    @property
    def bound(self) -> str:
        """What takes the time of most layers' seconds."""
        spent = dict.fromkeys(BOUNDS, 0.0)
        for layer in self.layers:
            spent[max(BOUNDS, key=lambda name: float(getattr(layer, name)))] += layer.seconds
        return max(spent, key=lambda name: spent[name]).removesuffix("_seconds")


def blob_bytes(keys: float, states: float) -> float:
    """The blob of ``states`` of ``keys`` keys: 0.85 of the entropy of as many bits set at random where a 500th of the
    keys is set, because a layer's states lie near each other; as much as the entropy at a tenth and at a
    hundred-thousandth; from a quarter to three quarters a bit a key; above, as much as of those that are not set."""
    if states <= 0:
        return 0.0
    part = min(states / keys, 1.0)
    part = min(part, 1 - part)
    if part <= 0:
        return COSTS.blob_header
    if part > RAW:
        return COSTS.blob_header + keys / 8
    bits = -part * log2(part) - (1 - part) * log2(1 - part)
    bend = COSTS.entropy_bend * (max(log10(part), THINNEST) - BEST) ** 2
    return COSTS.blob_header + keys * bits / 8 * (COSTS.entropy + bend)


def layer_bytes(shape: Shape, depth: int, states: float) -> tuple[float, float]:
    """The blobs of a layer whose states are spread evenly: how many, and their bytes together."""
    sizes = shape.sizes[depth % 2]
    keys = sum(size * number for size, number in sizes.items())
    blobs = total = 0.0
    for size, number in sizes.items():
        here = states * size / keys
        some = 1 - exp(-here)  # of such blocks have a state
        blobs += number * some
        total += number * some * blob_bytes(size, here / some if some else 0.0)
    return blobs, total


def predict(shape: Shape, cluster: Cluster, locality: Locality) -> Prediction:
    """What the run will take."""
    return _Model(shape, cluster, locality).prediction()


def small_blocks(shape: Shape, states: float) -> float:
    """Blocks that a thin layer has states in: they keep together. Fitted to sliding-3x5 up to 378,761 states."""
    return float(min(len(shape.blocks_at(0)), 5.5 * max(1.0, states) ** 0.57))


class _Model:
    """``sizes``: bytes of the blobs of each layer; ``found``: states up to each layer."""

    def __init__(self, shape: Shape, cluster: Cluster, locality: Locality) -> None:
        self._shape = shape
        self._cluster = cluster
        self._locality = locality
        self._found = list(accumulate(shape.layers))
        kept = self._found if shape.united else shape.layers
        self._blobs = [layer_bytes(shape, depth, states) for depth, states in enumerate(kept)]
        self._sizes = [size for _, size in self._blobs]

    def prediction(self) -> Prediction:
        shape, cluster = self._shape, self._cluster
        layers = [self._layer(depth) for depth in range(1, len(shape.layers) + 1)]
        map_seconds = self._map_seconds()
        checkpoints, older = self._checkpoints(layers, map_seconds)
        # What a process keeps of what it has read and written.
        kept = min(cluster.worker_memory, shape.bitmap * shape.blocks + sum(self._sizes))
        in_each = COSTS.process_memory + kept + shape.shards * COSTS.kernel_memory + shape.row_bytes
        # Records of the layers that no checkpoint has.
        records = len(shape.blocks_at(0)) * len(shape.layers) * min(1.0, older / sum(self._sizes))
        return Prediction(
            layers=layers,
            peak=max(layer.held for layer in layers),
            blobs=max(layer.kept for layer in layers),
            older=older,
            checkpoints=checkpoints,
            checkpoint_seconds=checkpoints * map_seconds,
            map_seconds=map_seconds,
            database=0.0 if cluster.histogram_only else shape.keys * COSTS.map_bytes,
            worker_bytes=in_each + self._step_memory(),
            coordinator_bytes=in_each + records * COSTS.record_memory + shape.shards * COSTS.shard_memory,
            start_seconds=COSTS.start_seconds,
        )

    def _size(self, depth: int) -> float:
        return self._sizes[depth] if 0 <= depth < len(self._sizes) else 0.0

    def _layer(self, depth: int) -> LayerCost:
        shape, cluster, locality = self._shape, self._cluster, self._locality
        states = shape.layers[depth] if depth < len(shape.layers) else 0
        blocks = len(shape.blocks_at(depth))
        before = shape.layers[depth - 1]
        sent = before > cluster.small_states or small_blocks(shape, before) > SMALL_LAYER_BLOCKS
        blobs, written = self._blobs[depth] if depth < len(self._blobs) else (0.0, 0.0)
        sources = self._size(depth - 1) * shape.inputs_per_block * blocks
        sources /= max(1, len(shape.blocks_at(depth - 1)))
        two_before, visited = 0.0 if shape.united else self._size(depth - 2), 0.0
        if shape.exclude == "all":
            _, visited = layer_bytes(shape, depth, self._found[min(depth, len(self._found) - 1)])
            _, two_before = layer_bytes(shape, depth, self._found[depth - 1])
            written += visited if states else 0.0
            blobs *= 2
        kept = sum(map(self._size, (depth, depth - 1, depth - 2))) + visited + self._marked(depth - 2)
        queued = COSTS.message_held if cluster.celery and sent else 0.0
        records = blocks * 3 * (COSTS.record_held + COSTS.shard_held * shape.shards / shape.blocks)
        held = COSTS.run_held + kept * COSTS.held_over * cluster.blobs_in_redis + records + blocks * queued
        if not sent:
            own = COSTS.small_layer_seconds + small_blocks(shape, states) * COSTS.small_block_seconds
            return LayerCost(depth, states, 0, blobs, written, 0.0, kept, held, coordinator_seconds=own)
        read = sources * (1 - locality.before) + two_before * (1 - locality.two_before)
        times = self._seconds(depth, blocks, written, read)
        return LayerCost(depth, states, blocks, blobs, written, read, kept, held, **times)

    def _seconds(self, depth: int, blocks: int, written: float, read: float) -> dict[str, float]:
        """The seconds of a layer that is sent out, by who is busy."""
        shape, cluster, locality = self._shape, self._cluster, self._locality
        fetched = shape.inputs_per_block * (1 - locality.before) + (not shape.united) * (
            1 - locality.two_before
        )
        pulled = blocks * shape.bitmap * (COSTS.fresh_seconds + shape.inputs_per_block * COSTS.kernel_seconds)
        worker = (
            blocks * (COSTS.step_seconds + COSTS.celery_seconds * cluster.celery)
            + (pulled + blocks * fetched * shape.bitmap * COSTS.fill_seconds) * self._touched(depth - 1)
            + read * COSTS.decode_seconds
            + written * COSTS.encode_seconds
        )
        turns = -(-blocks // cluster.workers) / (blocks / cluster.workers)  # the last turn is not full
        main = (written + read) / cluster.nodes * cluster.blobs_in_redis + blocks * COSTS.step_bytes
        served = blocks * COSTS.step_commands * COSTS.redis_command_seconds + main * COSTS.redis_byte_seconds
        coordinator = COSTS.layer_seconds + blocks * COSTS.block_seconds
        together = worker + served * cluster.nodes + coordinator
        return {
            "worker_seconds": worker * turns / cluster.workers,
            "redis_seconds": max(main / cluster.network, served),
            "coordinator_seconds": coordinator / max(0.1, 1 - blocks * COSTS.counting_seconds),
            "shared_seconds": together / cluster.cores if cluster.cores else 0.0,
        }

    def _touched(self, depth: int) -> float:
        """The part of a layer's lines that hold a state: the others are passed by."""
        shape = self._shape
        lines = shape.lines * sum(shape.blocks_at(depth).values()) / shape.keys
        return 1 - exp(-(self._found if shape.united else shape.layers)[depth] / lines)

    def _marked(self, end: int) -> float:
        """Bytes of the layers before the depth ``end`` that a residue map is made of."""
        residues = self._cluster.residues
        if residues is None:
            return 0.0
        return sum(size for depth, size in enumerate(self._sizes[: max(end, 0)]) if residues.number(depth))

    def _step_memory(self) -> float:
        """What a step holds besides what the process keeps, all of it coded: at most twice the shards that the slots
        hold, or all inputs; what is excluded; what is found, in pieces and joined."""
        blob = max(size / blobs for blobs, size in self._blobs if blobs)
        slots = 2 * self._cluster.worker_memory * blob / self._shape.bitmap
        return min(self._shape.inputs_per_block * blob, slots) + 3 * blob

    def _map_seconds(self) -> float:
        """Seconds that one checkpoint of the whole map takes, or the residue map."""
        shape, cluster = self._shape, self._cluster
        at_once = cluster.cores or cluster.workers
        if cluster.residues is not None:
            marked = self._marked(len(self._sizes)) * COSTS.decode_seconds
            marked += shape.keys / 8 * cluster.residues.planes * COSTS.fill_seconds
            return marked / min(cluster.workers, shape.blocks, at_once)
        if cluster.histogram_only:
            return 0.0
        parts = max(1, min(shape.blocks, shape.keys // (LEAST_CHUNKS * CHUNK_KEYS)))
        making = shape.keys * (COSTS.map_key_seconds + COSTS.store_key_seconds)
        through = sum(self._sizes) / cluster.nodes * cluster.blobs_in_redis
        return max(
            making / min(cluster.workers, parts, at_once),
            through * max(COSTS.redis_byte_seconds, 1 / cluster.network),
        )

    def _checkpoints(self, layers: Sequence[LayerCost], map_seconds: float) -> tuple[int, float]:
        """How many checkpoints there are before the last, by the coordinator's rule, and the most bytes of layers that
        no step needs and no checkpoint has."""
        if self._cluster.histogram_only:
            return 0, 0.0
        number, since, waiting, most, cost = 0, 0.0, 0.0, 0.0, 0.0
        for layer in layers:
            since += layer.seconds
            waiting += self._size(layer.depth - 3)
            most = max(most, waiting)
            if since >= max(CHECKPOINT_SECONDS, 10 * cost):
                number, since, waiting, cost = number + 1, 0.0, 0.0, map_seconds
        return number, most


# What a plan asks


FULLEST = 1.45
"""Memory of Redis at its fullest beside the layers that it holds, with the blobs that are on their way: 1.46 was
measured on sliding-3x4, 1.33 with the metric slide, 1.59 on pancake-12."""

RUN_BYTES_DENSE, RUN_BYTES_SPARSE = 1, 12
"""Blobs for a state of a space given by its successors, about: its share of the largest layers and of their successors
(docs/scaling.md)."""

RECORDS_BYTES = 4 * 2**20
"""Redis memory where the blobs are elsewhere, besides the records and messages of blocks."""


@dataclass(frozen=True, slots=True)
class AttemptBytes:
    """``redis``: what Redis needs at the most, with the blobs where they are in it; ``blobs``: they alone."""

    redis: int
    blobs: int


def attempt_bytes(
    space: GatherSpace,
    made: Cut,
    settings: Settings,
    residues: ResidueForm | None,
    *,
    blobs_in_redis: bool,
) -> AttemptBytes:
    """The bytes of an attempt at a space of bitmaps: of the layers that steps need, and those that a residue map is
    made of."""
    cluster = Cluster(histogram_only=True, residues=residues, blobs_in_redis=blobs_in_redis, small_states=0)
    prediction = predict(_expected_shape(space, made, settings), cluster, Locality(0.0, 0.0))
    return AttemptBytes(_fullest(prediction, cluster), int(prediction.blobs))


def _fullest(prediction: Prediction, cluster: Cluster) -> int:
    """What all of Redis needs to have."""
    return int(prediction.peak * FULLEST if cluster.blobs_in_redis else prediction.peak + RECORDS_BYTES)


def run_bytes(space: Space, states: int, *, blobs_in_redis: bool) -> AttemptBytes:
    """The bytes of an attempt at a space of sorted runs with so many states."""
    blobs = states * (RUN_BYTES_SPARSE if space.keys is None else RUN_BYTES_DENSE)
    return AttemptBytes(blobs if blobs_in_redis else RECORDS_BYTES, blobs)


def worker_needs(space: Space, settings: Settings, processes: Sequence[int]) -> tuple[WorkersEstimate, ...]:
    """By the numbers of processes, each on a core of its own. Nothing where the space is not one of bitmaps, whose time
    by workers the model does not know."""
    if space.engine != "gather":
        return ()
    gathered = gather(space)
    shape = _expected_shape(gathered, cut_for_workers(gathered, BLOCK_SIZE.size()), settings)
    found = []
    for number in processes:
        cluster = Cluster(
            workers=number,
            nodes=1 + len(REDIS_NODES.text().split()),
            worker_memory=WORKER_MEMORY.size(),
            histogram_only=not settings.stores_distances,
            residues=residue_form(gathered, settings.max_depth) if settings.residues else None,
            blobs_in_redis=BLOBS.text() == REDIS,
        )
        prediction = predict(shape, cluster, simulated_locality(shape, number, cluster.worker_memory))
        found.append(
            WorkersEstimate(
                processes=number,
                seconds=prediction.seconds,
                redis=_fullest(prediction, cluster),
                blobs=int(prediction.blobs),
                memory=int(prediction.worker_bytes),
                coordinator_memory=int(prediction.coordinator_bytes),
                messages=max(layer.messages for layer in prediction.layers),
                waits_for=prediction.bound,
            )
        )
    return tuple(found)


def _expected_shape(space: GatherSpace, made: Cut, settings: Settings) -> Shape:
    counted_only = not settings.stores_distances and not settings.residues
    shape = Shape.of_space(space, made, counted_only=counted_only)
    states, in_place = made.kernel.states, shape.exclude == "before"
    layers = expected_layers(space, keys=states, in_place=in_place, max_depth=settings.max_depth).states
    return replace(shape, layers=tuple(layer * shape.keys // states for layer in layers))
