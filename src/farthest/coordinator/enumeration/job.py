"""Enumerations: of a puzzle, and of a job that was queued or broken off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.run import Enumeration
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import ResourceError
from farthest.families.python.allowed import named_in
from farthest.models.records import Takeovers
from farthest.models.stored_job import origin_of, puzzle_of
from farthest.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database


def enumerate_puzzle(
    puzzle: Puzzle,
    database: Database | None,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Enumerates the puzzle and stores the result (``database`` None: stores nothing).

    An unfinished job of the same puzzle and parameters, which nobody runs, is continued from its last checkpoint. At
    Ctrl-C, SIGTERM or SIGHUP the layer under way is finished, or given up where workers step it, a checkpoint is
    stored, and Interrupted is raised; a second signal gives that checkpoint up. Raises PuzzleError, BoardError,
    ResourceError, StorageError, and JobError when the job is cancelled meanwhile.
    """
    with _memory_errors(puzzle):
        return Enumeration(puzzle, database, settings or Settings(), reporter or Reporter()).run()


def continue_job(
    record: JobRecord, database: Database, settings: Settings, reporter: Reporter, owner: str
) -> Outcome:
    """Runs a job that ``owner`` has claimed, from its last checkpoint if it has one; otherwise as ``enumerate_puzzle``.

    What decides the result comes from the job, the rest from ``settings``.
    """
    from farthest.coordinator.enumeration.record import JobRecorder

    puzzle, asked = puzzle_of(record), record.parameters
    struck = Takeovers.of(record.progress).times
    settings = replace(
        settings,
        checkpoint_seconds=settings.checkpoint_seconds
        / 2**struck,  # so that a job that is struck often advances
        origin=origin_of(record),
        max_depth=asked["max_depth"],
        histogram_only=asked["histogram_only"],
        residues=asked.get("map") == "residues",
    )
    recorder = JobRecorder(database, settings, record, owner, reporter.notice)
    with _memory_errors(puzzle), named_in(f"job {record.id}"):
        return Enumeration(puzzle, database, settings, reporter, recorder).run()


@contextmanager
def _memory_errors(puzzle: Puzzle) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise ResourceError(
            f"puzzle {puzzle.name}: the system gives this process no more memory; free some, or see ulimit -v"
        ) from error
