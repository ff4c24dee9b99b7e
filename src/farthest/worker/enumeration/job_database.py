"""The database of an attempt's job, as far as a worker's process sees it: only where it is on a server."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from farthest.environment import DATABASE_URL
from farthest.errors import (
    FarthestError,
    LateStepError,
    LostStateError,
    NoBaseError,
    NoRoomError,
    StorageError,
)
from farthest.map_files.names import job_token
from farthest.models.chunks import CHUNK_KEYS, Chunk
from farthest.stores.redis.part_records import NO_JOB

if TYPE_CHECKING:
    from farthest.models.drafts import MadeChunk
    from farthest.models.transactions import Database
    from farthest.stores.contract import Base
    from farthest.stores.redis.part_records import Fold

log = logging.getLogger(__name__)

PAUSE_SECONDS = 30.0
"""For so long a database that could not be used is not tried again: parts go by the place of blobs."""

SERVERS = ("postgresql:", "postgresql+")


class JobDatabase:
    """The database that FARTHEST_DATABASE_URL names, where it is on a server and has the attempt's job."""

    def __init__(self) -> None:
        self._database: Database | None = None
        self._known: tuple[str, str] = "", ""  # attempt and owner that it was found to have
        self._pause = 0.0

    def write(self, attempt: str, fold: Fold, nonce: str, made: Sequence[MadeChunk]) -> bool:
        """Stores chunks as drafts. Gives False where this process cannot. Raises NoRoomError, and LateStepError where
        the job is not run by the same owner any more."""
        from farthest.models.drafts import write_drafts

        database = self._of(attempt, fold)
        if database is None:
            return False
        try:
            write_drafts(database, fold.job, fold.owner, fold.depth, nonce, made)
        except (NoRoomError, LateStepError):
            raise
        except StorageError as error:
            self._give_up(error)
            return False
        return True

    def base(self, attempt: str, fold: Fold, chunks: Sequence[tuple[int, int]]) -> Base:
        """The chunks of the checkpoint that a part's map is made from. Raises NoBaseError where this process does not
        see them, LostStateError where they are not those."""
        from farthest.models.maps import Maps

        database = self._of(attempt, fold)
        if database is None:
            raise NoBaseError(f"attempt {attempt}: this process does not see the database of its job")
        maps, found = Maps(database), dict[int, Chunk]()
        try:
            for first, _ in chunks:
                found[first] = maps.chunk_at(fold.job, first)
        except FarthestError as error:
            self._give_up(error)
            raise NoBaseError(str(error)) from error
        for one in found.values():
            if one.depth != fold.base:
                raise LostStateError(
                    f"attempt {attempt}: the database has the checkpoint of depth {one.depth}, expected {fold.base}"
                )
        return lambda key: found[key // CHUNK_KEYS * CHUNK_KEYS]

    def _of(self, attempt: str, fold: Fold) -> Database | None:
        if fold.job == NO_JOB or not DATABASE_URL.text().startswith(SERVERS) or monotonic() < self._pause:
            return None
        if self._known == (attempt, fold.owner):
            return self._database
        from farthest.models.database import open_database
        from farthest.models.jobs import Jobs

        try:
            if self._database is None:
                self._database = open_database(create=False)
            record = Jobs(self._database).get(fold.job)
            token = job_token(record.id, record.created, record.puzzle_digest)
            if token != attempt.rpartition("-")[0] or record.owner != fold.owner:
                raise StorageError(f"{self._database.place} does not have the job of attempt {attempt}")
        except FarthestError as error:
            self._give_up(error)
            return None
        self._known = attempt, fold.owner
        return self._database

    def _give_up(self, error: FarthestError) -> None:
        log.warning("map parts go by the place of blobs for a while: %s", error)
        self._pause = monotonic() + PAUSE_SECONDS
        self.close()

    def close(self) -> None:
        """Closes its connections; the next use opens others."""
        self._known = "", ""
        if self._database is not None:
            self._database.close()
            self._database = None
