"""The layers of a space before it is enumerated: the published ones, else an assumption that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, erf, exp, log2, sqrt
from time import thread_time
from typing import TYPE_CHECKING

from farthest.spaces.contract import known_states
from farthest.stores.folder.run_files import RENEWED
from farthest.stores.folder.unit_file import file_bytes
from farthest.wording import counted

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.map_files.form import ResidueForm
    from farthest.spaces.contract import ScatterSpace, Space
    from farthest.stores.folder.plan import FolderCut, Plan


LARGEST_SHARE = {True: 0.19, False: 0.4}
"""Of the keys that a layer's states can be at, what the largest layer has at most where no layers are published; by
whether the layers are of two colours, as those of sliding boards (0.18 of a
colour at most from 10 cells on), or not, as those of pancakes (0.36)."""


FEW_STATES = 2**13
"""Of so many states the first layers are found to see how they grow: some hundredths of a second."""

MOST_STATES = 2**62
"""Larger layers are not worked out."""


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
    for known in space.puzzle.known:
        if known.layers or len(known.first_layers or ()) > max_depth:
            return (known.layers or known.first_layers or ())[: max_depth + 1]
    return ()


def layers_by_growth(space: Space, max_depth: int) -> tuple[int, ...]:
    """About as many layers as are asked for: the first ones, which are found here, and the next as if they grew as the
    last of these did. In most spaces layers grow less and less, so there are rarely more."""
    import numpy as np

    boards = np.array(space.origins, dtype=np.uint8)
    seen = np.unique(space.encode(boards))
    layers = [seen.size]
    while len(layers) <= max_depth and boards.size and seen.size < FEW_STATES:
        moved = np.concatenate([found for *_, found in space.neighbours(boards, toward=False)])
        codes, first = np.unique(space.encode(moved), return_index=True)
        new = ~np.isin(codes, seen)
        boards, seen = moved[first[new]], np.concatenate([seen, codes[new]])
        layers.append(len(boards))
    growth = layers[-1] / layers[-2] if len(layers) > 1 else 1.0
    while len(layers) <= max_depth and 0 < layers[-1] < MOST_STATES:
        layers.append(ceil(layers[-1] * growth))
    return tuple(layers)


def expected_layers(space: Space, *, keys: int, in_place: bool, max_depth: int | None) -> ExpectedLayers:
    """The layers of a space with so many keys. ``in_place``: those of one parity have one colour of keys."""
    known = max(
        (answer for answer in space.puzzle.known if answer.layers and space.origin == space.puzzle.origin),
        key=lambda answer: len(answer.layers or ()),
        default=None,
    )
    end = None if max_depth is None else max_depth + 1
    if known is not None and known.layers:
        return ExpectedLayers(known.layers[:end], True, f"published: {known.source}")
    share = LARGEST_SHARE[in_place]
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


# --- What layers in files need: disk at the peak, bytes written and read.

CODED = 1.06
"""Bytes of a coded bitmap beside its entropy (benchmarks/codec.py); 1.03 in the largest layers of sliding-3x5."""

BLOB_BYTES = 24
PIECE_BYTES = 2**20
"""A shard's blob with few states: so many bytes for each piece of its bitmap, of at most that size
(kernel/src/unit_step.cpp)."""


DENSE_RUN, SPARSE_RUN = 1.2, 4.0
"""Bytes of a state in a sorted run."""

SENT = 2.0
"""Bytes of successors in outboxes, beside the runs of the states that they turn out to be."""


@dataclass(frozen=True, slots=True)
class LayerTraffic:
    """Bytes of one layer's step. ``stored``: of the files of the layer; ``read``: of files, to step it; ``bitmap``: of
    the bitmaps of the shards that its states can be in."""

    stored: int
    read: int
    bitmap: int


@dataclass(frozen=True, slots=True)
class FileNeeds:
    """``disk``: the most that is there at once; ``layers``: by depth. Of the layers that a residue map is made of
    ``kept``: bytes of their files in the end, ``marked``: of their bitmaps."""

    disk: int
    layers: tuple[LayerTraffic, ...]
    kept: int = 0
    marked: int = 0

    @property
    def written(self) -> int:
        """Bytes that are written in all."""
        return sum(layer.stored for layer in self.layers)

    @property
    def read(self) -> int:
        """Bytes that are read in all."""
        return sum(layer.read for layer in self.layers)


def file_needs(cut: FolderCut, states: Sequence[int], residues: ResidueForm | None = None) -> FileNeeds:
    """What layers of so many states need: all layers that are there at once (stores/folder/layer_files.py), and
    sources read as often as the plans say. ``residues``: the form of the map that some layers are kept for."""
    kernel = cut.kernel
    keys = kernel.keys // 2 if cut.in_place else kernel.keys
    pieces = -(-kernel.words_per_shard * 8 // PIECE_BYTES)
    again = [times_loaded(plan) for plan in cut.plans]
    sizes, layers = [], []
    for depth, number in enumerate(states):
        plan = cut.plans[depth & 1]
        shards = sum(map(len, plan.units))
        touched = shards * (1 - exp(-number / shards))
        units = min(len(plan.units), number)
        tables = int(units * file_bytes(shards // len(plan.units)) + touched * pieces * BLOB_BYTES)
        sizes.append(coded_bytes(number, keys) + tables)
        before = sizes[depth - 1] * again[depth & 1] if depth else 0
        older = (
            sum(sizes[max(depth - 2, 0) : depth - 1 + (not cut.in_place)])
            if depth and not kernel.graded
            else 0
        )
        bitmap = int(touched * kernel.words_per_shard * 8)
        layers.append(LayerTraffic(sizes[depth], int(before) + older, bitmap))
    if not (kernel.graded or kernel.reversible):
        return _with_visited(layers, states, keys)
    together = 2 if cut.in_place else 3
    kept = [size if residues is not None and residues.number(at) else 0 for at, size in enumerate(sizes)]
    disk = max(sum(kept[:at]) + sum(sizes[at : at + together]) for at in range(len(sizes)))
    marked = sum(layer.bitmap for layer, size in zip(layers, kept, strict=True) if size)
    return FileNeeds(disk, tuple(layers), sum(kept), marked)


def _with_visited(layers: Sequence[LayerTraffic], states: Sequence[int], keys: int) -> FileNeeds:
    """Layers of a space whose states may be found again at any depth (stores/folder/layer_files.py)."""
    newest, visited, found, disk = -1, 0, 0, 0
    all_layers = []
    for depth, layer in enumerate(layers):
        since = sum(known.stored for known in layers[newest + 1 : depth])
        before = sum(known.stored for known in layers[max(depth - 2, 0) : depth])
        read = layer.read - (before if depth else 0) + visited + since
        written, found = layer.stored, found + states[depth]
        disk = max(disk, visited + since + before + layer.stored)
        if depth - newest > RENEWED:
            newest, visited = depth, coded_bytes(found, keys)
            written += visited
        all_layers.append(LayerTraffic(written, read, layer.bitmap))
    return FileNeeds(disk, tuple(all_layers))


def disk_at_peak(states: Sequence[int], keys: int, *, in_place: bool) -> int:
    """Bytes of the coded bitmaps of all layers that are there at once, without what else is in their files. ``keys``:
    of the space."""
    sizes = [coded_bytes(number, keys // 2 if in_place else keys) for number in states]
    together = 2 if in_place else 3
    return max(sum(sizes[at : at + together]) for at in range(len(sizes)))


def times_loaded(plan: Plan) -> float:
    """How often a source is read in a layer, on average."""
    held: dict[int, int] = {}
    loads, sources = 0, set()
    for unit in plan.sources:
        for shard, slot in unit.items():
            if held.get(slot) != shard:
                held[slot] = shard
                loads += 1
            sources.add(shard)
    return loads / max(1, len(sources))


def coded_bytes(states: int, keys: int) -> int:
    """Bytes of the coded bitmaps of a layer, about: so many states, spread evenly among so many keys."""
    if not 0 < states < keys:
        return 0
    share = states / keys
    return int(CODED * keys / 8 * -(share * log2(share) + (1 - share) * log2(1 - share)))


def run_needs(space: ScatterSpace, states: int) -> FileNeeds:
    """What so many states need as sorted runs. The layers before the end are not known: the largest is taken to have a
    part of all, where none are published."""
    known = [answer.layers for answer in space.puzzle.known if answer.layers and sum(answer.layers) == states]
    layers = known[0] if known else _assumed(states)
    run = SPARSE_RUN if space.keys is None else DENSE_RUN
    found, traffic, peak = 0, [], 0
    for depth, number in enumerate(layers):
        size, sent = int(number * run), int(number * run * SENT)
        older = sum(int(n * run) for n in layers[max(depth - 2, 0) : depth])
        if not (space.graded or space.undirected):
            older = int(found * run) * 2
        found += number
        peak = max(peak, size + sent + older)
        again = older if space.undirected else int(found * run)
        renewed = int(found * run) // RENEWED if not (space.graded or space.undirected) else 0
        traffic.append(LayerTraffic(size + sent + renewed, sent + (0 if space.graded else again), 0))
    return FileNeeds(peak, tuple(traffic))


def _assumed(states: int) -> list[int]:
    """Layers whose largest has a quarter of all states."""
    parts = (1, 4, 16, 48, 96, 96, 48, 16, 4, 1)
    return [max(1, states * part // sum(parts)) for part in parts]


# --- How long an enumeration takes: constants that were measured, times what a short measurement here says.

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
    from farthest.coordinator.enumeration.executors import LayerSearch, ThreadsExecutor
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
