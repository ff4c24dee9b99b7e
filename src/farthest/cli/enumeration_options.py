"""PUZZLE and the options of an enumeration: what `farthest enumerate`, `estimate` and `submit` share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from farthest.cli.options import (
    Command,
    Workers,
    completed,
    memory_option,
    number_option,
    scratch_option,
    threads_option,
)

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Origin, Puzzle


MOST_SYMMETRIES = 10**6

GENERATORS = "farthest.generators"
"""Where `--generators` is in a command's context."""


def puzzle_argument(command: Command) -> Command:
    """PUZZLE, or `--generators` in its place."""
    named = click.argument(
        "puzzle", metavar="PUZZLE", required=False, callback=_puzzle, shell_complete=completed("puzzle")
    )
    generators = click.option(
        "--generators",
        metavar="TEXT",
        is_eager=True,
        expose_value=False,
        callback=_generators,
        help='Permutations instead of PUZZLE: "(1,2,3)(4,5); (1,5)", or with names "a=(1,2,3)(4,5); b=(1,5)".',
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
            f"--generators replaces PUZZLE, but {value!r} is given too: leave one of them out."
        )
    if text is None:
        return str(value)
    from farthest.families.permutation.generator_text import check_generators

    check_generators(text)
    return text


workers_option = click.option(
    "--workers",
    type=click.Choice(["threads", "celery"]),
    help="Where layers are found: in threads of this process, or in `farthest worker` processes on any hosts, "
    "through Redis.  [default: threads]",
)


def _symmetries(context: click.Context, parameter: click.Parameter, value: str) -> int | None:
    if value in ("auto", "none"):
        return None if value == "auto" else 1
    if not value.isdecimal() or not 2 <= int(value) <= MOST_SYMMETRIES:
        raise click.BadParameter(
            f"{value!r} is neither auto nor none, nor a number from 2 to {MOST_SYMMETRIES:,}"
        )
    return int(value)


def _symmetry_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [word for word in ("auto", "none") if word.startswith(incomplete)]


RESULT_OPTIONS = (
    click.option(
        "--from",
        "from_",
        metavar="X",
        multiple=True,
        shell_complete=completed("origin"),
        help="Count moves from X; see --to.",
    ),
    click.option(
        "--to",
        metavar="X",
        multiple=True,
        shell_complete=completed("origin"),
        help="Count moves to X: goal, start, a board or moves; given several times, to the nearest of all; - reads "
        "boards from standard input, one per line.  [default: what the puzzle says]",
    ),
    number_option("--max-depth", help="Stop after layer N."),
    click.option(
        "--map",
        "map_",
        type=click.Choice(["full", "residues", "none"]),
        help="Keep all distances; one or two bits of each, in a file; or only the layers and farthest boards.  "
        "[default: full; residues beyond 2^30 keys]",
    ),
    click.option(
        "--symmetry",
        callback=_symmetries,
        shell_complete=_symmetry_words,
        default="auto",
        metavar="auto|none|N",
        help="Keep one state of each class by symmetry: by all symmetries, or a group of N.  [default: auto, where "
        "it pays]",
    ),
    click.option("--histogram-only", is_flag=True, help="The same as --map none."),
)
"""What decides the result of an enumeration."""


def settings_options(
    *names: Literal["workers", "threads", "memory", "scratch"], memory_help: str = ""
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """PUZZLE and the options of an enumeration, for a command that gets them as ``puzzle``, a Puzzle, and ``settings``,
    a Settings: those that decide its result, and those of ``names``."""

    def options(command: Callable[..., object]) -> Callable[..., object]:
        @wraps(command)
        def called(
            puzzle: str,
            from_: tuple[str, ...],
            to: tuple[str, ...],
            max_depth: int | None,
            map_: str | None,
            histogram_only: bool,
            symmetry: int | None,
            workers: Workers | None = None,
            threads: int | None = None,
            memory: int | None = None,
            scratch: Path | None = None,
            **others: object,
        ) -> None:
            if from_ and to:
                raise click.UsageError(
                    "--from and --to exclude each other: distances are counted from X or to X."
                )
            if histogram_only and map_ not in (None, "none"):
                raise click.UsageError(
                    f"--histogram-only keeps no map, but --map {map_} keeps one: leave one of them out."
                )
            if memory is not None and workers == "celery":
                raise click.UsageError(
                    "--memory is for the threads of this process, but --workers celery keeps the states in Redis: "
                    "limit Redis with its own setting maxmemory, and each worker process with "
                    "FARTHEST_WORKER_MEMORY."
                )
            from farthest.coordinator.settings import Settings
            from farthest.puzzles.catalogue import load

            loaded = load(puzzle)
            settings = Settings(
                origin=_origin(loaded, from_, to),
                max_depth=max_depth,
                threads=threads,
                memory=memory,
                scratch=scratch,
                histogram_only=histogram_only or map_ == "none",
                symmetry=symmetry,
                residues=None if map_ is None else map_ == "residues",
                workers=workers or "threads",
            )
            command(puzzle=loaded, settings=settings, **others)

        decorated: Callable[..., object] = called
        further = {
            "scratch": scratch_option,
            "memory": memory_option(memory_help),
            "threads": threads_option,
            "workers": workers_option,
        }
        for name, option in further.items():
            if name in names:
                decorated = option(decorated)
        for option in reversed(RESULT_OPTIONS):
            decorated = option(decorated)
        return puzzle_argument(decorated)

    return options


def _origin(puzzle: Puzzle, from_: tuple[str, ...], to: tuple[str, ...]) -> Origin | None:
    """The origin that `--from` or `--to` names; None where neither is given. Raises PuzzleError, and BoardError, also
    for standard input that has no boards, or too many."""
    boards = from_ or to
    if not boards:
        return None
    from farthest.cli.bulk import boards_of_a_set
    from farthest.families.user_input import origin_given
    from farthest.puzzles.puzzle import Origin

    where = "\n".join(boards_of_a_set() if "-" in boards else boards)
    return origin_given(puzzle, Origin("from" if from_ else "to", where))
