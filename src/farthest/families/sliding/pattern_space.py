"""Additive patterns of sliding puzzles: a state is the cells of the pattern's pieces, one lane of the kernel's lines.

The key of a placement is the mixed-radix number of its digits, first label first; a digit is the number of cells before
the piece's that no earlier label holds (docs/key-layout.md). numpy is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import perm
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.errors import PuzzleError, ResourceError
from farthest.families.sliding.boards import parse_board
from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import Board
from farthest.puzzles.origin_names import names_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards, Codes, EngineKind

LAYOUT = {"version": 1, "kind": "placements"}

MAX_KEYS = 2**40


class PatternSpace:
    """An additive pattern with its origin. ``pieces``: how many there are, with labels from 1 on."""

    engine: EngineKind = "pattern"
    code_bytes = 8
    moves_both_ways = True

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        if layout not in (None, LAYOUT):
            raise PuzzleError(
                f"puzzle {puzzle.name}: its keys are stored in an unknown layout, {layout}; the map is of another "
                "version of farthest, use that one"
            )
        self.puzzle = puzzle
        self.origin = origin
        self.definition = sliding(puzzle)
        self.cells = self.definition.cells
        self.undirected = not self.definition.arcs
        self.pieces = len(self.definition.tokens) - 1
        self.keys: int = perm(self.cells, self.pieces)
        if self.keys > MAX_KEYS:
            raise ResourceError(
                f"puzzle {puzzle.name}: {self.keys:.2e} placements of its pieces, more than the {MAX_KEYS:.1e} that "
                "can be enumerated; take fewer pieces"
            )
        self._starts = list(_starts(puzzle, origin))
        self.origins = list(dict.fromkeys(board for board, _ in self._starts))

    @cached_property
    def kernel(self) -> _kernel.PatternSpace:
        """The kernel's search for the best instruction set."""
        return self.compile_kernel()

    def compile_kernel(self, isa: str = "") -> _kernel.PatternSpace:
        """The kernel's search; ``isa``: empty for the best instruction set."""
        passages = {
            *self.definition.edges,
            *((b, a) for a, b in self.definition.edges),
            *self.definition.arcs,
        }
        if self.origin.direction == "to":
            passages = {(b, a) for a, b in passages}
        origins = [
            ([board.index(label) for label in range(1, self.pieces + 1)], blanks)
            for board, blanks in self._starts
        ]
        return _kernel.PatternSpace(self.cells, self.pieces, sorted(passages), origins, isa)

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        return dict(LAYOUT)

    def encode(self, boards: Boards) -> Codes:
        """See Space."""
        import numpy as np

        boards = boards.reshape(-1, self.cells)
        keys = np.zeros(len(boards), dtype=np.uint64)
        valid = np.ones(len(boards), dtype=np.bool_)
        placed: list[NDArray[np.intp]] = []
        for label in range(1, self.pieces + 1):
            there = boards == label
            cell = there.argmax(axis=1)
            valid &= there.any(axis=1)
            digit = cell - sum((earlier < cell for earlier in placed), np.zeros(len(boards), dtype=np.intp))
            keys = keys * np.uint64(self.cells - len(placed)) + digit.astype(np.uint64)
            placed.append(cell)
        keys[~valid] = np.uint64(NO_KEY)
        return keys

    def decode(self, codes: Codes) -> Boards:
        """See Space."""
        import numpy as np

        keys = np.asarray(codes, dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range; there are {self.keys}")
        digits = []
        for radix in range(self.cells - self.pieces + 1, self.cells + 1):
            digits.append((keys % np.uint64(radix)).astype(np.intp))
            keys = keys // np.uint64(radix)
        boards = np.zeros((len(keys), self.cells), dtype=np.uint8)
        rows = np.arange(len(keys))
        for label in range(1, self.pieces + 1):
            place = np.cumsum(boards == 0, axis=1) - 1
            free = (boards == 0) & (place == digits.pop()[:, np.newaxis])
            boards[rows, free.argmax(axis=1)] = label
        return boards

    def write_boards(self, keys: Sequence[int], rows: bytearray, positions: Sequence[int]) -> None:
        """See ArrangementSpace."""
        import numpy as np

        written = np.frombuffer(rows, dtype=np.uint8).reshape(len(keys), -1)
        written[:, list(positions)] = self.decode(np.array(keys, dtype=np.uint64))

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """See Space; raises PuzzleError: whether a piece can move is not known where the blank is not."""
        raise PuzzleError(
            f"puzzle {self.puzzle.name}: an additive pattern has distances but no moves, as its states do not tell "
            "where the blank is; ask the puzzle itself"
        )

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space."""
        return None


def _starts(puzzle: Puzzle, origin: Origin) -> Iterator[tuple[Board, int]]:
    """The boards at distance 0, each with the cells where the blank may be, as a bit mask: where the goal has it, or
    anywhere if the origin is a board."""
    definition = sliding(puzzle)
    for name in names_of(origin.where):
        if name == "goal":
            for goal, blank in zip(definition.goals, definition.blanks, strict=True):
                yield goal, 1 << blank
            continue
        if name == "start":
            raise PuzzleError(f"puzzle {puzzle.name}: a pattern has no start; name a board instead")
        board = parse_board(definition, name, name=puzzle.name)
        yield board, sum(1 << cell for cell, label in enumerate(board) if label == 0)
