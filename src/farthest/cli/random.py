"""`farthest random`: boards drawn at random."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from farthest.cli.completion import complete_origin, complete_puzzle
from farthest.cli.options import allow_module_option, database_option, json_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource

BOARDS_AT_ONCE = 4096
SEED_BITS = 32


@click.command()
@click.argument("puzzle", shell_complete=complete_puzzle)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(min=0, max=10**15),
    default=1,
    metavar="N",
    help="How many boards.  [default: 1]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="S",
    help="The same seed gives the same boards, always and everywhere.  [default: a new one, told on standard error]",
)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    metavar="D",
    help="Boards at distance D, of the puzzle's stored map.",
)
@click.option(
    "--to",
    default="goal",
    metavar="X",
    shell_complete=complete_origin,
    help="Boards that can be moved to X: goal, start, a board or moves.  [default: goal]",
)
@allow_module_option
@database_option
@json_option
def random(
    puzzle: str,
    count: int,
    seed: int | None,
    depth: int | None,
    to: str,
    database: str | None,
    as_json: bool,
) -> None:
    """Print random boards of PUZZLE that can be solved, one a line.

    Each board from which moves lead to the goal has the same chance each time; a board may come twice. Where only a
    map tells which boards these are, the newest one stored is used, complete if there is one. With --depth the boards
    are states of that layer of that map.

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

    from farthest.families.given import target_given
    from farthest.puzzles import catalogue
    from farthest.random_source import RandomSource

    loaded = catalogue.load(puzzle)
    chosen = secrets.randbits(SEED_BITS) if seed is None else seed
    boards = _boards(loaded, RandomSource(chosen), count, target_given(loaded, to), depth, database)
    if seed is None:
        click.echo(f"Seed {chosen}: --seed {chosen} gives these boards again.", err=True)
    if as_json:
        from farthest.cli.printing import print_json_list

        facts = {"puzzle": loaded.name, "count": count, "seed": chosen, "depth": depth}
        print_json_list(facts, "boards", boards)
        return
    while some := list(islice(boards, BOARDS_AT_ONCE)):
        click.echo("\n".join(some))


def _boards(
    puzzle: Puzzle, rng: RandomSource, count: int, to: str, depth: int | None, database: str | None
) -> Iterator[str]:
    """The boards' texts."""
    from farthest.errors import FarthestError
    from farthest.puzzles.solvable import UndecidedError
    from farthest.search.random_boards import random_stream

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
    from farthest.cli.opening import open_job
    from farthest.errors import JobError
    from farthest.queries.random_states import holds_the_solvable, random_states

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
