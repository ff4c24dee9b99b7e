"""Pictures as one SVG document: boards in rows, each below its caption; and what notebooks show of objects."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.drawing.outline import label_place, outline
from farthest.puzzles.family import board_picture
from farthest.puzzles.picture import InSpace, Picture, Point, Shape, colour
from farthest.safe_text import safe

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle


CELL = 36.0
GAP = 24.0
CAPTION = 20.0
MOST_WIDTH = 1200.0
SIGN = 7.9
"""Width of a character of a caption."""

_STYLE = (
    "text{font-family:ui-monospace,Menlo,Consolas,monospace;text-anchor:middle;dominant-baseline:central;fill:#222}"
    ".s{stroke:#444;stroke-width:1}.h{fill:#e8e6e1}.c{font-size:13px}"
)


def svg(pictures: Sequence[tuple[str, Picture]], title: str, *, below: bool = False) -> str:
    """The pictures with their captions, as many in a row as a page takes. ``title``: what a screen reader says.
    ``below``: captions stand below their pictures, else above."""
    width = max((picture.width for _, picture in pictures), default=0) * CELL
    height = max((picture.height for _, picture in pictures), default=0) * CELL
    captioned = CAPTION if any(caption for caption, _ in pictures) else 0.0
    field = max(width, *(len(caption) * SIGN for caption, _ in pictures), 0.0)
    in_a_row = max(1, min(len(pictures), int((MOST_WIDTH - GAP) // (field + GAP))))
    rows = -(-len(pictures) // in_a_row)
    whole = in_a_row * (field + GAP) + GAP, rows * (height + captioned + GAP) + GAP
    parts = [*head(*whole, title)]
    for number, (caption, picture) in enumerate(pictures):
        x = GAP + number % in_a_row * (field + GAP)
        y = GAP + number // in_a_row * (height + captioned + GAP)
        parts.append(f'<g transform="translate({x:g} {y:g})">')
        if caption:
            line = height + CAPTION * 2 / 3 if below else CAPTION / 3
            parts.append(f'<text class="c" x="{field / 2:g}" y="{line:g}">{escape(caption)}</text>')
        inset = (field - picture.width * CELL) / 2
        parts.append(f'<g transform="translate({inset:g} {0 if below else captioned:g})">')
        parts += map(shape_svg, picture.shapes)
        parts.append("</g></g>")
    parts.append("</svg>\n")
    return "\n".join(parts)


def head(width: float, height: float, title: str, style: str = "") -> tuple[str, str, str]:
    """The beginning of a document, on white. ``style``: rules besides those of shapes and captions."""
    box = f'viewBox="0 0 {width:g} {height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {_size(width, height)} {box} role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style>",
        f'<rect {_size(width, height)} fill="#fff"/>',
    )


def part_of_page(picture: Picture, title: str, space: InSpace | None = None) -> str:
    """One picture as an SVG element for a page, whose own style gives the classes ``s`` (outlined), ``h`` (a hole) and
    ``t`` (a text that is on no piece) their colours. ``title``: what a screen reader says. ``space``: for the script
    that turns what is drawn."""
    width, height = picture.width * CELL + 2, picture.height * CELL + 2  # a pixel round it for outlines
    shapes = "".join(map(shape_svg, picture.shapes))
    data = ""
    if space is not None:
        data = f' data-body="{escape(space.body)}" data-stickers="{space.boards[0]}"'
    return (
        f'<svg class="{board_class(width, height)}" viewBox="-1 -1 {width:g} {height:g}" '
        f'{_size(width, height)} role="img" aria-label="{escape(title)}"{data}>{shapes}</svg>'
    )


def board_class(width: float, height: float) -> str:
    """The classes of a board on a page: those that are much wider than high are given their width, others their
    height."""
    return "board wide" if width > 2 * height else "board"


@lru_cache(maxsize=4096)  # a page draws many boards of the same pieces
def shape_svg(shape: Shape) -> str:
    """One shape as elements of an SVG picture, a cell ``CELL`` wide."""
    x, y, width, height = (value * CELL for value in (shape.x, shape.y, shape.width, shape.height))
    if shape.colour is None:
        paint = 'fill="none"'
    elif shape.colour == -1:
        paint = ""
    elif shape.dashed:
        paint = f'fill="none" stroke="{colour(shape.colour)[1]}" stroke-width="2.5" stroke-dasharray="5 4"'
    else:
        paint = f'fill="{colour(shape.colour)[1]}"'
    kind = " ".join(name for name, holds in (("h", shape.colour == -1), ("s", not shape.bare)) if holds)
    mark = f'class="{kind}" {paint}'.strip() if kind else paint
    middle, drawn = (x + width / 2, y + height / 2), ""
    if shape.disc:
        radii = f'rx="{width / 2:g}" ry="{height / 2:g}"'
        drawn = f'<ellipse cx="{middle[0]:g}" cy="{middle[1]:g}" {radii} {mark}/>'
    elif shape.points:
        drawn = f'<path d="{_outline(shape.points)}" {mark}/>'
    elif shape.cells:
        drawn = f'<path d="{outline(shape.cells, (shape.x, shape.y), shape.inset, CELL)}" {mark}/>'
        right, down = label_place(shape.cells)
        middle, width, height = (x + right * CELL, y + down * CELL), CELL, CELL
    elif not (shape.bare and shape.colour is None):
        corners = "" if shape.bare else 'rx="3" '  # shapes without outline may touch
        drawn = f'<rect x="{x:g}" y="{y:g}" {_size(width, height)} {corners}{mark}/>'
    if not shape.text:
        return drawn
    size = min(height * 0.5, width * 1.5 / max(1, len(shape.text)))
    ground = ' class="t"' if shape.colour in (None, -1) else ""  # a page has its own colours for these
    place = f'x="{middle[0]:g}" y="{middle[1]:g}" font-size="{size:.3g}"'
    return f"{drawn}<text{ground} {place}>{escape(shape.text)}</text>"


def _outline(points: Sequence[Point]) -> str:
    """A polygon in tenths of a pixel, each corner from the one before: half as long as the corners themselves."""
    tenths = [(round(x * CELL * 10), round(y * CELL * 10)) for x, y in points]
    steps = ((x1 - x0, y1 - y0) for (x0, y0), (x1, y1) in pairwise(tenths))
    numbers = (
        f"{value / 10:g}".replace("0.", ".") if abs(value) < 10 else f"{value / 10:g}"
        for step in steps
        for value in step
    )
    line = "".join(text if text[0] == "-" else f" {text}" for text in numbers)
    return f"M{tenths[0][0] / 10:g} {tenths[0][1] / 10:g}l{line.lstrip()}z"


def escape(text: str) -> str:
    """The text as XML may hold it: no markup, no characters that XML does not know."""
    return html.escape(safe(text))


def _size(width: float, height: float) -> str:
    return f'width="{width:g}" height="{height:g}"'


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
