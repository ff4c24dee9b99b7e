"""Optimal solutions drawn and listed for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.printing import print_drawings
from farthest.drawing.terminal import coloured
from farthest.puzzles.family import step_words
from farthest.puzzles.move_text import moves_text
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from farthest.puzzles.definition import MoveName, NamedPath
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.paths import BoardPath


def draw_path(puzzle: Puzzle, path: NamedPath) -> None:
    """List the moves of a solution, and draw its boards, each below the move that leads to it."""
    if path.moves:
        click.echo(f"moves: {moves_text(path.moves)}\n")
    boards = zip(["start", *step_words(puzzle, path)], path.boards.tolist(), strict=True)
    print_drawings([(title, coloured(path.definition, labels)) for title, labels in boards])


def list_ways(ways: Iterable[Sequence[MoveName]], count: int) -> None:
    """List solutions, of which there are ``count``, as moves, one per line."""
    listed = 0
    for moves in ways:
        click.echo(moves_text(moves) or "(no moves)")
        listed += 1
    if listed < count:
        click.echo(f"... and {count - listed:,} more; --limit lists more of them")


def save_path(path: BoardPath, file: Path, *, animated: bool = False, force: bool) -> None:
    """Write the boards of a solution to an SVG file. Raises OutputError."""
    path.draw(file, animated=animated, force=force)
    click.echo(f"{file}: {counted(len(path), 'board')}")
