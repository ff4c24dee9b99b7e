"""What a job will need, before it starts; and what this machine has."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.coordinator.settings import Estimate, Settings
from farthest.errors import RedisFullError, RedisTooSmallError, ResourceError
from farthest.puzzles.puzzle import Puzzle
from farthest.sizes import bytes_text
from farthest.spaces.contract import gather

if TYPE_CHECKING:
    from farthest.spaces.contract import GatherSpace, Space
    from farthest.stores.redis.connections import RedisNodes

PROCESS_BYTES = 80 * 2**20
"""The interpreter, its libraries, and the chunks being compressed."""

SHARD_BYTES = 2000
"""What the kernel and the coordinator keep for a shard besides its rows."""

ROW_BYTES = 64
"""Of a readable row of a state, about."""

SCATTER_BYTES = 16
"""For a state of a space given by its successors, about: its place in a sorted run, and its share of the successors of
the largest layer."""

SPARSE_DISK_BYTES = 4
"""Of a state in a sparse map, compressed, about."""

REDIS_BYTES_GATHERED = {("sliding", "step"): 0.21, ("sliding", "slide"): 0.35}
REDIS_BYTES_PER_KEY = 0.58
"""For a state of a space of bitmaps: Redis at its fullest, with the layers that it holds at once, compressed. Measured
on 3x4 in both metrics, and on pancake-12 for all others, whose few large layers take the most (docs/scaling.md)."""

REDIS_BYTES_SCATTERED = {"dense": 1, "sparse": 12}
"""For a state of a space given by its successors, about: its share of the largest layers and of what they lead to
(docs/scaling.md)."""

MOST_MAP_KEYS = 2**40
"""Of a dense map: a byte for each, states or not, is made and compressed, so that such a map takes an hour or so."""

UNKNOWN_DEPTH = 125
"""Depth to plan the distance planes for where nothing is known; deeper spaces need another plane or two."""

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_memory() -> int:
    """Bytes of memory that are free for this process, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
                break
        else:
            raise OSError
    except OSError:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(free, int(_CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):  # no limit: the file is not there, or says "max"
        return free


def memory_limit(settings: Settings) -> int:
    """Bytes that the job may use."""
    return available_memory() * 4 // 5 if settings.memory is None else settings.memory


def check_shards(space: GatherSpace, settings: Settings) -> None:
    """Raises ResourceError when the places of the first label alone (the blanks), each a shard, are too many to begin
    with."""
    places = space.shards_at(1)
    memory, limit = places * SHARD_BYTES, memory_limit(settings)
    if memory > max(limit, PROCESS_BYTES):
        raise ResourceError(
            f"puzzle {space.puzzle.name}: the places of its blanks, {places:,}, need about "
            f"{bytes_text(memory)} of memory, more than the {bytes_text(limit)} allowed; "
            f"{_more_memory(memory)}take fewer blanks"
        )


def _more_memory(needed: int) -> str:
    """The advice to allow more, where there is more."""
    return f"allow more with --memory {-(-needed // 2**20)}MiB, or " if needed <= available_memory() else ""


def estimate(puzzle: Puzzle, kernel: _kernel.Space, settings: Settings, *, in_place: bool) -> Estimate:
    """Memory and disk for a job. ``in_place``: one layer array suffices."""
    memory = _memory(puzzle, kernel, settings, in_place, distances=not settings.histogram_only)
    return Estimate(kernel.keys, memory, _disk(kernel.keys, settings), memory_limit(settings))


def estimate_scatter(space: Space, settings: Settings) -> Estimate:
    """Memory and disk for a job on sorted runs, where it is known how many states there are; else no more than the
    limit, at which such a job ends."""
    limit = memory_limit(settings)
    most = space.puzzle.definition.arrangements() if space.keys is None else space.keys
    known = [answer.states for answer in space.puzzle.known if answer.states is not None]
    if not known or settings.max_depth is not None:
        return Estimate(most, limit, 0, limit)
    states = max(known)
    disk = 0
    if not settings.histogram_only:
        of_map = states * SPARSE_DISK_BYTES if space.keys is None else states // 2
        disk = of_map + min(states, settings.state_rows) * ROW_BYTES
    return Estimate(most, states * SCATTER_BYTES + PROCESS_BYTES, disk, limit)


def estimate_pattern(space: Space, settings: Settings) -> Estimate:
    """Memory and disk for an additive pattern: the working arrays, and a byte a placement."""
    from farthest.families.sliding.pattern_space import PatternSpace

    assert isinstance(space, PatternSpace)
    memory = space.kernel.work_bytes + space.keys + PROCESS_BYTES
    return Estimate(space.keys, memory, _disk(space.keys, settings), memory_limit(settings))


def check_pattern(space: Space, needs: Estimate) -> None:
    """Raises ResourceError, with advice, when an additive pattern needs more memory than it is allowed."""
    if needs.memory > needs.memory_limit:
        raise ResourceError(
            f"puzzle {space.puzzle.name}: its {needs.states_at_most:,} placements need about "
            f"{bytes_text(needs.memory)} of memory, more than the {bytes_text(needs.memory_limit)} allowed; "
            f"{_more_memory(needs.memory)}take fewer pieces"
        )


def estimate_workers(space: Space, settings: Settings, nodes: RedisNodes) -> Estimate:
    """Redis memory and disk for a job with workers; the limit is what the servers may use, or their machines have.

    Raises RedisTooSmallError when that is certainly too little, RedisFullError when a server has no memory left now.
    """
    from farthest.stores.redis.connections import MORE_MEMORY

    limit = 0
    for client, place in zip(nodes.clients, nodes.places, strict=True):
        memory: Any = nodes.call(partial(client.info, "memory"))
        most, used = int(memory["maxmemory"]), int(memory["used_memory"])
        if 0 < most < used:  # which has shrunk, or is all in use: how much a job may use cannot be said
            raise RedisFullError(
                f"{place}: Redis has no memory left ({bytes_text(used)} of {bytes_text(most)} used); {MORE_MEMORY}"
            )
        limit += most or int(memory["total_system_memory"])
    known = [answer.states for answer in space.puzzle.known if answer.states is not None]
    if space.engine == "scatter":
        needs = estimate_scatter(space, settings)
        each = REDIS_BYTES_SCATTERED["sparse" if space.keys is None else "dense"]
        redis = max(known) * each if known and settings.max_depth is None else limit
        if redis > limit:
            raise _redis_too_small(space, max(known), redis, limit)
        return Estimate(needs.states_at_most, redis, needs.disk, limit)
    keys = gather(space).keys
    kind = space.puzzle.family, space.puzzle.metric
    redis = int(max(known, default=keys) * REDIS_BYTES_GATHERED.get(kind, REDIS_BYTES_PER_KEY))
    # Where nothing is known, half of the keys may stand for no state.
    if settings.max_depth is None and redis > limit * (1 if known else 2):
        raise _redis_too_small(space, keys, redis, limit)
    return Estimate(keys, redis, _disk(keys, settings), limit)


def _redis_too_small(space: Space, states: int, redis: int, limit: int) -> RedisTooSmallError:
    return RedisTooSmallError(
        f"puzzle {space.puzzle.name}: up to {states:,} states need about {bytes_text(redis)} of Redis, more "
        f"than the {bytes_text(limit)} of its servers; raise maxmemory, add servers with FARTHEST_REDIS_NODES, or "
        "take a smaller board"
    )


def _disk(keys: int, settings: Settings) -> int:
    return 0 if settings.histogram_only else keys // 2 + min(keys, settings.state_rows) * ROW_BYTES


def check_memory(
    puzzle: Puzzle, kernel: _kernel.Space, settings: Settings, needs: Estimate, *, in_place: bool
) -> None:
    """Raises ResourceError, with advice, when the job may need more memory than it is allowed."""
    if needs.memory <= needs.memory_limit:
        return
    counting = _memory(puzzle, kernel, settings, in_place, distances=False)
    smaller = "take a smaller board, or make more pieces identical"
    if settings.histogram_only:
        advice = smaller
    elif counting <= needs.memory_limit:
        advice = f"use --histogram-only, which needs {bytes_text(counting)} and keeps no map"
    elif kernel.reversible or kernel.graded:
        advice = "use --histogram-only, which keeps no map, and its layers in files where they do not fit the memory"
    else:
        advice = f"even --histogram-only needs {bytes_text(counting)}: {smaller}"
    raise ResourceError(
        f"puzzle {puzzle.name}: up to {needs.states_at_most:,} states need about {bytes_text(needs.memory)} of memory, "
        f"more than the {bytes_text(needs.memory_limit)} allowed; {_more_memory(needs.memory)}{advice}"
    )


def check_map(space: Space, settings: Settings) -> None:
    """Raises ResourceError where the map would have more keys, most of them without a state, than can be written."""
    if not settings.histogram_only and space.keys is not None and space.keys > MOST_MAP_KEYS:
        raise ResourceError(
            f"puzzle {space.puzzle.name}: its map would have a distance for each of {space.keys:.2e} keys, more than "
            f"the {MOST_MAP_KEYS:.1e} that can be stored; use --histogram-only, which keeps no map, take a smaller "
            "puzzle, or search for solutions of single boards with `farthest solve`"
        )


def check_disk(puzzle: Puzzle, needs: Estimate, folder: Path) -> None:
    """Raises ResourceError when the folder of the database has clearly too little room for the map."""
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if needs.disk > free:
        raise ResourceError(
            f"puzzle {puzzle.name}: the map needs about {bytes_text(needs.disk)} of disk, but {folder} has "
            f"{bytes_text(free)} free; name a database elsewhere with --database, or use --histogram-only"
        )


def _memory(
    puzzle: Puzzle, kernel: _kernel.Space, settings: Settings, in_place: bool, *, distances: bool
) -> int:
    layer = kernel.words * 8 + kernel.lines
    arrays = 1 if in_place else 2 if kernel.reversible or kernel.graded else 3
    if distances:
        known = [answer.eccentricity for answer in puzzle.known if answer.eccentricity is not None]
        depth = max(known) if known else UNKNOWN_DEPTH
        if settings.max_depth is not None:
            depth = min(depth, settings.max_depth)
        arrays += ((depth >> in_place) + 1).bit_length()
    return arrays * layer + kernel.row_bytes + kernel.shards * SHARD_BYTES + PROCESS_BYTES
