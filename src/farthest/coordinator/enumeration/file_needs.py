"""What layers in files need: disk at the peak, bytes written and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log2
from typing import TYPE_CHECKING

from farthest.stores.folder.run_files import RENEWED
from farthest.stores.folder.unit_file import file_bytes

if TYPE_CHECKING:
    from farthest.map_files.form import ResidueForm
    from farthest.spaces.contract import ScatterSpace
    from farthest.stores.folder.cutting import FolderCut
    from farthest.stores.folder.plan import Plan

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
    """Layers of a space whose states may be found again at any depth (stores/folder/visited_files.py)."""
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
