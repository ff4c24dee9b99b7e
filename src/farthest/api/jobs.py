"""Jobs: to queue, list, cancel, resume and delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from farthest.api.numbers import whole
from farthest.families.given import origin_given, puzzle_given

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.families.given import GivenOrigin, GivenPuzzle
    from farthest.models.records import JobRecord


def submit(
    puzzle: GivenPuzzle,
    *,
    database: str | Path | None = None,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    histogram_only: bool = False,
) -> JobRecord:
    """Queue an enumeration for `farthest coordinator` services; the job.

    The arguments are those of `enumerate`; with ``histogram_only`` no map is kept. Raises as `enumerate` does.
    """
    from farthest.coordinator.enumeration.queue import submit_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.models.database import open_database

    loaded = puzzle_given(puzzle)
    settings = Settings(
        origin=origin_given(loaded, origin),
        max_depth=whole("max_depth", max_depth),
        histogram_only=histogram_only,
    )
    with open_database(database, create=True) as opened:
        return submit_puzzle(loaded, opened, settings)[0]


def jobs(database: str | Path | None = None) -> list[JobRecord]:
    """All jobs of a database, oldest first."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        return Jobs(opened).list()


def cancel_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord:
    """Take a job out of the queue, or stop the coordinator's work on it; the job. Raises JobError or StorageError.

    ``job``: a number, a puzzle's name for its newest job, or a `JobRecord`.
    """
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import job_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.cancel(named_job(repository, job_text(job)).id)


def resume_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord:
    """Queue a job again that was cancelled, interrupted, or failed; the job. ``job``, errors: as for `cancel_job`."""
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import job_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.requeue(named_job(repository, job_text(job)).id)


def delete_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord | None:
    """Delete a job with all that is stored of it; what it was, or None where that is damaged: such a job is named by
    its number. Raises JobError or StorageError.

    ``job``: a number, a puzzle's name for its newest finished enumeration, or a `JobRecord`.
    """
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import job_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        number, name = repository.find_to_delete(job_text(job))
        record = None if name is None else repository.get(number)
        repository.delete(number)
        return record
