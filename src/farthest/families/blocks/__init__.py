"""The family ``blocks``: rigid pieces of any shape that slide on a grid, such as Klotski and Rush Hour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.blocks.definition import Blocks
    from farthest.puzzles.definition import MoveName, PuzzleDefinition
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


class BlocksFamily(Family):
    metrics = ("step", "slide", "move")
    default_origin = "from start"
    example = "start = [...]"
    forms = (("rush-BOARD", "any board of Rush Hour, in 36 characters"),)

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Blocks:
        from farthest.families.blocks.reader import read_blocks

        del metric  # all definitions can be played in all metrics
        return read_blocks(table, source)

    def from_fields(self, fields: dict[str, Any]) -> Blocks:
        from farthest.families.blocks.definition import from_fields

        return from_fields(fields)

    def parametric(self, name: str) -> Puzzle | None:
        from farthest.families.blocks.reader import rush_hour

        return rush_hour(name)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        from farthest.families.blocks.picture import picture

        return picture(cast("Blocks", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold:
        from farthest.families.blocks.picture import hold

        del move
        return hold(cast("Blocks", definition), board, after)


FAMILY = BlocksFamily()
