"""How long an enumeration takes: constants that were measured, times what a short measurement here says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp
from time import thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.coordinator.enumeration.file_needs import FileNeeds

# Processor seconds of one core of an AMD EPYC 7003, with AVX2.
BITMAP_SECONDS = 0.14e-9
CODED_SECONDS = 1.4e-9
"""Layers in files: a byte of the bitmaps that a layer's states can be in and a move that leads to it; a byte of files
that is read and decoded, or encoded and written. Fitted to sliding-2x7 and 3x5 and to pancake-12, on cores that
others used more or less: docs/scaling.md compares them."""

MARK_SECONDS = 0.45e-9
"""A residue map made of layers in files: a byte of the bitmaps of the layers that it is made of, decoded, and its share
of the map's checksums (sliding-2x7: 285 processor seconds in all, 217 without a map)."""

WALL = 1.4
"""Elapsed seconds of layers in files, beside processor seconds / threads, with 2 threads: 1.27 on sliding-2x7, 1.42 on
sliding-3x5."""

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

PATTERN_SECONDS = 0.2e-6
"""A placement of the pieces of an additive pattern (docs/patterns.md: 15-puzzle@1-7 and @8-15, on two cores)."""

REFERENCE_SECONDS = 0.005
"""What ``machine_speed`` measures on the processor above."""


def seconds_in_files(kernel: _kernel.Space, needs: FileNeeds) -> float:
    """Processor seconds of layers in files."""
    bitmaps = sum(layer.bitmap for layer in needs.layers)
    stepped = BITMAP_SECONDS * bitmaps * _moves_into(kernel) + CODED_SECONDS * (needs.read + needs.written)
    return stepped + MARK_SECONDS * needs.marked


def seconds_in_memory(kernel: _kernel.Space, states: Sequence[int], *, in_place: bool) -> float:
    """Processor seconds of layers in memory: of each, the lines that its states can be in."""
    lines = kernel.lines // 2 if in_place else kernel.lines
    bitmap = kernel.words * 8 // 2 if in_place else kernel.words * 8
    touched = sum(1 - exp(-number / lines) for number in states)
    return SOURCE_SECONDS * bitmap * _moves_into(kernel) * touched


def _moves_into(kernel: _kernel.Space) -> float:
    """The sources of a shard, on average of some."""
    some = range(0, kernel.shards, max(1, kernel.shards // 100))
    return sum(len(kernel.sources(shard)) for shard in some) / len(some)


@cache
def machine_speed() -> float:
    """How many times as long as on the processor that the constants are of the same work takes here: the layers of
    pancake-10, stepped by one thread in some 0.005 s."""
    from farthest.coordinator.enumeration.executors import ThreadsExecutor
    from farthest.coordinator.enumeration.layers import LayerSearch
    from farthest.puzzles.catalogue import load
    from farthest.spaces import compile_space
    from farthest.spaces.contract import gather
    from farthest.stores.memory.gather_store import MemoryStore

    space = gather(compile_space(load("pancake-10")))
    best = float("inf")
    for _ in range(3):
        store = MemoryStore(space.kernel, space.keys_of(space.origins), distances=False)
        search = LayerSearch(store, ThreadsExecutor(1))
        begun, depth = thread_time(), 1
        while search.next_layer(depth):
            depth += 1
        best = min(best, thread_time() - begun)
        store.drop()
    return max(best, 1e-6) / REFERENCE_SECONDS
