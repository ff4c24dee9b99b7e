"""`farthest draw`: boards as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from farthest.cli.completion import complete_puzzle
from farthest.cli.options import allow_module_option, force_option, json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board, PuzzleDefinition
    from farthest.puzzles.puzzle import Puzzle


@click.command()
@click.argument("name", metavar="PUZZLE", shell_complete=complete_puzzle)
@click.argument("boards", metavar="[BOARD]...", nargs=-1)
@click.option(
    "--svg", "file", metavar="FILE", type=click.Path(path_type=Path), help="Write an SVG file instead."
)
@allow_module_option
@force_option
@json_option
def draw(name: str, boards: tuple[str, ...], file: Path | None, force: bool, as_json: bool) -> None:
    """Draw each BOARD of a puzzle, in colour on a terminal; without one, its goals and start.

    PUZZLE is a name of the catalogue, a parametric name, or a file. A BOARD is written in any reasonable form, in
    quotes where it has spaces, or is goal (the first that the puzzle draws) or start, or "moves: R U' F2", what these
    moves make of the goal.

    \b
    Examples:
      farthest draw eight-kinds '┘│└/─□─/┐│┌'
      farthest draw 15-puzzle --svg 15-puzzle.svg
    """
    if file is not None and as_json:
        raise click.UsageError("--svg writes a file: leave out --json.")
    from farthest.cli.printing import print_drawings, print_json
    from farthest.drawing.terminal import coloured
    from farthest.puzzles import catalogue

    puzzle = catalogue.load(name)
    wanted = _boards(puzzle, boards)
    if file is not None:
        write_svg(
            puzzle,
            wanted,
            file,
            force=force,
            title=f"{puzzle.title}: {', '.join(c or 'board' for c, _ in wanted)}",
        )
        return
    if as_json:
        definition = puzzle.definition
        found = [
            {"name": caption, "board": definition.format_board(board), "lines": definition.draw_board(board)}
            for caption, board in wanted
        ]
        print_json({"puzzle": puzzle.name, "boards": found})
        return
    print_drawings([(caption, coloured(puzzle.definition, board)) for caption, board in wanted])


def write_svg(
    puzzle: Puzzle,
    boards: Sequence[tuple[str, Sequence[int]]],
    file: Path,
    *,
    force: bool,
    title: str,
    definition: PuzzleDefinition | None = None,
) -> None:
    """Writes boards with their captions to an SVG file; ``definition``: whose boards they are, if not the puzzle's.
    Raises OutputError."""
    from farthest.drawing.svg import svg
    from farthest.puzzles.family import board_picture
    from farthest.queries.output_file import form_of, written_file

    form_of(file, (".svg",))
    document = svg([(caption, board_picture(puzzle, board, definition)) for caption, board in boards], title)
    with written_file(file, force=force) as part:
        part.write_text(document, encoding="utf-8")
    click.echo(f"{file}: {len(boards)} {'board' if len(boards) == 1 else 'boards'}")


def _boards(puzzle: Puzzle, texts: Sequence[str]) -> list[tuple[str, Board]]:
    from farthest.families.given import drawn_board

    if texts:
        return [("", drawn_board(puzzle, text)) for text in texts]
    goals, start = puzzle.definition.origin_boards
    named = [("goal" if len(goals) == 1 else f"goal {number}", goal) for number, goal in enumerate(goals, 1)]
    return [("start", start), *named] if start is not None else named
