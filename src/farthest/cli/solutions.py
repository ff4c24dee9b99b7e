"""Optimal solutions drawn and listed for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.printing import counted, side_by_side
from farthest.drawing.terminal import coloured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.paths import Way
    from farthest.spaces.contract import MoveName


def show_one(opened: DistanceMap, distance: int, count: int, way: Way) -> None:
    """Draw the boards of one solution, each below the move that leads to it."""
    _show_counts(distance, count)
    draw_way(opened.puzzle, way)


def draw_way(puzzle: Puzzle, way: Way) -> None:
    """Draw the boards of a solution, each below the move that leads to it, and list the moves."""
    titles = ["start", *map(move_text, way.moves)]
    drawings = [
        [title, *coloured(puzzle.definition, labels)]
        for title, labels in zip(titles, way.boards.tolist(), strict=True)
    ]
    click.echo("\n".join(side_by_side(drawings)))
    if way.moves:
        click.echo(f"\nmoves: {_row(titles[1:])}")


def show_all(distance: int, count: int, ways: Iterable[Way]) -> None:
    """List solutions as moves, one a line."""
    _show_counts(distance, count)
    list_ways((way.moves for way in ways), count)


def list_ways(ways: Iterable[Sequence[MoveName]], count: int) -> None:
    """List solutions, of which there are ``count``, as moves, one a line."""
    listed = 0
    for moves in ways:
        click.echo(_row(list(map(move_text, moves))) or "(no moves)")
        listed += 1
    if listed < count:
        click.echo(f"... and {count - listed:,} more; --limit lists more of them")


def save_one(opened: DistanceMap, way: Way, file: Path, *, force: bool) -> None:
    """Write the boards of one solution, in a row, to an SVG file. Raises OutputError."""
    from farthest.cli.draw import write_svg

    titles = ["start", *map(move_text, way.moves)]
    captioned = list(zip(titles, way.boards.tolist(), strict=True))
    write_svg(opened.puzzle, captioned, file, force=force, title=f"{opened.puzzle.title}: {_row(titles[1:])}")


def _row(moves: Sequence[str]) -> str:
    return (", " if any(" " in move for move in moves) else " ").join(moves)


def move_text(move: MoveName) -> str:
    """A move as it is printed: its name, or two cells as from-to."""
    return move if isinstance(move, str) else f"{move[0]}-{move[1]}"


def _show_counts(distance: int, count: int) -> None:
    click.echo(f"{counted(distance, 'move')}, {counted(count, 'optimal solution')}\n")
