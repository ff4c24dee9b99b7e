"""The pegs family: a class of boards as bits of a key, jumped by the kernel line by line; else board by board.

Bits are taken where a move is one jump, all origins have the same number of pegs and agree in the parities that jumps
keep, and the class has at most 2^MAX_INDEX_BITS boards (families/pegs/layout.py). All else, and what is asked for as
packed boards, is in families/pegs/scatter_space.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.families.pegs.layout import LINES, Layout, choose_layout, kind_of, parities
from farthest.families.pegs.masks import PegBoards, boards_of, jumps_of, mask_of, masks_of, origin_boards
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY
from farthest.spaces.packed_layout import is_packed

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.spaces.contract import Boards, Codes, EngineKind, Space

MAX_INDEX_BITS = 34
"""Of a class that is enumerated by bits: its layers have 2 GiB."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> Space:
    """See ``spaces.compile_space``."""
    from farthest.families.pegs.scatter_space import PegScatterSpace

    origins = origin_boards(puzzle, origin)
    if is_packed(layout):
        chosen = None
    elif layout is None:
        chosen = _layout_of(puzzle, origins)
    else:
        chosen = Layout.from_dict(layout, puzzle.definition.cells) if kind_of(layout) == LINES else None
    if chosen is None:
        return PegScatterSpace(puzzle, origin, origins)
    return PegSpace(puzzle, origin, origins, chosen)


def _layout_of(puzzle: Puzzle, origins: Sequence[Board]) -> Layout | None:
    """The layout for bits, or None where they will not do."""
    changes = [jump.changed for jump in jumps_of(puzzle)]
    holes = puzzle.definition.cells
    kept = parities(holes, changes)
    masks = [mask_of(board) for board in origins]
    same = all(
        mask.bit_count() == masks[0].bit_count()
        and not any(((mask ^ masks[0]) & parity).bit_count() & 1 for parity in kept)
        for mask in masks
    )
    if puzzle.metric != "jump" or not same or holes - len(kept) > MAX_INDEX_BITS:
        return None
    return choose_layout(holes, changes, masks[0])


class PegSpace(PegBoards):
    """A GatherSpace: all boards of one class by keys."""

    engine: EngineKind = "gather"
    code_bytes = 8
    undirected = False

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], layout: Layout) -> None:
        super().__init__(puzzle, origin, origins)
        self.layout = layout

    @property
    def keys(self) -> int:
        """The number of keys: boards of the class."""
        return 1 << len(self.layout.holes)

    def shards_at(self, shard_classes: int) -> int:
        """See GatherSpace."""
        return 1 << min(shard_classes, self.kernel.shard_levels) - 1

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.PegSpace:
        """See GatherSpace: each level cuts shards in halves."""
        jumps = [(jump.full, jump.empty) for jump in self.jumps_away]
        dropped = [(one.hole, one.parity, one.flipped) for one in self.layout.dropped]

        def build(level: int) -> _kernel.PegSpace:
            return _kernel.PegSpace(self.layout.holes, dropped, jumps, level, isa)

        kernel = build(1)
        level = min(shard_classes, kernel.shard_levels)
        return kernel if level == 1 else build(level)

    @cached_property
    def kernel(self) -> _kernel.PegSpace:
        """See GatherSpace."""
        return self.compile_kernel()

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        return self.layout.to_dict()

    def shard_order(self, shards: int) -> range:
        """See GatherSpace: in the order of the keys."""
        return range(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        """See GatherSpace."""
        return [self._key(board) for board in boards]

    def _key(self, board: Sequence[int]) -> int:
        key = sum(1 << i for i, hole in enumerate(self.layout.holes) if board[hole])
        for one in self.layout.dropped:
            if bool(board[one.hole]) != one.flipped ^ (key & one.parity).bit_count() & 1:
                return NO_KEY
        return key

    def encode(self, boards: Boards) -> Codes:
        """See Space."""
        import numpy as np

        masks = masks_of(boards.reshape(-1, self.cells))
        keys = np.zeros(masks.size, dtype=np.uint64)
        for i, hole in enumerate(self.layout.holes):
            keys |= (masks >> np.uint64(hole) & np.uint64(1)) << np.uint64(i)
        keys[(self._masks(keys) != masks) | (boards.reshape(-1, self.cells) > 1).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        """See Space."""
        import numpy as np

        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")
        return boards_of(self._masks(keys), self.cells)

    def _masks(self, keys: Codes) -> Codes:
        """The masks of the boards of keys."""
        import numpy as np

        masks = np.zeros(keys.size, dtype=np.uint64)
        for i, hole in enumerate(self.layout.holes):
            masks |= (keys >> np.uint64(i) & np.uint64(1)) << np.uint64(hole)
        for one in self.layout.dropped:
            odd = np.bitwise_count(keys & np.uint64(one.parity)).astype(np.uint64) & np.uint64(1)
            masks |= (odd ^ np.uint64(one.flipped)) << np.uint64(one.hole)
        return masks
