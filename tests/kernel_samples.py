"""Small kernel spaces and layers of them, for tests of the bindings and the stores."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel

KernelMove = tuple[list[int], int, int]


def row_moves(slots: int) -> list[KernelMove]:
    """Slots in a row: a label moves to a neighbouring slot that holds class 0."""
    moves = []
    for a in range(slots - 1):
        to = list(range(slots))
        to[a], to[a + 1] = a + 1, a
        moves += [(to, 1 << a, 1 << (a + 1)), (to, 1 << (a + 1), 1 << a)]
    return moves


def make_space(
    counts: Sequence[int],
    moves: Sequence[KernelMove] | None = None,
    *,
    parity: Sequence[int] = (),
    shard_classes: int = 1,
    isa: str = "",
) -> _kernel.ArrangementSpace:
    """A space with these classes, by default in a row."""
    slots = sum(counts)
    return _kernel.ArrangementSpace(
        slots, counts, parity, row_moves(slots) if moves is None else moves, shard_classes, isa
    )


class Bitmap:
    """A layer with its memory. ``shards``: how many from ``first`` on, by default all."""

    def __init__(
        self, space: _kernel.Space, keys: Iterable[int] = (), first: int = 0, shards: int | None = None
    ) -> None:
        count = space.shards if shards is None else shards
        self.space = space
        self.words: NDArray[Any] = np.zeros(count * space.words_per_shard, dtype=np.uint64)
        self.flags: NDArray[Any] = np.zeros(count * space.lines_per_shard, dtype=np.uint8)
        self.layer = _kernel.Layer(space, self.words, self.flags, first, count)
        for key in keys:
            _kernel.insert(space, self.layer, key)

    def keys(self) -> list[int]:
        return _kernel.keys_of(self.space, self.layer, 2**62)
