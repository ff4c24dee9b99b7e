"""All distances of a large residue map, found layer by layer as bits and compared with the map: a hundredth of the time
that walks from each key take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.models.chunks import CHUNK_KEYS
from farthest.queries.chunk_cache import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from farthest.map_files.form import ResidueForm
    from farthest.queries.chunk_cache import Distances


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

    def chunks(
        self, unit: numpy.dtype[numpy.uint8] | numpy.dtype[numpy.uint16], threads: int
    ) -> Iterator[Chunk | None]:
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
            yield Chunk(first, first + len(out) - 1, out)

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
