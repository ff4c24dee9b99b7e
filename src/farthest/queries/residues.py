"""Distances from residues in any dense space, an array of states at a time: the kernel does the same for arrangements.

``read`` gives the residues of keys, -1 where they are not reached; see ``map_files.form``.
"""

from __future__ import annotations

import os
from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.errors import DamagedMapError
from farthest.machine import available_memory, memory_limit
from farthest.map_files.form import LOW, PAGE, ResidueForm, WordOrder
from farthest.models.chunks import CHUNK_KEYS, UNREACHED, WIDTHS, Chunk, Unit
from farthest.spaces.contract import gather, reduced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from farthest.map_files.file import MapPages
    from farthest.models.records import JobRecord
    from farthest.spaces.contract import Codes, Space


if TYPE_CHECKING:
    Distances = NDArray[numpy.uint8] | NDArray[numpy.uint16]
    Keys = NDArray[numpy.uint64]
    Read = Callable[[Keys], NDArray[numpy.int64]]

EXPANDED_TOGETHER = 2**16


def walk(
    space: Space, form: ResidueForm, read: Read, keys: Keys, origins: Keys, most: int
) -> NDArray[numpy.int32]:
    """The lengths of walks from keys to nearer neighbours, down to origins (ascending); -1 where a walk ends elsewhere,
    or is longer than ``most``."""
    found = numpy.full(len(keys), -1, dtype=numpy.int32)
    rows, boards, residues = numpy.arange(len(keys)), space.decode(keys), read(keys)
    for made in range(most + 1):
        at_zero = residues == 0
        at_zero[at_zero] = _among(keys[at_zero], origins)
        found[rows[at_zero]] = made
        going = ~at_zero & (residues >= 0)
        rows, boards, residues = rows[going], boards[going], residues[going]
        if not len(rows) or made == most:
            break
        wanted = (residues - 1) % form.modulus
        after, stepped = numpy.zeros_like(boards), numpy.zeros(len(rows), dtype=bool)
        for _, of_move, reached in space.neighbours(boards, toward=True):
            new = ~stepped[of_move]
            of_move, reached = of_move[new], reached[new]
            if not len(of_move):
                continue
            nearer = read(space.encode(reached)) == wanted[of_move]
            after[of_move[nearer]] = reached[nearer]
            stepped[of_move[nearer]] = True
        rows, boards, residues = rows[stepped], after[stepped], wanted[stepped]
        keys = space.encode(boards) if len(boards) else numpy.empty(0, dtype=numpy.uint64)
    return found


def layers(space: Space, form: ResidueForm, read: Read, origins: Keys, depth: int) -> Iterator[Keys]:
    """The keys of each layer up to ``depth``, ascending: from the origins on, each layer from the one before."""
    layer = origins
    yield layer
    kept = reduced(space)
    for distance in range(1, depth + 1):
        layer = _unique(
            keys[read(keys) == distance % form.modulus]  # the others are in this layer, or in the one before
            for keys in _neighbours(space, layer)
        )
        if kept is not None:  # neighbours of one state of a class have one key of each class
            layer = kept.alike(layer)
        yield layer


def _neighbours(space: Space, layer: Keys) -> Iterator[Keys]:
    """The keys that moves join to some keys, some at a time, each once at a time."""
    for at in range(0, len(layer), EXPANDED_TOGETHER):
        for _, _, reached in space.neighbours(space.decode(layer[at : at + EXPANDED_TOGETHER]), toward=True):
            yield numpy.unique(space.encode(reached))


def _unique(parts: Iterable[Keys]) -> Keys:
    return numpy.unique(numpy.concatenate([numpy.empty(0, dtype=numpy.uint64), *parts]))


def _among(keys: Keys, origins: Keys) -> NDArray[numpy.bool_]:
    places = numpy.searchsorted(origins, keys)
    places[places == len(origins)] = 0
    found: NDArray[numpy.bool_] = origins[places] == keys
    return found


# All distances of a large residue map, found layer by layer as bits and compared with the map: a hundredth of
# the time that walks from each key take.


class ResidueLayers:
    """``kernel``: of a space whose moves can be taken back. ``words``: the map's, all of them, in the kernel's order.
    ``origins``: keys; ``depth``: of the last layer."""

    def __init__(
        self,
        kernel: _kernel.Space,
        form: ResidueForm,
        words: NDArray[numpy.uint64],
        origins: Sequence[int],
        depth: int,
    ) -> None:
        self._kernel = kernel
        self._form = form
        self._words = words.reshape(-1, form.planes)
        self._origins = origins
        self._depth = depth
        self._bits = (depth + 1).bit_length()

    @property
    def bytes(self) -> int:
        """Memory that is taken besides the map and the distances."""
        return (2 + self._bits) * (self._kernel.words * 8 + self._kernel.lines) + self._kernel.row_bytes

    def chunks(self, unit: Unit, threads: int) -> Iterator[Chunk | None]:
        """The distances, of ``unit``, its greatest value where there is none, chunk by chunk; None at once, and nothing
        else, where the map says something else of a state."""
        kernel = self._kernel
        planes = self._planes(threads)
        if planes is None:
            yield None
            return
        for first in range(0, kernel.keys, CHUNK_KEYS):
            out: Distances = numpy.empty(min(CHUNK_KEYS, kernel.keys - first), dtype=unit)
            _kernel.expand(kernel, planes, 0, [0] * kernel.shards, first, out, threads)
            yield Chunk(first, first + len(out) - 1, unit, out.data)

    def _planes(self, threads: int) -> list[_kernel.Layer] | None:
        """The layers as bits of the number of each; None as ``chunks``."""
        kernel = self._kernel
        shards = list(range(kernel.shards))
        kernel.prepare(shards, threads)
        (now, now_words), (before, before_words) = self._layer(), self._layer()
        planes = [self._layer()[0] for _ in range(self._bits)]
        for key in self._origins:
            for layer in [now, *self._of(planes, 0)]:
                _kernel.insert(kernel, layer, key)
        if not self._is_told(now_words, 0):
            return None
        for depth in range(1, self._depth + 1):
            found = [[plane] for plane in self._of(planes, depth)]
            _kernel.step(kernel, shards, [now], [before], [[before], [now]], found, threads)
            now, now_words, before, before_words = before, before_words, now, now_words
            if not self._is_told(now_words, depth):
                return None
        return planes

    def _layer(self) -> tuple[_kernel.Layer, NDArray[numpy.uint64]]:
        words = numpy.zeros(self._kernel.words, dtype=numpy.uint64)
        flags = numpy.zeros(self._kernel.lines, dtype=numpy.uint8)
        return _kernel.Layer(self._kernel, words, flags, 0, self._kernel.shards), words

    def _of(self, planes: list[_kernel.Layer], depth: int) -> list[_kernel.Layer]:
        """The planes in which the states of a layer are."""
        return [plane for bit, plane in enumerate(planes) if depth + 1 >> bit & 1]

    def _is_told(self, layer: NDArray[numpy.uint64], depth: int) -> bool:
        """Whether the map has the number of the layer for all of its states."""
        number = self._form.number(depth)
        some = 1 << 22
        for first in range(0, len(layer), some):
            states = layer[first : first + some]
            for plane in range(self._form.planes):
                told = self._words[first : first + some, plane]
                wrong = states & ~told if number >> plane & 1 else states & told
                if wrong.any():
                    return False
        return True


# Distances from a residue map: of some keys by walks to the origin; of all keys, where their distances fit in
# memory, layer by layer or by one pass over the map, else by walks, some keys at a time.

TOGETHER = 2**16
"""Keys that are looked up together, at most; fewer where the pages of the map do not fit the cache."""

WALK_PAGES = 256
"""Pages that there must be room for with each key that is looked up: more than those that one step of a walk reads."""

TOLD_KEYS = 2**24
"""A question that reads the distances of more keys says so."""

SMALL_PART = 256
"""A layer is found from the origins on if it and those before have at most one in so many of the keys ..."""

LAYER_BYTES = 64
"""... and fit in memory with so many bytes per state."""

MISSING, ORIGIN, ELSEWHERE, TOO_LONG = range(4)
"""Why the kernel's walks end (kernel/include/farthest/residues.hpp)."""


class ResidueReader:
    """The same for a residue map as ``FullReader`` is for a full one. ``cache_bytes``, or a quarter of the memory that
    is free if that is more, bounds the pages that are kept in memory; ``told`` hears of long work.
    """

    def __init__(
        self, pages: MapPages, record: JobRecord, space: Space, cache_bytes: int, told: Callable[[str], None]
    ) -> None:
        self._pages = pages
        self._form = pages.form
        self._record = record
        self._space = space
        self._cache_bytes = max(cache_bytes, available_memory() // 4)
        self._told = told
        self._depth = record.depth or 0
        self._threads = os.cpu_count() or 1
        self.unit: Unit = "uint16" if record.unit == "uint16" else "uint8"

    def close(self) -> None:
        """Gives up the file."""
        self._pages.close()

    def distances(self, codes: Codes) -> NDArray[numpy.int32]:
        """The distances of codes, int32, -1 where there is none."""
        found = numpy.full(len(codes), -1, dtype=numpy.int32)
        inside = numpy.flatnonzero(codes < self._form.order.keys)
        if self._is_expanded:
            found[inside] = self._all[codes[inside]]
            found[found == UNREACHED[self.unit]] = -1
            return found
        together = self._together
        for at in range(0, len(inside), together):
            some = inside[at : at + together]
            keys = numpy.array(codes[some], dtype=numpy.uint64)
            found[some] = (
                self._walked(keys)
                if self._compiled
                else walk(self._space, self._form, self._read, keys, self._origins, self._depth)
            )
        if len(inside) and self._record.complete and self._record.states == self._states:
            self._check(bool((found[inside] >= 0).all()))
        return found

    @property
    def _is_expanded(self) -> bool:
        """Whether all distances are found at the first question: walks of a kind that the kernel does not know take
        longer."""
        return self._compiled is None and self._gathered is not None and self._form.order.keys <= TOLD_KEYS

    @property
    def _together(self) -> int:
        if self._form.words * 8 <= self._cache_bytes:
            return TOGETHER
        return min(max(self._cache_bytes // (WALK_PAGES * PAGE), 1), TOGETHER)

    def chunks(self, depth: int | None = None) -> Iterator[Chunk]:
        """All distances, chunk by chunk in key order; with ``depth`` perhaps those of this layer alone."""
        keys = self._form.order.keys
        if "_all" not in self.__dict__:
            self._told_scan()
            if keys * WIDTHS[self.unit] + self._form.words * 8 > self._cache_bytes:
                yield from self._scanned(depth)
                return
        for first in range(0, keys, CHUNK_KEYS):
            some = self._all[first : first + CHUNK_KEYS]
            yield Chunk(first, first + len(some) - 1, self.unit, some.data)

    def chunks_once(self) -> Iterator[Chunk]:
        """The same of all distances, in the least memory."""
        layers = None if "_all" in self.__dict__ else self._layers(0)
        if layers is None:
            yield from self.chunks()
            return
        self._told_scan()
        self._pages.load_all()
        yield from self._by_layers(layers)

    def _by_layers(self, layers: ResidueLayers) -> Iterator[Chunk]:
        states = 0
        for chunk in layers.chunks(self.unit, self._threads):
            self._check(chunk is not None)
            assert chunk is not None
            states += self._states_of(chunk)
            yield chunk
        self._check(states == self._record.states)

    def layer(self, depth: int, states_within: int) -> Codes | None:
        """The keys of a layer, ascending, where finding it from the origins on is much less than reading all; else
        None. ``states_within``: those up to this depth."""
        most = min(self._form.order.keys // SMALL_PART, self._cache_bytes // LAYER_BYTES)
        if "_all" in self.__dict__ or states_within > most:
            return None
        return deque(self._found_layers(depth), maxlen=1).pop()

    def _found_layers(self, depth: int) -> Iterator[Keys]:
        return layers(self._space, self._form, self._read, self._origins, depth)

    @cached_property
    def _all(self) -> Distances:
        self._pages.load_all()
        keys = self._form.order.keys
        distances: Distances = numpy.empty(keys, dtype=self.unit)
        layers = self._layers(distances.nbytes)
        if layers is not None:
            for chunk in self._by_layers(layers):
                distances[chunk.first : chunk.last + 1] = chunk.distance_array()
        elif self._compiled:
            self._compiled.expand(distances, self._depth, self._threads)
        else:
            distances[:] = UNREACHED[self.unit]
            for depth, layer in enumerate(self._found_layers(self._depth)):
                distances[layer] = depth
        self._check(self._states_of(Chunk(0, keys - 1, self.unit, distances.data)) == self._record.states)
        distances.flags.writeable = False
        return distances

    def _told_scan(self) -> None:
        keys = self._form.order.keys
        if keys > TOLD_KEYS:
            self._told(f"the question scans all {keys:,} keys of the residue map")

    def _scanned(self, depth: int | None) -> Iterator[Chunk]:
        """The chunks by walks from each key; with ``depth`` only from those whose residue is that of this layer."""
        states = 0
        for first in range(0, self._form.order.keys, CHUNK_KEYS):
            end = min(first + CHUNK_KEYS, self._form.order.keys)
            keys = numpy.arange(first, end, dtype=numpy.uint64)
            residues = self._read(keys)
            wanted = numpy.flatnonzero(
                residues >= 0 if depth is None else residues == depth % self._form.modulus
            )
            found = self.distances(keys[wanted])
            reached = found >= 0
            distances = numpy.full(len(keys), UNREACHED[self.unit], dtype=self.unit)
            distances[wanted[reached]] = found[reached]
            chunk = Chunk(first, end - 1, self.unit, distances.data)
            states += self._states_of(chunk)
            yield chunk
        self._check(depth is not None or states == self._record.states)

    @cached_property
    def _origins(self) -> NDArray[numpy.uint64]:
        boards = numpy.array(self._space.origins, dtype=numpy.uint8).reshape(-1, self._space.cells)
        return numpy.unique(self._space.encode(boards)).astype(numpy.uint64)

    @cached_property
    def _gathered(self) -> _kernel.Space | None:
        """The kernel's space, where there is one that has the keys in the same order as the map."""
        kernel = gather(self._space).kernel if self._space.engine == "gather" else None
        if kernel is None or not kernel.reversible:
            return None
        order = WordOrder(kernel.keys, kernel.bits, kernel.words_per_group, tuple(kernel.order))
        return kernel if order == self._form.order else None

    @property
    def _states(self) -> int:
        """Of all keys."""
        return self._form.order.keys if self._gathered is None else self._gathered.states

    def _states_of(self, chunk: Chunk) -> int:
        return chunk.states if self._gathered is None else chunk.states_of(self._gathered)

    def _layers(self, besides: int) -> ResidueLayers | None:
        """Where it is worth it, and fits in memory with so many bytes besides."""
        kernel = self._gathered
        if kernel is None or (self._compiled and self._form.order.keys <= TOLD_KEYS):
            return None
        origins = [int(key) for key in self._origins]
        layers = ResidueLayers(kernel, self._form, self._pages.words, origins, self._depth)
        needed = layers.bytes + self._form.words * 8 + besides
        return layers if needed <= memory_limit(None) else None

    @cached_property
    def _compiled(self) -> _kernel.ResidueMap | None:
        """The map for the kernel, where the space is one whose keys it knows in the same order."""
        kernel = self._gathered
        if not isinstance(kernel, _kernel.ArrangementSpace) or reduced(self._space) is not None:
            return None
        colours = numpy.frombuffer(self._form.colours.encode(), dtype=numpy.uint8) & 1
        low = self._form.ones == LOW
        return _kernel.ResidueMap(kernel, self._pages.words, self._pages.present, colours, low, self._origins)

    def _walked(self, keys: NDArray[numpy.uint64]) -> NDArray[numpy.int32]:
        assert self._compiled is not None
        steps = numpy.zeros(len(keys), dtype=numpy.int32)
        ends = numpy.full(len(keys), MISSING, dtype=numpy.uint8)
        left = numpy.arange(len(keys))
        while left.size:
            at, made, why = keys[left], steps[left], ends[left]
            pages = numpy.zeros(len(left), dtype=numpy.uint64)
            # A walk among keys that are not reached may take one step, whatever the depth.
            self._compiled.walk(at, made, why, pages, max(self._depth, 1), self._threads)
            keys[left], steps[left], ends[left] = at, made, why
            missing = why == MISSING
            self._load(pages[missing].astype(numpy.int64))
            left = left[missing]
        arrived = ends == ORIGIN
        beyond = (ends == TOO_LONG) | arrived & (steps > self._depth)
        self._check(not (self._record.complete and beyond.any()))
        return numpy.where(arrived & ~beyond, steps, -1).astype(numpy.int32)

    def _read(self, keys: NDArray[numpy.uint64]) -> NDArray[numpy.int64]:
        """The residues of keys, -1 where the map says that they are not reached."""
        words, _ = self._form.order.places(keys)
        self._load(words * self._form.planes * 8 // PAGE)
        return self._form.residues(keys, self._pages.words)

    def _load(self, pages: NDArray[numpy.int64]) -> None:
        """Reads pages; those that were read before are given up where there are too many."""
        if self._pages.held > self._cache_bytes:
            self._pages.forget()
        self._pages.load(pages)

    def _check(self, right: bool) -> None:
        if not right:
            raise DamagedMapError(
                f"job {self._record.id} ({self._record.name}): its residue map contradicts itself; `farthest verify` "
                "says where, and enumerating the puzzle again mends it"
            )
