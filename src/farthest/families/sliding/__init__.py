"""The family ``sliding``: pieces on the cells of a grid or graph that move into blanks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.sliding.definition import Sliding
    from farthest.puzzles.definition import Board, MoveName, PuzzleDefinition
    from farthest.puzzles.family import PatternMaker, Solvable, Symmetries
    from farthest.puzzles.move_text import MoveMaker
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


class SlidingFamily(Family):
    metrics = ("step", "slide")
    default_origin = "to goal"
    example = "goal = [...]"
    forms = (
        ("sliding-ROWSxCOLUMNS", "sliding tile puzzle, blank first"),
        ("sliding-ROWSxCOLUMNS-slide", "sliding tile puzzle, several tiles in one move"),
    )

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Sliding:
        from farthest.families.sliding.reader import read_sliding

        definition = read_sliding(table, source)
        problem = definition.metric_problem(metric)
        if problem:
            raise source.error("", "metric", problem)
        return definition

    def from_fields(self, fields: dict[str, Any]) -> Sliding:
        from farthest.families.sliding.definition import from_fields

        return from_fields(fields)

    def parametric(self, name: str) -> Puzzle | None:
        from farthest.families.sliding.reader import plain_board

        return plain_board(name)

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        from farthest.families.sliding.solvable import solvable

        return solvable(puzzle, targets)

    def move_maker(self, puzzle: Puzzle) -> MoveMaker:
        from farthest.families.sliding.written_moves import WrittenMoves

        return WrittenMoves(puzzle)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        from farthest.families.sliding.picture import picture

        return picture(cast("Sliding", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        from farthest.families.sliding.picture import hold

        del after
        return hold(cast("Sliding", definition), board, move)

    def symmetries(self, definition: PuzzleDefinition, fixed: Board) -> Symmetries | None:
        """The grid turned and mirrored."""
        from farthest.families.sliding.symmetries import grid_symmetries

        return grid_symmetries(cast("Sliding", definition), fixed)

    def patterns(self) -> PatternMaker:
        from farthest.families.sliding.patterns import SlidingPatterns

        return SlidingPatterns()


FAMILY = SlidingFamily()
