"""The family ``pegs``: peg solitaire. A peg jumps over a neighbour into an empty hole; the other is taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.pegs.definition import Pegs
    from farthest.puzzles.definition import Board, MoveName, PuzzleDefinition
    from farthest.puzzles.family import Solvable
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


class PegsFamily(Family):
    metrics = ("jump", "chain")
    default_origin = "from start"
    example = "start, the rows of a board: o for a peg, . for an empty hole"

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Pegs:
        from farthest.families.pegs.definition import read_pegs

        del metric  # all definitions can be played in all metrics
        return read_pegs(table, source)

    def from_fields(self, fields: dict[str, Any]) -> Pegs:
        from farthest.families.pegs.definition import from_fields

        return from_fields(fields)

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        from farthest.families.pegs.space import solvable

        return solvable(puzzle, targets)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        from farthest.families.pegs.definition import picture

        return picture(cast("Pegs", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        from farthest.families.pegs.definition import hold

        del after
        return hold(cast("Pegs", definition), board, move)


FAMILY = PegsFamily()
