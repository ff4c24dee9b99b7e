"""Putting a distance map together, block by block, from the last checkpoint and the layers found since.

One block at a time is spread over bit planes (kernel/include/farthest/planes.hpp): what the process needs is planes for
one block, however large the space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import DamagedMapError
from farthest.models.chunks import WIDTHS, Unit
from farthest.stores.bitmaps import Bitmap, zeros
from farthest.stores.blobs.blob import decode_blob
from farthest.stores.contract import Base
from farthest.stores.distances import typed, unit_for

if TYPE_CHECKING:
    from farthest.stores.blocks import Blocks


class Assembly:
    """Distances up to ``depth`` of a space cut into blocks.

    ``blobs``: gives a block's (depth, blob), in any order, for the depths that ``base`` does not have; ``base`` None:
    there is no checkpoint. ``parity``: for each shard the lowest bit of its distances, where ``shift`` is 1.
    """

    def __init__(
        self,
        kernel: _kernel.Space,
        blocks: Blocks,
        depth: int,
        *,
        blobs: Callable[[int], Iterable[tuple[int, bytes]]],
        base: Base | None,
        shift: int,
        parity: list[int],
    ) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self._depth = depth
        self._blobs = blobs
        self._base = base
        self._shift = shift
        self._parity = parity
        self._keys_per_block = keys_per_block(kernel, blocks)
        self._block = -1
        self._layers: list[
            _kernel.Layer
        ] = []  # of that block, for the next range of keys begins where one ended

    def chunks(
        self, size: int, threads: int, keys: range | None = None
    ) -> Iterator[tuple[int, int, Unit, memoryview]]:
        """(first key, last key, unit, distances) of ``size`` keys a chunk, in key order; ``keys``: None for all. Raises
        LostStateError and what ``base`` raises."""
        unit = unit_for(self._depth)
        width = WIDTHS[unit]
        wanted = range(self._kernel.keys) if keys is None else keys
        for first in range(wanted.start, wanted.stop, size):
            end = min(first + size, wanted.stop)
            out = zeros((end - first) * width)
            key = first
            while key < end:
                block = key // self._keys_per_block
                if block != self._block:
                    self._layers, self._block = self._planes(block, threads), block
                until = min(end, (block + 1) * self._keys_per_block)
                self._add_base(key, until, threads)
                part = out[(key - first) * width : (until - first) * width]
                distances = typed(part, unit)
                _kernel.expand(self._kernel, self._layers, self._shift, self._parity, key, distances, threads)
                key = until
            yield first, end - 1, unit, out

    def _add_base(self, first: int, end: int, threads: int) -> None:
        """Adds the checkpoint's distances of these keys to the planes of the block that they are in."""
        if self._base is None:
            return
        for key, part in parts(self._base, first, end):
            try:
                _kernel.collect(self._kernel, self._layers, self._shift, key, part, threads)
            except ValueError as error:
                raise DamagedMapError(
                    f"the checkpoint does not fit a map up to depth {self._depth}: {error}"
                ) from None

    def _planes(self, block: int, threads: int) -> list[_kernel.Layer]:
        shards = self._blocks.shards(block)
        number = ((self._depth >> self._shift) + 1).bit_length()
        planes = [Bitmap(self._kernel, shards) for _ in range(number)]
        layers = [plane.layer for plane in planes]
        for depth, blob in self._blobs(block):
            chosen = [plane for bit, plane in enumerate(planes) if ((depth >> self._shift) + 1) >> bit & 1]
            decode_blob(self._kernel, depth, block, blob, chosen)
        return layers


def keys_per_block(kernel: _kernel.Space, blocks: Blocks) -> int:
    """Keys of a block, but for the last."""
    return kernel.keys // kernel.shards * blocks.per_block


def parts(base: Base, first: int, end: int) -> Iterator[tuple[int, memoryview]]:
    """The distances of keys ``first`` to ``end`` - 1, chunk by chunk: first key of the part, its distances."""
    key = first
    while key < end:
        chunk = base(key)
        distances = typed(memoryview(chunk.distances), chunk.unit)
        until = min(end, chunk.last_key + 1)
        yield key, distances[key - chunk.first_key : until - chunk.first_key]
        key = until
