"""Peg puzzles board by board: codes are bit masks of holes, and the kernel finds the successors of each."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.families.pegs.layout import BOARDS, VERSION
from farthest.families.pegs.masks import PegBoards, boards_of, masks_of
from farthest.spaces.contract import NO_KEY

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import Boards, Codes, EngineKind

_MOST_HOLES = 63
"""The mask of 64 pegs is no code: NO_KEY."""


class PegScatterSpace(PegBoards):
    """A ScatterSpace, sparse: few boards of all can be reached."""

    engine: EngineKind = "scatter"
    code_bytes = 8
    keys: int | None = None
    undirected = False

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        super().__init__(puzzle, origin, origins)
        # Each jump takes away one peg; a chain any number.
        self.graded = puzzle.metric == "jump" and len({sum(board) for board in origins}) == 1

    @cached_property
    def expander(self) -> _kernel.PegExpander:
        """The kernel's successors."""
        moves = [(jump.start, jump.end, jump.full, jump.empty) for jump in self.jumps_away]
        return _kernel.PegExpander(moves, self.puzzle.metric == "chain")

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        return {"version": VERSION, "kind": BOARDS}

    def encode(self, boards: Boards) -> Codes:
        """See Space."""
        masks = masks_of(boards.reshape(-1, self.cells))
        masks[(boards.reshape(-1, self.cells) > 1).any(axis=1)] = NO_KEY
        return masks

    def decode(self, codes: Codes) -> Boards:
        """See Space."""
        import numpy as np

        masks = np.ascontiguousarray(codes, dtype=np.uint64)
        if self.cells <= _MOST_HOLES and masks.size and int(masks.max()) >= 1 << self.cells:
            raise ValueError(f"code {int(masks.max())} is out of range, expected less than {1 << self.cells}")
        return boards_of(masks, self.cells)

    def origin_codes(self) -> Buffer:
        """See ScatterSpace."""
        import numpy as np

        boards = np.array(self.origins, dtype=np.uint8).reshape(-1, self.cells)
        return np.ascontiguousarray(self.encode(boards)).data

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""
        return _kernel.expand_codes(self.expander, codes, threads)
