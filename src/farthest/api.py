"""The verbs of the command line as functions; `import farthest` offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.puzzles import catalogue
from farthest.puzzles.definition import Origin, Puzzle

if TYPE_CHECKING:
    from farthest.coordinator.enumeration import Outcome
    from farthest.coordinator.reporter import Reporter
    from farthest.models.records import JobRecord
    from farthest.queries.distance_map import DistanceMap


def puzzle_names() -> list[str]:
    """The names of the catalogue's puzzles; parametric names such as ``sliding-3x4`` are known besides."""
    return catalogue.names()


def load_puzzle(name_or_path: str) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name or a TOML file. Raises PuzzleError."""
    return catalogue.load(name_or_path)


def enumerate(  # noqa: A001 - the verb of the command line
    puzzle: str | Puzzle,
    *,
    database: str | None = None,
    origin: Origin | None = None,
    max_depth: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    reporter: Reporter | None = None,
) -> DistanceMap:
    """Enumerate a puzzle, store its map, and return the map.

    ``database``: as for `open_map`; the file is made where there is none. ``origin``: the states at distance
    0; None: what the puzzle says. ``max_depth``: the last layer wanted. ``threads``: None: one a processor.
    ``memory``: bytes that may be used. An enumeration that was broken off is resumed. Raises PuzzleError,
    BoardError (of the origin), ResourceError or StorageError.
    """
    from farthest.coordinator.enumeration import Settings, enumerate_puzzle
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap

    opened = open_database(database, create=True)
    try:
        settings = Settings(origin=origin, max_depth=max_depth, threads=threads, memory=memory)
        outcome = enumerate_puzzle(_puzzle(puzzle), opened, settings, reporter)
        assert outcome.job is not None, "what is stored has a number"
        return DistanceMap(opened, Jobs(opened).get(outcome.job))
    except BaseException:
        opened.close()
        raise


def histogram(
    puzzle: str | Puzzle,
    *,
    origin: Origin | None = None,
    max_depth: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Enumerate a puzzle for its layers and farthest boards alone: the least memory, and nothing is stored.

    The arguments are those of `enumerate`.
    """
    from farthest.coordinator.enumeration import Settings, enumerate_puzzle

    settings = Settings(
        origin=origin, max_depth=max_depth, threads=threads, memory=memory, histogram_only=True
    )
    return enumerate_puzzle(_puzzle(puzzle), None, settings, reporter)


def submit(
    puzzle: str | Puzzle,
    *,
    database: str | None = None,
    origin: Origin | None = None,
    max_depth: int | None = None,
    histogram_only: bool = False,
) -> JobRecord:
    """Queue an enumeration for `farthest coordinator` services; the job.

    The arguments are those of `enumerate`; with ``histogram_only`` no map is kept. Raises as `enumerate` does.
    """
    from farthest.coordinator.queue import submit_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.models.database import open_database

    settings = Settings(origin=origin, max_depth=max_depth, histogram_only=histogram_only)
    with open_database(database, create=True) as opened:
        return submit_puzzle(_puzzle(puzzle), opened, settings)[0]


def cancel_job(job: str | int, database: str | None = None) -> JobRecord:
    """Take a job out of the queue, or stop the coordinator's work on it; the job. Raises JobError or StorageError.

    ``job``: a number, or a puzzle's name for its newest job.
    """
    from farthest.coordinator.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.cancel(named_job(repository, str(job)).id)


def resume_job(job: str | int, database: str | None = None) -> JobRecord:
    """Queue a job again that was cancelled, interrupted, or failed; the job. ``job``, errors: as for `cancel_job`."""
    from farthest.coordinator.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.requeue(named_job(repository, str(job)).id)


def jobs(database: str | None = None) -> list[JobRecord]:
    """All jobs of a database, oldest first."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        return Jobs(opened).list()


def delete_job(job: str | int, database: str | None = None) -> JobRecord:
    """Delete a job with all that is stored of it; what it was. Raises as `open_map` does."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        record = repository.find(str(job))
        repository.delete(record.id)
        return record


def _puzzle(puzzle: str | Puzzle) -> Puzzle:
    return puzzle if isinstance(puzzle, Puzzle) else catalogue.load(puzzle)
