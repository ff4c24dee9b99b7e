"""Permutation puzzles whose states are numbered by the elements of the group of the moves: every key is a state.

An element is a product of one of the chain's elements of each level (families/permutation/chain.py); their numbers are
the digits of the key, that of the first level the most significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel
from farthest.families.permutation.chain import Chain, level_fields
from farthest.families.permutation.layout import VERSION
from farthest.families.permutation.neighbours import PermutationBoards
from farthest.families.permutation.points import Points
from farthest.families.permutation.reach import Level
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY
from farthest.spaces.too_large import check_keys

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.contract import EngineKind

KIND = "chain"

BATCH = 1 << 14
"""Boards encoded at a time: what they need lies in the near caches."""


class ChainSpace(PermutationBoards):
    """See ScatterSpace; dense. ``levels``: the base, of the first origin; moves join all origins."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], levels: Sequence[Level]) -> None:
        super().__init__(puzzle, origin, origins)
        self.engine: EngineKind = "scatter"
        self.undirected = self.definition.symmetric
        self.graded = False
        self._levels = tuple(levels)
        self.chain = Chain(self.definition, origins[0], levels)
        self._radices = [len(ways) for ways in self.chain.ways]
        check_keys(puzzle, self.keys, "take fewer points", what="elements")

    @property
    def keys(self) -> int:
        """See Space: the order of the group."""
        return prod(self._radices)

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        return {"version": VERSION, "kind": KIND, "base": level_fields(self._levels)}

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """See Space."""
        keys = np.empty(len(boards), dtype=np.uint64)
        for first in range(0, len(boards), BATCH):
            part = boards[first : first + BATCH]
            found, numbers = self.chain.numbers(self.chain.images(part))
            found &= (self.chain.boards(numbers) == part).all(axis=1)
            keys[first : first + BATCH] = np.where(found, self._keys(numbers), np.uint64(NO_KEY))
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """See Space."""
        if codes.size and int(codes.max()) >= self.keys:
            raise ValueError("no such key")
        boards = np.empty((codes.size, self.cells), dtype=np.uint8)
        for first in range(0, codes.size, BATCH):
            boards[first : first + BATCH] = self.chain.boards(self._numbers(codes[first : first + BATCH]))
        return boards

    def origin_codes(self) -> Buffer:
        """See ScatterSpace."""
        return self.encode(np.array(self.origins, dtype=np.uint8)).data

    @cached_property
    def expander(self) -> _kernel.GroupExpander:
        """See ScatterSpace."""
        points = Points(self.definition.slot_moduli)
        levels = [
            (points.first[level.slot], ways)
            for level, ways in zip(self._levels, self.chain.ways, strict=True)
        ]
        moves = [np.array(points.element(*move.effect), dtype=np.uint16) for move in self.moves_away]
        return _kernel.GroupExpander(len(points.places), levels, moves)

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""
        return _kernel.expand_codes(self.expander, codes, threads)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space."""
        if self.encode(np.array([board], dtype=np.uint8))[0] != NO_KEY:
            return None
        return super().why_unreachable(board) or (
            f"group: the moves reach {self.keys:,} boards, and this is none of them"
        )

    def _keys(self, numbers: Sequence[NDArray[np.intp]]) -> NDArray[np.uint64]:
        keys = np.zeros(len(numbers[0]), dtype=np.uint64)
        for radix, number in zip(self._radices, numbers, strict=True):
            keys = keys * np.uint64(radix) + number.astype(np.uint64)
        return keys

    def _numbers(self, keys: NDArray[np.uint64]) -> list[NDArray[np.intp]]:
        """Inverse of ``_keys``."""
        numbers, rest = [], keys.astype(np.int64)
        for radix in reversed(self._radices):
            rest, number = np.divmod(rest, radix)
            numbers.append(number)
        return numbers[::-1]
