"""The gather store whose layers are files in a folder: for one process, and spaces larger than its memory.

L(d+1) = pull(L(d)) without what is excluded:

    in place (bipartite, undirected, origins of one colour)    L(d-1); shards of one colour at each depth
    undirected                                                 L(d) and L(d-1)
    graded (all paths to a state are equally long)             nothing
    any                                                        all layers
    any, united                                                nothing: L(d) stands for all states up to d

Shards are stepped by units (plan.py). While one is stepped, what the next one needs is read, and the one before is
written, by a thread each.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import LostStateError
from farthest.stores.contract import excluded
from farthest.stores.folder.journal import SLAB, EnumerationFolder, Room, UnitTable
from farthest.stores.folder.layer_files import LayerFiles, UnitSources
from farthest.stores.folder.store import StoreInFiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm
    from farthest.stores.folder.plan import Plan


@dataclass(frozen=True, slots=True)
class UnitRead:
    """What was read for the step of a unit: blobs to be decoded into slots, in ``room``, and for each of its shards the
    blobs of its states that are not new, in ``older``. ``rest``: sources that are still to be read, where they are more
    than a unit. ``turn``: the slots must hold what they do after so many units."""

    turn: int
    loads: list[tuple[int, memoryview]]
    rest: UnitSources
    exclude: list[list[memoryview]]
    room: Room
    older: Room


@dataclass(frozen=True, slots=True)
class UnitStepInput:
    """``StepInput`` of whole units. ``fresh``: for each unit that was stepped, of its shards the blobs and states,
    and the blobs of all states where these are renewed; ``classes``: of its fresh states, where they are counted."""

    store: FolderStore
    depth: int
    shards: list[int]
    units: dict[int, Future[UnitRead]]
    fresh: dict[int, list[tuple[bytes, int, bytes]]] = field(default_factory=dict)
    classes: dict[int, int] = field(default_factory=dict)

    def run(self, threads: int = 1) -> list[int]:
        """Of units that another step has committed meanwhile nothing is fresh."""
        states: dict[int, int] = {}
        for unit, future in self.units.items():
            if (stepped := self.store.stepped(self.depth, unit, future, threads)) is not None:
                found, self.classes[unit] = stepped
                self.fresh[unit] = found
                shards = self.store.shards_of(self.depth, unit)
                states |= {shard: n for shard, (_, n, _) in zip(shards, found, strict=True)}
        return [states.get(shard, 0) for shard in self.shards]


class FolderStore(StoreInFiles[LayerFiles]):
    """``JobStore`` over files, which only counts. ``plans``: by the parity of the depth; ``in_place``: each is of the
    shards of one colour, else both are the same. ``united``: layers are (``stores/contract.py``), and shards among
    their sources in the plans. ``origins``: keys. ``slots``: for sources in memory. ``residues``:
    the form of the residue map that is to be made at the end, for which some layers are kept.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        origins: Sequence[int],
        plans: tuple[Plan, Plan],
        slots: int,
        folder: EnumerationFolder,
        *,
        in_place: bool,
        united: bool = False,
        residues: ResidueForm | None = None,
        threads: int = 1,
    ) -> None:
        self.kernel = kernel
        unit = max(len(shards) for plan in plans for shards in plan.units)
        self._most_read = (1 + united) * unit * kernel.words_per_shard * 8  # bytes of sources at once
        self._slots = slots
        self._stepper = _kernel.UnitStepper(kernel, slots)
        self._stepping = threading.Lock()  # held while the slots are used
        self._reader = ThreadPoolExecutor(1, "farthest-read")
        self._turns = 0  # units read
        self._rooms: list[Room] = []  # that are free
        longest = _kernel.longest_shard_blob(kernel)
        self._slab = longest * max(1, SLAB // longest)
        self._forget_inputs()

        def open_files() -> None:
            self._threads.append(self._reader)
            kernel.prepare(list(range(kernel.shards)), threads)
            self._files = LayerFiles(
                folder,
                plans,
                excluded(
                    graded=kernel.graded, undirected=kernel.reversible, alternating=in_place, united=united
                ),
                lambda depth: residues is not None and residues.number(depth) != 0,
            )
            self._files.counts_classes = isinstance(kernel, _kernel.ReducedSpace)
            if self._files.depth < 0:
                self._write_origins(origins)

        super().__init__(folder, kernel.shards, open_files)

    def _write_origins(self, origins: Sequence[int]) -> None:
        per_shard = self.kernel.keys // self.kernel.shards
        by_shard: dict[int, list[int]] = {}
        for key in sorted(set(origins)):
            by_shard.setdefault(key // per_shard, []).append(key % per_shard)
        for unit in self._blocks(0, by_shard):
            here = [by_shard.get(shard, []) for shard in self._files.plan(0).units[unit]]
            blobs = [(self._stepper.blob_of(keys), len(keys), b"") for keys in here]
            self._files.write(0, unit, blobs, sum(map(len, here)))
        self._files.complete(0)

    def units(self, depth: int, shards: Iterable[int]) -> list[list[int]]:
        """In the plan's order."""
        return [self.shards_of(depth, unit) for unit in self._blocks(depth, shards)]

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        sources = self._files.held(depth - 1)
        plan = self._files.plan(depth)
        return [
            shard
            for shards, needs in zip(plan.units, plan.sources, strict=True)
            if not sources.isdisjoint(needs)
            for shard in shards
        ]

    def _blocks(self, depth: int, shards: Iterable[int]) -> list[int]:
        """The units that hold any of the shards, in their order."""
        return sorted({unit for shard in shards if (unit := self._files.unit_of(depth, shard)) is not None})

    def shards_of(self, depth: int, block: int) -> list[int]:
        return self._files.plan(depth).units[block]

    def open(self, depth: int, shards: Sequence[int]) -> UnitStepInput:
        """Units that hold any of the shards, as a whole."""
        self._check_stepped(depth)
        with self._lock:
            units = [unit for unit in self._blocks(depth, shards) if unit not in self._committed]
            reads = {
                unit: self._ahead.pop(unit) if unit in self._ahead else self._read(depth, unit)
                for unit in units
            }
            following = [unit for unit in self._begun - self._committed if units and unit > units[-1]]
            if following and min(following) not in self._ahead:
                self._ahead[min(following)] = self._read(depth, min(following))
        stepped = [shard for unit in units for shard in self.shards_of(depth, unit)]
        return UnitStepInput(self, depth, stepped, reads)

    def stepped(
        self, depth: int, unit: int, future: Future[UnitRead], threads: int
    ) -> tuple[list[tuple[bytes, int, bytes]], int] | None:
        """Of each shard of a unit the blob and number of its fresh states, and the blob of all its states where that is
        renewed; the classes of all that is fresh. None where it has been committed, and what it is made of may be
        gone."""
        try:
            read = future.result()
        except LostStateError:
            if unit in self._committed:
                return None
            raise
        plan = self._files.plan(depth)
        steps = list(zip(plan.units[unit], plan.slots[unit], read.exclude, strict=True))
        with self._stepping:
            loads, rest = read.loads, read.rest
            with self._lock:
                if read.turn != self._turn:  # units are stepped in another order than they were read
                    self._forget_inputs()
                    self._turns += 1
                    loads, rest = [], self._files.missing(depth, unit, self._held)
            with self._damage("a layer"):
                self._stepper.load(loads, threads)
                while rest.empty or rest.stored:
                    read.room.clear()
                    with self.folder.errors():
                        loads = self._files.read_some(rest, self._most_read, read.room)
                    self._stepper.load(loads, threads)
                fresh = self._stepper.step(steps, threads, self._files.renews(depth, unit))
                classes = self._stepper.classes
            with self._lock:
                self._turn += 1
            for room in (read.room, read.older):
                room.clear()
                self._rooms.append(room)
            return fresh, classes

    def commit(self, depth: int, step_input: UnitStepInput, counts: Sequence[int]) -> None:
        for unit, shards in step_input.fresh.items():
            self._commit_blocks(depth, [unit], shards, step_input.classes[unit])

    # Reading ahead

    def _read(self, depth: int, unit: int) -> Future[UnitRead]:
        self._turns += 1
        return self._reader.submit(self._read_unit, depth, unit, self._turns, self._held)

    def _read_unit(self, depth: int, unit: int, turn: int, held: list[int | None]) -> UnitRead:
        sources = self._files.missing(depth, unit, held)
        room, older = (self._rooms.pop() if self._rooms else Room(self._slab) for _ in range(2))
        with self.folder.errors():
            loads = self._files.read_some(sources, self._most_read, room)
            exclude = self._files.excluded(depth, unit, older)
        return UnitRead(turn, loads, sources, exclude, room, older)

    def _forget_inputs(self) -> None:
        """What the slots hold is of no use any more, too."""
        self._held: list[int | None] = [None] * self._slots
        self._ahead: dict[int, Future[UnitRead]] = {}
        self._turn = self._turns + 1

    # Results

    def residue_blocks(self, form: ResidueForm, depth: int, threads: int = 1) -> Iterator[tuple[int, Buffer]]:
        """The words of the residue map up to ``depth``: (the first word's number, words) of each shard, put together of
        the layers whose states have a number other than 0. Where the process is killed meanwhile, the files are still
        there, and the map is made again. In memory are some shards' words a thread. Raises LostStateError where a file
        is missing or damaged."""
        layers = [layer for layer in self.folder.layers[: depth + 1] if form.number(layer.depth)]
        with ThreadPoolExecutor(threads, "farthest-map") as pool:
            for parity in (0, 1) if form.modulus == 4 else (0,):  # modulo 3 both plans are the same
                here = [layer for layer in layers if form.modulus == 3 or layer.depth & 1 == parity]
                for unit, shards in enumerate(self._files.plan(parity).units):
                    with self.folder.errors():
                        tables = {
                            layer.depth: self._files.table(layer.depth, unit)
                            for layer in here
                            if unit in layer.units
                        }
                    words = partial(self._residue_words, form, unit, tables)
                    for first in range(0, len(shards), threads):
                        some = range(first, min(first + threads, len(shards)))
                        for at, made in zip(some, pool.map(words, some), strict=True):
                            yield shards[at] * self.kernel.words_per_shard * form.planes, made.data

    def _residue_words(
        self, form: ResidueForm, unit: int, tables: dict[int, UnitTable], at: int
    ) -> NDArray[np.uint64]:
        """The words of the shard that is number ``at`` of a unit, whose files hold what ``tables`` say by depth."""
        import numpy as np  # an enumeration without a map does not need it

        words = np.zeros(self.kernel.words_per_shard * form.planes, dtype=np.uint64)
        for depth, table in tables.items():
            if table.sizes[at]:
                blob = self._files.blob(depth, unit, table, at)
                with self._damage(f"layer {depth}"):
                    self._stepper.mark(blob, form.number(depth), form.planes, words)
        return words

    def keys(self, depth: int, limit: int) -> list[int]:
        per_shard = self.kernel.keys // self.kernel.shards
        keys: list[int] = []
        for shard, blob, older in self._files.blobs(depth):
            if len(keys) >= limit:
                break
            with self._damage(f"layer {depth}"):
                found = self._stepper.keys_of(blob, limit - len(keys), older)
            keys += [shard * per_shard + key for key in found]
        return keys
