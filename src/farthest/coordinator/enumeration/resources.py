"""The resources of an enumeration in one process, worked out before it starts: layers, memory, disk, time.

Constants were measured; docs/scaling.md compares what they say with runs. Layers in files have theirs in
layers_in_files.py, workers in workers_model.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, erf, exp, expm1, sqrt
from time import thread_time
from typing import TYPE_CHECKING

from farthest.coordinator.settings import STATE_ROWS, MapKind
from farthest.spaces.contract import ReducedRunsSpace, ScatterSpace, Space, gather, known_states
from farthest.wording import counted

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.puzzles.puzzle import Puzzle

# Layers

LARGEST_SHARE = {True: 0.19, False: 0.4}
"""Of the keys that a layer's states can be at, what the largest layer has at most where no layers are published; by
whether the layers are of two colours, as those of sliding boards (0.18 of a colour at most from 10 cells on), or not,
as those of pancakes (0.36)."""

LARGEST_OF_UNITED = 0.65
"""The same where all states so far are kept, as of cubes, whose layers grow ten times and then end at once: 0.55 and
0.57 of the cube of three colours, 0.71 of the places of its pieces. So its edges take the disk that they took."""

FEW_STATES = 2**13
"""Of so many states the first layers are found to see how they grow: some hundredths of a second."""

MOST_LAYERS, MOST_STATES = 10_000, 2**62
"""More layers, and larger ones, are not worked out."""


@dataclass(frozen=True, slots=True)
class ExpectedLayers:
    """``states[d]``: at depth d. ``published``: counted by others; else assumed. ``source``: who has counted them, or
    what is assumed."""

    states: tuple[int, ...]
    published: bool
    source: str


def published_layers(space: Space, max_depth: int) -> tuple[int, ...]:
    """The layers up to a depth, or up to the last one where that is sooner; empty where not all are published."""
    if space.origin != space.puzzle.origin:
        return ()
    for answer in space.puzzle.known:
        if answer.layers or len(answer.first_layers or ()) > max_depth:
            return (answer.layers or answer.first_layers or ())[: max_depth + 1]
    return ()


def layers_by_growth(space: Space, max_depth: int = MOST_LAYERS) -> tuple[int, ...]:
    """About as many layers as are asked for: the first ones, which are found here; then as many more states as if the
    moves from a layer, at the rate at which the last of these layers grew, led to any of the states that are left."""
    from farthest.search.solvable import layers_of_boards

    layers: list[int] = []
    for boards in layers_of_boards(space):
        layers.append(len(boards))
        if len(layers) > max_depth or sum(layers) >= FEW_STATES:
            break
    reached, _ = known_states(space) or (space.keys or MOST_STATES, "")
    left = min(reached, MOST_STATES) - sum(layers)
    growth = layers[-1] / layers[-2] if len(layers) > 1 else 0.0
    while len(layers) <= max_depth and left > 0 and layers[-1] > 0:
        layers.append(round(left * -expm1(-growth * layers[-1] / left)))
        left -= layers[-1]
    return tuple(layers)


def expected_layers(space: Space, *, keys: int, in_place: bool, max_depth: int | None) -> ExpectedLayers:
    """The layers of a space with so many keys. ``in_place``: those of one parity have one colour of keys."""
    published = max(
        (answer for answer in space.puzzle.known if answer.layers and space.origin == space.puzzle.origin),
        key=lambda answer: len(answer.layers or ()),
        default=None,
    )
    end = None if max_depth is None else max_depth + 1
    if published is not None and published.layers:
        return ExpectedLayers(published.layers[:end], True, f"published: {published.source}")
    share = LARGEST_OF_UNITED if gather(space).kernel.united else LARGEST_SHARE[in_place]
    reached, _ = known_states(space) or (keys, "")
    states = _bell(min(reached, keys), share / 2 if in_place else share)[:end]
    named = "of one colour" if in_place else "of all"
    return ExpectedLayers(
        tuple(states),
        False,
        f"assumed: no layers are published; the largest has {share:.0%} {named} keys, "
        f"the others fall off like a bell, in {counted(len(states), 'layer')}",
    )


def _bell(keys: int, share: float) -> list[int]:
    """Layers of a normal distribution whose largest has that share of all keys."""
    width = 1 / (share * 2.5066)
    reach = ceil(6 * width)
    layers: list[int] = []
    below = 0.0
    for depth in range(2 * reach + 1):
        upto = (1 + erf((depth - reach + 0.5) / width / sqrt(2))) / 2
        layers.append(max(1, round((upto - below) * keys)))
        below = upto
    return layers


# Memory, and the disk of the map

PROCESS_BYTES = 80 * 2**20
"""Memory of the interpreter, its libraries, and the chunks being compressed."""

SHARD_BYTES = 2000
"""Memory of the kernel and the coordinator for a shard, besides its rows."""

SCATTER_BYTES = 16
"""Memory for a state of a space given by its successors, about: its place in a sorted run, and its share of the
successors of the largest layer."""

ROW_BYTES = 64
"""Disk for a readable row of a state, about."""

SPARSE_DISK_BYTES = 4
"""Disk for a state in a sparse map, compressed, about."""

UNKNOWN_DEPTH = 125
"""The depth for which distance planes are planned where nothing is known; deeper spaces need one or two more planes."""


def bitmaps_memory(
    puzzle: Puzzle, kernel: _kernel.Space, kind: MapKind, *, in_place: bool, max_depth: int | None
) -> int:
    """Memory for layers of bitmaps and a map of that kind. ``in_place``: one layer array suffices."""
    arrays = 1 if in_place else 2 if kernel.reversible or kernel.graded else 3
    if kind == "residues":
        arrays += residue_planes(in_place=in_place)
    if kind == "full":
        published = [answer.eccentricity for answer in puzzle.known if answer.eccentricity is not None]
        depth = max(published) if published else UNKNOWN_DEPTH
        if max_depth is not None:
            depth = min(depth, max_depth)
        arrays += ((depth >> in_place) + 1).bit_length()
    layer = kernel.words * 8 + kernel.lines
    return arrays * layer + kernel.row_bytes + kernel.shards * SHARD_BYTES + PROCESS_BYTES


def runs_memory(space: ScatterSpace, layers: Sequence[int], *, counted_only: bool) -> int:
    """Memory for these layers of sorted runs, the last of which is the last that is asked for: where they are only
    counted, that one is not kept, nor those before the last three of the others where moves can be taken back."""
    from farthest.stores.memory.scatter_store import ROOM

    held = sum(layers[-4:-1]) if space.undirected and counted_only else sum(layers)
    return SCATTER_BYTES * held + min(ROOM, SCATTER_BYTES * sum(layers)) + PROCESS_BYTES


def reduced_runs_memory(space: ReducedRunsSpace, layers: Sequence[int], threads: int) -> int:
    """Memory for layers of so many codes of representatives, three at once where moves can be taken back, else all; and
    of each thread the successors of a shard."""
    codes = most_at_once(layers) if space.undirected else sum(layers)
    successors = space.moves * max(layers, default=0) // space.shards
    return space.code_bytes * (codes + 2 * threads * successors) + PROCESS_BYTES


def most_at_once(sizes: Sequence[int]) -> int:
    """The most of three layers in a row."""
    return max((sum(sizes[at : at + 3]) for at in range(len(sizes))), default=0)


def residue_planes(*, in_place: bool) -> int:
    """Bits of a key in a residue map."""
    return 1 if in_place else 2


def map_bytes(kind: MapKind, states: int, words: int = 0) -> int:
    """Disk for a map of so many states, or keys, with its readable rows. ``words``: bytes of a residue map's words."""
    if kind == "none":
        return 0
    each = {"full": states // 2, "sparse": states * SPARSE_DISK_BYTES, "residues": words}[kind]
    return each + min(states, STATE_ROWS) * ROW_BYTES


# Time: processor seconds of one core of an AMD EPYC 7003, with AVX2.

SOURCE_SECONDS = 0.12e-9
"""Layers in memory: a byte of bitmap and a move that leads to it. Of the processor time without the start: 0.12e-9 on
sliding-2x6 and 3x4, 0.2e-9 on pancake-11 (0.33, 0.25 and 0.15 s)."""

MAP_SECONDS = 11e-9
"""A key of a map: made and stored (benchmarks/scaling.py, sliding-3x4)."""

SCATTER_SECONDS = 1e-6
"""A state that is found as a successor of others, and sorted among them: diabolical-box (1.4e-6 for red-donkey, 0.2e-6
for hanoi-4-9)."""

PACKED_SECONDS = 0.25e-6
"""The same of packed boards: cube-3x3x3 to depth 7 (0.18e-6), cube-3x3x3-qtm to depth 9, 15-puzzle to depth 27."""

REDUCED_RUNS_SECONDS = 75e-9
"""A successor among codes of representatives: cube-3x3x3 to depth 10, cube-3x3x3-qtm to depth 11."""

PATTERN_SECONDS = 0.2e-6
"""A placement of the pieces of an additive pattern (docs/patterns.md: 15-puzzle@1-7 and @8-15, on two cores)."""

REFERENCE_SECONDS = 0.005
"""What ``machine_speed`` measures on the processor above."""


def seconds_in_memory(kernel: _kernel.Space, states: Sequence[int], *, in_place: bool) -> float:
    """Processor seconds of layers in memory: of each, the lines that its states can be in."""
    lines = kernel.lines // 2 if in_place else kernel.lines
    bitmap = kernel.words * 8 // 2 if in_place else kernel.words * 8
    touched = sum(1 - exp(-number / lines) for number in states)
    return SOURCE_SECONDS * bitmap * moves_into(kernel) * touched


def moves_into(kernel: _kernel.Space) -> float:
    """The sources of a shard, on average of some."""
    some = range(0, kernel.shards, max(1, kernel.shards // 100))
    return sum(len(kernel.sources(shard)) for shard in some) / len(some)


@cache
def machine_speed() -> float:
    """How many times as long as on the processor that the constants are of the same work takes here: the layers of
    pancake-10, stepped by one thread in some 0.005 s."""
    from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
    from farthest.puzzles.catalogue import load
    from farthest.spaces import compile_space
    from farthest.spaces.contract import gather
    from farthest.stores.memory.gather_store import MemoryStore

    space = gather(compile_space(load("pancake-10")))
    best = float("inf")
    for _ in range(3):
        store = MemoryStore(space.kernel, space.keys_of(space.origins), distances=False)
        executor = ThreadsExecutor(1)
        begun, depth = thread_time(), 1
        while next_layer(store, executor, depth):
            depth += 1
        best = min(best, thread_time() - begun)
        store.drop()
    return max(best, 1e-6) / REFERENCE_SECONDS
