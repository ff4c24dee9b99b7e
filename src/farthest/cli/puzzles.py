"""Puzzles and their boards: `farthest puzzles`, `random` and `draw`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.options import (
    allow_module_option,
    completed,
    file_options,
    json_option,
    number_option,
    open_job,
    path_option,
    stored_jobs,
    usual_options,
)
from farthest.cli.printing import print_boards, print_drawings, print_facts, print_json, print_table
from farthest.errors import FarthestError, JobError, StorageError
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from farthest.puzzles.board_sets import BoardSet
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.paths import BoardPath
    from farthest.random_source import RandomSource


BOARDS_DRAWN = 12


symmetry_option = click.option(
    "--symmetry", is_flag=True, help="Count the symmetries that fix the goal: seconds for large puzzles."
)


@click.command()
@click.argument("words", metavar="[NAME]...", nargs=-1, shell_complete=completed("puzzle"))
@symmetry_option
@click.option(
    "--kpuzzle", is_flag=True, help="Print the puzzle as KPuzzle JSON, as cubing.js and twips read it."
)
@allow_module_option
@json_option
def puzzles(words: tuple[str, ...], symmetry: bool, kpuzzle: bool, as_json: bool) -> None:
    """List the catalogue, or show one puzzle in full.

    NAME is a name of the catalogue, a parametric name such as sliding-3x4 or sliding-3x4-slide, or a TOML file. Any
    other words list the puzzles that have all of them in their names and titles, or are called so.

    \b
    Examples:
      farthest puzzles
      farthest puzzles 8-puzzle
      farthest puzzles rush hour
      farthest puzzles sliding-3x4
      farthest puzzles cube-3x3x3@corners --symmetry
      farthest puzzles pyraminx --kpuzzle > pyraminx.kpuzzle.json
    """
    from farthest.documents.puzzles import puzzle_document, puzzle_summary, set_document, symmetry_document
    from farthest.puzzles import catalogue
    from farthest.puzzles.board_sets import board_set, set_names
    from farthest.puzzles.family import family

    if kpuzzle and (symmetry or as_json):
        raise click.UsageError("--kpuzzle prints JSON of its own; leave --symmetry and --json out")
    try:
        puzzle = catalogue.load(" ".join(words)) if words else None
    except catalogue.UnknownPuzzleError:
        wanted = " ".join(words)
        names, forms = catalogue.search(wanted), catalogue.search_forms(wanted)
        titles = {name: board_set(name).title for name in set_names()}
        sets = [board_set(name) for name in catalogue.matching(wanted, titles)]
        if not names and not forms and not sets:
            raise
        puzzle = None
    else:
        names, forms = catalogue.names(), catalogue.forms()
        sets = [] if words else [board_set(name) for name in set_names()]
    if kpuzzle and puzzle is not None:
        click.echo(family(puzzle.family).kpuzzle(puzzle))
        return
    if puzzle is not None:
        found = symmetry_document(puzzle) if symmetry else None
        if as_json:
            print_json({**puzzle_document(puzzle), **({} if found is None else {"symmetry": found})})
        else:
            _draw(puzzle, found)
            _tell_others(" ".join(words), puzzle)
        return
    if symmetry or kpuzzle:
        option = "--symmetry" if symmetry else "--kpuzzle"
        raise click.UsageError(f"{option} needs the name of one puzzle: farthest puzzles NAME {option}")
    listed = [catalogue.load(each) for each in names]
    if as_json:
        print_json(
            {
                "puzzles": [puzzle_summary(puzzle) for puzzle in listed],
                "forms": [{"form": form, "called": called} for form, called in forms.items()],
                "sets": [set_document(found) for found in sets],
            }
        )
    else:
        _print_catalogue(listed, forms, sets)


def _print_catalogue(listed: list[Puzzle], forms: Mapping[str, str], sets: Sequence[BoardSet]) -> None:
    from farthest.documents.puzzles import states_text

    rows = [
        (puzzle.name, puzzle.definition.size(), puzzle.metric, states_text(puzzle), puzzle.title)
        for puzzle in listed
    ]
    if rows:
        print_table(("name", "cells", "metric", "states", "title"), rows, right="lllr")
        click.echo()
    if forms:
        print_table(("names of any size", "puzzle"), [*forms.items()], right="ll")
        click.echo()
    if sets:
        print_table(
            ("set of boards", "puzzle", "boards", "title"),
            ((found.name, found.puzzle, str(len(found.boards)), found.title) for found in sets),
            right="llrl",
        )
        click.echo()
    if rows or forms:
        click.echo("Show one of them: farthest puzzles NAME")
    else:
        click.echo("Solve one of them: farthest solve PUZZLE --set NAME")


def _draw(puzzle: Puzzle, symmetry: dict[str, Any] | None) -> None:
    from farthest.documents.puzzles import known_rows, named_boards, puzzle_rows
    from farthest.drawing.terminal import coloured
    from farthest.puzzles.board_sets import sets_of

    definition = puzzle.definition
    click.echo(f"{puzzle.name}: {puzzle.title}")
    if puzzle.source:
        click.echo(f"source: {puzzle.source}")
    click.echo()
    boards = named_boards(puzzle)[:BOARDS_DRAWN]
    print_drawings([(f"{title}:", coloured(definition, board)) for title, board in boards])
    click.echo()
    print_facts(puzzle_rows(puzzle))
    print_facts(
        ("set of boards", f"{found.name}: {found.title} ({found.source})") for found in sets_of(puzzle)
    )
    for line in () if symmetry is None else _symmetry_lines(symmetry):
        click.echo(line)
    for known in puzzle.known:
        click.echo(f"\nknown answers ({known.source}):")
        if known.oeis:
            click.echo(f"  OEIS          {known.oeis_address}")
        for name, value in known_rows(puzzle, known):
            text = f"{name:<13} {value}"
            click.echo(click.wrap_text(text, width=100, initial_indent="  ", subsequent_indent=" " * 16))
        if known.farthest:
            shown = known.farthest[:BOARDS_DRAWN]
            click.echo(f"  farthest      {counted(len(known.farthest), 'board')}\n")
            print_drawings(
                [("", coloured(definition, definition.parse_board(board))) for board in shown],
                width=76,
                indent="    ",
            )


def _tell_others(text: str, puzzle: Puzzle) -> None:
    """Those of the catalogue that have the words of a text by which the puzzle is called."""
    from farthest.puzzles import catalogue

    others = [name for name in catalogue.search(text) if name != puzzle.name]
    if others and text not in (puzzle.name, *catalogue.ALIASES):
        click.echo(f"\nothers with {text!r} in their names: {', '.join(others)}")


def _symmetry_lines(symmetry: dict[str, Any]) -> Iterator[str]:
    if symmetry["symmetries"] is None:
        yield f"symmetries    {symmetry['problem']}"
        return
    yield f"symmetries    {symmetry['symmetries']:,} that fix the goal"
    kept = symmetry["representatives"]
    if kept is not None:
        yield f"kept          {kept['entries']:,} of {kept['keys']:,} distances"
        yield f"              by {kept['symmetries']:,} of the symmetries"


SEED_BITS = 32


@click.command()
@click.argument("puzzle", shell_complete=completed("puzzle"))
@number_option("-n", "--count", most=10**15, default=1, help="How many boards.  [default: 1]")
@number_option(
    "--seed",
    metavar="S",
    help="The same seed gives the same boards, always and everywhere.  [default: a new one, printed on standard error]",
)
@number_option("--depth", metavar="D", help="Boards at distance D, of the puzzle's stored map.")
@click.option(
    "--to",
    default="goal",
    metavar="X",
    shell_complete=completed("origin"),
    help="Boards that can be moved to X: goal, start, a board or moves.  [default: goal]",
)
@usual_options
def random(
    puzzle: str,
    count: int,
    seed: int | None,
    depth: int | None,
    to: str,
    database: str | None,
    as_json: bool,
) -> None:
    """Print random boards of PUZZLE that can be solved.

    One is printed per line. Each board from which moves lead to the goal has the same chance each time; a board may
    come twice. Where only a map tells which boards these are, the newest one stored is used, complete if there is
    one. With --depth the boards are states of that layer of that map.

    \b
    Examples:
      farthest random 15-puzzle -n 100 --seed 1
      farthest random 8-puzzle -n 5 --depth 31
      farthest random 8-puzzle -n 1000 | farthest distance 8-puzzle -
    """
    if depth is not None and to != "goal":
        raise click.UsageError(
            "--depth and --to exclude each other: a layer is that of the stored map's own origin."
        )
    import secrets

    from farthest.families.user_input import target_given
    from farthest.puzzles import catalogue
    from farthest.random_source import RandomSource

    loaded = catalogue.load(puzzle)
    chosen = secrets.randbits(SEED_BITS) if seed is None else seed
    boards = _random_boards(loaded, RandomSource(chosen), count, target_given(loaded, to), depth, database)
    if seed is None:
        click.echo(f"Seed {chosen}: --seed {chosen} gives these boards again.", err=True)
    facts = {"puzzle": loaded.name, "count": count, "seed": chosen, "depth": depth}
    print_boards(facts, boards, as_json=as_json)


def _random_boards(
    puzzle: Puzzle, rng: RandomSource, count: int, to: str, depth: int | None, database: str | None
) -> Iterator[str]:
    """The boards' texts."""
    from farthest.puzzles.family import UndecidedError
    from farthest.search.solvable import random_stream

    if depth is not None:
        return _of_map(puzzle, rng, count, database, depth=depth)
    try:
        return map(puzzle.definition.format_board, islice(random_stream(puzzle, rng, to), count))
    except UndecidedError as error:
        try:
            return _of_map(puzzle, rng, count, database, to=to)
        except FarthestError as missing:
            raise UndecidedError(f"{error} ({missing})") from None


def _of_map(
    puzzle: Puzzle,
    rng: RandomSource,
    count: int,
    database: str | None,
    *,
    to: str = "",
    depth: int | None = None,
) -> Iterator[str]:
    """States of the puzzle's newest map: of a depth, or of all of it if these are the boards that can be solved."""
    from farthest.queries.states import holds_the_solvable, random_states

    try:
        opened = click.get_current_context().with_resource(open_job(puzzle.name, database))
    except JobError as error:
        raise JobError(f"{error}; store a map first: farthest enumerate {puzzle.name}") from None
    found = f"the newest map of {puzzle.name}, job {opened.job},"
    if opened.record.puzzle_digest != puzzle.digest:
        raise JobError(
            f"{found} is of another puzzle of that name; store one of this: farthest enumerate FILE"
        )
    if depth is None and not holds_the_solvable(opened, to):
        raise JobError(f"{found} is not one of all distances to the {'goal' if to == 'goal' else 'target'}")
    return random_states(opened, count, rng, depth)


@click.command()
@click.argument("name", metavar="PUZZLE", shell_complete=completed("puzzle"))
@click.argument("boards", metavar="[BOARD]...", nargs=-1)
@click.option(
    "--path", "path_of", metavar="BOARD", help="Draw a shortest solution of BOARD, of the stored map."
)
@click.option(
    "--search", is_flag=True, help="With --path: search for the solution, as `farthest solve` does."
)
@click.option("--animated", is_flag=True, help="With --path and --svg: one board, whose pieces move.")
@path_option("--svg", "file", help="Write an SVG file instead.")
@file_options
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
    """Draw boards of a puzzle, or a solution.

    On a terminal they are in colour. Without a BOARD the goals and the start are drawn. PUZZLE is a name of the
    catalogue, a parametric name, or a file. A BOARD is written in any reasonable form, in quotes where it has spaces,
    or is goal (the first that the puzzle draws) or start, or "moves: R U' F2", what these moves make of the goal.

    With --path the boards of one shortest solution are drawn, each with the move that leads to it. The solution is that
    of the puzzle's stored map, as `farthest path` tells it, or with --search is searched for.

    \b
    Examples:
      farthest draw 8-puzzle 867254301
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
    from farthest.drawing.terminal import coloured
    from farthest.puzzles import catalogue

    puzzle = catalogue.load(name)
    if path_of is not None:
        from farthest.cli.solutions import save_path
        from farthest.puzzles.move_text import board_titles

        path = drawn_path(puzzle, path_of, database, search=search)
        if file is not None:
            save_path(path, file, animated=animated, force=force)
            return
        definition = path.named.definition
        wanted: Sequence[tuple[str, Sequence[int]]] = list(
            zip(board_titles(path.named), path.named.boards.tolist(), strict=True)
        )
    else:
        definition = puzzle.definition
        wanted = _boards_to_draw(puzzle, boards)
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
    from farthest.drawing.svg import svg
    from farthest.puzzles.family import board_picture
    from farthest.queries.output_files import form_of, written_file

    form_of(file, (".svg",))
    title = f"{puzzle.title}: {', '.join(caption or 'board' for caption, _ in boards)}"
    document = svg([(caption, board_picture(puzzle, board)) for caption, board in boards], title)
    with written_file(file, force=force) as part:
        part.write_text(document, encoding="utf-8")
    click.echo(f"{file}: {counted(len(boards), 'board')}")


def _boards_to_draw(puzzle: Puzzle, texts: Sequence[str]) -> list[tuple[str, Board]]:
    from farthest.documents.puzzles import named_boards
    from farthest.families.user_input import drawn_board

    return [("", drawn_board(puzzle, text)) for text in texts] or named_boards(puzzle)


def drawn_path(puzzle: Puzzle, board: str, database: str | None, *, search: bool) -> BoardPath:
    """A shortest solution of a board. Raises BoardError, JobError where there is no map, or as `solve` does."""
    return _searched(puzzle, board, database) if search else _stored(puzzle, board, database)


def _stored(puzzle: Puzzle, board: str, database: str | None) -> BoardPath:
    from farthest.models.stored_job import origin_of

    try:
        with stored_jobs(database) as (stored, opened):
            found = stored.finished_maps(puzzle.digest)
            place = opened.place
    except StorageError as error:
        raise StorageError(f"{error}; or --search, which needs no map") from None
    if not found:
        raise JobError(
            f"puzzle {puzzle.name}: {place} has no map of it; `farthest enumerate` makes one, or --search searches "
            "for a solution"
        )
    own = (record for record in found if record.complete and origin_of(record) == puzzle.origin)
    with open_job(str(next(own, found[0]).id), database) as distances:
        return distances.path(board)


def _searched(puzzle: Puzzle, board: str, database: str | None) -> BoardPath:
    from farthest.api.searches import solve
    from farthest.cli.search_outcome import refuse_unsolvable

    outcome = solve(puzzle, board, store=False, database=database)
    refuse_unsolvable(outcome)
    assert outcome.path is not None, "one solution of each search is listed"
    return outcome.path
