"""The store in this process's memory: bitmaps over all shards, stepped in place.

Which arrays there are depends on the graph (kernel/include/farthest/step.hpp):

    bipartite, undirected, origins of one colour   one layer; a step of one colour overwrites that colour's layer d-1
    undirected, or graded                          two layers, used in turn
    any                                            two layers in turn, and all states found

With distances, one bit plane for each bit of the deepest layer's number is added as the search deepens. With residues
there are the one or two planes of a residue map.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import DamagedMapError, ResourceError, StorageError
from farthest.map_files.form import WORD_BITS, ResidueForm, WordOrder, ones_for
from farthest.models.chunks import UNREACHED, WIDTHS, Chunk
from farthest.spaces.contract import gather, scatter
from farthest.stores.blocks import Sources, searches_in_place, zeros
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

    from farthest.spaces.contract import GatherSpace, Space


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

    @abstractmethod
    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        """Prepares the next layer; the shards to step."""

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


class MemoryStore(LayersInMemory):
    """``JobStore`` over arrays of this process. ``origins`` are the keys at depth 0.

    ``distances``: keep them, for ``chunks``. ``residues``: keep residues in this form instead, for ``residue_words``.
    ``memory``: bytes that the arrays may take, None for no limit. Raises ResourceError when the arrays need more.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        origins: Sequence[int],
        *,
        distances: bool,
        residues: ResidueForm | None = None,
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
        arrays = 1 if self._in_place else 2
        self._arrays = [self._array_pair() for _ in range(arrays)]
        self._layers = [self._view(words, flags, 0, self.shards) for words, flags in self._arrays]
        self._excluded = excluded(
            graded=kernel.graded, undirected=kernel.reversible, alternating=self._in_place
        )
        self._found = self._layer() if self._excluded == "all" else None
        self._planes: list[_kernel.Layer] = []
        self._residues = residues
        self._residue_pairs = [self._array_pair() for _ in range(residues.planes if residues else 0)]
        self._residue_planes = [self._view(*pair, 0, self.shards) for pair in self._residue_pairs]
        self._population = [[0] * self.shards for _ in range(arrays)]  # of each layer array, by shard
        for key in origins:
            self._insert(key)
        self._counts[0] = self._nonzero(0)

    # Memory

    @property
    def layer_bytes(self) -> int:
        """Bytes of one array over all states."""
        return self.kernel.words * 8 + self.kernel.lines

    @property
    def bytes(self) -> int:
        """Bytes that the arrays and the kernel's rows may take."""
        arrays = len(self._layers) + len(self._planes) + len(self._residue_planes) + (self._found is not None)
        return arrays * self.layer_bytes + self.kernel.row_bytes

    def _array_pair(self) -> tuple[memoryview, memoryview]:
        """Words and flags of a layer over all shards."""
        return zeros(self.kernel.words * 8, used=True).cast("Q"), zeros(self.kernel.lines, used=True)

    def _view(self, words: memoryview, flags: memoryview, first: int, shards: int) -> _kernel.Layer:
        """The part of an array that holds ``shards`` shards from ``first`` on."""
        size, lines = self.kernel.words_per_shard, self.kernel.lines_per_shard
        end = first + shards
        return _kernel.Layer(
            self.kernel, words[first * size : end * size], flags[first * lines : end * lines], first, shards
        )

    def _layer(self) -> _kernel.Layer:
        return self._view(*self._array_pair(), 0, self.shards)

    def _grow_planes(self, depth: int) -> None:
        # Without asking for the memory: it is not used unless the layer turns out to have states, see commit().
        while len(self._planes) < ((depth >> self._shift) + 1).bit_length():
            self._planes.append(self._layer())

    def _check_depth(self, depth: int) -> None:
        """Raises ResourceError when the distances of a layer that has states cannot be kept."""
        if self._residues is not None:
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
        if self._residues is not None:
            number = self._residues.number(depth)
            return [plane for bit, plane in enumerate(self._residue_planes) if number >> bit & 1]
        if not self._distances:
            return []
        self._grow_planes(depth)
        number = (depth >> self._shift) + 1
        return [plane for bit, plane in enumerate(self._planes) if number >> bit & 1]

    def _insert(self, key: int) -> None:
        for layer in [self._layers[0], *self._planes_of(0), *([self._found] if self._found else [])]:
            _kernel.insert(self.kernel, layer, key)
        self._population[0][key // self._keys_per_shard] += 1

    # ShardStore

    def reachable(self, depth: int) -> list[int]:
        return self._sources.reached_from(self._counts[depth - 1])

    def _prepared(self, depth: int, shards: set[int]) -> set[int]:
        """Shards whose array still holds an older layer are stepped too, which clears them."""
        stale = self._population[self._array(depth)]
        wanted = shards | {shard for shard in range(self.shards) if stale[shard]}
        if self._in_place:
            wanted = {shard for shard in wanted if self._parity[shard] == depth & 1}
        self._counts.pop(depth - 3, None)
        return wanted

    def open(self, depth: int, shards: Sequence[int]) -> BitmapStepInput:
        free = self._free_shards(depth, shards)
        if self._found:
            exclude = [self._found]
        else:
            exclude = [self._layers[self._array(known)] for known in excluded_layers(self._excluded, depth)]
        accumulate = self._planes_of(depth) + ([self._found] if self._found else [])
        return BitmapStepInput(
            self.kernel,
            free,
            [self._layers[self._array(depth - 1)]],
            [self._layers[self._array(depth)]],
            [[layer] for layer in exclude],
            [[layer] for layer in accumulate],
        )

    def commit(self, depth: int, step_input: BitmapStepInput, counts: Sequence[int]) -> None:
        """Raises ResourceError when the layer's distances need too much memory or are too great."""
        if any(counts):
            self._check_depth(depth)
        population, layer_counts = self._population[self._array(depth)], self._counts[depth]
        self._committed.update(step_input.shards)
        for shard, count in zip(step_input.shards, counts, strict=True):
            population[shard] = count
            if count:
                layer_counts[shard] = count

    def _array(self, depth: int) -> int:
        return depth % len(self._layers)

    def _nonzero(self, depth: int) -> dict[int, int]:
        return {shard: n for shard, n in enumerate(self._population[self._array(depth)]) if n}

    # Results

    def keys(self, depth: int, limit: int) -> list[int]:
        found: list[int] = []
        words, flags = self._arrays[self._array(depth)]
        for shard in sorted(self._counts[depth]):  # other shards may hold the layer before
            if len(found) == limit:
                break
            layer = self._view(words, flags, shard, 1)
            found += _kernel.keys_of(self.kernel, layer, limit - len(found))
        return found

    def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Chunk]:
        unit = unit_for(depth)
        for first in range(0, self.kernel.keys, size):
            count = min(size, self.kernel.keys - first)
            yield Chunk(first, first + count - 1, unit, self._expanded(depth, first, count, threads))

    def residue_words(self, first: int, count: int) -> list[memoryview]:
        """Of each plane of the residues, ``count`` words from ``first`` on, in the order of the kernel's memory."""
        return [words[first : first + count] for words, _ in self._residue_pairs]

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
        for layer in self._layers:
            _kernel.clear(self.kernel, layer)
        found = 0
        for chunk in chunks:
            here = chunk.states
            if not here:  # as most of a checkpoint that was taken early
                continue
            found += here
            first, distances = chunk.first, chunk.distance_array()
            try:
                _kernel.collect(self.kernel, self._planes, self._shift, first, distances, threads)
                if self._found:
                    _kernel.mark(self.kernel, self._found, first, distances, -1, threads)
                for known in range(max(depth - 1, 0), depth + 1):
                    layer = self._layers[self._array(known)]
                    _kernel.mark(self.kernel, layer, first, distances, known, threads)
            except ValueError as error:
                raise DamagedMapError(
                    f"the chunk from key {first} does not fit a map up to depth {depth}: {error}"
                ) from None
        check_states(found, states, depth)
        for layer, population in zip(self._layers, self._population, strict=True):
            population[:] = _kernel.population(self.kernel, layer)
        counts = self._nonzero(depth)
        if self._in_place:
            counts = {shard: n for shard, n in counts.items() if self._parity[shard] == depth & 1}
        self._counts = {depth: counts}


BLOCK_WORDS = 2**20


def residue_problem(space: Space) -> str | None:
    """Why a space has no residue map; None where it has one."""
    if space.engine == "pattern":
        return "the moves of other pieces cost nothing in an additive pattern, so neighbours do not tell its distances"
    if space.keys is None:
        return "its states have no numbers without gaps (the map is sparse)"
    both_ways = gather(space).kernel.reversible if space.engine == "gather" else scatter(space).undirected
    if not both_ways:
        return "not every move can be taken back, so residues do not tell which neighbour is nearer"
    if not space.moves_both_ways:
        return "the moves that lead to a state are not known"
    return None


def gathered_form(space: GatherSpace, max_depth: int | None) -> ResidueForm:
    """The form of the residue map of a space of bitmaps. It does not depend on how finely shards are cut."""
    kernel, origins = space.kernel, space.keys_of(space.origins)
    order = WordOrder(kernel.keys, kernel.bits, kernel.words_per_group, tuple(kernel.order))
    if not searches_in_place(kernel, origins):
        return ResidueForm(3, order)
    colours = kernel.colours
    of_origins = colours[origins[0] // (kernel.keys // kernel.shards)]
    return ResidueForm(4, order, ones_for(max_depth), "".join(str(one ^ of_origins) for one in colours))


def scattered_form(keys: int) -> ResidueForm:
    """The form of the residue map of a dense space of runs."""
    return ResidueForm(3, WordOrder(keys))


def residue_blocks(
    store: JobStore, form: ResidueForm, depth: int, threads: int
) -> Iterator[tuple[int, Buffer]]:
    """The words of the map up to ``depth``: (the first word's number, words), some at a time."""
    if isinstance(store, MemoryStore):
        yield from _words_of_planes(store, form)
    else:
        yield from _words_of_distances(store, form, depth, threads)


def _words_of_planes(store: MemoryStore, form: ResidueForm) -> Iterator[tuple[int, Buffer]]:
    import numpy as np

    for first in range(0, form.order.words, BLOCK_WORDS):
        planes = store.residue_words(first, BLOCK_WORDS)
        if len(planes) == 1:
            yield first, planes[0]
        else:
            yield (
                first * len(planes),
                np.stack([np.asarray(plane) for plane in planes], axis=1).reshape(-1).data,
            )


def _words_of_distances(
    store: JobStore, form: ResidueForm, depth: int, threads: int
) -> Iterator[tuple[int, Buffer]]:
    """Of a store that has distances in key order, and a form whose words are in that order."""
    import numpy as np

    keys = BLOCK_WORDS * WORD_BITS // 8
    for chunk in store.chunks(depth, keys, threads):
        distances = chunk.distance_array()
        reached_here = distances != UNREACHED[chunk.unit]
        numbers = np.where(reached_here, distances % form.modulus + 1, 0).astype(np.uint8)
        words = np.zeros((-(-len(numbers) // WORD_BITS), form.planes), dtype=np.uint64)
        for plane in range(form.planes):
            packed = np.packbits(numbers >> plane & 1, bitorder="little")
            words[:, plane] = np.frombuffer(packed.tobytes().ljust(8 * len(words), b"\0"), dtype="<u8")
        yield chunk.first // WORD_BITS * form.planes, words.reshape(-1).data
