"""Layers in files, where they do not fit the memory: how they are cut, what they need, their store, their executor."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthest.coordinator.attempt import layers_folder
from farthest.coordinator.enumeration.executors import Executor, Watch
from farthest.coordinator.enumeration.resources import (
    PROCESS_BYTES,
    SHARD_BYTES,
    most_at_once,
    moves_into,
    reduced_runs_memory,
)
from farthest.errors import ResourceError
from farthest.spaces.contract import GatherSpace, ReducedRunsSpace, ScatterSpace, Space, reduced, reduced_runs
from farthest.stores.blocks import searches_in_place
from farthest.stores.contract import ShardStore, step
from farthest.stores.folder.gather_store import FolderStore
from farthest.stores.folder.journal import EnumerationFolder, another_format, file_bytes, same_identity
from farthest.stores.folder.plan import FolderCut, Plan, WantedError, cut_for_files, shard_classes
from farthest.stores.folder.reduced_runs_store import ReducedRunsFolderStore
from farthest.stores.folder.run_files import RENEWED
from farthest.stores.folder.scatter_store import ScatterFolderStore, shards_for
from farthest.stores.folder.store import StoreInFiles
from farthest.untrusted_json import read_json_object
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from farthest import _kernel
    from farthest.map_files.form import ResidueForm

LEAST_MEMORY = 2**20
"""Bytes for sorted runs and outboxes, at least."""

QUICKLY_PLANNED = 2**17
"""Shards: to plan more takes minutes, and is not begun where the disk is too small."""

FORMAT, COUNTED_FORMAT = 2, 3
"""Of the folder's files, without and with classes: another version's cannot be gone on from."""


class LayersInFiles(ABC):
    """Layers of one enumeration as files in ``scratch``. ``needs``: of disk; None where the number of states is not
    known before; ``without_map``: of disk, where a residue map needs more. ``memory``: bytes that stepping takes;
    ``units`` of a layer, of ``shards``."""

    needs: FileNeeds | None = None
    without_map: int | None = None
    shards = units = 1

    def __init__(self, space: Space, scratch: Path, memory: int, threads: int) -> None:
        self._space = space
        self._threads = threads
        self.scratch = scratch
        self.memory = memory

    def want_of_disk(self) -> ResourceError | None:
        """Why the disk is refused, where it has too little room; what earlier attempts have there counts as room."""
        return None if self.needs is None else self._want_of_disk(self.needs.disk)

    def _want_of_disk(self, disk: int) -> ResourceError | None:
        free = shutil.disk_usage(self.scratch).free + self.begun_bytes()
        if disk <= free:
            return None
        marks = ""
        if self.without_map is not None:
            marks = f", with those that the residue map is made of (--map none needs {bytes_text(self.without_map)})"
        others = (another_format(folder, header, self._identity()) for folder, header in self._headers())
        return ResourceError(
            f"puzzle {self._space.puzzle.name}: its layers need about {bytes_text(disk)} of disk at the peak"
            f"{marks}, but {self.scratch} has {bytes_text(free)} free; name a folder with more room with "
            + "; ".join(["--scratch, or allow more memory with --memory", *filter(None, others)])
        )

    def begun_bytes(self) -> int:
        """What earlier attempts at the same enumeration have in the scratch folder."""
        return sum(
            file.stat().st_size for folder in self.begun() for file in os.scandir(folder) if file.is_file()
        )

    def begun(self) -> Iterator[Path]:
        """Folders of earlier attempts at the same enumeration."""
        return (folder for folder, header in self._headers() if same_identity(header, self._identity()))

    def _headers(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Folders of any enumeration, with their headers."""
        for header in self.scratch.glob("farthest-*/header"):
            with suppress(OSError, ValueError):
                yield header.parent, read_json_object(header.read_text())

    def _identity(self) -> dict[str, Any]:
        """What those who go on with the layers must have in common."""
        space = self._space
        return {
            "format": COUNTED_FORMAT if reduced(space) or reduced_runs(space) else FORMAT,
            "puzzle": space.puzzle.digest,
            "direction": space.origin.direction,
            "where": space.origin.where,
            "layout": space.layout_fields(),
        }

    def store(self, name: str) -> StoreInFiles[Any]:
        """The store of the job whose attempts are called ``name``, which goes on with the layers of an earlier one."""
        folder = EnumerationFolder(layers_folder(self.scratch, name), self._identity(), self.units)
        try:
            return self._store(folder)
        except BaseException:
            folder.close()
            raise

    @abstractmethod
    def _store(self, folder: EnumerationFolder) -> StoreInFiles[Any]:
        """The store over the folder, which it closes."""


class BitmapsInFiles(LayersInFiles):
    """Of a space that gathers, within ``memory`` bytes. ``layers``: the expected states of each depth. ``residues``:
    the form of the residue map that is to be made. Raises WantedError where the memory is too small, or the disk by
    far."""

    needs: FileNeeds

    def __init__(
        self,
        space: GatherSpace,
        scratch: Path,
        memory: int,
        threads: int,
        layers: Sequence[int],
        residues: ResidueForm | None = None,
    ) -> None:
        super().__init__(space, scratch, memory, threads)
        self._gathered = space
        self._residues = residues
        self._allowed = memory
        self._classes = shard_classes(space)
        in_place = searches_in_place(space.kernel, space.keys_of(space.origins))
        self._united = space.kernel.united and not space.kernel.graded and residues is None
        disk = disk_at_peak(layers, space.keys, in_place=in_place, united=self._united, residues=residues)
        if space.shards_at(self._classes) > QUICKLY_PLANNED:
            refusal = self._want_of_disk(disk)
            if refusal is not None:
                raise WantedError(str(refusal), memory, disk)
        try:
            self.cut = self._cut()
        except WantedError as error:
            error.disk = disk
            raise
        self.needs = file_needs(self.cut, layers, residues)
        if residues is not None:
            self.without_map = file_needs(self.cut, layers).disk
        self.memory, self.shards = self.cut.memory, self.cut.kernel.shards
        self.units = len(self.cut.plans[0].units)

    def _cut(self, units: int | None = None) -> FolderCut:
        base = PROCESS_BYTES + self._gathered.shards_at(self._classes) * SHARD_BYTES
        return cut_for_files(
            self._gathered, self._allowed, base, units=units, layers_stay=self._residues is not None
        )

    def _store(self, folder: EnumerationFolder) -> FolderStore:
        cut = self.cut if folder.units == self.units else self._cut(folder.units)
        return FolderStore(
            cut.kernel,
            self._gathered.keys_of(self._gathered.origins),
            cut.plans,
            cut.slots,
            folder,
            in_place=cut.in_place,
            united=cut.united,
            residues=self._residues,
            threads=self._threads,
        )

    def _identity(self) -> dict[str, Any]:
        form = self._residues
        of_map = {} if form is None else {"residues": [form.modulus, *form.ones]}
        united = {"united": True} if self._united else {}
        return {**of_map, **united, **super()._identity(), "shard_classes": self._classes}


class RunsInFiles(LayersInFiles):
    """Of a space by sorted runs, within ``memory`` bytes; ``states``: where their number is known; ``last``: the last
    depth that is wanted, where there is a limit; ``mapped``: a map is wanted, so all layers stay. Raises ResourceError
    where the memory is too small."""

    def __init__(
        self,
        space: ScatterSpace,
        scratch: Path,
        memory: int,
        threads: int,
        states: int | None = None,
        last: int | None = None,
        *,
        mapped: bool = False,
    ) -> None:
        super().__init__(space, scratch, memory, threads)
        self._scattered, self._last, self._mapped = space, last, mapped
        if memory < PROCESS_BYTES + LEAST_MEMORY:
            raise ResourceError(
                f"puzzle {space.puzzle.name}: its layers cannot be found within {bytes_text(memory)}, even where they "
                f"are kept in files; allow {(PROCESS_BYTES + LEAST_MEMORY) // 2**20}MiB or more with --memory"
            )
        self.shards = self.units = shards_for(memory - PROCESS_BYTES, threads)
        self.needs = None if states is None else run_needs(space, states, keeps=mapped)

    def _store(self, folder: EnumerationFolder) -> ScatterFolderStore:
        memory = self.memory - PROCESS_BYTES
        return ScatterFolderStore(
            self._scattered,
            folder,
            memory,
            last=self._last,
            distances=self._mapped,
            threads=self._threads,
        )

    def _identity(self) -> dict[str, Any]:
        of_last = {} if self._last is None else {"last": self._last}
        return {**super()._identity(), **of_last, **({"mapped": True} if self._mapped else {})}


class ReducedRunsInFiles(LayersInFiles):
    """Of packed boards by representatives. ``layers``: codes of each depth that is kept, before the ``last``, which is
    counted; ``memory``: bytes that are needed where none are read again. Raises ResourceError where the memory is too
    small for the shards that are stepped at once."""

    def __init__(
        self,
        space: ReducedRunsSpace,
        scratch: Path,
        allowed: int,
        threads: int,
        layers: Sequence[int],
        last: int,
    ) -> None:
        super().__init__(space, scratch, allowed, threads)
        self._reduced, self._last = space, last
        self.shards = self.units = space.shards
        sizes = [states * space.code_bytes for states in layers]
        stepping = reduced_runs_memory(space, layers, threads) - most_at_once(sizes)
        if stepping > allowed:
            raise ResourceError(
                f"puzzle {space.puzzle.name}: to step {threads} shards takes {bytes_text(stepping)} of memory; allow "
                "more with --memory, or take fewer threads with --threads"
            )
        self.held = allowed - stepping
        self.memory = min(allowed, stepping + max(sizes, default=0))
        traffic = [LayerTraffic(size, before, 0) for size, before in zip(sizes, [0, *sizes], strict=False)]
        self.needs = FileNeeds(most_at_once(sizes), tuple(traffic))

    def _store(self, folder: EnumerationFolder) -> ReducedRunsFolderStore:
        return ReducedRunsFolderStore(self._reduced, folder, self.held, self._last, threads=self._threads)

    def _identity(self) -> dict[str, Any]:
        return {**super()._identity(), "last": self._last}


# What they need: disk, bytes written and read, processor seconds

CODED = 1.06
"""Bytes of a coded bitmap beside its entropy (benchmarks/codec.py); 1.03 in the largest layers of sliding-3x5."""

BLOB_BYTES = 24
PIECE_BYTES = 2**20
"""A shard's blob with few states: so many bytes for each piece of its bitmap, of at most that size
(kernel/src/unit_step.cpp)."""

BITMAP_SECONDS = 0.14e-9
CODED_SECONDS = 1.4e-9
"""Layers in files: a byte of the bitmaps that a layer's states can be in and a move that leads to it; a byte of files
that is read and decoded, or encoded and written. Fitted to sliding-2x7 and 3x5 and to pancake-12, on cores that
others used more or less."""

MARK_SECONDS = 0.45e-9
"""A residue map made of layers in files: a byte of the bitmaps of the layers that it is made of, decoded, and its share
of the map's checksums (sliding-2x7: 285 processor seconds in all, 217 without a map)."""

WALL = 1.4
"""Elapsed seconds of layers in files, beside processor seconds / threads, with 2 threads: 1.27 on sliding-2x7, 1.42 on
sliding-3x5."""

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
    ``marks``: bytes of their files in the end, ``marked``: of their bitmaps."""

    disk: int
    layers: tuple[LayerTraffic, ...]
    marks: int = 0
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
    sources read as often as the plans say. ``residues``: the form of the map that some layers stay for."""
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
        stored = sum(states[: depth + 1]) if cut.united else number
        sizes.append(coded_bytes(stored, keys) + tables)
        before = sizes[depth - 1] * again[depth & 1] if depth else 0
        older = 0
        if depth and not kernel.graded and not cut.united:
            older = sum(sizes[max(depth - 2, 0) : depth - 1 + (not cut.in_place)])
        bitmap = int(touched * kernel.words_per_shard * 8)
        layers.append(LayerTraffic(sizes[depth], int(before) + older, bitmap))
    if not (kernel.graded or kernel.reversible or cut.united):
        return _with_visited(layers, states, keys)
    marks = [size if residues is not None and residues.number(at) else 0 for at, size in enumerate(sizes)]
    disk = _most_at_once(sizes, marks, together=2 if cut.in_place or cut.united else 3)
    marked = sum(layer.bitmap for layer, size in zip(layers, marks, strict=True) if size)
    return FileNeeds(disk, tuple(layers), sum(marks), marked)


def _with_visited(layers: Sequence[LayerTraffic], states: Sequence[int], keys: int) -> FileNeeds:
    """Layers of a space whose states may be found again at any depth (stores/folder/layer_files.py)."""
    newest, visited, found, disk = -1, 0, 0, 0
    all_layers = []
    for depth, layer in enumerate(layers):
        since = sum(one.stored for one in layers[newest + 1 : depth])
        before = sum(one.stored for one in layers[max(depth - 2, 0) : depth])
        read = layer.read - (before if depth else 0) + visited + since
        written, found = layer.stored, found + states[depth]
        disk = max(disk, visited + since + before + layer.stored)
        if depth - newest > RENEWED:
            newest, visited = depth, coded_bytes(found, keys)
            written += visited
        all_layers.append(LayerTraffic(written, read, layer.bitmap))
    return FileNeeds(disk, tuple(all_layers))


def disk_at_peak(
    states: Sequence[int],
    keys: int,
    *,
    in_place: bool,
    united: bool = False,
    residues: ResidueForm | None = None,
) -> int:
    """Bytes of the coded bitmaps of all layers that are there at once, without what else is in their files: before the
    space is cut, which takes long where it is large. ``keys``: of the space."""
    stored = accumulate(states) if united else states
    sizes = [coded_bytes(number, keys // 2 if in_place else keys) for number in stored]
    marks = [size if residues is not None and residues.number(at) else 0 for at, size in enumerate(sizes)]
    return _most_at_once(sizes, marks, together=2 if in_place or united else 3)


def _most_at_once(sizes: Sequence[int], marks: Sequence[int], *, together: int) -> int:
    """The most bytes of some layers in a row, and of the layers before them that are ``marks`` of a map."""
    return max(sum(marks[:at]) + sum(sizes[at : at + together]) for at in range(len(sizes)))


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


def run_needs(space: ScatterSpace, states: int, *, keeps: bool = False) -> FileNeeds:
    """What so many states need as sorted runs; ``keeps``: all layers stay. The layers before the end are not known: the
    largest is taken to have a part of all, where none are published."""
    published = [
        answer.layers for answer in space.puzzle.known if answer.layers and sum(answer.layers) == states
    ]
    layers = published[0] if published else _assumed(states)
    run = SPARSE_RUN if space.keys is None else DENSE_RUN
    found, traffic, peak = 0, [], 0
    for depth, number in enumerate(layers):
        size, sent = int(number * run), int(number * run * SENT)
        older = sum(int(n * run) for n in layers[max(depth - 2, 0) : depth])
        if not (space.graded or space.undirected):
            older = int(found * run) * 2
        peak = max(peak, size + sent + (int(found * run) if keeps else older))
        found += number
        again = older if space.undirected else int(found * run)
        renewed = int(found * run) // RENEWED if not (space.graded or space.undirected) else 0
        traffic.append(LayerTraffic(size + sent + renewed, sent + (0 if space.graded else again), 0))
    return FileNeeds(peak, tuple(traffic))


def _assumed(states: int) -> list[int]:
    """Layers whose largest has a quarter of all states."""
    parts = (1, 4, 16, 48, 96, 96, 48, 16, 4, 1)
    return [max(1, states * part // sum(parts)) for part in parts]


def seconds_in_files(kernel: _kernel.Space, needs: FileNeeds) -> float:
    """Processor seconds of layers in files."""
    bitmaps = sum(layer.bitmap for layer in needs.layers)
    stepped = BITMAP_SECONDS * bitmaps * moves_into(kernel) + CODED_SECONDS * (needs.read + needs.written)
    return stepped + MARK_SECONDS * needs.marked


# Who steps them


class UnitsExecutor(Executor):
    """Steps unit by unit. ``should_stop`` is called before each, and may raise: the layer is gone on
    with later. ``watch``: see ``Watch``."""

    def __init__(self, threads: int, should_stop: Callable[[], None], watch: Watch) -> None:
        self._threads = threads
        self._should_stop = should_stop
        self._watch = watch

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        assert isinstance(store, StoreInFiles)
        store.poll = self._should_stop
        done = 0
        for unit in store.units(depth, shards):
            # Units of a plan may have more shards than were asked for.
            self._watch(min(done, len(shards)), len(shards))
            self._should_stop()
            step(store, depth, unit, self._threads)
            done += len(unit)
