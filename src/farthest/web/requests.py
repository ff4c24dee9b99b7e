"""What requests name: numbers, words, boards; and what both pages and JSON find for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.models.naming import no_map
from farthest.models.records import ENUMERATION, FINISHED, SEARCH, LayerRecord
from farthest.models.stored_job import puzzle_of
from farthest.puzzles import catalogue
from farthest.queries.states import random_states
from farthest.random_source import RandomSource
from farthest.web.asking import RefusalError
from farthest.web.pages.job import JobFound

if TYPE_CHECKING:
    from starlette.requests import Request

    from farthest.coordinator.settings import Estimate
    from farthest.models.database import Database
    from farthest.models.job_reader import JobPage
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.distance_map import DistanceMap
    from farthest.web.gate import WebSettings
    from farthest.web.shelf import Shelf

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
        raise RefusalError(400, f"{name}: {number:,} is more than the {most:,} that are given at once")
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


def job_found(shelf: Shelf, number: int, *, may_change: bool = False) -> JobFound:
    """An enumeration with its layers and farthest boards. Raises JobError."""
    record = shelf.job(number)
    if record.kind == SEARCH:
        raise no_map(record)
    farthest = shelf.farthest(number, record.digest or "") if record.status == FINISHED else ()
    return JobFound(record, puzzle_of(record), shelf.layers(record), farthest, may_change)


def of_map(opened: DistanceMap) -> JobFound:
    """What pages of an open map show of its job."""
    layers = [LayerRecord(depth, states) for depth, states in enumerate(opened.layers)]
    return JobFound(opened.record, opened.puzzle, layers, ())


def puzzle_named(name: str) -> Puzzle:
    """A puzzle of the catalogue, or of a parametric name; never a file. Raises PuzzleError."""
    puzzle = catalogue.find(name)
    if puzzle is None:
        raise RefusalError(404, "no puzzle of the catalogue has this name; the first page lists them")
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
    """What enumerating it here, into this database, would need. Raises FarthestError where that cannot be said."""
    from farthest.coordinator.enumeration.plan import estimated
    from farthest.coordinator.settings import Settings

    return estimated(puzzle, Settings(), database.folder)


def random_boards(shelf: Shelf, number: int, count: int, depth: int | None) -> tuple[JobRecord, list[str]]:
    """States that are drawn with the same chance. Raises JobError beyond the last layer."""
    from secrets import randbits

    with shelf.asked(number) as opened:
        if depth is not None:
            opened.check_depth(depth)
        return opened.record, list(random_states(opened, count, RandomSource(randbits(64)), depth))
