"""What notebooks show of objects: SVG, and HTML with pictures that keep their styles to themselves."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.drawing.svg import escape, svg
from farthest.puzzles.family import board_picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.puzzles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG document, which notebooks show as a picture."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing of {len(self.svg):,} characters of SVG>"


def image(document: str, description: str) -> str:
    """An SVG document as an HTML image. ``description``: what a screen reader says."""
    data = b64encode(document.encode()).decode()
    return f'<img alt="{escape(description)}" src="data:image/svg+xml;base64,{data}">'


def facts(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title and a table of names and values as HTML."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<p><b>{escape(title)}</b></p><table>{cells}</table>"


def boards_svg(puzzle: Puzzle, captioned: Sequence[tuple[str, Sequence[int]]], title: str) -> str:
    """Boards with their captions as an SVG document."""
    return svg([(caption, board_picture(puzzle, board)) for caption, board in captioned], title)


def puzzle_svg(puzzle: Puzzle) -> str:
    """The goals, and the start where there is one, as an SVG document."""
    goals, start = puzzle.definition.origin_boards
    several = len(goals) > 1
    captioned = [(f"goal {i}" if several else "goal", goal) for i, goal in enumerate(goals[:12], 1)]
    if start is not None:
        captioned.append(("start", start))
    return boards_svg(puzzle, captioned, puzzle.title)
