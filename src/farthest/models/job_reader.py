"""Reading the jobs of a database: all of them, one by its id, one by a puzzle's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, literal, select

from farthest.errors import StorageError, UnavailableError
from farthest.models import naming
from farthest.models.database import Database
from farthest.models.records import (
    ENUMERATION,
    FINISHED,
    INTERRUPTED,
    RUNNING,
    JobRecord,
    LayerRecord,
    job_record,
    select_jobs,
)
from farthest.models.sealing import ROWS, canonical, check_rows, check_values
from farthest.models.structure import check_table
from farthest.models.tables import job, layer, puzzle

Numbers = list[int]
Records = list[JobRecord]
Layers = list[LayerRecord]
Damages = list[StorageError]

_AT_ONCE = 100
_LONGEST_ID = 18
"""Most digits of a job's id; a longer number may be too large for a database."""


class JobReader:
    """The queries for jobs; ``Jobs`` adds the changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, job_id: int) -> JobRecord:
        """The job with this id. Raises JobError if there is none, StorageError where it is not what was stored."""
        with self._database.read() as connection:
            row = connection.execute(select_jobs().where(is_job(job_id))).one_or_none()
        if row is None:
            raise naming.no_such_id(self._database.place, job_id, self.list())
        return job_record(row)

    def find(self, text: str, *, has_map: bool = False, complete: bool = False) -> JobRecord:
        """The job that ``text`` names: an id, or a puzzle's name for its newest finished enumeration. Where no job has
        that name, it may be another name of the puzzle, ``M11`` or ``pancake-4<3,4,2>``.

        ``complete``: a name means the newest that no depth limit has cut off, or the newest where all are cut off.
        ``has_map``: the same, but a name never means a job without a finished map, and the id of such a job raises
        JobError. Raises StorageError where that job, or a newer one that may be meant, is not what was stored.
        """
        wanted = text.strip()
        if wanted.isdecimal() and wanted.isascii():
            if len(wanted) > _LONGEST_ID:
                raise naming.no_such_id(self._database.place, wanted, self.list())
            found = self.get(int(wanted))
            if has_map and not (found.status == FINISHED and found.has_map):
                raise naming.no_map(found)
            return found
        asked = (has_map, complete)
        named = self._newest(lambda record: record.name == wanted, *asked)
        if named is None and (digest := naming.digest_of(wanted)) is not None:
            named = self._newest(lambda record: record.puzzle_digest == digest, *asked)
        if named is None:
            raise naming.no_such_name(self._database.place, wanted, self.list())
        if has_map and not named.has_map:
            raise naming.no_map(named)
        return named

    def _newest(self, fits: Callable[[JobRecord], bool], has_map: bool, complete: bool) -> JobRecord | None:
        """The newest finished enumeration that ``fits``, as ``find`` has it; one without a map where none has one."""
        without_map = cut_off = None
        with self._database.read() as connection:
            check_table(connection, "job")
            for row in connection.execute(select_jobs().order_by(job.c.id.desc())):
                record = job_record(row)
                if (record.kind, record.status) != (ENUMERATION, FINISHED) or not fits(record):
                    continue
                if has_map and not record.has_map:
                    without_map = without_map or record
                elif record.complete or not (has_map or complete):
                    return record
                else:
                    cut_off = cut_off or record
        return cut_off or without_map

    def find_to_delete(self, text: str) -> tuple[int, str | None]:
        """The id of the job that ``text`` means, as in ``find``, and its puzzle's name. An id may also mean a job that
        is not what was stored; its name is then unknown (None). Raises as ``find`` does."""
        wanted = text.strip()
        try:
            found = self.find(wanted)
        except UnavailableError:
            raise
        except StorageError:
            if wanted.isdecimal() and wanted.isascii():
                return int(wanted), None
            raise
        return found.id, found.name

    def between(self, first: int, last: int) -> Numbers:
        """The ids of the jobs from one number to another, ascending, also those of jobs that are not what was
        stored."""
        lowest, highest = (literal(min(number, 10**_LONGEST_ID), BigInteger) for number in (first, last))
        numbers = select(job.c.id).where(job.c.id.between(lowest, highest)).order_by(job.c.id)
        with self._database.read() as connection:
            return [*connection.execute(numbers).scalars()]

    def find_interrupted(self, puzzle_digest: str, parameters: Mapping[str, Any]) -> JobRecord | None:
        """The newest unfinished job of the same puzzle and parameters that no live process runs.

        Jobs that were submitted or cancelled are left out.
        """
        candidates = (
            select_jobs()
            .where(puzzle.c.digest == puzzle_digest, job.c.parameters == canonical(parameters))
            .where(job.c.status.in_([RUNNING, INTERRUPTED]), ~job.c.submitted)
            .order_by(job.c.id.desc())
        )
        with self._database.read() as connection:
            records = [job_record(row) for row in connection.execute(candidates)]
        return next((one for one in records if one.status == INTERRUPTED or one.abandoned), None)

    def finished_maps(self, puzzle_digest: str) -> Records:
        """The finished enumerations with a map of the puzzle with this digest, newest first."""
        wanted = (
            select_jobs()
            .where(puzzle.c.digest == puzzle_digest, job.c.status == FINISHED, job.c.has_map)
            .order_by(job.c.id.desc())
        )
        with self._database.read() as connection:
            return [job_record(row) for row in connection.execute(wanted)]

    def layers(self, job_id: int) -> Layers:
        """The known layers of a job, by depth. Raises StorageError where they are not what was stored."""
        with self._database.read() as connection:
            rows = connection.execute(ROWS["layer"].where(layer.c.job_id == job_id)).all()
            check_rows(connection, job_id, "layer", rows)
        for row in rows:
            check_values(layer, LayerRecord.__match_args__, row, f"of job {job_id}", job_id)
        return [LayerRecord(*row) for row in rows]

    def list(self) -> Records:
        """All jobs, oldest first, without those that are not what was stored."""
        return self.survey()[0]

    def survey(self) -> tuple[Records, Damages]:
        """All jobs, oldest first, and what is wrong with those that are not what was stored."""
        records, damages = [], []
        with self._database.read() as connection:
            try:
                check_table(connection, "job")
            except StorageError as damage:
                damages.append(damage)
            for row in connection.execute(select_jobs().order_by(job.c.id)):
                try:
                    records.append(job_record(row))
                except StorageError as damage:
                    damages.append(damage)
        return records, damages

    def page(
        self,
        limit: int,
        before: int | None = None,
        fits: Callable[[JobRecord], bool] = lambda record: True,
    ) -> JobPage:
        """The newest jobs that fit, at most ``limit``; ``before``: only jobs with smaller ids. It reads no more of them
        than it needs."""
        records, damages = Records(), Damages()
        wanted = select_jobs().order_by(job.c.id.desc())
        if before is None:
            before = 10**_LONGEST_ID
        with self._database.read() as connection:
            try:
                check_table(connection, "job")
            except StorageError as damage:
                damages.append(damage)
            wanted = wanted.where(job.c.id < literal(before, BigInteger))
            with connection.execute(wanted, execution_options={"yield_per": _AT_ONCE}) as rows:
                for row in rows:
                    try:
                        record = job_record(row)
                    except StorageError as damage:
                        damages.append(damage)
                        continue
                    if not fits(record):
                        continue
                    if len(records) == limit:
                        return JobPage(records, damages, records[-1].id)
                    records.append(record)
        return JobPage(records, damages, None)


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs, newest first. ``damages``: what is wrong with those between them that are not what was stored.
    ``older``: the id before which the next page begins; None: there are no more."""

    records: Records
    damages: Damages
    older: int | None


def is_job(job_id: int) -> ColumnElement[bool]:
    """A condition for the row of a job, also for a number larger than those of PostgreSQL: a damaged SQLite file may
    have it."""
    return job.c.id == literal(job_id, BigInteger)
