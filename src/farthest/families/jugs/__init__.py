"""The family ``jugs``: jugs of water that are filled, emptied and poured one into another, to measure an amount."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.jugs.definition import Jugs
    from farthest.puzzles.definition import MoveName, PuzzleDefinition
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.tables import Source


class JugsFamily(Family):
    metrics = ("move",)
    default_origin = "from start"
    example = "capacities = [3, 5] and measure = 4"

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Jugs:
        from farthest.families.jugs.definition import read_jugs

        del metric  # all definitions can be played in all metrics
        return read_jugs(table, source)

    def from_fields(self, fields: dict[str, Any]) -> Jugs:
        from farthest.families.jugs.definition import from_fields

        return from_fields(fields)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        from farthest.families.jugs.definition import picture

        return picture(cast("Jugs", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        from farthest.families.jugs.definition import hold

        del after
        return hold(cast("Jugs", definition), board, move)


FAMILY = JugsFamily()
