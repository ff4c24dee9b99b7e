"""Boards as lines of text, with the colours of a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, floor
from typing import TYPE_CHECKING

import click

from farthest.puzzles.picture import Picture, Shape, colour
from farthest.safe_text import safe

if TYPE_CHECKING:
    from farthest.puzzles.definition import PuzzleDefinition

_RUN = re.compile(r"\S+")
_MOST_COLUMNS = 72
"""Of a net that is drawn by coloured blocks."""


def coloured(definition: PuzzleDefinition, board: Sequence[int]) -> list[str]:
    """The drawing of a board, safe to show, its pieces coloured by escape sequences, which `click.echo` leaves out
    where nobody could see them. Plain where NO_COLOR is set. On a terminal that shows colours a net is drawn by these
    alone."""
    seen = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    net = definition.net_picture(board) if seen and sys.stdout.isatty() else None
    if net is not None:
        return _blocks(net)
    palette = definition.palette()
    lines = [safe(line) for line in definition.draw_board(board)]
    if not palette or os.environ.get("NO_COLOR"):
        return lines
    return [_RUN.sub(lambda run: _painted(run[0], palette), line) for line in lines]


def _painted(run: str, palette: Mapping[str, int]) -> str:
    piece = run.partition("+")[0]  # of a piece that is turned
    if piece in palette:
        return click.style(run, fg=colour(palette[piece])[0])
    return "".join(
        click.style(sign, fg=colour(palette[sign])[0]) if sign in palette else sign for sign in run
    )


def _blocks(net: Picture) -> list[str]:
    """A picture by half blocks, which are about square: two of them in each place of a line. A net of equal squares
    has two by two for each."""
    sizes = {(round(shape.width, 6), round(shape.height, 6)) for shape in net.shapes}
    width, height = sizes.pop()
    equal = not (sizes or width != height or net.shapes[0].disc)
    scale = 2 / width if equal else _MOST_COLUMNS / net.width
    rows, columns = ceil(net.height * scale - 0.01), ceil(net.width * scale - 0.01)
    found: list[list[int | None]] = [[None] * columns for _ in range(rows + rows % 2)]
    for shape in net.shapes:
        if shape.colour is None:
            continue
        for row in range(floor(shape.y * scale), min(rows, ceil((shape.y + shape.height) * scale))):
            for column in range(floor(shape.x * scale), min(columns, ceil((shape.x + shape.width) * scale))):
                if _is_within(shape, (column + 0.49) / scale, (row + 0.48) / scale):
                    found[row][column] = colour(shape.colour)[0]
    return [
        "".join(_run(*pair, len([*same])) for pair, same in groupby(zip(*lines, strict=True))).rstrip()
        for lines in zip(found[::2], found[1::2], strict=True)
    ]


def _run(above: int | None, below: int | None, length: int) -> str:
    if above == below:
        return " " * length if above is None else click.style("█" * length, fg=above)
    sign = "▄" if above is None else "▀"
    return click.style(
        sign * length, fg=below if above is None else above, bg=None if above is None else below
    )


def _is_within(shape: Shape, x: float, y: float) -> bool:
    if shape.disc:
        across, down = (x - shape.x) / shape.width - 0.5, (y - shape.y) / shape.height - 0.5
        return across**2 + down**2 < 0.25
    within = False
    for (x0, y0), (x1, y1) in zip(shape.points, (*shape.points[1:], shape.points[0]), strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            within = not within
    return within
