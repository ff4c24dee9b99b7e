"""The picture of a peg board: pegs as full discs, holes as small ones."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.families.pegs.definition import Pegs
from farthest.puzzles.definition import WILDCARD, MoveName
from farthest.puzzles.holds import Hold, cell_hold
from farthest.puzzles.picture import Picture, Shape, cell_places, cells_picture


def picture(definition: Pegs, board: Sequence[int]) -> Picture:
    """Pegs as full discs, holes as small ones."""
    shapes = []
    for x, y, hole in cell_places(definition.rows, definition.cells):
        if board[hole] == WILDCARD:
            shapes.append(Shape(x + 0.1, y + 0.1, 0.8, 0.8, text="*", disc=True))
        elif board[hole]:
            shapes.append(Shape(x + 0.1, y + 0.1, 0.8, 0.8, 1, disc=True))
        else:
            shapes.append(Shape(x + 0.35, y + 0.35, 0.3, 0.3, -1, disc=True))
    return cells_picture(definition.rows, definition.cells, shapes)


def hold(definition: Pegs, board: Sequence[int], move: MoveName) -> Hold:
    """The peg that jumps; its holes are in the name of the move."""
    del board
    holes = [int(hole) for hole in str(move).split("-")]
    return cell_hold(definition.rows, definition.cells, holes[0], holes[-1])
