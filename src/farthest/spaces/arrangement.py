"""Arrangement spaces: labels on cells, permuted by moves. Boards to keys and back, and one move's neighbours.

A board is one label for each cell, in cell order, uint8. A key is an unsigned 64-bit integer (docs/key-layout.md).
numpy is imported where it is used: enumerating a puzzle does without it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.layout import Layout, digit_parity
from farthest.spaces.moves import Move
from farthest.spaces.too_large import check_keys, kernel_limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.spaces.contract import EngineKind


MEND = "make more pieces identical, take a pattern of some pieces (PUZZLE@PIECES)"
"""What makes such a puzzle smaller."""


class ArrangementSpace:
    """A puzzle compiled for enumeration, with its origin.

    ``moves_toward`` lead from a state to states at most one nearer the origin, ``moves_away`` are their inverses:
    distances to the origin count the puzzle's moves along ``moves_toward``, distances from it along ``moves_away``.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        origin: Origin,
        origins: list[Board],
        layout: Layout,
        *,
        moves_toward: Sequence[Move],
        moves_away: Sequence[Move],
        undirected: bool,
    ) -> None:
        self.undirected = undirected
        self.puzzle = puzzle
        self.origin = origin
        self.origins = origins
        self.layout = layout
        self.moves_toward = moves_toward
        self.moves_away = moves_away
        self.cells = puzzle.definition.cells
        self.engine: EngineKind = "gather"
        self.code_bytes = 8
        self.moves_both_ways = True
        self._class_of = bytearray(b"\xff" * 256)
        for position, label in enumerate(layout.classes):
            self._class_of[label] = position
        self._labels = bytes(layout.classes)

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.ArrangementSpace:
        """The kernel's space, cut into shards by the places of the first ``shard_classes`` labels (as many as it
        allows, if fewer). Raises ResourceError when there are more keys than it can number.
        """
        slot_of = {cell: slot for slot, cell in enumerate(self.layout.slots)}

        def mask(cells: int) -> int:
            return sum(1 << slot for cell, slot in slot_of.items() if cells >> cell & 1)

        moves = [
            (
                [slot_of[move.to[cell]] for cell in self.layout.slots],
                mask(move.require),
                mask(move.forbid),
            )
            for move in self.moves_away
        ]

        def build(classes: int) -> _kernel.ArrangementSpace:
            return _kernel.ArrangementSpace(
                self.cells, self.layout.counts, self.layout.parity or (), moves, classes, isa
            )

        check_keys(self.puzzle, self.arrangements, MEND)
        with kernel_limits(self.puzzle, self.keys, MEND):
            kernel = build(1)
            levels = min(shard_classes, kernel.shard_levels)
            return kernel if levels == 1 else build(levels)

    def shards_at(self, shard_classes: int) -> int:
        """See GatherSpace."""
        shards, free = 1, self.cells
        for count in self.layout.counts[:shard_classes]:
            shards *= comb(free, count)
            free -= count
        return shards

    @cached_property
    def kernel(self) -> _kernel.ArrangementSpace:
        """The kernel's space with the fewest shards."""
        return self.compile_kernel()

    @property
    def arrangements(self) -> int:
        """The number of arrangements of the pieces, reachable or not (a multinomial coefficient)."""
        from math import factorial, prod

        return factorial(self.cells) // prod(factorial(count) for count in self.layout.counts)

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        return self.layout.to_dict()

    @property
    def keys(self) -> int:
        """The number of keys: an upper bound of the number of states, half the arrangements if parity is known."""
        return self.arrangements // (1 if self.layout.parity is None else 2)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        """The boards' keys, or NO_KEY. Each board: a label for each cell."""
        keys = array("Q", bytes(8 * len(boards)))
        labels = bytes(chain.from_iterable(boards))
        self.kernel.encode(labels, self.cells, self.layout.slots, self._class_of, keys)
        return keys.tolist()

    def shard_order(self, shards: int) -> list[int]:
        """See GatherSpace: by the cells of the labels, the blanks' last, which each move changes."""
        import numpy as np

        firsts = np.arange(shards, dtype=np.uint64) * np.uint64(self.keys // shards)
        position = np.frombuffer(bytes(self._class_of), dtype=np.uint8)[self.decode(firsts)]
        cells = np.argsort(position, axis=1, kind="stable")
        blanks = self.layout.counts[0]
        places = [cells[:, at] for at in (*range(blanks, self.cells), *range(blanks))]
        return [int(shard) for shard in np.lexsort(places[::-1])]

    def key(self, board: Sequence[int]) -> int:
        """The board's key, or NO_KEY."""
        return self.keys_of([board])[0]

    def board(self, key: int) -> Board:
        """The board of a key. Raises ValueError when the key is out of range."""
        out = bytearray(self.cells)
        self.kernel.decode(array("Q", [key]), self.cells, self.layout.slots, self._labels, out)
        return tuple(out)

    def encode(self, boards: bytes | bytearray | memoryview | NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Keys uint64 (N,) of N boards, given as N x cells bytes; ``NO_KEY`` where a board has none."""
        import numpy as np

        flat = np.frombuffer(boards, dtype=np.uint8)
        keys = np.empty(flat.size // self.cells, dtype=np.uint64)
        self.kernel.encode(flat, self.cells, self.layout.slots, self._class_of, keys)
        return keys

    def decode(self, keys: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Boards uint8 (N, cells) of N keys. Raises ValueError when a key is out of range."""
        import numpy as np

        boards = np.empty((keys.size, self.cells), dtype=np.uint8)
        wanted = np.ascontiguousarray(keys, dtype=np.uint64)
        self.kernel.decode(wanted, self.cells, self.layout.slots, self._labels, boards.reshape(-1))
        return boards

    def write_boards(self, keys: Sequence[int], rows: bytearray, positions: Sequence[int]) -> None:
        """Writes the labels of the keys' boards into equally long ``rows``, cell i's at byte ``positions[i]`` of each.

        Fastest for a ``range``. Raises ValueError when a key is out of range.
        """
        places = [positions[cell] for cell in self.layout.slots]
        width = len(rows) // len(keys)
        if isinstance(keys, range) and keys.step == 1:
            self.kernel.decode_range(keys.start, len(keys), width, places, self._labels, rows)
        else:
            self.kernel.decode(array("Q", keys), width, places, self._labels, rows)

    def neighbours(
        self, boards: NDArray[np.uint8], *, toward: bool
    ) -> Iterator[tuple[tuple[int, int], NDArray[np.intp], NDArray[np.uint8]]]:
        """See Space."""
        import numpy as np

        blanks = np.where(boards == 0, self._bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        anywhere = np.bitwise_or.reduce(blanks)  # a move into other cells can be made on none of the boards
        played = toward == (self.origin.direction == "to")
        table = self._table_toward if toward else self._table_away
        for number in np.flatnonzero(table.require & ~anywhere == 0).tolist():
            legal = blanks & table.masks[number] == table.require[number]
            rows = np.flatnonzero(legal)
            if rows.size:
                name = table.names[number]
                yield name if played else name[::-1], rows, boards[rows[:, None], table.sources[number]]

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        import numpy as np

        return np.uint64(1) << np.arange(self.cells, dtype=np.uint64)

    @cached_property
    def _table_toward(self) -> _MoveTable:
        return _MoveTable.of(self.moves_toward)

    @cached_property
    def _table_away(self) -> _MoveTable:
        return _MoveTable.of(self.moves_away)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """The structural reason why no moves join the board to the origin, or None when there is no obvious one."""
        if self.layout.parity is not None:
            slot = self.layout.slots.index(board.index(0))
            if digit_parity(self.layout, board) != self.layout.parity[slot]:
                return (
                    "parity: all pieces are distinct, so half of all boards cannot be reached from the other half, and "
                    "this one is in the wrong half (it would be in the right one with any two pieces exchanged)"
                )
        return None


@dataclass(frozen=True, slots=True)
class _MoveTable:
    """Moves as arrays. Move m is legal on a board where those of its blanks that are in ``masks[m]`` are
    ``require[m]`` (uint64 masks of cells); after it cell i holds what was in ``sources[m, i]`` (intp)."""

    names: list[tuple[int, int]]
    require: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    sources: NDArray[np.intp]

    @classmethod
    def of(cls, moves: Sequence[Move]) -> _MoveTable:
        import numpy as np

        require = np.array([move.require for move in moves], dtype=np.uint64)
        forbid = np.array([move.forbid for move in moves], dtype=np.uint64)
        sources = np.array([move.inverse().to for move in moves], dtype=np.intp)
        return cls([move.name for move in moves], require, require | forbid, sources)
