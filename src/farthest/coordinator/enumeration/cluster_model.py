"""The model of a distributed run: bytes, messages, memory and time as functions of the space and the machines.

docs/scaling.md says it in words. ``benchmarks/scaling.py measure`` holds it against runs and fits ``Costs`` anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, log2, log10
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.celery_executor import SMALL_LAYER_BLOCKS, STEPPED_AT_ONCE
from farthest.coordinator.enumeration.cluster_shape import Locality, Shape
from farthest.models.chunks import CHUNK_KEYS
from farthest.stores.redis.part_records import LEAST_CHUNKS

if TYPE_CHECKING:
    from farthest.map_files.form import ResidueForm


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
    look_seconds: float = 1.0e-6
    map_key_seconds: float = 5.9e-9
    store_key_seconds: float = 4.9e-9
    # Memory: the coordinator's for a block at a depth (its record), and for a shard; the
    # kernel's for a shard, in every process (both 4x4); bitmaps of a block of a small layer (3x5); a process without
    # work.
    record_memory: float = 730.0
    shard_memory: float = 330.0
    kernel_memory: float = 62.0
    small_block_memory: float = 270e3
    process_memory: float = 70e6
    # The database: bytes a key, between sliding-3x4 (0.39) and sliding-2x6 (0.46).
    map_bytes: float = 0.42


@dataclass(frozen=True)
class Cluster:
    """The machines and the settings. ``network``: bytes a second of one Redis node, both ways together.
    ``cores``: of the one machine that everything runs on; None: every process has a core. ``blobs_in_redis``: or in a
    place of their own, whose time the model does not know. ``residues``: the form of a residue map, else None; with it
    ``histogram_only`` is true, for there are no checkpoints."""

    workers: int = 8
    nodes: int = 1
    worker_memory: int = 256 * 2**20
    network: float = 1.25e9
    small_states: int = 1_000_000
    small_blocks: int = SMALL_LAYER_BLOCKS
    histogram_only: bool = False
    checkpoint_seconds: float = 60.0
    celery: bool = True
    blobs_in_redis: bool = True
    cores: int | None = None
    residues: ResidueForm | None = None


RAW = 0.25
"""The codec leaves bits as they are where more than this part of them is set."""

BEST, THINNEST = -2.7, -6.0
"""Decimal logarithms of the part of keys that is set: where blobs are smallest beside the entropy, and the least that
was measured."""

BOUNDS = ("worker_seconds", "redis_seconds", "coordinator_seconds", "shared_seconds")


@dataclass(frozen=True)
class LayerCost:
    """One layer. ``written``, ``read``: bytes of blobs by steps;
    ``kept``: of the layers that the next step needs; ``held``: in all of Redis then. Seconds of a worker's process, a
    node, the coordinator, and all of them on the cores that they share: the layer takes the longest."""

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


def blob_bytes(keys: float, states: float, costs: Costs) -> float:
    """The blob of ``states`` of ``keys`` keys: 0.85 of the entropy of as many bits set at random where a 500th of the
    keys is set, because a layer's states lie near each other; as much as the entropy at a tenth and at a
    hundred-thousandth; from a quarter on a bit a key."""
    if states <= 0:
        return 0.0
    part = min(states / keys, 1.0)
    if part > RAW:
        return costs.blob_header + keys / 8
    bits = -part * log2(part) - (1 - part) * log2(1 - part)
    bend = costs.entropy_bend * (max(log10(part), THINNEST) - BEST) ** 2
    return costs.blob_header + keys * bits / 8 * (costs.entropy + bend)


def layer_bytes(shape: Shape, depth: int, states: float, costs: Costs) -> tuple[float, float]:
    """The blobs of a layer whose states are spread evenly: how many, and their bytes together."""
    sizes = shape.sizes[depth % 2]
    keys = sum(size * number for size, number in sizes.items())
    blobs = total = 0.0
    for size, number in sizes.items():
        here = states * size / keys
        some = 1 - exp(-here)  # of such blocks have a state
        blobs += number * some
        total += number * some * blob_bytes(size, here / some if some else 0.0, costs)
    return blobs, total


def predict(shape: Shape, cluster: Cluster, locality: Locality, costs: Costs | None = None) -> Prediction:
    """What the run will take."""
    costs = costs or Costs()
    sizes = [layer_bytes(shape, depth, states, costs)[1] for depth, states in enumerate(shape.layers)]
    found = list(accumulate(shape.layers))
    layers = []
    for depth in range(1, len(shape.layers) + 1):
        states = shape.layers[depth] if depth < len(shape.layers) else 0
        layer = _layer(shape, cluster, locality, costs, sizes, found, depth, states)
        layers.append(_with_older(layer, cluster, costs, _marked(sizes, cluster.residues, depth - 2)))
    making = shape.keys * (costs.map_key_seconds + costs.store_key_seconds)
    parts = max(1, min(shape.blocks, shape.keys // (LEAST_CHUNKS * CHUNK_KEYS)))
    through = sum(sizes) / cluster.nodes * cluster.blobs_in_redis
    map_seconds = max(
        making / min(cluster.workers, parts, cluster.cores or cluster.workers),
        through * max(costs.redis_byte_seconds, 1 / cluster.network),
    )
    map_seconds *= not cluster.histogram_only
    if cluster.residues is not None:
        marked = _marked(sizes, cluster.residues, len(sizes)) * costs.decode_seconds
        marked += shape.keys / 8 * cluster.residues.planes * costs.fill_seconds
        map_seconds = marked / min(cluster.workers, shape.blocks, cluster.cores or cluster.workers)
    checkpoints, older = _checkpoints(layers, sizes, cluster, map_seconds)
    small = min(STEPPED_AT_ONCE, small_blocks(shape, max(shape.layers)))
    # What a process keeps of what it has read and written.
    kept = min(cluster.worker_memory, shape.bitmap * shape.blocks + sum(sizes))
    # Records of the layers that no checkpoint has; the bitmaps of what it steps itself at a time.
    records = len(shape.blocks_at(0)) * len(shape.layers) * min(1.0, older / sum(sizes))
    coordinator = (
        records * costs.record_memory
        + shape.shards * (costs.shard_memory + costs.kernel_memory)
        + (kept if shape.coded else small * costs.small_block_memory)
        + shape.row_bytes
    )
    worker = (
        kept
        + _step_memory(shape, cluster.worker_memory, costs)
        + shape.shards * costs.kernel_memory
        + shape.row_bytes
    )
    return Prediction(
        layers=layers,
        peak=max(layer.held for layer in layers),
        blobs=max(layer.kept for layer in layers),
        older=older,
        checkpoints=checkpoints,
        checkpoint_seconds=checkpoints * map_seconds,
        map_seconds=map_seconds,
        database=0.0 if cluster.histogram_only else shape.keys * costs.map_bytes,
        worker_bytes=costs.process_memory + worker,
        coordinator_bytes=costs.process_memory + coordinator,
        start_seconds=costs.start_seconds,
    )


def _marked(sizes: Sequence[float], residues: ResidueForm | None, end: int) -> float:
    """Bytes of the layers before the depth ``end`` that a residue map is made of."""
    if residues is None:
        return 0.0
    return sum(size for depth, size in enumerate(sizes[: max(end, 0)]) if residues.number(depth))


def _with_older(layer: LayerCost, cluster: Cluster, costs: Costs, older: float) -> LayerCost:
    """The layer with blobs that no step reads any more."""
    held = older * costs.held_over * cluster.blobs_in_redis
    return replace(layer, kept=layer.kept + older, held=layer.held + held)


def _step_memory(shape: Shape, memory: int, costs: Costs) -> float:
    """What a step holds besides what the process keeps, ``memory`` at most. Where blocks are stepped as bitmaps: these.
    Else coded: at most twice the shards that the slots hold, or all inputs; what is excluded; what is found, in pieces
    and joined."""
    if not shape.coded:
        return shape.bitmap * (shape.inputs_per_block + 3)
    layers = [layer_bytes(shape, depth, states, costs) for depth, states in enumerate(shape.layers)]
    blob = max(size / blobs for blobs, size in layers if blobs)
    return min(shape.inputs_per_block * blob, 2 * memory * blob / shape.bitmap) + 3 * blob


def touched(shape: Shape, depth: int) -> float:
    """The part of a layer's lines that hold a state: the others are passed by."""
    lines = shape.lines * sum(shape.blocks_at(depth).values()) / shape.keys
    return 1 - exp(-shape.layers[depth] / lines)


def small_blocks(shape: Shape, states: float) -> float:
    """Blocks that a thin layer has states in: they keep together. Fitted to sliding-3x5 up to 378,761 states."""
    return float(min(len(shape.blocks_at(0)), 5.5 * max(1.0, states) ** 0.57))


def _layer(
    shape: Shape,
    cluster: Cluster,
    locality: Locality,
    costs: Costs,
    sizes: Sequence[float],
    found: Sequence[int],
    depth: int,
    states: int,
) -> LayerCost:
    def size(of: int) -> float:
        return sizes[of] if 0 <= of < len(sizes) else 0.0

    blocks = len(shape.blocks_at(depth))
    known = shape.layers[depth - 1]
    sent = known > cluster.small_states or small_blocks(shape, known) > cluster.small_blocks
    written, (blobs, _) = size(depth), layer_bytes(shape, depth, states, costs)
    before = size(depth - 1) * shape.inputs_per_block * blocks / max(1, len(shape.blocks_at(depth - 1)))
    two_before = size(depth - 2)
    visited = 0.0
    if shape.exclude == "all":
        _, visited = layer_bytes(shape, depth, found[min(depth, len(found) - 1)], costs)
        _, two_before = layer_bytes(shape, depth, found[depth - 1], costs)
        written += visited if states else 0.0
        blobs *= 2
    read = (before * (1 - locality.before) + two_before * (1 - locality.two_before)) if sent else 0.0
    kept = size(depth) + size(depth - 1) + size(depth - 2) + visited
    queued = costs.message_held if cluster.celery and sent else 0.0
    records = blocks * 3 * (costs.record_held + costs.shard_held * shape.shards / shape.blocks)
    held = costs.run_held + kept * costs.held_over * cluster.blobs_in_redis + records + blocks * queued
    if not sent:
        own = costs.small_layer_seconds + small_blocks(shape, states) * costs.small_block_seconds
        return LayerCost(depth, states, 0, blobs, written, read, kept, held, coordinator_seconds=own)
    fetched = blocks * (shape.inputs_per_block * (1 - locality.before) + 1 - locality.two_before)
    pulled = blocks * shape.bitmap * (costs.fresh_seconds + shape.inputs_per_block * costs.kernel_seconds)
    worker = (
        blocks * costs.step_seconds
        + blocks * (costs.celery_seconds if cluster.celery else 0.0)
        + (pulled + fetched * shape.bitmap * costs.fill_seconds) * touched(shape, depth - 1)
        + read * costs.decode_seconds
        + written * costs.encode_seconds
    )
    turns = -(-blocks // cluster.workers) / (blocks / cluster.workers)  # the last turn is not full
    through = (written + read) / cluster.nodes * cluster.blobs_in_redis
    main = through + blocks * costs.step_bytes
    commands = blocks * costs.step_commands
    served = commands * costs.redis_command_seconds + main * costs.redis_byte_seconds
    coordinator = costs.layer_seconds + blocks * costs.block_seconds
    times = {
        "worker_seconds": worker * turns / cluster.workers,
        "redis_seconds": max(main / cluster.network, served),
        "coordinator_seconds": coordinator / max(0.1, 1 - blocks * costs.look_seconds),
        "shared_seconds": (worker + served * cluster.nodes + coordinator) / cluster.cores
        if cluster.cores
        else 0.0,
    }
    return LayerCost(depth, states, blocks, blobs, written, read, kept, held, **times)


def _checkpoints(
    layers: Sequence[LayerCost], sizes: Sequence[float], cluster: Cluster, map_seconds: float
) -> tuple[int, float]:
    """How many checkpoints there are before the last, by the coordinator's rule, and the most bytes of layers that no
    step needs and no checkpoint has."""
    if cluster.histogram_only:
        return 0, 0.0
    number, since, waiting, most, cost = 0, 0.0, 0.0, 0.0, 0.0
    for layer in layers:
        since += layer.seconds
        waiting += sizes[layer.depth - 3] if layer.depth >= 3 else 0.0
        most = max(most, waiting)
        if since >= max(cluster.checkpoint_seconds, 10 * cost):
            number, since, waiting, cost = number + 1, 0.0, 0.0, map_seconds
    return number, most
