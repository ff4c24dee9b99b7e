"""The family ``hanoi``: discs on pegs, moved one at a time, never onto a smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.hanoi.definition import Hanoi
    from farthest.puzzles.definition import Board, MoveName, PuzzleDefinition
    from farthest.puzzles.family import Solvable
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


class HanoiFamily(Family):
    metrics = ("move",)
    default_origin = "to goal"
    example = "pegs = 3 and discs = 5"
    forms = (
        ("hanoi-PEGS-DISCS", "the tower of Hanoi, towers of Hanoi"),
        ("hanoi-cyclic-PEGS-DISCS", "the tower of Hanoi, from peg to peg round a ring, towers"),
        ("hanoi-adjacent-PEGS-DISCS", "the tower of Hanoi, between neighbouring pegs, towers"),
    )

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Hanoi:
        from farthest.families.hanoi.definition import read_hanoi

        del metric  # all definitions can be played in all metrics
        return read_hanoi(table, source)

    def from_fields(self, fields: dict[str, Any]) -> Hanoi:
        from farthest.families.hanoi.definition import from_fields

        return from_fields(fields)

    def parametric(self, name: str) -> Puzzle | None:
        from farthest.families.hanoi.definition import hanoi_by_name

        return hanoi_by_name(name)

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        from farthest.families.hanoi.space import solvable

        return solvable(puzzle, targets)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        from farthest.families.hanoi.definition import picture

        return picture(cast("Hanoi", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        from farthest.families.hanoi.definition import hold

        del after
        return hold(cast("Hanoi", definition), board, move)


FAMILY = HanoiFamily()
