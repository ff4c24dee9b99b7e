"""Estimates of what a job will need, and what this machine has."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.coordinator.settings import Estimate, MapKind, Settings
from farthest.environment import BLOBS, BLOCK_SIZE, MAPS, REDIS_NODES
from farthest.errors import NoRoomError, RedisFullError, RedisTooSmallError, ResourceError
from farthest.map_files.places import FolderMaps
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces.contract import gather, known_states
from farthest.stores.blobs.place import REDIS
from farthest.stores.blocks import MOST_BLOCKS
from farthest.stores.memory.gather_store import gathered_form
from farthest.wording import available_memory, bytes_text

if TYPE_CHECKING:
    from farthest.map_files.place import MapPlace
    from farthest.spaces.contract import GatherSpace, Space
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes


PROCESS_BYTES = 80 * 2**20
"""Memory of the interpreter, its libraries, and the chunks being compressed."""

SHARD_BYTES = 2000
"""Memory of the kernel and the coordinator for a shard, besides its rows."""

ROW_BYTES = 64
"""Disk for a readable row of a state, about."""

SCATTER_BYTES = 16
"""Memory for a state of a space given by its successors, about: its place in a sorted run, and its share of the
successors of the largest layer."""

SPARSE_DISK_BYTES = 4
"""Disk for a state in a sparse map, compressed, about."""

BLOB_BYTES_GATHERED = {("sliding", "step"): 0.21, ("sliding", "slide"): 0.35}
BLOB_BYTES_PER_KEY = 0.58
"""Blobs for a state of a space of bitmaps, at their peak, with all else in Redis: the layers that are held at once,
compressed. Measured on 3x4 in both metrics, and on pancake-12 for all others, whose few large layers take the most
(docs/scaling.md)."""

BLOB_BYTES_SCATTERED = {"dense": 1, "sparse": 12}
"""Blobs for a state of a space given by its successors, about: its share of the largest layers and of their successors
(docs/scaling.md)."""

KEPT_BYTES = {4: 0.2, 3: 0.1}
"""Blobs for a state that only a residue map is made of, by its modulus, beside those of steps: the least of the model's
figures for sliding-3x4, 2x6, 2x7, pancake-10 and pancake-12 (cluster_model)."""

RECORDS_BYTES = 4 * 2**20
BLOCK_RECORDS_BYTES = 2000
"""Redis memory where the blobs are elsewhere, for a job and for each block: records at three depths, and a message
(docs/scaling.md)."""

MOST_MAP_KEYS = 2**40
"""Most keys of a dense map: a byte for each key is made and compressed, so such a map takes about an hour."""

UNKNOWN_DEPTH = 125
"""The depth for which distance planes are planned where nothing is known; deeper spaces need one or two more planes."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_limit(settings: Settings) -> int:
    """Bytes that the job may use."""
    return available_memory() * 4 // 5 if settings.memory is None else settings.memory


def check_shards(space: GatherSpace, settings: Settings) -> None:
    """Raises ResourceError when the places of the first label (the blanks), each a shard, are too many."""
    places = space.shards_at(1)
    memory, limit = places * SHARD_BYTES, memory_limit(settings)
    if memory > max(limit, PROCESS_BYTES):
        raise ResourceError(
            f"puzzle {space.puzzle.name}: the places of its blanks, {places:,}, need about "
            f"{bytes_text(memory)} of memory, more than the {bytes_text(limit)} allowed; "
            f"{_more_memory(memory)}take fewer blanks"
        )


def _more_memory(needed: int) -> str:
    """The advice to allow more memory, if the machine has more."""
    return f"allow more with --memory {-(-needed // 2**20)}MiB, or " if needed <= available_memory() else ""


def estimate(puzzle: Puzzle, kernel: _kernel.Space, settings: Settings, *, in_place: bool) -> Estimate:
    """Memory and disk for a job. ``in_place``: one layer array suffices."""
    memory = _memory(puzzle, kernel, settings, in_place, kind=map_kind(settings))
    disk = _disk(kernel.keys, settings)
    if settings.residues:
        disk = kernel.words * 8 * _residue_planes(in_place) + settings.state_rows * ROW_BYTES
    return Estimate(kernel.keys, memory, disk, memory_limit(settings))


def estimate_scatter(space: Space, settings: Settings) -> Estimate:
    """Memory and disk for a job on sorted runs, if the number of states is known; else the limit, at which such a job
    ends."""
    limit = memory_limit(settings)
    most = space.puzzle.definition.arrangements() if space.keys is None else space.keys
    known = known_states(space)
    if known is None or settings.max_depth is not None:
        return Estimate(most, limit, 0, limit)
    states, _ = known
    disk = 0
    if not settings.histogram_only:
        of_map = states * SPARSE_DISK_BYTES if space.keys is None else states // 2
        if settings.residues and space.keys is not None:
            of_map = space.keys // 4
        disk = of_map + min(states, settings.state_rows) * ROW_BYTES
    return Estimate(most, states * SCATTER_BYTES + PROCESS_BYTES, disk, limit)


def estimate_pattern(space: Space, settings: Settings) -> Estimate:
    """Memory and disk for an additive pattern: the working arrays, and a byte a placement."""
    from farthest.families.sliding.patterns import PatternSpace

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


def estimate_workers(space: Space, settings: Settings, nodes: RedisNodes, place: BlobPlace) -> Estimate:
    """Redis memory and disk for a job with workers; the limit is what the servers may use, or their machines have.

    Where the blobs are in another ``place``, Redis has the records alone, and the place is to have room for the blobs.
    Raises RedisTooSmallError when Redis is certainly too small, NoRoomError when the place has certainly too little
    room now, RedisFullError when a server has no memory left now.
    """
    limit = _redis_memory(nodes)
    known, _ = known_states(space) or (None, "")
    redis: int | None
    if space.engine == "scatter":
        needs = estimate_scatter(space, settings)
        each = BLOB_BYTES_SCATTERED["sparse" if space.keys is None else "dense"]
        keys, disk = needs.states_at_most, needs.disk
        redis = certain = known * each if known is not None and settings.max_depth is None else None
    else:
        keys = gather(space).keys
        disk = _disk(keys, settings)
        kind = space.puzzle.family, space.puzzle.metric
        a_state = BLOB_BYTES_GATHERED.get(kind, BLOB_BYTES_PER_KEY)
        if settings.residues:
            form = gathered_form(gather(space), settings.max_depth)
            disk = form.words * 8 + settings.state_rows * ROW_BYTES
            a_state += KEPT_BYTES[form.modulus]
        redis = int((known or keys) * a_state)
        # Where nothing is known, half of the keys may stand for no state.
        certain = None if settings.max_depth is not None else redis if known else redis // 2
    states = known if known and space.engine == "scatter" else keys
    if place.url != REDIS:
        _check_room(space, states, certain, place)
        blocks = 0 if space.engine == "scatter" else keys // 8 // max(BLOCK_SIZE.size(), 1)
        blocks = min(blocks, 2 * MOST_BLOCKS)
        redis = RECORDS_BYTES + blocks * BLOCK_RECORDS_BYTES
        certain = redis if settings.max_depth is None else None
    if redis is not None and certain is not None and certain > limit:
        raise _redis_too_small(space, states, redis, limit, place)
    return Estimate(keys, limit if redis is None else redis, disk, limit)


def _redis_memory(nodes: RedisNodes) -> int:
    """Bytes that the servers may use, or their machines have. Raises RedisFullError."""
    from farthest.stores.redis.connections import MORE_MEMORY

    limit = 0
    for client, place in zip(nodes.clients, nodes.places, strict=True):
        memory: Any = nodes.call(partial(client.info, "memory"))
        most, used = int(memory["maxmemory"]), int(memory["used_memory"])
        if 0 < most < used:  # its memory has shrunk, or is all in use: it is not known how much a job may use
            raise RedisFullError(
                f"{place}: Redis has no memory left ({bytes_text(used)} of {bytes_text(most)} used); {MORE_MEMORY}"
            )
        limit += most or int(memory["total_system_memory"])
    return limit


def _check_room(space: Space, states: int, certain: int | None, place: BlobPlace) -> None:
    """Raises NoRoomError where a place has less room than its blobs certainly need."""
    free = place.free()
    if certain is not None and free is not None and certain > free:
        raise NoRoomError(
            f"puzzle {space.puzzle.name}: up to {states:,} states need {bytes_text(certain)} of blobs at a time or "
            f"more, but {place.url} has {bytes_text(free)} free; make room, or name another place with {BLOBS.name}"
        )


def _redis_too_small(
    space: Space, states: int, redis: int, limit: int, place: BlobPlace
) -> RedisTooSmallError:
    if place.url == REDIS:
        mend = f"add servers with {REDIS_NODES.name}, keep blobs elsewhere with {BLOBS.name}"
    else:
        mend = f"take larger blocks with {BLOCK_SIZE.name}"
    return RedisTooSmallError(
        f"puzzle {space.puzzle.name}: up to {states:,} states need about {bytes_text(redis)} of Redis, more "
        f"than the {bytes_text(limit)} of its servers; raise maxmemory, {mend}, or take a smaller board"
    )


def _disk(keys: int, settings: Settings) -> int:
    return 0 if settings.histogram_only else keys // 2 + min(keys, settings.state_rows) * ROW_BYTES


def check_memory(
    puzzle: Puzzle, kernel: _kernel.Space, settings: Settings, needs: Estimate, *, in_place: bool
) -> None:
    """Raises ResourceError, with advice, when the job may need more memory than it is allowed."""
    if needs.memory <= needs.memory_limit:
        return
    counting = _memory(puzzle, kernel, settings, in_place, kind="none")
    residues = _memory(puzzle, kernel, settings, in_place, kind="residues")
    if settings.keeps_distances and kernel.reversible and residues <= needs.memory_limit:
        advice = f"use --map residues, which needs {bytes_text(residues)}"
    elif settings.keeps_distances and kernel.reversible:
        advice = (
            "use --map residues, a smaller map, or --histogram-only, which keeps none: both keep their layers in files "
            "where they do not fit the memory"
        )
    elif counting <= needs.memory_limit:
        advice = f"use --histogram-only, which needs {bytes_text(counting)} and keeps no map"
    else:
        advice = "use --histogram-only, which keeps no map, and its layers in files where they do not fit the memory"
    raise ResourceError(
        f"puzzle {puzzle.name}: up to {needs.states_at_most:,} states need about {bytes_text(needs.memory)} of memory, "
        f"more than the {bytes_text(needs.memory_limit)} allowed; {_more_memory(needs.memory)}{advice}"
    )


def check_map(space: Space, settings: Settings) -> None:
    """Raises ResourceError where the map would have more keys, most of them without a state, than can be stored."""
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


def check_map_place(puzzle: Puzzle, needs: Estimate, maps: MapPlace) -> None:
    """Raises ResourceError when the place of map files has clearly too little room for the map."""
    free = maps.free()
    if free is not None and needs.disk > free:
        raise ResourceError(
            f"puzzle {puzzle.name}: the residue map needs about {bytes_text(needs.disk)} of disk, but {maps.where} has "
            f"{bytes_text(free)} free; name another place with {MAPS.name}, or use --map none"
        )


def check_map_and_layers(puzzle: Puzzle, needs: Estimate, maps: MapPlace, kept: int) -> None:
    """The same where the map is made of layers in files; ``kept``: their bytes then, which may be on the same disk. On
    its way to an object store most of the map waits beside them."""
    check_map_place(puzzle, needs, maps)
    if needs.scratch is None:
        return
    if isinstance(maps, FolderMaps):
        folder, free = maps.existing(), maps.free()
    else:
        folder, free = needs.scratch, shutil.disk_usage(needs.scratch).free
    if os.stat(folder).st_dev == os.stat(needs.scratch).st_dev and needs.disk + kept > free:
        raise ResourceError(
            f"puzzle {puzzle.name}: the residue map needs about {bytes_text(needs.disk)} of disk, and the layers that "
            f"it is made of {bytes_text(kept)}, but {folder} has {bytes_text(free)} free for both; name another disk "
            f"for one of them with {MAPS.name} or --scratch, or use --map none"
        )


def map_kind(settings: Settings) -> MapKind:
    """The map that a dense space gets."""
    return "none" if settings.histogram_only else "residues" if settings.residues else "full"


def _residue_planes(in_place: bool) -> int:
    return 1 if in_place else 2


def _memory(
    puzzle: Puzzle, kernel: _kernel.Space, settings: Settings, in_place: bool, *, kind: MapKind
) -> int:
    layer = kernel.words * 8 + kernel.lines
    arrays = 1 if in_place else 2 if kernel.reversible or kernel.graded else 3
    if kind == "residues":
        arrays += _residue_planes(in_place)
    if kind == "full":
        known = [answer.eccentricity for answer in puzzle.known if answer.eccentricity is not None]
        depth = max(known) if known else UNKNOWN_DEPTH
        if settings.max_depth is not None:
            depth = min(depth, settings.max_depth)
        arrays += ((depth >> in_place) + 1).bit_length()
    return arrays * layer + kernel.row_bytes + kernel.shards * SHARD_BYTES + PROCESS_BYTES
