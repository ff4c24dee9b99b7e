"""The queue of jobs that coordinators run: adding a puzzle, and finding a job by its name."""

from __future__ import annotations

from dataclasses import replace

from farthest.coordinator.enumeration.backends import check_workers
from farthest.coordinator.enumeration.plan import space_for
from farthest.coordinator.enumeration.residues import with_kind_of_map
from farthest.coordinator.estimate import check_map, check_shards
from farthest.coordinator.settings import Settings
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.naming import no_job_named
from farthest.models.records import ENUMERATION, JobRecord
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces.contract import gather


def submit_puzzle(puzzle: Puzzle, database: Database, settings: Settings) -> tuple[JobRecord, int]:
    """Queues an enumeration. Returns its job, and how many states there are at most.

    Puzzles that no machine could enumerate are refused here; memory and disk are checked by the coordinator that takes
    the job. Raises PuzzleError, BoardError (of the origin), ResourceError and StorageError.
    """
    check_workers(puzzle)
    by_workers = replace(settings, workers="celery")
    space = space_for(puzzle, by_workers)
    with_kind_of_map(space, by_workers, stored=True)
    states_at_most = puzzle.definition.arrangements() if space.keys is None else space.keys
    if space.engine == "gather":
        check_shards(gather(space), settings)
        states_at_most = gather(space).kernel.keys  # raises where there are too many to number
    else:
        check_map(space, settings)
    jobs = Jobs(database)
    job = jobs.submit(
        puzzle.to_json(),
        puzzle.digest,
        puzzle.name,
        settings.parameters(space.origin),
        space.layout_fields(),
    )
    return jobs.get(job), states_at_most


def named_job(jobs: Jobs, text: str) -> JobRecord:
    """The job that ``text`` names, finished or not: a number, or a puzzle's name for its newest enumeration.

    Raises JobError where there is none.
    """
    wanted = text.strip()
    known = jobs.list()
    newest = next((one for one in reversed(known) if one.name == wanted and one.kind == ENUMERATION), None)
    if newest is None and not wanted.isdecimal():
        raise no_job_named(wanted, known)
    return newest or jobs.find(wanted)
