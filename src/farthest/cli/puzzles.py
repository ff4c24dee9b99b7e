"""`farthest puzzles`: the catalogue, and one puzzle in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from farthest.cli.options import json_option

if TYPE_CHECKING:
    from farthest.puzzles.definition import Puzzle

BOARDS_DRAWN = 12


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@json_option
def puzzles(name: str | None, as_json: bool) -> None:
    """List the catalogue, or show one puzzle in full.

    NAME is a name of the catalogue, a parametric name such as sliding-3x4 or sliding-3x4-slide, or a TOML
    file.

    \b
    Examples:
      farthest puzzles
      farthest puzzles eight-kinds
      farthest puzzles sliding-3x4
    """
    from farthest.cli.printing import print_json
    from farthest.puzzles import catalogue

    if name is not None:
        puzzle = catalogue.load(name)
        if as_json:
            print_json(_document(puzzle))
        else:
            _draw(puzzle)
        return
    listed = [catalogue.load(each) for each in catalogue.names()]
    if as_json:
        print_json({"puzzles": [_summary(puzzle) for puzzle in listed]})
        return
    _print_catalogue(listed)


def _print_catalogue(listed: list[Puzzle]) -> None:
    from farthest.cli.printing import print_table

    rows = []
    for puzzle in listed:
        states = _known_states(puzzle)
        count = f"{states:,}" if states is not None else f"at most {arrangements(puzzle):,}"
        rows.append((puzzle.name, _shape(puzzle), puzzle.metric, count, puzzle.title))
    print_table(("name", "cells", "metric", "states", "title"), rows, right="lllr")
    click.echo("\nParametric names: sliding-3x4, sliding-3x4-slide, and so on; a TOML file is a puzzle too.")
    click.echo("One of them drawn: farthest puzzles NAME")


def _draw(puzzle: Puzzle) -> None:
    from farthest.cli.printing import counted, side_by_side
    from farthest.puzzles.boards import draw_board, parse_board

    body = puzzle.body
    click.echo(f"{puzzle.name}: {puzzle.title}")
    if puzzle.source:
        click.echo(f"source: {puzzle.source}")
    click.echo()
    boards = [("goal" if len(body.goals) == 1 else f"goal {i}", goal) for i, goal in enumerate(body.goals, 1)]
    if body.start is not None:
        boards.insert(0, ("start", body.start))
    click.echo("\n".join(side_by_side([[f"{title}:", *draw_board(body, board)] for title, board in boards])))
    click.echo()
    if not body.rows:
        passages = [f"{a}-{b}" for a, b in body.edges] + [f"{a}→{b}" for a, b in body.arcs]
        click.echo(f"passages      {' '.join(passages)}")
    click.echo(f"cells         {_shape(puzzle)}")
    kinds = " ".join(
        f"{token}×{count}" for token, count in list(zip(body.tokens, body.counts, strict=True))[1:]
    )
    click.echo(
        f"pieces        {body.cells - body.counts[0]} of {counted(len(body.tokens) - 1, 'kind')}: {kinds}"
    )
    click.echo(f"blanks        {body.counts[0]}, written {body.tokens[0]}")
    click.echo(f"metric        {puzzle.metric}")
    click.echo(f"origin        moves are counted {puzzle.origin.direction} {puzzle.origin.where}")
    click.echo(f"arrangements  {arrangements(puzzle):,} (not all need be reachable)")
    for known in puzzle.known:
        click.echo(f"\nknown answers ({known.source}):")
        if known.states is not None:
            click.echo(f"  states        {known.states:,}")
        if known.eccentricity is not None:
            click.echo(f"  eccentricity  {known.eccentricity}")
        if known.layers is not None:
            click.echo(
                click.wrap_text(
                    f"layers        {' '.join(f'{states:,}' for states in known.layers)}",
                    width=100,
                    initial_indent="  ",
                    subsequent_indent=" " * 16,
                )
            )
        if known.farthest:
            shown = known.farthest[:BOARDS_DRAWN]
            click.echo(f"  farthest      {counted(len(known.farthest), 'board')}\n")
            drawings = [draw_board(body, parse_board(body, board)) for board in shown]
            click.echo("\n".join(f"    {line}" for line in side_by_side(drawings, 76)))


def _summary(puzzle: Puzzle) -> dict[str, Any]:
    return {
        "name": puzzle.name,
        "title": puzzle.title,
        "family": puzzle.family,
        "metric": puzzle.metric,
        "cells": puzzle.body.cells,
        "arrangements": arrangements(puzzle),
        "states": _known_states(puzzle),
    }


def _document(puzzle: Puzzle) -> dict[str, Any]:
    from dataclasses import asdict

    from farthest.puzzles.boards import format_board

    body = puzzle.body
    return {
        **_summary(puzzle),
        "source": puzzle.source,
        "digest": puzzle.digest,
        "rows": body.rows,
        "edges": body.edges,
        "arcs": body.arcs,
        "tokens": body.tokens,
        "counts": body.counts,
        "goals": [format_board(body, goal) for goal in body.goals],
        "start": None if body.start is None else format_board(body, body.start),
        "origin": asdict(puzzle.origin),
        "known": [asdict(known) for known in puzzle.known],
    }


def arrangements(puzzle: Puzzle) -> int:
    """The number of ways to place the pieces: no more states can there be."""
    from math import factorial, prod

    return factorial(puzzle.body.cells) // prod(factorial(count) for count in puzzle.body.counts)


def _known_states(puzzle: Puzzle) -> int | None:
    return next((known.states for known in puzzle.known if known.states is not None), None)


def _shape(puzzle: Puzzle) -> str:
    body = puzzle.body
    if not body.rows:
        return f"{body.cells} (graph)"
    size = f"{len(body.rows)}×{len(body.rows[0])}"
    walls = len(body.rows) * len(body.rows[0]) - body.cells
    return f"{size}, {walls} of them walls" if walls else size
