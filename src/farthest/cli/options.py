"""What several commands share: options and types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from farthest.cli.completion import complete_file, complete_origin, complete_puzzle
from farthest.cli.printing import note

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Origin
    from farthest.queries.distance_map import DistanceMap


GENERATORS = "farthest.generators"
"""Where `--generators` is in a command's context."""

Command = TypeVar("Command", bound=Callable[..., object])


def puzzle_argument(command: Command) -> Command:
    """PUZZLE, or `--generators` in its place."""
    named = click.argument(
        "puzzle", metavar="PUZZLE", required=False, callback=_puzzle, shell_complete=complete_puzzle
    )
    generators = click.option(
        "--generators",
        metavar="TEXT",
        is_eager=True,
        expose_value=False,
        callback=_generators,
        help='Permutations in place of PUZZLE: "(1,2,3)(4,5); (1,5)", or with names "a=(1,2,3)(4,5); b=(1,5)".',
    )
    return named(generators(command))


def _generators(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[GENERATORS] = value


def _puzzle(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    text: str | None = context.meta.get(GENERATORS)
    if text is None and value is None:
        raise click.MissingParameter(ctx=context, param=parameter)
    if text is not None and value is not None:
        raise click.UsageError(
            f"--generators stands in place of PUZZLE, and {value!r} is given too: leave out one."
        )
    if text is None:
        return str(value)
    from farthest.families.permutation.generator_text import check_generators

    check_generators(text)
    return text


def byte_size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """The callback of an option that is a number of bytes.

    4GiB and 4g are 4 * 1024**3 bytes, 4GB 4 * 1000**3; a number without a unit counts bytes.
    """
    if value is None:
        return None
    from farthest.environment import byte_count

    size = byte_count(value)
    if size is None:
        raise click.BadParameter(
            f"{value!r} is not a size; expected a number and a unit, such as 4GiB, 500MB or 1.5g"
        )
    if size < 1:
        raise click.BadParameter(f"{value!r} is not a size; expected at least one byte")
    return size


def result_options(command: Command) -> Command:
    """What decides the result of an enumeration: `--from`, `--to`, `--max-depth`, `--map` and `--histogram-only`."""
    for option in (
        click.option("--histogram-only", is_flag=True, help="The same as --map none."),
        click.option(
            "--map",
            "map_",
            type=click.Choice(["full", "residues", "none"]),
            help="Keep all distances; a bit or two of each, in a file; or the layers and farthest boards only.  "
            "[default: full; residues beyond 2^30 keys]",
        ),
        click.option("--max-depth", type=click.IntRange(min=0), metavar="N", help="Stop after layer N."),
        click.option(
            "--to",
            metavar="X",
            multiple=True,
            shell_complete=complete_origin,
            help="Count moves to X: goal, start, a board or moves; given several times, to the nearest of all; - reads "
            "boards from standard input, one a line.  [default: what the puzzle says]",
        ),
        click.option(
            "--from",
            "from_",
            metavar="X",
            multiple=True,
            shell_complete=complete_origin,
            help="Count moves from X, as --to.",
        ),
    ):
        command = option(command)
    return command


def kind_of_map(map_: str | None, histogram_only: bool) -> tuple[bool, bool | None]:
    """What `--map` and `--histogram-only` ask for: ``histogram_only`` and ``residues`` of ``Settings``."""
    if histogram_only and map_ not in (None, "none"):
        raise click.UsageError(f"--histogram-only keeps no map, and --map {map_} one: leave out one of them.")
    residues = None if map_ is None else map_ == "residues"
    return histogram_only or map_ == "none", residues


def named_origin(from_: tuple[str, ...], to: tuple[str, ...]) -> Origin | None:
    """The origin that `--from` or `--to` names, as it is written; None where neither is given. Raises BoardError for
    standard input that has no boards, or too many."""
    if from_ and to:
        raise click.UsageError("--from and --to exclude each other: distances are counted from X or to X.")
    from farthest.puzzles.puzzle import Origin

    if not from_ and not to:
        return None
    return Origin("from" if from_ else "to", named_boards(from_ or to))


def named_boards(given: tuple[str, ...]) -> str:
    """The boards of an option that may be given several times, as they are written, one a line. Raises BoardError for
    standard input that has no boards, or too many."""
    from farthest.cli.bulk import boards_of_a_set

    return "\n".join(boards_of_a_set() if "-" in given else given)


def workers_option(command: Command) -> Command:
    """`--workers threads|celery`."""
    return click.option(
        "--workers",
        type=click.Choice(["threads", "celery"]),
        help="Who steps the layers: threads of this process, or `farthest worker` processes on any hosts, "
        "through Redis.  [default: threads]",
    )(command)


def scratch_option(command: Command) -> Command:
    """`--scratch DIR`."""
    return click.option(
        "--scratch",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Folder for layers that do not fit the memory; else $FARTHEST_SCRATCH, else that of the database.",
    )(command)


def database_option(command: Command) -> Command:
    """`--database URL`."""
    return click.option(
        "--database",
        metavar="URL",
        shell_complete=complete_file,
        help="SQLAlchemy URL or SQLite file; else $FARTHEST_DATABASE_URL, else farthest.db here.",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")(command)


def force_option(command: Command) -> Command:
    """`--force`."""
    return click.option("--force", is_flag=True, help="Replace FILE if it exists.")(command)


def allow_module_option(command: Command) -> Command:
    """`--allow-module NAME`, of every command that runs puzzle classes; in force until the command ends."""
    return click.option(
        "--allow-module",
        metavar="NAME",
        multiple=True,
        expose_value=False,
        callback=_allow,
        help="Let puzzle classes of this Python module run; else those of $FARTHEST_PUZZLE_MODULES. May be repeated.",
    )(command)


def _allow(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> None:
    if names and not context.resilient_parsing:
        from farthest.families.python.allowed import allowing

        context.with_resource(allowing(names, "--allow-module"))


# --- Opening the map for a command.


def open_job(job: str, database: str | None) -> DistanceMap:
    """`open_map`, with a note on standard error where a puzzle's name has led to a map with another origin than the
    puzzle's own, or cut off by a depth limit."""
    from farthest.queries.distance_map import open_map

    opened = open_map(job, database)
    opened.told = note
    if job == opened.record.name:
        unlike = [str(opened.origin)] if opened.origin != opened.puzzle.origin else []
        if not opened.complete:
            unlike.append(f"to depth {opened.depth} only")
        if unlike:
            newest = "newest complete" if opened.complete else "newest"
            note(f"the {newest} map of {job} is job {opened.job}: {', '.join(unlike)}")
    return opened
