"""The store in this process's memory: bitmaps over all shards, stepped in place.

Which arrays there are depends on the graph (kernel/include/farthest/step.hpp):

    bipartite, undirected, origins of one colour   one layer; a step of one colour overwrites that colour's layer d-1
    undirected, or graded                          two layers, used in turn
    any                                            two layers in turn, and all states found
    any, united                                    V(d), all states up to a depth, and V(d-1), in turn

With distances, one bit plane for each bit of the deepest layer's number is added as the search deepens. With numbers
there are their planes: one or two of a residue map, two of a table of bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from farthest import _kernel
from farthest.errors import DamagedMapError, ResourceError, StorageError
from farthest.models.chunks import WIDTHS, Chunk
from farthest.stores.blocks import Bitmap, Sources, searches_in_place, zeros
from farthest.stores.contract import (
    ONLY_COUNTS,
    BitmapStepInput,
    JobStore,
    check_depth,
    check_states,
    excluded,
    excluded_layers,
    typed,
    unit_for,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.map_files.form import ResidueForm


KEPT_KEYS = 1000
"""Keys of a layer that are kept when it is overwritten: as many as a result tells."""


class LayersInMemory(JobStore):
    """What the stores in memory have in common: the layer under way, and which of its shards were given out and
    committed."""

    shards: int = 0

    def __init__(self, shards: int) -> None:
        self.shards = shards
        self._counts: dict[int, dict[int, int]] = {}
        self._depth = 0
        self._begun: set[int] = set()  # the shards of the layer being stepped
        self._taken: set[int] = set()  # those of them that open() has given out
        self._committed: set[int] = set()

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        if depth != self._depth:
            missing = self._begun - self._committed
            if depth != self._depth + 1 or missing:
                raise StorageError(
                    f"layer {depth} cannot begin: layer {self._depth} is the last one begun, and {len(missing)} of its "
                    f"shards are not committed"
                )
            self._begun = self._prepared(depth, set(shards))
            self._depth = depth
            self._counts[depth] = {}
            self._taken, self._committed = set(), set()
        return sorted(self._begun)

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        """Prepares the next layer; the shards to step."""
        return shards

    def _free_shards(self, depth: int, shards: Sequence[int]) -> list[int]:
        """Those of the shards that are not stepped yet. A shard is given out once: its step is not repeated, for it
        overwrites or takes away what it reads."""
        if depth != self._depth or depth == 0:
            raise StorageError(f"depth {depth} is not being stepped; depth {self._depth} is")
        free = [shard for shard in shards if shard not in self._taken]
        self._taken.update(free)
        return free

    def counts(self, depth: int) -> dict[int, int]:
        return self._counts[depth]

    def _restored(self, depth: int) -> None:
        """All shards are at a depth."""
        if self._depth != 0:
            raise StorageError("a store can be restored only before its first step")
        self._depth = depth


class PlaneNumbers(Protocol):
    """What bit planes keep of distances, such as a ``ResidueForm``. ``planes``: how many; ``number``: of a depth."""

    @property
    def planes(self) -> int: ...

    def number(self, depth: int) -> int: ...


class MemoryStore(LayersInMemory):
    """``JobStore`` over arrays of this process. ``origins`` are the keys at depth 0.

    ``distances``: keep them, for ``chunks``. ``numbers``: keep these instead, for ``residue_blocks`` or ``released``.
    ``memory``: bytes that the arrays may take, None for no limit. Raises ResourceError when the arrays need more.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        origins: Sequence[int],
        *,
        distances: bool,
        numbers: PlaneNumbers | None = None,
        memory: int | None = None,
    ) -> None:
        super().__init__(kernel.shards)
        self.kernel = kernel
        self._sources = Sources(kernel)
        self._memory = memory
        self._distances = distances
        self._keys_per_shard = kernel.keys // kernel.shards
        self._in_place = searches_in_place(kernel, origins)
        colours = kernel.colours if self._in_place else []
        self._parity = [colour ^ colours[origins[0] // self._keys_per_shard] for colour in colours]
        self._shift = 1 if self._in_place else 0
        self._layers = [self._bitmap() for _ in range(1 if self._in_place else 2)]
        self._excluded = excluded(
            graded=kernel.graded,
            undirected=kernel.reversible,
            alternating=self._in_place,
            united=kernel.united,
        )
        self._united = self._excluded == "united"
        self._counts_classes = isinstance(kernel, _kernel.ReducedSpace)
        self._classes = len(origins)  # of the last layer
        self._least: list[int] = []  # where layers are united: keys of the layer that is being overwritten
        self._found = [self._bitmap().layer] if self._excluded == "all" else []  # all states found
        self._planes: list[_kernel.Layer] = []
        self._numbers = numbers
        self._number_planes = [self._bitmap() for _ in range(numbers.planes if numbers else 0)]
        self._population = [[0] * self.shards for _ in self._layers]  # of each layer array, by shard
        for key in origins:
            self._insert(key)
        self._counts[0] = self._nonzero(0)

    # Memory

    @property
    def bytes(self) -> int:
        """Bytes that the arrays and the kernel's rows may take."""
        arrays = len(self._layers) + len(self._planes) + len(self._number_planes) + len(self._found)
        return arrays * self._layers[0].bytes + self.kernel.row_bytes

    def _bitmap(self) -> Bitmap:
        return Bitmap(self.kernel, range(self.shards), used=True)

    def _grow_planes(self, depth: int) -> None:
        # Without asking for the memory: it is not used unless the layer turns out to have states, see commit().
        while len(self._planes) < ((depth >> self._shift) + 1).bit_length():
            self._planes.append(self._bitmap().layer)

    def _check_depth(self, depth: int) -> None:
        """Raises ResourceError when the distances of a layer that has states cannot be kept."""
        if self._numbers is not None:
            check_depth(depth)
        if not self._distances:
            return
        check_depth(depth)
        if self._memory is not None and self.bytes > self._memory:
            raise ResourceError(
                f"distances up to {depth} need {self.bytes:,} bytes of memory, more than the {self._memory:,} allowed; "
                "allow more, or count the layers without keeping distances"
            )

    def _planes_of(self, depth: int) -> list[_kernel.Layer]:
        """The bitmaps that new states of a depth are added to: those of the bits of the depth's number, of which the
        distances are made (kernel/include/farthest/planes.hpp)."""
        if self._numbers is not None:
            number = self._numbers.number(depth)
            return [plane.layer for bit, plane in enumerate(self._number_planes) if number >> bit & 1]
        if not self._distances:
            return []
        self._grow_planes(depth)
        number = (depth >> self._shift) + 1
        return [plane for bit, plane in enumerate(self._planes) if number >> bit & 1]

    def _insert(self, key: int) -> None:
        for layer in [self._layers[0].layer, *self._planes_of(0), *self._found]:
            _kernel.insert(self.kernel, layer, key)
        self._population[0][key // self._keys_per_shard] += 1

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        return self._sources.reached_from(self._counts[depth - 1])

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        """Shards whose array still holds an older layer are stepped too, which clears them; where layers are united,
        those that had new states in the last one."""
        self._classes = 0
        if self._united:
            self._least = self._keys(depth - 1, KEPT_KEYS)
        stale = self._population[self._array(depth - 1 if self._united else depth)]
        wanted = shards | {shard for shard in range(self.shards) if stale[shard]}
        if self._in_place:
            wanted = {shard for shard in wanted if self._parity[shard] == depth & 1}
        self._counts.pop(depth - 3, None)
        return wanted

    def open(self, depth: int, shards: Sequence[int]) -> BitmapStepInput:
        excluded = [depth - 1] if self._united else excluded_layers(self._excluded, depth)
        exclude = self._found or [self._layer(earlier) for earlier in excluded]
        return BitmapStepInput(
            self.kernel,
            self._free_shards(depth, shards),
            [self._layer(depth - 1)],
            [self._layer(depth)],
            [[layer] for layer in exclude],
            [[layer] for layer in (*self._planes_of(depth), *self._found)],
            self._united,
        )

    def commit(self, depth: int, step_input: BitmapStepInput, counts: Sequence[int]) -> None:
        """Raises ResourceError when the layer's distances need too much memory or are too great."""
        if any(counts):
            self._check_depth(depth)
        population, layer_counts = self._population[self._array(depth)], self._counts[depth]
        self._committed.update(step_input.shards)
        self._classes += sum(step_input.classes)
        for shard, count in zip(step_input.shards, counts, strict=True):
            population[shard] = count
            if count:
                layer_counts[shard] = count

    def classes(self, depth: int) -> int | None:
        return self._classes if self._counts_classes else None

    def _array(self, depth: int) -> int:
        return depth % len(self._layers)

    def _layer(self, depth: int) -> _kernel.Layer:
        return self._layers[self._array(depth)].layer

    def _nonzero(self, depth: int) -> dict[int, int]:
        return {shard: n for shard, n in enumerate(self._population[self._array(depth)]) if n}

    # Results

    def keys(self, depth: int, limit: int) -> list[int]:
        """Where layers are united, at most KEPT_KEYS of a layer after which another one has begun."""
        return self._least[:limit] if self._united and depth < self._depth else self._keys(depth, limit)

    def holds(self, depth: int, key: int) -> bool:
        """Whether the layer ``depth``, the last one that has states, has a key."""

        def has(layer: _kernel.Layer) -> bool:
            found = zeros(1)
            _kernel.expand(self.kernel, [layer], 0, [], key, found, 1)
            return found[0] == 0

        if key // self._keys_per_shard not in self._counts[depth]:  # it may hold the layer before
            return False
        older = self._united and depth > 0 and has(self._layer(depth - 1))
        return has(self._layer(depth)) and not older

    def _keys(self, depth: int, limit: int) -> list[int]:
        found: list[int] = []
        bitmap = self._layers[self._array(depth)]
        for shard in sorted(self._counts[depth]):  # other shards may hold the layer before
            if len(found) == limit:
                break
            part = range(shard, shard + 1)
            layer = bitmap.part(part)
            if self._united and depth > 0:
                layer = bitmap.without(self._layers[self._array(depth - 1)], part)
            found += _kernel.keys_of(self.kernel, layer, limit - len(found))
        return found

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        unit = unit_for(depth)
        for first in range(0, self.kernel.keys, size):
            count = min(size, self.kernel.keys - first)
            yield Chunk(first, first + count - 1, unit, self._expanded(depth, first, count, threads))

    def residue_blocks(self, form: ResidueForm, depth: int, threads: int = 1) -> Iterator[tuple[int, Buffer]]:
        """In the order of the kernel's memory."""
        import numpy as np

        from farthest.stores.residues import BLOCK_WORDS

        for first in range(0, form.order.words, BLOCK_WORDS):
            planes = [np.asarray(plane.words[first : first + BLOCK_WORDS]) for plane in self._number_planes]
            words = planes[0] if len(planes) == 1 else np.stack(planes, axis=1).reshape(-1)
            yield first * len(planes), words.data

    def released(self) -> list[Bitmap]:
        """The planes of ``numbers``; the layers' memory is given back, so no other one can be found."""
        self._layers.clear()
        return self._number_planes

    def distances(self, depth: int, threads: int = 1) -> memoryview:
        """All distances up to ``depth`` as one array of bytes in key order."""
        return self._expanded(depth, 0, self.kernel.keys, threads)

    def _expanded(self, depth: int, first: int, count: int, threads: int) -> memoryview:
        if not self._distances:
            raise StorageError(ONLY_COUNTS)
        unit = unit_for(depth)
        out = zeros(count * WIDTHS[unit])
        distances = typed(out, unit)
        _kernel.expand(self.kernel, self._planes, self._shift, self._parity, first, distances, threads)
        return out

    def restore(self, depth: int, chunks: Iterable[Chunk], states: int, threads: int = 1) -> None:
        self._restored(depth)
        self._grow_planes(depth)
        for bitmap in self._layers:
            _kernel.clear(self.kernel, bitmap.layer)
        found = 0
        for chunk in chunks:
            here = chunk.states_of(self.kernel)
            if not here:  # as most of a checkpoint that was taken early
                continue
            found += here
            first, distances = chunk.first, chunk.distance_array()
            try:
                _kernel.collect(self.kernel, self._planes, self._shift, first, distances, threads)
                for layer in self._found:
                    _kernel.mark(self.kernel, layer, first, distances, -1, threads)
                for at in range(max(depth - 1, 0), depth + 1):
                    for earlier in range(at + 1) if self._united else (at,):
                        _kernel.mark(self.kernel, self._layer(at), first, distances, earlier, threads)
            except ValueError as error:
                raise DamagedMapError(
                    f"the chunk from key {first} does not fit a map up to depth {depth}: {error}"
                ) from None
        check_states(found, states, depth)
        for bitmap, population in zip(self._layers, self._population, strict=True):
            population[:] = _kernel.population(self.kernel, bitmap.layer)
        if self._united:
            new, older = (self._population[self._array(at)] for at in (depth, depth - 1))
            new[:] = [both - old for both, old in zip(new, older, strict=True)]
        counts = self._nonzero(depth)
        if self._in_place:
            counts = {shard: n for shard, n in counts.items() if self._parity[shard] == depth & 1}
        self._counts = {depth: counts}
