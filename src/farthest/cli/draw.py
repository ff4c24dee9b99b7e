"""`farthest draw`: boards as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from farthest.cli.completion import complete_puzzle
from farthest.cli.options import allow_module_option, database_option, force_option, json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


@click.command()
@click.argument("name", metavar="PUZZLE", shell_complete=complete_puzzle)
@click.argument("boards", metavar="[BOARD]...", nargs=-1)
@click.option(
    "--path", "path_of", metavar="BOARD", help="Draw a shortest solution of BOARD, of the stored map."
)
@click.option(
    "--search", is_flag=True, help="With --path: search for the solution, as `farthest solve` does."
)
@click.option("--animated", is_flag=True, help="With --path and --svg: one board, whose pieces move.")
@click.option(
    "--svg", "file", metavar="FILE", type=click.Path(path_type=Path), help="Write an SVG file instead."
)
@allow_module_option
@database_option
@force_option
@json_option
def draw(
    name: str,
    boards: tuple[str, ...],
    path_of: str | None,
    search: bool,
    animated: bool,
    file: Path | None,
    database: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw each BOARD of a puzzle, in colour on a terminal; without one, its goals and start; or a solution.

    PUZZLE is a name of the catalogue, a parametric name, or a file. A BOARD is written in any reasonable form, in
    quotes where it has spaces, or is goal (the first that the puzzle draws) or start, or "moves: R U' F2", what these
    moves make of the goal.

    With --path the boards of one shortest solution are drawn, each with the move that leads to it. The solution is that
    of the puzzle's stored map, as `farthest path` tells it, or with --search is searched for.

    \b
    Examples:
      farthest draw eight-kinds '┘│└/─□─/┐│┌'
      farthest draw 15-puzzle --svg 15-puzzle.svg
      farthest draw 8-puzzle --path 867254301 --svg strip.svg
      farthest draw cube-3x3x3 --path "moves: R U' F2 R2" --search --animated --svg solution.svg
    """
    if file is not None and as_json:
        raise click.UsageError("--svg writes a file: leave out --json.")
    if path_of is None and (search or animated):
        raise click.UsageError(f"--{'search' if search else 'animated'} needs --path BOARD.")
    if path_of is not None and boards:
        raise click.UsageError("--path draws the boards of a solution: leave out other boards.")
    if animated and file is None:
        raise click.UsageError("--animated needs --svg FILE: text does not move.")
    from farthest.cli.printing import counted, print_drawings, print_json
    from farthest.drawing.terminal import coloured
    from farthest.puzzles import catalogue

    puzzle = catalogue.load(name)
    if path_of is not None:
        from farthest.cli.drawn_path import drawn_path
        from farthest.puzzles.moves_shown import board_titles

        path = drawn_path(puzzle, path_of, database, search=search)
        if file is not None:
            path.draw(file, animated=animated, force=force)
            click.echo(f"{file}: {counted(len(path), 'board')}")
            return
        definition = path.named.definition
        wanted: Sequence[tuple[str, Sequence[int]]] = list(
            zip(board_titles(path.named), path.named.boards.tolist(), strict=True)
        )
    else:
        definition = puzzle.definition
        wanted = _boards(puzzle, boards)
        if file is not None:
            _write_svg(puzzle, wanted, file, force=force)
            return
    if as_json:
        found = [
            {"name": caption, "board": definition.format_board(board), "lines": definition.draw_board(board)}
            for caption, board in wanted
        ]
        print_json({"puzzle": puzzle.name, "boards": found})
        return
    print_drawings([(caption, coloured(definition, board)) for caption, board in wanted])


def _write_svg(puzzle: Puzzle, boards: Sequence[tuple[str, Board]], file: Path, *, force: bool) -> None:
    """Writes boards with their captions to an SVG file. Raises OutputError."""
    from farthest.cli.printing import counted
    from farthest.drawing.svg import svg
    from farthest.puzzles.family import board_picture
    from farthest.queries.output_file import form_of, written_file

    form_of(file, (".svg",))
    title = f"{puzzle.title}: {', '.join(caption or 'board' for caption, _ in boards)}"
    document = svg([(caption, board_picture(puzzle, board)) for caption, board in boards], title)
    with written_file(file, force=force) as part:
        part.write_text(document, encoding="utf-8")
    click.echo(f"{file}: {counted(len(boards), 'board')}")


def _boards(puzzle: Puzzle, texts: Sequence[str]) -> list[tuple[str, Board]]:
    from farthest.families.given import drawn_board

    if texts:
        return [("", drawn_board(puzzle, text)) for text in texts]
    goals, start = puzzle.definition.origin_boards
    named = [("goal" if len(goals) == 1 else f"goal {number}", goal) for number, goal in enumerate(goals, 1)]
    return [("start", start), *named] if start is not None else named
