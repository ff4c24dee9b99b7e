"""Enumerations whose layers are files, where they do not fit the memory: what they need, and their store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthest.coordinator.enumeration.resources import disk_at_peak, expected_layers, file_needs, run_needs
from farthest.coordinator.estimate import PROCESS_BYTES, SHARD_BYTES
from farthest.errors import ResourceError
from farthest.stores.blocks import searches_in_place
from farthest.stores.contract import step
from farthest.stores.folder.gather_store import FolderStore
from farthest.stores.folder.journal import EnumerationFolder, same_identity
from farthest.stores.folder.plan import cut_for_files, shard_classes
from farthest.stores.folder.scatter_store import ScatterFolderStore, shards_for
from farthest.untrusted_json import read_json_object
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.executors import Executor, Watch
    from farthest.map_files.form import ResidueForm
    from farthest.spaces.contract import GatherSpace, ScatterSpace, Space
    from farthest.stores.contract import ShardStore
    from farthest.stores.folder.plan import FolderCut

FileStore = FolderStore | ScatterFolderStore

LEAST_MEMORY = 2**20
"""Bytes for sorted runs and outboxes, at least."""

QUICKLY_PLANNED = 2**17
"""Shards: to plan more takes minutes, and is not begun where the disk is too small."""

FORMAT = 2
"""Of the folder's files: another version's cannot be gone on from."""


def layers_folder(scratch: Path, name: str) -> Path:
    """The folder of the layers of the job whose attempts are called ``name``."""
    return scratch / f"farthest-{name}"


class FilesRun:
    """One enumeration from files in ``scratch``."""

    def __init__(self, space: Space, scratch: Path, threads: int) -> None:
        self._space = space
        self.scratch = scratch
        self._threads = threads

    def _check(self, disk: int, without_map: int | None = None) -> None:
        free = shutil.disk_usage(self.scratch).free + self.begun_bytes()
        if disk > free:
            kept = ""
            if without_map is not None:
                kept = f", with those that the residue map is made of (--map none needs {bytes_text(without_map)})"
            raise ResourceError(
                f"puzzle {self._space.puzzle.name}: its layers need about {bytes_text(disk)} of disk at "
                f"the peak{kept}, but {self.scratch} has {bytes_text(free)} free; name a folder with more room with "
                "--scratch, or allow more memory with --memory"
            )

    def begun_bytes(self) -> int:
        """What earlier attempts at the same enumeration have in the scratch folder."""
        return sum(map(_bytes_in, self.begun()))

    def begun(self) -> Iterator[Path]:
        """Folders of earlier attempts at the same enumeration."""
        for header in self.scratch.glob("farthest-*/header"):
            try:
                found = read_json_object(header.read_text())
            except (OSError, ValueError):
                continue
            if same_identity(found, self._identity()):
                yield header.parent

    def _identity(self) -> dict[str, Any]:
        """What those who go on with the layers must have in common."""
        space = self._space
        return {
            "format": FORMAT,
            "puzzle": space.puzzle.digest,
            "direction": space.origin.direction,
            "where": space.origin.where,
            "layout": space.layout_fields(),
        }

    def store(self, name: str) -> FileStore:
        """The store of the job whose attempts are called ``name``, which goes on with the layers of an earlier one."""
        raise NotImplementedError

    def executor(self, should_stop: Callable[[], None], watch: Watch) -> Executor:
        """See Backend."""
        return UnitsExecutor(self._threads, should_stop, watch)


class FolderRun(FilesRun):
    """One enumeration of a space that gathers, within ``memory`` bytes. Raises ResourceError where the memory is too
    small, or the disk by far. ``layers``: what is expected, for the needs of ``disk``. ``residues``: the form of the
    residue map that is to be made."""

    def __init__(
        self,
        space: GatherSpace,
        scratch: Path,
        memory: int,
        threads: int,
        isa: str = "",
        max_depth: int | None = None,
        residues: ResidueForm | None = None,
    ) -> None:
        super().__init__(space, scratch, threads)
        self._gathered = space
        self._residues = residues
        self._isa = isa
        self._memory = memory
        self._classes = shard_classes(space)
        in_place = searches_in_place(space.kernel, space.keys_of(space.origins))
        self.layers = expected_layers(space, keys=space.keys, in_place=in_place, max_depth=max_depth)
        if space.shards_at(self._classes) > QUICKLY_PLANNED:
            self._check(disk_at_peak(self.layers.states, space.keys, in_place=in_place))
        self.cut = self._cut(memory)
        self.needs = file_needs(self.cut, self.layers.states, residues)

    def _cut(self, memory: int, units: int | None = None) -> FolderCut:
        base = PROCESS_BYTES + self._gathered.shards_at(self._classes) * SHARD_BYTES
        return cut_for_files(self._gathered, memory, base, units=units, isa=self._isa)

    def check_disk(self) -> None:
        """Raises ResourceError where the disk has too little room; what earlier attempts have there counts as room."""
        without = file_needs(self.cut, self.layers.states).disk
        self._check(self.needs.disk, without if self._residues else None)

    def store(self, name: str) -> FolderStore:
        """The store of the job whose attempts are called ``name``, which goes on with the layers of an earlier one."""
        space, cut = self._gathered, self.cut
        folder = EnumerationFolder(
            layers_folder(self.scratch, name), self._identity(), len(cut.plans[0].units)
        )
        try:
            if folder.units != len(cut.plans[0].units):
                cut = self._cut(self._memory, folder.units)
            return FolderStore(
                cut.kernel,
                space.keys_of(space.origins),
                cut.plans,
                cut.slots,
                folder,
                in_place=cut.in_place,
                residues=self._residues,
                threads=self._threads,
                isa=self._isa,
            )
        except BaseException:
            folder.close()
            raise

    def _identity(self) -> dict[str, Any]:
        form = self._residues
        kept = {} if form is None else {"residues": [form.modulus, *form.ones]}
        return {**kept, **super()._identity(), "shard_classes": self._classes}


class ScatterRun(FilesRun):
    """One enumeration by sorted runs, within ``memory`` bytes. ``needs``: where the number of states is known, else
    None. Raises ResourceError where the memory is too small."""

    def __init__(
        self, space: ScatterSpace, scratch: Path, memory: int, threads: int, states: int | None
    ) -> None:
        super().__init__(space, scratch, threads)
        self._scattered = space
        self._memory = memory - PROCESS_BYTES
        if self._memory < LEAST_MEMORY:
            raise ResourceError(
                f"puzzle {space.puzzle.name}: its layers cannot be found within {bytes_text(memory)}, even where they "
                f"are kept in files; allow {(PROCESS_BYTES + LEAST_MEMORY) // 2**20}MiB or more with --memory"
            )
        self.shards = shards_for(self._memory, threads)
        self.needs = None if states is None else run_needs(space, states)

    def check_disk(self) -> None:
        """Raises ResourceError where the disk has too little room; what earlier attempts have there counts as room."""
        if self.needs is not None:
            self._check(self.needs.disk)

    def store(self, name: str) -> ScatterFolderStore:
        """See FilesRun."""
        folder = EnumerationFolder(layers_folder(self.scratch, name), self._identity(), self.shards)
        try:
            return ScatterFolderStore(self._scattered, folder, self._memory, threads=self._threads)
        except BaseException:
            folder.close()
            raise


class UnitsExecutor:
    """Steps unit by unit. ``should_stop`` is called before each, and may raise: the layer is gone on with later.
    ``watch``: see ``Watch``."""

    def __init__(self, threads: int, should_stop: Callable[[], None], watch: Watch) -> None:
        self._threads = threads
        self._should_stop = should_stop
        self._watch = watch

    def run_layer(self, store: ShardStore, depth: int, shards: Sequence[int]) -> None:
        """See Executor."""
        assert isinstance(store, FolderStore | ScatterFolderStore)
        if isinstance(store, ScatterFolderStore):
            store.poll = self._should_stop
        done = 0
        for unit in store.units(depth, shards):
            self._watch(
                min(done, len(shards)), len(shards)
            )  # units of a plan may have more shards than were asked for
            self._should_stop()
            step(store, depth, unit, self._threads)
            done += len(unit)

    def close(self) -> None:
        """See Executor."""


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in os.scandir(folder) if file.is_file())
