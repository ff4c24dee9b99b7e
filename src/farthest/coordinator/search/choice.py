"""`--heuristic auto`: the heuristics that a search is tried with, one after the other.

1. An unfinished search of the same board goes on with its own heuristic.
2. All distances of the puzzle, where they are stored.
3. For about a second the simple heuristic, which needs no table: so a small search waits for none.
4. The best that the stored maps of patterns give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.errors import MissingDatabaseError
from farthest.heuristics import MAP
from farthest.heuristics.registry import default_heuristic
from farthest.models.job_reader import JobReader
from farthest.models.stored_job import origin_of
from farthest.puzzles.puzzle import Origin

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.models.database import Database
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.contract import Problem


class TriedInVainError(Exception):
    """A search by a stage that is limited was not over in time."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A heuristic as it is written; ``limited``: it is tried for about a second, and another stage follows."""

    heuristic: str
    limited: bool = False


class Choice:
    """The choice for the boards of a puzzle, one after the other: what the tables of one decide holds for the next."""

    def __init__(
        self,
        puzzle: Puzzle,
        target: str,
        settings: SearchSettings,
        storage: SearchStorage | None,
        notice: Callable[[str], None],
    ) -> None:
        self._puzzle = puzzle
        self._target = target
        self._settings = settings
        self._storage = storage
        self._notice = notice
        self._settled: str | None = None

    def stages(self, problem: Problem) -> Iterator[Stage]:
        """The stages of a board; the last one is not limited."""
        database = self._database()
        if database is not None:
            begun = self._begun(database, problem)
            if begun is not None:
                yield Stage(begun)
                return
            if whole_map(database, self._puzzle, self._target) is not None:
                yield Stage(MAP)
                return
        if self._settled is None:
            simple = default_heuristic(self._puzzle)
            yield Stage(simple, limited=True)
            self._settled = simple
        yield Stage(self._settled)

    def usual(self) -> str:
        """What the next board is tried with first, if no search of it has begun."""
        database = self._database()
        if database is not None and whole_map(database, self._puzzle, self._target) is not None:
            return MAP
        return self._settled or default_heuristic(self._puzzle)

    def _database(self) -> Database | None:
        """The database, if there is one."""
        if self._storage is None:
            return None
        try:
            return self._storage.database(create=False)
        except MissingDatabaseError:
            return None

    def _begun(self, database: Database, problem: Problem) -> str | None:
        """The heuristic of an unfinished search that is the same but for that."""
        asked = self._settings.parameters(problem)
        for record in JobReader(database).interrupted(problem.puzzle.digest):
            text = record.parameters.get("heuristic")
            if isinstance(text, str) and {**asked, "heuristic": text} == record.parameters:
                return text
        return None


def whole_map(database: Database, puzzle: Puzzle, target: str) -> JobRecord | None:
    """The newest job that has all distances of the puzzle to the target."""
    wanted = Origin("to", target)
    for record in JobReader(database).finished_maps(puzzle.digest):
        if record.complete and origin_of(record) == wanted:
            return record
    return None
