"""Jobs: who enumerates what, how far it is, and what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from farthest.errors import JobError
from farthest.models import naming
from farthest.models.database import Database
from farthest.models.leases import LEASE_SECONDS
from farthest.models.records import (
    ENUMERATION,
    FAILED,
    FINISHED,
    INTERRUPTED,
    RUNNING,
    JobRecord,
    LayerRecord,
    canonical,
    job_record,
    may_be_taken,
    now,
    select_jobs,
)
from farthest.models.rows import change_job, put_layers, puzzle_row, stored_bytes
from farthest.models.tables import job, layer, puzzle

__all__ = ["JobRecord", "Jobs", "LayerRecord"]

Records = list[JobRecord]
Layers = list[LayerRecord]


class Jobs:
    """The jobs of a database. Methods that change a job take part in ``Database.write`` blocks around them.

    Where ``owner`` is given to a method, the job must still be that owner's (JobError if another took it
    over), so that a process that was stopped for longer than its lease cannot spoil what its successor does.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        puzzle_json: str,
        digest: str,
        name: str,
        parameters: Mapping[str, Any],
        layout: Mapping[str, Any],
        owner: str,
        *,
        has_map: bool = False,
        lease_seconds: float = LEASE_SECONDS,
    ) -> int:
        """Stores a job that ``owner`` runs from now on, and its puzzle; gives the job's id."""
        moment = now()
        with self._database.write() as connection:
            values = {
                "puzzle_id": puzzle_row(connection, puzzle_json, digest, name, moment),
                "name": name,
                "kind": ENUMERATION,
                "parameters": canonical(parameters),
                "layout": canonical(layout),
                "status": RUNNING,
                "owner": owner,
                "lease_until": moment + timedelta(seconds=lease_seconds),
                "created": moment,
                "started": moment,
                "complete": False,
                "has_map": has_map,
            }
            key = connection.execute(insert(job).values(values)).inserted_primary_key
            assert key is not None
            return int(key[0])

    def get(self, job_id: int) -> JobRecord:
        """The job with this id; JobError if there is none."""
        with self._database.read() as connection:
            row = connection.execute(select_jobs().where(job.c.id == job_id)).one_or_none()
        if row is None:
            raise naming.no_such_id(self._database.place, job_id, self.list())
        return job_record(row)

    def find(self, text: str, *, has_map: bool = False) -> JobRecord:
        """The job that people mean by ``text``: an id, or a puzzle's name for its newest finished job.

        With ``has_map``, one that keeps no finished map is not meant by a name, and is a JobError by its id.
        """
        wanted = text.strip()
        if wanted.isdecimal() and wanted.isascii():
            found = self.get(int(wanted)) if len(wanted) < 10 else None
            if found is None:
                raise naming.no_such_id(self._database.place, wanted, self.list())
            if has_map and not (found.status == FINISHED and found.has_map):
                raise naming.no_map(found)
            return found
        named = select_jobs().where(job.c.name == wanted, job.c.status == FINISHED).order_by(job.c.id.desc())
        with self._database.read() as connection:
            rows = connection.execute(named).all()
        if not rows:
            raise naming.no_such_name(self._database.place, wanted, self.list())
        records = [job_record(row) for row in rows]
        for record in records:
            if record.has_map or not has_map:
                return record
        raise naming.no_map(records[0])

    def delete(self, job_id: int, *, force: bool = False) -> int:
        """Removes a job with its layers, chunks and states, and its puzzle unless another job uses it.

        Gives the bytes of distances and boards removed; the database keeps that room for later jobs (on
        SQLite, VACUUM gives it back to the disk). A job that a live process runs is a JobError unless
        ``force``.
        """
        with self._database.write() as connection:
            record = self.get(job_id)
            if record.status == RUNNING and not record.abandoned and not force:
                raise JobError(
                    f"job {job_id} is being run by {record.owner}; stop that process, then delete the job"
                )
            size = stored_bytes(connection, job_id)
            connection.execute(delete(job).where(job.c.id == job_id))
            unused = ~select(job.c.id).where(job.c.puzzle_id == record.puzzle_id).exists()
            connection.execute(delete(puzzle).where(puzzle.c.id == record.puzzle_id, unused))
            return size

    def find_interrupted(self, puzzle_digest: str, parameters: Mapping[str, Any]) -> JobRecord | None:
        """The newest unfinished job of the same puzzle and parameters that no live process runs."""
        candidates = (
            select_jobs()
            .where(puzzle.c.digest == puzzle_digest, job.c.parameters == canonical(parameters))
            .where(job.c.status.in_([RUNNING, INTERRUPTED]))
            .order_by(job.c.id.desc())
        )
        with self._database.read() as connection:
            records = [job_record(row) for row in connection.execute(candidates)]
        return next((one for one in records if one.status == INTERRUPTED or one.abandoned), None)

    def claim(self, job_id: int, owner: str, lease_seconds: float = LEASE_SECONDS) -> bool:
        """Takes an unfinished job over, if nobody runs it: of several claims at once exactly one is True.

        A job may be taken when it has no owner, its lease ran out, or its owner is a dead process of this
        host.
        """
        moment = now()
        with self._database.write() as connection:
            seen = connection.execute(
                select(job.c.status, job.c.owner, job.c.lease_until, job.c.started).where(job.c.id == job_id)
            ).one_or_none()
            if seen is None:
                raise naming.no_such_id(self._database.place, job_id, self.list())
            if seen.status == FINISHED:
                return False
            if seen.status == RUNNING and not may_be_taken(seen.owner, seen.lease_until, moment):
                return False
            unchanged = (
                job.c.status == seen.status,
                job.c.owner.is_not_distinct_from(seen.owner),
                job.c.lease_until.is_not_distinct_from(seen.lease_until),
            )
            values = {
                "status": RUNNING,
                "owner": owner,
                "lease_until": moment + timedelta(seconds=lease_seconds),
                "started": seen.started or moment,
                "error": None,
            }
            taken = update(job).where(job.c.id == job_id, *unchanged).values(values)
            return connection.execute(taken).rowcount == 1

    def renew(self, job_id: int, owner: str, lease_seconds: float = LEASE_SECONDS) -> bool:
        """Extends the owner's lease from now; False if the job is no longer the owner's."""
        mine = (job.c.id == job_id, job.c.owner == owner, job.c.status == RUNNING)
        until = now() + timedelta(seconds=lease_seconds)
        with self._database.write() as connection:
            return connection.execute(update(job).where(*mine).values(lease_until=until)).rowcount == 1

    def layers(self, job_id: int) -> Layers:
        """The layers known of a job, by depth."""
        columns = select(layer.c.depth, layer.c.states, layer.c.seconds)
        with self._database.read() as connection:
            rows = connection.execute(columns.where(layer.c.job_id == job_id).order_by(layer.c.depth)).all()
        return [LayerRecord(row.depth, row.states, row.seconds) for row in rows]

    def record_layers(self, job_id: int, layers: Sequence[LayerRecord], *, owner: str | None = None) -> None:
        """Stores complete layers, in place of any of the same depth; the deepest is the job's ``depth``."""
        with self._database.write() as connection:
            put_layers(connection, job_id, layers)
            if layers:
                deepest = select(func.max(layer.c.depth)).where(layer.c.job_id == job_id).scalar_subquery()
                change_job(connection, job_id, owner, {"depth": deepest})

    def finish(
        self,
        job_id: int,
        *,
        states: int,
        eccentricity: int | None,
        depth: int,
        complete: bool,
        has_map: bool,
        digest: str,
        seconds: float,
        unit: str | None = None,
        owner: str | None = None,
    ) -> None:
        """Marks a job as finished, with its result; nobody owns it any more.

        ``unit`` is left as the last checkpoint set it where it is not given.
        """
        values: dict[str, Any] = {
            "status": FINISHED,
            "owner": None,
            "lease_until": None,
            "finished": now(),
            "states": states,
            "eccentricity": eccentricity,
            "depth": depth,
            "complete": complete,
            "has_map": has_map,
            "digest": digest,
            "seconds": seconds,
            "error": None,
        }
        if unit is not None:
            values["unit"] = unit
        with self._database.write() as connection:
            change_job(connection, job_id, owner, values)

    def interrupt(self, job_id: int, error: str | None = None, *, owner: str | None = None) -> None:
        """Marks a job as stopped where it may be resumed (Ctrl-C, a full disk); nobody owns it any more."""
        self._stop(job_id, INTERRUPTED, error, owner)

    def fail(self, job_id: int, error: str, *, owner: str | None = None) -> None:
        """Marks a job as one that resuming will not help; ``find_interrupted`` passes it over."""
        self._stop(job_id, FAILED, error, owner)

    def _stop(self, job_id: int, status: str, error: str | None, owner: str | None) -> None:
        values = {"status": status, "owner": None, "lease_until": None, "error": error}
        with self._database.write() as connection:
            change_job(connection, job_id, owner, values)

    def list(self) -> Records:
        """All jobs, oldest first."""
        with self._database.read() as connection:
            return [job_record(row) for row in connection.execute(select_jobs().order_by(job.c.id))]
