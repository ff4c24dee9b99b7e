"""What several commands share: options and types of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import click

from farthest.cli.printing import DATABASE, note

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from farthest.models.database import Database
    from farthest.models.job_reader import JobReader
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap


Command = TypeVar("Command", bound=Callable[..., object])
Workers = Literal["threads", "celery"]
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def completed(kind: str) -> Completer:
    """What a shell completes there: ``complete_KIND`` of ``cli.completion``, which no command needs to run."""

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        from farthest.cli import completion

        completer: Completer = getattr(completion, f"complete_{kind}")
        return completer(context, parameter, incomplete)

    return complete


def byte_size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """4GiB and 4g are 4 * 1024**3 bytes, 4GB 4 * 1000**3; a number without a unit counts bytes."""
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


def memory_option(text: str) -> Callable[[Command], Command]:
    """`--memory SIZE`, with its help."""
    return click.option("--memory", metavar="SIZE", callback=byte_size, help=text)


def number_option(
    *names: str,
    least: int = 0,
    most: int | None = None,
    metavar: str = "N",
    default: int | tuple[int, ...] | None = None,
    multiple: bool = False,
    help: str,
) -> Callable[[Command], Command]:
    """An option with a whole number. Click adds the default to the help where that does not say it."""
    return click.option(
        *names,
        type=click.IntRange(least, most),
        metavar=metavar,
        default=default,
        show_default=default is not None and "[default:" not in help,
        multiple=multiple,
        help=help,
    )


threads_option = number_option(
    "--threads", least=1, most=4096, help="Threads of this process.  [default: one per processor]"
)

progress_option = click.option(
    "--progress/--no-progress",
    default=None,
    help="Report progress on standard error.  [default: if it is a terminal]",
)


job_argument = click.argument("job", shell_complete=completed("job"))


def path_option(
    *names: str, metavar: str = "FILE", complete: str | None = None, help: str
) -> Callable[[Command], Command]:
    """An option with the path of a file, or of a folder. ``complete``: what a shell completes there."""
    return click.option(
        *names,
        metavar=metavar,
        type=click.Path(path_type=Path),
        shell_complete=None if complete is None else completed(complete),
        help=help,
    )


scratch_option = path_option(
    "--scratch",
    metavar="DIR",
    help="Folder for layers that do not fit in memory.  [default: $FARTHEST_SCRATCH, else that of the database]",
)


def _keep_database(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    context.meta[DATABASE] = value
    return value


database_option = click.option(
    "--database",
    metavar="URL",
    callback=_keep_database,
    shell_complete=completed("file"),
    help="SQLite file or SQLAlchemy URL.  [default: $FARTHEST_DATABASE_URL, else farthest.db]",
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")


force_option = click.option("--force", is_flag=True, help="Replace FILE if it exists.")


def _allow(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> None:
    if names and not context.resilient_parsing:
        from farthest.families.python.allowed import allowing

        context.with_resource(allowing(names, "--allow-module"))


allow_module_option = click.option(
    "--allow-module",
    metavar="NAME",
    multiple=True,
    expose_value=False,
    callback=_allow,
    help="Allow puzzle classes of this Python module to run, as well as those in $FARTHEST_PUZZLE_MODULES; may be "
    "repeated.",
)
"""Of every command that runs puzzle classes; in force until the command ends."""


def usual_options(command: Command) -> Command:
    """`--allow-module`, `--database` and `--json`."""
    return allow_module_option(database_option(json_option(command)))


def file_options(command: Command) -> Command:
    """The same, of a command that writes a file."""
    return allow_module_option(force_option(database_option(json_option(command))))


@contextmanager
def stored_jobs(database: str | None) -> Iterator[tuple[JobReader, Database]]:
    """The jobs of a database that is there already, to be read."""
    from farthest.models.database import open_database
    from farthest.models.job_reader import JobReader

    with open_database(database, create=False) as opened:
        yield JobReader(opened), opened


@contextmanager
def jobs_to_change(database: str | None) -> Iterator[tuple[Jobs, Database]]:
    """The same, to be changed too."""
    from farthest.models.jobs import Jobs

    with stored_jobs(database) as (_, opened):
        yield Jobs(opened), opened


def open_job(job: str, database: str | None, *, told_of: str | None = None) -> DistanceMap:
    """`open_map`, with a note on standard error where a puzzle's name has led to a map with another origin than the
    puzzle's own, or cut off by a depth limit."""
    from farthest.queries.distance_map import open_map

    opened = open_map(job, database, told_of=told_of)
    opened.told = note
    if job == opened.record.name:
        unlike = [str(opened.origin)] if opened.origin != opened.puzzle.origin else []
        if not opened.complete:
            unlike.append(f"to depth {opened.depth} only")
        if unlike:
            newest = "newest complete" if opened.complete else "newest"
            of = f"{job} that tells of the {told_of}" if told_of in ("goal", "start") else job
            note(f"the {newest} map of {of} is job {opened.job}: {', '.join(unlike)}")
    return opened
