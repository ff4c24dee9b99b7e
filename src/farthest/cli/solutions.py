"""Optimal solutions drawn and listed for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.printing import counted, side_by_side
from farthest.queries.paths import moves_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy
    from numpy.typing import NDArray

    from farthest.queries.distance_map import DistanceMap

    Way = NDArray[numpy.uint8]  # boards in the order of the moves, shape (boards, cells)


def show_one(opened: DistanceMap, distance: int, count: int, way: Way) -> None:
    """Draw the boards of one solution, each below the move that leads to it."""
    moves = moves_of(way)
    titles = ["start", *(f"{source}-{target}" for source, target in moves)]
    drawings = [
        [title, *opened.puzzle.body.draw_board(labels)]
        for title, labels in zip(titles, way.tolist(), strict=True)
    ]
    _show_counts(distance, count)
    click.echo("\n".join(side_by_side(drawings)))
    if moves:
        click.echo(f"\nmoves: {' '.join(titles[1:])}")


def show_all(distance: int, count: int, ways: Iterable[Way]) -> None:
    """List solutions as moves, one a line."""
    _show_counts(distance, count)
    listed = 0
    for way in ways:
        click.echo(" ".join(f"{source}-{target}" for source, target in moves_of(way)) or "(no moves)")
        listed += 1
    if listed < count:
        click.echo(f"... and {count - listed:,} more; --limit lists more of them")


def _show_counts(distance: int, count: int) -> None:
    click.echo(f"{counted(distance, 'move')}, {counted(count, 'optimal solution')}\n")
