"""The family ``lights``: lamps of two or more colours; a press changes a lamp and its neighbours to the next colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.lights.definition import Lights
    from farthest.puzzles.definition import Board, MoveName, PuzzleDefinition
    from farthest.puzzles.family import Solvable
    from farthest.puzzles.picture import Hold, Picture
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.tables import Source


class LightsFamily(Family):
    metrics = ("press", "multi")
    default_origin = "to goal"
    example = "size = [5, 5]"
    forms = (
        ("lights-ROWSxCOLUMNS", "Lights Out"),
        ("lights-torus-ROWSxCOLUMNS", "Lights Out with joined edges"),
        ("lights-ROWSxCOLUMNS-cCOLOURS", "Lights Out with colours"),
    )

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Lights:
        from farthest.families.lights.definition import read_lights

        del metric  # all definitions can be played in all metrics
        return read_lights(table, source)

    def from_fields(self, fields: dict[str, Any]) -> Lights:
        from farthest.families.lights.definition import from_fields

        return from_fields(fields)

    def parametric(self, name: str) -> Puzzle | None:
        from farthest.families.lights.definition import plain_lights

        return plain_lights(name)

    def solvable(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> Solvable:
        from farthest.families.lights.space import solvable

        return solvable(puzzle, targets)

    def picture(self, definition: PuzzleDefinition, board: Sequence[int]) -> Picture:
        from farthest.families.lights.definition import picture

        return picture(cast("Lights", definition), board)

    def hold(
        self, definition: PuzzleDefinition, board: Sequence[int], move: MoveName, after: Sequence[int]
    ) -> Hold | None:
        from farthest.families.lights.definition import hold

        del after
        return hold(cast("Lights", definition), board, move)


FAMILY = LightsFamily()
