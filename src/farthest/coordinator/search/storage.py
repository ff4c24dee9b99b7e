"""Searches in the database: the job of a search, its iterations, pieces and solutions."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from farthest.coordinator.attempt import OwnedJob
from farthest.errors import DamagedMapError, LostStateError, MissingDatabaseError
from farthest.models.database import Database, open_database
from farthest.models.records import FINISHED, IterationRecord, SearchResult, SubtreeRecord, fields_of
from farthest.models.searches import Searches
from farthest.search.contract import Node, PieceResult, Way, way_of
from farthest.search.deepening import Frontier, Iteration, Place, Totals

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import SearchOutcome, SearchSettings
    from farthest.heuristics.contract import PatternMap
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle


Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class IterationState:
    """An iteration that an earlier attempt left: its totals, its time so far, and the pieces that the totals do not
    include."""

    bound: int
    totals: Totals
    seconds: float
    waiting: dict[Place, Node]
    beyond: dict[Place, PieceResult]

    @property
    def done(self) -> int:
        """How many pieces are done."""
        return self.totals.pieces + len(self.beyond)


class SearchRecorder(OwnedJob):
    """The job of one search. ``ended``: iterations that were over before the search had a job."""

    def __init__(
        self,
        database: Database,
        record: JobRecord,
        owner: str,
        notice: Callable[[str], None],
        ended: Sequence[IterationRecord] = (),
    ) -> None:
        super().__init__(database, record, owner, notice)
        self._searches = Searches(database)
        self._stored: dict[Place, bool] = {}  # the iteration's pieces in the database: whether they are done
        self._stale: list[Place] = []  # pieces of an iteration that is over
        self._ended = list(ended)  # iterations that are over and not stored
        self._solutions: list[Way] = []  # not stored
        self._numbered = self._searches.listed(self.job)

    # Going on

    def iterations(self) -> tuple[list[IterationRecord], IterationState | None]:
        """The complete iterations of earlier attempts, and the one under way. Raises DamagedMapError where what is
        stored cannot be read."""
        return self._with_retries(self._read)

    def _read(self) -> tuple[list[IterationRecord], IterationState | None]:
        self._ended, self._solutions, self._stale = [], [], []
        self._numbered = len(self._searches.solutions(self.job))  # read, so that they are checked
        found = self._searches.iterations(self.job)
        pieces = self._searches.pieces(self.job)
        complete = [one for one in found if one.complete]
        if len(complete) == len(found):
            self._stored = {}
            return complete, None
        last = found[-1]
        if last.kept is not None and last.kept != len(pieces):
            raise DamagedMapError(
                f"{self._database.place}: job {self.job} has {len(pieces)} pieces of the iteration of bound "
                f"{last.bound}, and {last.kept} were stored; remove the job with `farthest delete {self.job}` and "
                "search again"
            )
        try:
            done = {
                _place(one.place): _read_row(last.bound, one.place, one.result, PieceResult)
                for one in pieces
                if one.result is not None
            }
            waiting = {
                _place(one.place): _read_row(last.bound, one.place, one.node, Node)
                for one in pieces
                if one.node is not None
            }
        except (ValueError, LostStateError) as error:
            raise DamagedMapError(
                f"{self._database.place}: a piece of job {self.job} is damaged ({error}); remove the job with "
                f"`farthest delete {self.job}` and search again"
            ) from error
        self._stored = dict.fromkeys(done, True) | dict.fromkeys(waiting, False)
        totals = Totals(last.nodes, last.solutions, last.pieces, last.next_bound, self._numbered)
        return complete, IterationState(last.bound, totals, last.seconds, waiting, done)

    def bound(self) -> int | None:
        """The bound of the last iteration of which something is stored."""
        stored = self._searches.iterations(self.job)
        return stored[-1].bound if stored else None

    # Storing

    def ended(self, record: IterationRecord, frontier: Frontier) -> None:
        """Adds an iteration that is over: it is stored with the next commit."""
        self._ended.append(record)
        self._take_solutions(frontier)
        self._stale += self._stored
        self._stored = {}

    def commit(self, frontier: Frontier, seconds: float) -> None:
        """Stores what is found of the iteration under way."""
        self._take_solutions(frontier)
        totals = frontier.totals
        under_way = IterationRecord(
            frontier.bound,
            totals.nodes,
            totals.solutions,
            totals.pieces,
            seconds,
            totals.next_bound,
            complete=False,
            kept=len(frontier.waiting) + len(frontier.running) + len(frontier.beyond),
        )
        open_pieces = {**frontier.waiting, **frontier.running}
        rows = [
            SubtreeRecord(_text(place), place[0], _row(frontier.bound, place, node), None)
            for place, node in open_pieces.items()
            if self._stored.get(place) is not False
        ]
        rows += [
            SubtreeRecord(_text(place), place[0], None, _row(frontier.bound, place, piece))
            for place, piece in frontier.beyond.items()
            if self._stored.get(place) is not True
        ]
        now = dict.fromkeys(open_pieces, False) | dict.fromkeys(frontier.beyond, True)
        self._write([*self._ended, under_way], rows, [place for place in self._stored if place not in now])
        self._stored = now

    def settle(self) -> None:
        """Stores the iterations that are over, when none is under way."""
        if self._ended:
            self._write(self._ended, [], [])

    def _take_solutions(self, frontier: Frontier) -> None:
        self._solutions += frontier.new_solutions
        frontier.new_solutions = []

    def _write(self, iterations: list[IterationRecord], rows: list[SubtreeRecord], gone: list[Place]) -> None:
        numbered = self._numbered_from(self._solutions)
        places = [_text(place) for place in (*gone, *self._stale)]

        def write() -> None:
            with self._database.write():
                if numbered and self._searches.listed(self.job) > self._numbered:
                    return  # it was stored, and the connection was lost before the answer came
                self._searches.commit(self.job, iterations, rows, places, numbered, owner=self._owner)
                self._renew()

        self._with_retries(write)
        self._numbered += len(numbered)
        self._ended, self._solutions, self._stale = [], [], []

    def _numbered_from(self, ways: Sequence[Way]) -> list[tuple[int, str]]:
        """New solutions as they are stored, numbered after those in the database."""
        return [
            (number, json.dumps(way, separators=(",", ":")))
            for number, way in enumerate(ways, self._numbered)
        ]

    def solutions(self) -> tuple[Way, ...]:
        """The listed solutions, all of which are stored."""
        return tuple(map(way_of, self._with_retries(lambda: self._searches.solutions(self.job))))

    def finish(self, outcome: SearchOutcome) -> None:
        """Stores the result, and solutions that are not stored yet: those of a search without iterations. Marks the job
        finished."""
        rest = self._numbered_from(outcome.paths[self._numbered :])
        result = asdict(SearchResult(*(getattr(outcome, one.name) for one in fields_of(SearchResult))))

        def write() -> None:
            if self._jobs.get(self.job).status == FINISHED:
                return  # it was stored, and the connection was lost before the answer came
            self._searches.finish(
                self.job,
                result,
                rest,
                depth=outcome.length,
                seconds=outcome.seconds,
                digest=outcome.digest,
                owner=self._owner,
            )

        self._with_retries(write)
        self.check_file()


def search_digest(
    length: int | None, solutions: int, nodes: list[tuple[int, int]], paths: tuple[Way, ...]
) -> str:
    """SHA-256 of what a search found: length, number of solutions, (bound, nodes) of each iteration, the listed
    solutions."""
    said = json.dumps([length, solutions, nodes, paths], separators=(",", ":"))
    return hashlib.sha256(b"farthest search 1\n" + said.encode()).hexdigest()


def _row(bound: int, place: Place, found: Node | PieceResult) -> str:
    """A piece's node or result as it is stored, with a checksum: JSON that was changed would give a wrong answer."""
    from farthest.stores.redis.records import with_checksum

    return with_checksum(f"{bound}:{_text(place)}", msgspec.json.encode(found).decode())


def _read_row(bound: int, place: str, row: str, kind: type[Made]) -> Made:
    """Inverse of ``_row``. Raises LostStateError."""
    from farthest.stores.redis.records import recorded

    return recorded(row.encode(), f"{bound}:{place}", f"piece {place} at bound {bound}", kind)


def _text(place: Place) -> str:
    return ".".join(map(str, place))


def _place(text: str) -> Place:
    return tuple(map(int, text.split(".")))


class SearchStorage:
    """The database of searches, and of the maps that they look up; opened when it is first needed.

    ``url``: as for ``open_database``. ``store``: True: every search is a job from its beginning; False: none is; None:
    a search that can be continued is one after STORE_AFTER_SECONDS, or from its beginning if workers search it.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | None = None,
        *,
        store: bool | None = None,
        makes_tables: bool | None = None,
    ) -> None:
        """``makes_tables``: whether ``auto`` may make some and keep them here; None: unless ``store`` is False."""
        self.store = store
        self.makes_tables = store is not False if makes_tables is None else makes_tables
        self.url = None if url is None else os.fspath(url)
        self._opened: Database | None = None

    def database(self, *, create: bool) -> Database:
        """The database. Raises MissingDatabaseError where it does not exist and is not to be made, StorageError where
        it cannot be used."""
        if self._opened is None:
            self._opened = open_database(self.url, create=create)
        return self._opened

    def load_map(self, puzzle: Puzzle, memory: int | None = None) -> PatternMap:
        """``LoadMap`` of the database. Raises JobError where there is none, and as ``PatternMaps``."""
        from farthest.queries.pattern_maps import PatternMaps, missing_map

        try:
            database = self.database(create=False)
        except MissingDatabaseError as error:
            raise missing_map(error.place, puzzle) from None
        return PatternMaps(database, tables=True, memory=memory)(puzzle)

    @property
    def place(self) -> str | None:
        """The name of the database in messages; None where it was not needed."""
        return None if self._opened is None else self._opened.place

    def close(self) -> None:
        """Closes the database."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def stored_at_once(settings: SearchSettings, storage: SearchStorage | None) -> bool:
    """Whether a search is a job from its beginning."""
    return storage is not None and bool(
        storage.store or (storage.store is None and settings.workers == "celery")
    )


def iteration_of(record: IterationRecord) -> Iteration:
    """An iteration as it is in results."""
    return Iteration(record.bound, record.nodes, record.solutions, record.pieces, record.seconds)
