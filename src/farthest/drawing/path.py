"""Pictures of a path: a strip of its boards, or its boards one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.drawing.animation import animated_svg
from farthest.drawing.svg import svg
from farthest.puzzles.family import board_picture
from farthest.puzzles.moves_shown import board_titles
from farthest.wording import counted

if TYPE_CHECKING:
    from farthest.puzzles.definition import NamedPath
    from farthest.puzzles.puzzle import Puzzle

BOARDS_SHOWN = 60
"""Of a path in a notebook; of a longer one the first and the last."""


def path_svg(puzzle: Puzzle, path: NamedPath, *, animated: bool = False, most: int | None = None) -> str:
    """The boards of a path as an SVG document: in rows, each above the move that leads to it, or ``animated``.
    ``most``: boards of a strip; of a longer path the first and the last."""
    title = f"{puzzle.title}: {counted(len(path.moves), 'move')}"
    captioned = list(zip(board_titles(path), path.boards.tolist(), strict=True))
    if most is not None and len(captioned) > most:
        half = most // 2
        captioned = [*captioned[:half], ("...", captioned[half][1]), *captioned[1 + half - most :]]
    pictures = [(caption, board_picture(puzzle, board, path.definition)) for caption, board in captioned]
    return animated_svg(pictures, title) if animated else svg(pictures, title, below=True)
