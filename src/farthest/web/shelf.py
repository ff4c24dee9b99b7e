"""The database of the server, the maps of it that were asked last, and what requests name: numbers, words, boards."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from farthest.errors import ForbiddenCodeError, StorageError
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.naming import no_map
from farthest.models.records import ENUMERATION, FINISHED, RUNNING, SEARCH, JobRecord, LayerRecord
from farthest.models.stored_job import puzzle_of
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import MAX_NAME, Puzzle
from farthest.queries.distance_map import DistanceMap
from farthest.queries.states import random_states
from farthest.random_source import RandomSource
from farthest.web.asking import RefusalError, check_wanted
from farthest.web.pages.job import JobFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy
    from numpy.typing import NDArray
    from starlette.requests import Request

    from farthest.coordinator.settings import Estimate
    from farthest.models.chunks import Chunk
    from farthest.models.database import Database
    from farthest.models.job_reader import JobPage
    from farthest.models.surveys import StoredSurvey
    from farthest.spaces.contract import Codes
    from farthest.web.gate import WebSettings


class PatientMap(DistanceMap):
    """A DistanceMap whose caches one thread uses at a time. Raises ReaderLeftError between two looks at the map where
    the reader of the question has left."""

    def __init__(self, database: Database, record: JobRecord) -> None:
        super().__init__(database, record)
        self._lock = threading.RLock()
        # Made now, by one thread: the space, the layers, and the reader with its file.
        self.space  # noqa: B018
        self.layers  # noqa: B018
        self._reader  # noqa: B018

    def turn(self) -> AbstractContextManager[object]:
        """What a question holds while it is answered: where the moves are a user's class, which knows nothing of
        threads, one at a time."""
        return self._lock if self.puzzle.definition.module else nullcontext()

    def lookup(self, codes: Codes) -> NDArray[numpy.int32]:
        check_wanted()
        with self._lock:
            return super().lookup(codes)

    def quick_layer(self, depth: int) -> Codes | None:
        check_wanted()
        with self._lock:
            return super().quick_layer(depth)

    def chunks(self, depth: int | None = None) -> Iterator[Chunk]:
        """Chunks of a full map are not those of the cache, but a residue map finds all distances at the
        first."""
        chunks = super().chunks(depth)
        while True:
            check_wanted()
            if not self.record.keeps_residues:
                chunk = next(chunks, None)
            else:
                with self._lock:
                    chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk


MOST_OPEN = 8
"""Maps that are kept open, each with its cache."""

FARTHEST_SHOWN = 24


class Shelf:
    """Jobs and maps by number. Safe to share among threads; a map is opened once, however many ask for it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.jobs = Jobs(database)
        self._lock = threading.Lock()
        self._maps: OrderedDict[tuple[int, str], PatientMap] = OrderedDict()
        self._opening: dict[tuple[int, str], threading.Lock] = {}
        self.farthest = lru_cache(maxsize=64)(self._farthest)

    def job(self, number: int) -> JobRecord:
        """Raises JobError where there is none."""
        return self.jobs.get(number)

    def layers(self, record: JobRecord) -> list[LayerRecord]:
        """The known layers of a job: of one that runs those that it tells, which are not all stored."""
        stored = self.jobs.layers(record.id)
        told = (record.progress or {}).get("layers", []) if record.status == RUNNING else []
        if len(told) <= len(stored):
            return stored
        return [LayerRecord(depth, states) for depth, states in enumerate(told)]

    @contextmanager
    def asked(self, number: int) -> Iterator[DistanceMap]:
        """The map of a finished job, for one question. Raises JobError where it has none."""
        opened = self._map(number)
        with opened.turn():
            yield opened

    def _map(self, number: int) -> PatientMap:
        record = self.job(number)
        if record.status != FINISHED or not record.has_map:
            raise no_map(record)
        key = number, record.digest or ""
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            with self._lock:
                if key in self._maps:
                    self._maps.move_to_end(key)
                    return self._maps[key]
            opened = PatientMap(self.database, record)
            with self._lock:
                self._maps[key] = opened
                self._opening.pop(key, None)
                if len(self._maps) > MOST_OPEN:
                    self._maps.popitem(
                        last=False
                    )  # it may still be asked: its file is closed with the last question
            return opened

    def _farthest(self, number: int, digest: str) -> tuple[str, ...]:
        """The first boards of the last layer of a finished job, at most ``FARTHEST_SHOWN``. ``digest``: of its result,
        so that what is kept belongs to the job that has the number now. Raises StorageError where they are not what was
        stored."""
        record = self.job(number)
        if record.has_map:
            with suppress(ForbiddenCodeError), self.asked(number) as opened:
                return self._compared(opened)
        rows = Maps(self.database).states(number, record.depth)
        return tuple(row.board for row in islice(rows, FARTHEST_SHOWN))

    def _compared(self, opened: DistanceMap) -> tuple[str, ...]:
        """The same, compared with the map: reading all rows for their digest would take longer."""
        rows = Maps(self.database).states(opened.job, opened.depth, checked=False)
        boards = tuple(row.board for row in islice(rows, FARTHEST_SHOWN))
        if boards and not (opened.distances(boards) == opened.depth).all():
            raise StorageError(
                f"job {opened.job} ({opened.record.name}): its farthest boards are not those of its map; "
                f"`farthest verify {opened.job}` says more"
            )
        return boards

    def close(self) -> None:
        """Closes maps and database."""
        with self._lock:
            self._maps.clear()
        self.database.close()


JOBS_LISTED = 100
"""Jobs of a page."""

MOST_DIGITS = 18
"""Of numbers in addresses: a longer one may be too large for a database."""


def shelf_of(request: Request) -> Shelf:
    """The shelf of this server."""
    shelf: Shelf = request.app.state.shelf
    return shelf


def settings_of(request: Request) -> WebSettings:
    """The settings of this server."""
    settings: WebSettings = request.app.state.settings
    return settings


def number_in(request: Request, name: str = "number") -> int:
    """A number of the path. Raises RefusalError where it is none."""
    return _number(request.path_params[name], f"{name} in the address")


def number_asked(
    request: Request, name: str, default: int | None = None, most: int | None = None
) -> int | None:
    """A number of the query. Raises RefusalError where it is none, or more than ``most``."""
    text = request.query_params.get(name)
    if text is None or not text.strip():
        return default
    number = _number(text.strip(), name)
    if most is not None and number > most:
        raise RefusalError(400, f"{name}: {number:,} is more than the {most:,} that can be given at once")
    return number


def board_asked(request: Request) -> str:
    """The board of the query. Raises RefusalError where there is none."""
    board = request.query_params.get("board", "")
    if not board.strip():
        raise RefusalError(400, "board: expected a board, such as goal; write it behind ?board=")
    return board


def scale_asked(request: Request) -> str:
    """The scale of a chart: ``log`` or ``linear``."""
    return "linear" if request.query_params.get("scale") == "linear" else "log"


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise RefusalError(404, f"{what}: expected a whole number")
    return int(text)


def job_found(shelf: Shelf, number: int) -> JobFound:
    """An enumeration with its layers and farthest boards. Raises JobError."""
    record = shelf.job(number)
    if record.kind == SEARCH:
        raise no_map(record)
    farthest = shelf.farthest(number, record.digest or "") if record.status == FINISHED else ()
    return JobFound(record, puzzle_of(record), shelf.layers(record), farthest)


def of_map(opened: DistanceMap) -> JobFound:
    """What pages of an open map show of its job."""
    layers = [LayerRecord(depth, states) for depth, states in enumerate(opened.layers)]
    return JobFound(opened.record, opened.puzzle, layers, ())


MOST_COSETS = 10_000
"""Of a survey that is asked: all are read."""


def too_many_cosets(stored: StoredSurvey) -> str:
    """Why what a survey has found of cosets is not given; empty where it is."""
    if not stored.of_cosets or stored.done <= MOST_COSETS:
        return ""
    return (
        f"{stored.done:,} cosets are more than the {MOST_COSETS:,} that can be given at once; "
        f"`farthest surveys {stored.id} --json` has them"
    )


def puzzle_named(name: str) -> Puzzle:
    """A puzzle of the catalogue, or of a parametric name; never a file. Raises PuzzleError."""
    puzzle = catalogue.find(name)
    if puzzle is None:
        question = catalogue.meant(name[:MAX_NAME], dict.fromkeys(catalogue.names(), ""))
        mend = question or "the page Puzzles lists them"
        raise RefusalError(404, f"no puzzle of the catalogue has this name; {mend}")
    return puzzle


def jobs_of(shelf: Shelf, puzzle: Puzzle) -> list[JobRecord]:
    """The newest enumerations of a puzzle, newest first."""

    def fits(record: JobRecord) -> bool:
        return record.kind == ENUMERATION and record.puzzle_digest == puzzle.digest

    return shelf.jobs.page(JOBS_LISTED, fits=fits).records


def damages_told(shelf: Shelf, found: JobPage) -> list[str]:
    """What is wrong with jobs that cannot be listed; the place of the database stays with the server."""
    return [str(damage).replace(shelf.database.place, "the database") for damage in found.damages]


def estimate_of(puzzle: Puzzle, database: Database) -> Estimate:
    """What enumerating it here, into this database, would need. The folder of layers in files stays with the server.
    Raises FarthestError where that cannot be said."""
    from farthest.coordinator.enumeration.plan import estimated
    from farthest.coordinator.settings import Settings

    return replace(estimated(puzzle, Settings(), database.folder), scratch=None)


def random_boards(
    shelf: Shelf, number: int, count: int, depth: int | None, *, solved: bool = True
) -> tuple[JobRecord, list[str]]:
    """States that are drawn with the same chance. ``solved``: False: one state, and none of depth 0 where there are
    others. Raises JobError beyond the last layer."""
    from secrets import randbits

    with shelf.asked(number) as opened:
        if depth is not None:
            opened.check_depth(depth)
        source = RandomSource(randbits(64))
        boards = list(random_states(opened, count, source, depth))
        if depth is None and not solved and any(opened.layers[1:]) and opened.distance(boards[0]) == 0:
            boards = list(random_states(opened, 1, source, 1 + source.weighed(opened.layers[1:])))
        return opened.record, boards
