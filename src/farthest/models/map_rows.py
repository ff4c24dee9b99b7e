"""The rows of map files: what the database knows of the files that hold a job's map."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select

from farthest.errors import DamagedMapError, SettingError, UnavailableError
from farthest.map_files.place import checked_name, job_token
from farthest.map_files.places import map_place
from farthest.models.records import MapFileRecord
from farthest.models.sealing import change_job, damaged, read_rows, seal
from farthest.models.tables import job, map_file, puzzle

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from farthest.map_files.place import MapPlace
    from farthest.models.database import Database

RESIDUES = "residues"
"""The kind of all map files."""


class MapFiles:
    """The map files of a database's jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def place(self) -> MapPlace:
        """Where the files are. Raises SettingError where FARTHEST_MAPS has to say it."""
        return map_place(self._database.path)

    def put(self, job_id: int, row: MapFileRecord, owner: str | None = None) -> None:
        """Stores the file of a job in place of any that it had. Raises JobError where the job is gone, or not
        ``owner``'s any more."""
        with self._database.write() as connection:
            change_job(connection, job_id, owner, {"keys": row.last_key + 1})
            connection.execute(delete(map_file).where(map_file.c.job_id == job_id))
            connection.execute(insert(map_file), [{"job_id": job_id, **asdict(row)}])
            seal(connection, job_id, {}, stored=["map_file"])

    def get(self, job_id: int) -> MapFileRecord:
        """The file of a job. Raises DamagedMapError where it has none, StorageError where its row is not what was
        stored."""
        with self._database.read() as connection:
            rows = read_rows(connection, job_id, MapFileRecord)
        if len(rows) != 1:
            raise DamagedMapError(f"job {job_id}: it has {len(rows)} map files, expected one")
        (found,) = rows
        try:
            checked_name(found.name)
            if found.kind != RESIDUES:
                raise ValueError(f"kind {found.kind!r}, expected {RESIDUES!r}")
        except ValueError as error:
            raise damaged("map_file", f"of job {job_id}", str(error), job_id) from None
        return found


def remove_map_files(connection: Connection, database: Database, job_id: int) -> None:
    """Removes the files of a job that is about to be deleted, those of an attempt that was killed too.

    What is damaged in its rows is passed over. Raises SettingError where the job has a file, and FARTHEST_MAPS has to
    say where; UnavailableError where it has one, and its place is away.
    """
    asked = (
        select(job.c.created, puzzle.c.digest).join_from(job, puzzle, isouter=True).where(job.c.id == job_id)
    )
    row = connection.execute(asked).one_or_none()
    if row is None or not (isinstance(row.created, datetime) and isinstance(row.digest, str)):
        return
    try:
        map_place(database.path).remove(job_token(job_id, row.created, row.digest))
    except (SettingError, UnavailableError):
        files = select(func.count()).select_from(map_file).where(map_file.c.job_id == job_id)
        if connection.execute(files).scalar_one():
            raise
