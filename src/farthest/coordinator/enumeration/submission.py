"""The queue of jobs that coordinators run: adding a puzzle, and finding a job by its name."""

from __future__ import annotations

from dataclasses import replace

from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import plan
from farthest.coordinator.settings import Estimate, Settings
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.naming import no_job_named
from farthest.models.records import ENUMERATION, JobRecord
from farthest.puzzles.puzzle import Puzzle


def submit_puzzle(puzzle: Puzzle, database: Database, settings: Settings) -> tuple[JobRecord, Estimate]:
    """Queues an enumeration. Returns its job, and what it needs.

    Puzzles that no machine could enumerate are refused here; memory and disk are checked by the coordinator that takes
    the job. Raises PuzzleError, BoardError (of the origin), ResourceError and StorageError.
    """
    by_workers = replace(settings, workers="celery")
    chosen = plan(puzzle, by_workers, Machine(by_workers))
    space, jobs = chosen.space, Jobs(database)
    job = jobs.add(
        puzzle.to_json(),
        puzzle.digest,
        puzzle.name,
        settings.parameters(space.origin),
        space.layout_fields(),
    )
    return jobs.get(job), chosen.needs


def named_job(jobs: Jobs, text: str) -> JobRecord:
    """The job that ``text`` names, finished or not: a number, or a puzzle's name for its newest enumeration.

    Raises JobError where there is none.
    """
    wanted = text.strip()
    stored = jobs.list()
    newest = next((one for one in reversed(stored) if one.name == wanted and one.kind == ENUMERATION), None)
    if newest is None and not wanted.isdecimal():
        raise no_job_named(wanted, stored)
    return newest or jobs.find(wanted)
