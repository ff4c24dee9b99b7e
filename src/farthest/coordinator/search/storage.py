"""Whether, where and from when on searches are stored: most end before a job is worth storing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from farthest.coordinator.search.record import SearchRecorder
from farthest.errors import MissingDatabaseError, StorageError
from farthest.models.database import open_database
from farthest.models.transactions import Database

if TYPE_CHECKING:
    from types import TracebackType

    from farthest.coordinator.search.settings import SearchReporter, SearchSettings
    from farthest.heuristics.contract import PatternMap
    from farthest.models.searches import IterationRecord
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.problem import Problem

STORE_AFTER_SECONDS = 10.0
"""A search that can be continued is stored when it has run for so long."""


class SearchStorage:
    """The database of searches, and of the maps that they look up; opened when it is first needed.

    ``url``: as for ``open_database``. ``store``: True: every search is a job from its beginning; False: none is; None:
    a search that can be continued is one after STORE_AFTER_SECONDS, or from its beginning if workers search it.
    """

    def __init__(self, url: str | os.PathLike[str] | None = None, *, store: bool | None = None) -> None:
        self.store = store
        self._url = url
        self._opened: Database | None = None

    @classmethod
    def of(cls, database: Database) -> Self:
        """A database that is open already, for all searches."""
        made = cls(store=True)
        made._opened = database
        return made

    def existing(self) -> Database | None:
        """The database; None where it does not exist. Raises StorageError where it cannot be used."""
        if self._opened is None:
            try:
                self._opened = open_database(self._url, create=False)
            except MissingDatabaseError:
                return None
        return self._opened

    def made(self) -> Database:
        """The database, which is made if it does not exist. Raises StorageError."""
        if self._opened is None:
            self._opened = open_database(self._url, create=True)
        return self._opened

    def load_map(self, puzzle: Puzzle) -> PatternMap:
        """``LoadMap`` of the database. Raises JobError where there is none, and as ``PatternMaps``."""
        from farthest.queries.pattern_maps import PatternMaps, missing_map

        if self._opened is None:
            try:
                self._opened = open_database(self._url, create=False)
            except MissingDatabaseError as error:
                raise missing_map(error.place, puzzle) from None
        return PatternMaps(self._opened, compact=True)(puzzle)

    @property
    def place(self) -> str | None:
        """The name of the database in messages; None where it was not needed."""
        return None if self._opened is None else self._opened.place

    def close(self) -> None:
        """Closes the database."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class StoredSearch:
    """The job of one search. ``recorder``: None while the search is not stored."""

    def __init__(
        self,
        storage: SearchStorage | None,
        problem: Problem,
        settings: SearchSettings,
        reporter: SearchReporter,
    ) -> None:
        self.recorder: SearchRecorder | None = None
        self._storage = storage
        self._problem = problem
        self._settings = settings
        self._reporter = reporter
        self._layout: dict[str, Any] = {}
        self._due: float | None = None
        self._stack = ExitStack()

    def begin(self, layout: dict[str, Any], *, resumable: bool) -> None:
        """Continues an unfinished job of the same search, or stores a new one if that is wanted now. ``layout``: how
        the search is cut into pieces."""
        storage = self._storage
        if storage is None or storage.store is False:
            return
        self._layout = layout
        if storage.store or self._settings.workers == "celery":
            database = storage.made()
            self.recorder = self._resumed(database) or self._new(database)
        elif resumable:
            existing = storage.existing()
            self.recorder = None if existing is None else self._resumed(existing)
            self._due = monotonic() + STORE_AFTER_SECONDS

    @contextmanager
    def running(self) -> Iterator[None]:
        """Renews the job's lease during the block. The reason for a stop is stored with the job."""
        with self._stack:
            if self.recorder is not None:
                self._stack.enter_context(self.recorder.running())
            yield

    def look(self, iterations: Sequence[IterationRecord]) -> None:
        """Stores the search when it is due, with the ``iterations`` that are over. A failure is reported once: it does
        not end the search."""
        if self.recorder is not None or self._due is None or monotonic() < self._due:
            return
        self._due = None
        assert self._storage is not None, "there is a time to store it"
        try:
            recorder = self._new(self._storage.made())
        except StorageError as error:
            self._reporter.notice(f"{error}; the search goes on, and is not stored")
            return
        recorder.take_in(iterations)
        self.recorder = recorder
        self._stack.enter_context(recorder.running())
        self._reporter.stored(recorder.job)

    def _resumed(self, database: Database) -> SearchRecorder | None:
        return SearchRecorder.resumed(
            database, self._problem, self._settings, self._layout, self._reporter.notice
        )

    def _new(self, database: Database) -> SearchRecorder:
        return SearchRecorder.new(
            database, self._problem, self._settings, self._layout, self._reporter.notice
        )
