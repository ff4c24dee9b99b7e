"""Boards as lines of text, with the colours of a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import click

from farthest.puzzles.definition import PuzzleDefinition
from farthest.puzzles.picture import colour
from farthest.safe_text import safe

_RUN = re.compile(r"\S+")


def coloured(definition: PuzzleDefinition, board: Sequence[int]) -> list[str]:
    """The drawing of a board, safe to show, its pieces coloured by escape sequences, which `click.echo` leaves out
    where nobody could see them. Plain where NO_COLOR is set."""
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
