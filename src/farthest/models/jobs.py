"""Jobs: enumerations and searches, their parameters, progress and results. Their owners are in ``job_queue``; what
searches store in addition is in ``searches``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select

from farthest.errors import JobError
from farthest.models import naming
from farthest.models.job_queue import JobQueue
from farthest.models.job_reader import is_job
from farthest.models.leases import LEASE_SECONDS
from farthest.models.map_rows import remove_map_files
from farthest.models.records import (
    ENUMERATION,
    FAILED,
    FINISHED,
    INTERRUPTED,
    RUNNING,
    LayerRecord,
    may_be_taken,
    now,
)
from farthest.models.rows import NOBODYS, change_job, put_layers, stored_bytes
from farthest.models.sealing import rows_digest, seal
from farthest.models.stored_values import canonical
from farthest.models.structure import check_owners
from farthest.models.tables import job, layer, puzzle, state
from farthest.version import __version__


class Jobs(JobQueue):
    """The jobs of a database. Methods that change a job take part in ``Database.write`` blocks around them.

    Where ``owner`` is given to a method, the job must still be that owner's (JobError if another took it over), so that
    a process that was stopped for longer than its lease cannot overwrite what its successor stores.
    """

    def add(
        self,
        puzzle_json: str,
        digest: str,
        name: str,
        parameters: Mapping[str, Any],
        layout: Mapping[str, Any],
        owner: str,
        *,
        kind: str = ENUMERATION,
        has_map: bool = False,
        lease_seconds: float = LEASE_SECONDS,
    ) -> int:
        """Stores a job that ``owner`` runs from now on, and its puzzle; returns the job's id."""
        moment = now()
        values = {
            "kind": kind,
            "status": RUNNING,
            "owner": owner,
            "lease_until": moment + timedelta(seconds=lease_seconds),
            "started": moment,
            "has_map": has_map,
        }
        return self._insert(puzzle_json, digest, name, parameters, layout, values)

    def delete(self, job_id: int, *, force: bool = False) -> int:
        """Removes a job with all that is stored of it, and its puzzle unless another job uses it. Gives the bytes of
        distances, boards, solutions and map files removed; the database keeps its room for later jobs (on SQLite,
        VACUUM gives it back to the disk). A job that a live process runs is a JobError unless ``force``, a file whose
        indexes are damaged a StorageError, an unknown folder of map files a SettingError.
        """
        with self._database.write() as connection:
            # Nothing else of it is read: a damaged job must be removable.
            asked = select(job.c.puzzle_id, job.c.status, job.c.owner, job.c.lease_until)
            record = connection.execute(asked.where(is_job(job_id))).one_or_none()
            if record is None:
                raise naming.no_such_id(self._database.place, job_id, self.list())
            runs = record.status == RUNNING and not may_be_taken(record.owner, record.lease_until, now())
            if runs and not force:
                raise JobError(
                    f"job {job_id} is being run by {record.owner}; stop that process, then delete the job"
                )
            check_owners(connection)
            size = stored_bytes(connection, job_id)
            remove_map_files(connection, self._database, job_id)
            # Locked before its jobs are counted: a job that another process adds now is counted, or waits.
            connection.execute(select(puzzle.c.id).where(puzzle.c.id == record.puzzle_id).with_for_update())
            connection.execute(delete(job).where(job.c.id == job_id))
            # PostgreSQL does not remove these with the job.
            connection.execute(delete(state).where(state.c.job_id == job_id))
            unused = ~select(job.c.id).where(job.c.puzzle_id == record.puzzle_id).exists()
            connection.execute(delete(puzzle).where(puzzle.c.id == record.puzzle_id, unused))
            return size

    def record_layers(self, job_id: int, layers: Sequence[LayerRecord], *, owner: str | None = None) -> None:
        """Stores complete layers and replaces those of the same depth; the deepest is the job's ``depth``."""
        with self._database.write() as connection:
            put_layers(connection, job_id, layers)
            if layers:
                deepest = select(func.max(layer.c.depth)).where(layer.c.job_id == job_id).scalar_subquery()
                change_job(connection, job_id, owner, {"depth": deepest})
                seal(connection, job_id, {"layer": rows_digest(connection, job_id, "layer")})

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
        figures: Sequence[Mapping[str, Any]] = (),
        owner: str | None = None,
    ) -> None:
        """Marks a job as finished, with its result; it has no owner any more.

        Without ``unit`` the one of the last checkpoint stays. ``figures``: what each layer took, where that is known.
        """
        values: dict[str, Any] = {
            **NOBODYS,
            "status": FINISHED,
            "finished": now(),
            "states": states,
            "eccentricity": eccentricity,
            "depth": depth,
            "complete": complete,
            "has_map": has_map,
            "digest": digest,
            "seconds": seconds,
            "version": __version__,
        }
        if unit is not None:
            values["unit"] = unit
        if figures:
            values["result"] = canonical({"figures": list(figures)})
        with self._database.write() as connection:
            change_job(connection, job_id, owner, values)
            seal(connection, job_id, {})

    def interrupt(self, job_id: int, error: str | None = None, *, owner: str | None = None) -> None:
        """Marks a job as stopped where it may be resumed (Ctrl-C, a full disk); it has no owner any more."""
        self._stop(job_id, INTERRUPTED, error, owner)

    def fail(self, job_id: int, error: str, *, owner: str | None = None) -> None:
        """Marks a job as failed: it need not be resumed, and ``find_interrupted`` leaves it out."""
        self._stop(job_id, FAILED, error, owner)

    def _stop(self, job_id: int, status: str, error: str | None, owner: str | None) -> None:
        values = {**NOBODYS, "status": status, "error": error}
        with self._database.write() as connection:
            change_job(connection, job_id, owner, values)
