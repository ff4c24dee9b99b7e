"""`farthest puzzles`: the catalogue, and one puzzle in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from farthest.cli.completion import complete_puzzle
from farthest.cli.options import allow_module_option, json_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from farthest.puzzles.puzzle import Puzzle

BOARDS_DRAWN = 12


symmetry_option = click.option(
    "--symmetry", is_flag=True, help="Count the symmetries that fix the goal: seconds for large puzzles."
)


@click.command()
@click.argument("words", metavar="[NAME]...", nargs=-1, shell_complete=complete_puzzle)
@symmetry_option
@allow_module_option
@json_option
def puzzles(words: tuple[str, ...], symmetry: bool, as_json: bool) -> None:
    """List the catalogue, or show one puzzle in full.

    NAME is a name of the catalogue, a parametric name such as sliding-3x4 or sliding-3x4-slide, or a TOML file. Any
    other words list the puzzles that have all of them in their names and titles, or are called so.

    \b
    Examples:
      farthest puzzles
      farthest puzzles eight-kinds
      farthest puzzles rush hour
      farthest puzzles sliding-3x4
      farthest puzzles cube-3x3x3@corners --symmetry
    """
    from farthest.cli.printing import print_json
    from farthest.documents.puzzles import puzzle_document, puzzle_summary
    from farthest.documents.symmetry import symmetry_document
    from farthest.puzzles import catalogue

    try:
        puzzle = catalogue.load(" ".join(words)) if words else None
    except catalogue.UnknownPuzzleError:
        names, forms = catalogue.search(" ".join(words)), catalogue.search_forms(" ".join(words))
        if not names and not forms:
            raise
        puzzle = None
    else:
        names, forms = catalogue.names(), catalogue.forms()
    if puzzle is not None:
        found = symmetry_document(puzzle) if symmetry else None
        if as_json:
            print_json({**puzzle_document(puzzle), **({} if found is None else {"symmetry": found})})
        else:
            _draw(puzzle, found)
        return
    if symmetry:
        raise click.UsageError("--symmetry needs the name of one puzzle: farthest puzzles NAME --symmetry")
    listed = [catalogue.load(each) for each in names]
    if as_json:
        print_json(
            {
                "puzzles": [puzzle_summary(puzzle) for puzzle in listed],
                "forms": [{"form": form, "called": called} for form, called in forms.items()],
            }
        )
    else:
        _print_catalogue(listed, forms)


def _print_catalogue(listed: list[Puzzle], forms: Mapping[str, str]) -> None:
    from farthest.cli.printing import print_table
    from farthest.documents.puzzles import known_states

    rows = []
    for puzzle in listed:
        states = known_states(puzzle)
        count = f"{states:,}" if states is not None else f"at most {puzzle.definition.arrangements():,}"
        rows.append((puzzle.name, puzzle.definition.size(), puzzle.metric, count, puzzle.title))
    if rows:
        print_table(("name", "cells", "metric", "states", "title"), rows, right="lllr")
        click.echo()
    if forms:
        print_table(("names of any size", "puzzle"), [*forms.items()], right="ll")
        click.echo()
    click.echo("Show one of them: farthest puzzles NAME")


def _draw(puzzle: Puzzle, symmetry: dict[str, Any] | None) -> None:
    from farthest.cli.printing import counted, print_drawings
    from farthest.drawing.terminal import coloured

    definition = puzzle.definition
    click.echo(f"{puzzle.name}: {puzzle.title}")
    if puzzle.source:
        click.echo(f"source: {puzzle.source}")
    click.echo()
    goals, start = definition.origin_boards
    boards = [("goal" if len(goals) == 1 else f"goal {i}", goal) for i, goal in enumerate(goals, 1)]
    if start is not None:
        boards.insert(0, ("start", start))
    print_drawings([(f"{title}:", coloured(definition, board)) for title, board in boards[:BOARDS_DRAWN]])
    click.echo()
    for fact, value in [("family", puzzle.family), ("size", definition.size()), *definition.facts()]:
        click.echo(f"{fact:<13} {value}")
    click.echo(f"metric        {puzzle.metric}")
    click.echo(f"origin        moves are counted {puzzle.origin}")
    click.echo(f"arrangements  {definition.arrangements():,} (not all need be reachable)")
    for line in () if symmetry is None else _symmetry_lines(symmetry):
        click.echo(line)
    for known in puzzle.known:
        click.echo(f"\nknown answers ({known.source}):")
        if known.states is not None:
            click.echo(f"  states        {known.states:,}")
        if known.eccentricity is not None:
            click.echo(f"  eccentricity  {known.eccentricity}")
        if known.goal is not None:
            click.echo(f"  nearest goal  {known.goal} {puzzle.origin}")
        for name, layers in (("layers", known.layers), ("first layers", known.first_layers)):
            if layers is None:
                continue
            click.echo(
                click.wrap_text(
                    f"{name:<13} {' '.join(f'{states:,}' for states in layers)}",
                    width=100,
                    initial_indent="  ",
                    subsequent_indent=" " * 16,
                )
            )
        if known.farthest:
            shown = known.farthest[:BOARDS_DRAWN]
            click.echo(f"  farthest      {counted(len(known.farthest), 'board')}\n")
            print_drawings(
                [("", coloured(definition, definition.parse_board(board))) for board in shown],
                width=76,
                indent="    ",
            )


def _symmetry_lines(symmetry: dict[str, Any]) -> Iterator[str]:
    if symmetry["symmetries"] is None:
        yield f"symmetries    {symmetry['problem']}"
        return
    yield f"symmetries    {symmetry['symmetries']:,} that fix the goal"
    kept = symmetry["representatives"]
    if kept is not None:
        yield f"classes       {kept['orbits']:,} of {kept['keys']:,} keys, by {kept['symmetries']:,} of the symmetries"
        yield f"              a map kept by representatives has {kept['entries']:,} distances"
