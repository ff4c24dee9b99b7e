"""A path of a map, as Python users get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName, NamedPath
    from farthest.puzzles.puzzle import Puzzle


class BoardPath(list[str]):
    """The boards of a solution, as texts, in the order in which the moves are made; notebooks draw them.

    ``moves``: the moves between them, one fewer: names, of sliding puzzles the cells (from, to).
    """

    def __init__(self, puzzle: Puzzle, path: NamedPath) -> None:
        super().__init__(path.texts)
        self.moves: list[MoveName] = path.moves
        self._puzzle = puzzle
        self._path = path

    def _repr_svg_(self) -> str:
        from farthest.drawing.notebook import path_svg

        return path_svg(self._puzzle, self._path)
