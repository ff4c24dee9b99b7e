"""A path, as Python users get it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.drawing.notebook import Drawing
    from farthest.puzzles.definition import MoveName, NamedPath
    from farthest.puzzles.puzzle import Puzzle


class BoardPath(list[str]):
    """The boards of a solution, as texts, in the order in which the moves are made; notebooks draw them.

    ``moves``: the moves between them, one fewer: names, of sliding puzzles the cells (from, to).
    """

    def __init__(self, puzzle: Puzzle, path: NamedPath) -> None:
        super().__init__(path.texts)
        self.moves: list[MoveName] = path.moves
        self.named = path
        self._puzzle = puzzle

    def draw(self, file: str | Path | None = None, *, animated: bool = False, force: bool = False) -> Drawing:
        """Draw all boards, each with the move that leads to it, for a notebook; and to an .svg file where one is given.

        ``animated``: one board, which moves, over and over; else a strip of boards. Raises OutputError where the file
        cannot be written, or exists and ``force`` is not given.
        """
        from farthest.drawing.notebook import Drawing
        from farthest.drawing.path import path_svg
        from farthest.queries.output_file import form_of, written_file

        drawing = Drawing(path_svg(self._puzzle, self.named, animated=animated))
        if file is not None:
            form_of(Path(file), (".svg",))
            with written_file(Path(file), force=force) as part:
                part.write_text(drawing.svg, encoding="utf-8")
        return drawing

    def _repr_svg_(self) -> str:
        from farthest.drawing.path import BOARDS_SHOWN, path_svg

        return path_svg(self._puzzle, self.named, most=BOARDS_SHOWN)
