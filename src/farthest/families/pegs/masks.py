"""What the two kinds of peg spaces have in common: boards as bit masks, jumps and chains of them, what jumps keep.

A mask has bit i where hole i has a peg.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.families.pegs.definition import pegs
from farthest.families.pegs.layout import parities
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin_boards import MAX_ORIGINS, origin_patterns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import MoveName
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import Boards

    Masks = NDArray[np.uint64]
    """Bit masks of holes: shape (boards,)."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A peg goes from one hole to another where those of ``full`` have a peg and those of ``empty`` have none; all of
    them change."""

    start: int
    end: int
    full: int
    empty: int

    @property
    def changed(self) -> int:
        """The mask of holes that change."""
        return self.full | self.empty

    def back(self) -> Jump:
        """The jump taken back."""
        return Jump(self.end, self.start, self.empty, self.full)


class PegBoards:
    """Boards and moves of a peg puzzle with its origin: the part of ``Space`` that does not depend on codes."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.cells = puzzle.definition.cells
        self.origins = origins
        self.jumps = jumps_of(puzzle)
        self.moves_both_ways = True

    @property
    def jumps_away(self) -> list[Jump]:
        """The jumps that lead away from the origin: the player's, or those taken back."""
        return self.jumps if self.origin.direction == "from" else [jump.back() for jump in self.jumps]

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """See Space: a move is named by the holes that its peg stands in, one after the other."""
        import numpy as np

        forward = (self.origin.direction == "to") == toward
        jumps = self.jumps if forward else [jump.back() for jump in self.jumps]
        masks, rows = masks_of(boards.reshape(-1, self.cells)), np.arange(len(boards))
        for path, reached_rows, reached in self._moves(jumps, masks, rows):
            name = "-".join(map(str, path if forward else path[::-1]))
            yield name, reached_rows, boards_of(reached, self.cells)

    def _moves(
        self, jumps: Sequence[Jump], masks: Masks, rows: NDArray[np.intp], path: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp], Masks]]:
        """Each jump, and in the metric ``chain`` each longer one of the same peg: the holes of the peg, the rows, the
        masks that it leads to. ``path``: the holes so far."""
        import numpy as np

        for jump in jumps:
            if path and jump.start != path[-1]:
                continue
            can = (masks & np.uint64(jump.changed)) == np.uint64(jump.full)
            if not can.any():
                continue
            longer = (*(path or (jump.start,)), jump.end)
            reached = masks[can] ^ np.uint64(jump.changed)
            yield longer, rows[can], reached
            if self.puzzle.metric == "chain":
                yield from self._moves(jumps, reached, rows[can], longer)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space: jumps keep some parities, and only ever take pegs away."""
        mask = mask_of(board)
        classes = [mask_of(origin) for origin in self.origins]
        kept = parities(self.cells, [jump.changed for jump in self.jumps])
        changed = [
            next((parity for parity in kept if ((mask ^ other) & parity).bit_count() & 1), 0)
            for other in classes
        ]
        if all(changed):
            parity = changed[0]
            holes = " ".join(str(hole) for hole in range(self.cells) if parity >> hole & 1)
            odd = "odd" if (mask & parity).bit_count() & 1 else "even"
            return (
                f"position class: every jump changes an even number of the holes {holes}, so whether an even number of "
                f"them have a peg never changes; here that number is {odd}, and at the origin it is not"
            )
        counts = [other.bit_count() for other in classes]
        if self.origin.direction == "from" and mask.bit_count() > max(counts):
            return f"pegs: jumps only take pegs away, and this board has {mask.bit_count()}, the origin {max(counts)}"
        if self.origin.direction == "to" and mask.bit_count() < min(counts):
            return f"pegs: jumps only take pegs away, and this board has {mask.bit_count()}, the origin {min(counts)}"
        return None


def jumps_of(puzzle: Puzzle) -> list[Jump]:
    """The player's jumps."""
    return [Jump(a, c, 1 << a | 1 << b, 1 << c) for a, b, c in pegs(puzzle).jumps]


def origin_boards(puzzle: Puzzle, origin: Origin) -> list[Board]:
    """The boards at depth 0, wildcards filled in, sorted, none twice.

    Raises BoardError when the origin is not a board, PuzzleError when there is no start, no goal or too many.
    """
    definition = pegs(puzzle)
    found: set[Board] = set()
    total = 0
    for pattern in origin_patterns(puzzle.definition, origin.where, puzzle.name):
        total += 1 << pattern.count(WILDCARD)
        if total > MAX_ORIGINS:
            raise PuzzleError(
                f"puzzle {puzzle.name}: the goals stand for more than {MAX_ORIGINS:,} boards "
                f"(goal {definition.format_board(pattern)}); use fewer wildcards"
            )
        found.update(product(*((0, 1) if hole == WILDCARD else (hole,) for hole in pattern)))
    return sorted(found)


def mask_of(board: Sequence[int]) -> int:
    """The mask of a board."""
    return sum(1 << hole for hole, peg in enumerate(board) if peg)


def masks_of(boards: Boards) -> Masks:
    """The masks of boards, shape (boards, holes)."""
    import numpy as np

    masks = np.zeros(len(boards), dtype=np.uint64)
    for hole in range(boards.shape[1]):
        masks |= (boards[:, hole] != 0).astype(np.uint64) << np.uint64(hole)
    return masks


def boards_of(masks: Masks, holes: int) -> Boards:
    """Inverse of ``masks_of``."""
    import numpy as np

    boards = np.empty((masks.size, holes), dtype=np.uint8)
    for hole in range(holes):
        boards[:, hole] = (masks >> np.uint64(hole)) & np.uint64(1)
    return boards
