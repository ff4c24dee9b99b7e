"""Enumerations in this process, stored jobs, puzzles, and the maps of patterns."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from farthest.families.user_input import origin_given, puzzle_given, target_given
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.settings import Outcome, Settings
    from farthest.families.user_input import GivenBoard, GivenOrigin, GivenPuzzle
    from farthest.heuristics.contract import WholePatternMap
    from farthest.models.records import JobRecord
    from farthest.queries.distance_map import DistanceMap


def whole(name: str, value: Any) -> int | None:
    """A whole number of any type, or None. Raises TypeError."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    return index(value)


def enumerate(  # noqa: A001 - the verb of the command line
    puzzle: GivenPuzzle,
    *,
    database: str | Path | None = None,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    map: Literal["full", "residues"] | None = None,
    symmetry: SupportsIndex | None = None,
    progress: bool | None = None,
) -> DistanceMap:
    """Enumerate a puzzle, store its map, and return the map.

    ``database``: as for `open_map`; the file is made where there is none. ``origin``: the states at distance
    0; None: what the puzzle says. ``max_depth``: the last layer wanted. ``threads``: None: one per processor.
    ``memory``: bytes that may be used. ``map``: "full" keeps every distance in the database, "residues" a bit or two of
    each in a file, for puzzles whose moves can be taken back; None: full, residues beyond 2^30 keys where they can be.
    ``symmetry``: keep one state of those that a group of so many symmetries takes to each other; 1: all states; None:
    by all symmetries where it pays. The map answers for all states in either case.
    ``progress``: a progress bar; None: in a notebook and on a terminal; True: elsewhere too, as lines on standard
    error. An enumeration that was broken off is resumed. Where the memory is used up before ``max_depth``, the map ends
    with the last complete layer (its ``depth``). Raises PuzzleError, BoardError (of the origin), ResourceError,
    StorageError, or SettingError (of the folder of files).
    """
    from farthest.api.bars import EnumerationBar, progress_bar
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap

    loaded = puzzle_given(puzzle)
    settings = _settings(
        loaded, origin, max_depth, threads, memory, symmetry, residues=None if map is None else _residues(map)
    )
    opened = open_database(database, create=True)
    try:
        with progress_bar(progress) as bar:
            outcome = enumerate_puzzle(loaded, opened, settings, EnumerationBar(bar))
        assert outcome.job is not None, "what is stored has a number"
        return DistanceMap(opened, Jobs(opened).get(outcome.job))
    except BaseException:
        opened.close()
        raise


def histogram(
    puzzle: GivenPuzzle,
    *,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    symmetry: SupportsIndex | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Enumerate a puzzle for its layers and farthest boards alone: the least memory, and nothing is stored.

    The arguments are those of `enumerate`; where the memory is used up before ``max_depth``, the outcome's ``stopped``
    says so. Raises PuzzleError, BoardError (of the origin), ResourceError, StorageError, or SettingError (of the folder
    of files).
    """
    from farthest.api.bars import EnumerationBar, progress_bar
    from farthest.coordinator.enumeration.job import enumerate_puzzle

    loaded = puzzle_given(puzzle)
    settings = _settings(loaded, origin, max_depth, threads, memory, symmetry, histogram_only=True)
    with progress_bar(progress) as bar:
        return enumerate_puzzle(loaded, None, settings, EnumerationBar(bar))


def _settings(
    puzzle: Puzzle,
    origin: GivenOrigin | None,
    max_depth: SupportsIndex | None,
    threads: SupportsIndex | None,
    memory: SupportsIndex | None,
    symmetry: SupportsIndex | None,
    *,
    histogram_only: bool = False,
    residues: bool | None = None,
) -> Settings:
    from farthest.coordinator.settings import Settings

    return Settings(
        origin=origin_given(puzzle, origin),
        max_depth=whole("max_depth", max_depth),
        threads=whole("threads", threads),
        memory=whole("memory", memory),
        symmetry=whole("symmetry", symmetry),
        histogram_only=histogram_only,
        residues=residues,
    )


def _residues(kind: str) -> bool:
    if kind not in ("full", "residues"):
        raise ValueError(f"map: expected full or residues, got {kind!r}; `histogram` keeps none")
    return kind == "residues"


def pattern_map(pattern: GivenPuzzle, database: str | Path | None = None) -> WholePatternMap:
    """The stored map of a pattern, ``15-puzzle@1-7``, or of any puzzle to its goal, whole in memory: ``distances`` in
    the order of keys, and the ``space`` whose ``encode`` makes keys of boards (uint8, shape (boards, cells)).

    ``database``: as for `open_map`. Raises PuzzleError, JobError where it was not enumerated, ResourceError where it
    does not fit in memory, or StorageError.
    """
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps

    with open_database(database, create=False) as opened:
        return PatternMaps(opened).whole(puzzle_given(pattern))


def submit(
    puzzle: GivenPuzzle,
    *,
    database: str | Path | None = None,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    histogram_only: bool = False,
    symmetry: SupportsIndex | None = None,
) -> JobRecord:
    """Queue an enumeration for `farthest coordinator` services; the job.

    The arguments are those of `enumerate`; with ``histogram_only`` no map is kept. Raises as `enumerate` does.
    """
    from farthest.coordinator.enumeration.submission import submit_puzzle
    from farthest.models.database import open_database

    loaded = puzzle_given(puzzle)
    settings = _settings(loaded, origin, max_depth, None, None, symmetry, histogram_only=histogram_only)
    with open_database(database, create=True) as opened:
        return submit_puzzle(loaded, opened, settings)[0]


def jobs(database: str | Path | None = None) -> list[JobRecord]:
    """All jobs of a database, oldest first.

    ``database``: as for `open_map`. Raises StorageError where it cannot be read.
    """
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        return Jobs(opened).list()


def cancel_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord:
    """Take a job out of the queue, or stop the coordinator's work on it; the job. Raises JobError or StorageError.

    ``job``: a number, a puzzle's name for its newest job, or a `JobRecord`. ``database``: as for `open_map`.
    """
    from farthest.coordinator.enumeration.submission import named_job
    from farthest.models.database import open_database
    from farthest.models.job_reader import job_text
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.cancel(named_job(repository, job_text(job)).id)


def resume_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord:
    """Queue a job again that was cancelled, interrupted, or failed; the job. ``job``, ``database``, errors: as for
    `cancel_job`."""
    from farthest.coordinator.enumeration.submission import named_job
    from farthest.models.database import open_database
    from farthest.models.job_reader import job_text
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.requeue(named_job(repository, job_text(job)).id)


def delete_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord | None:
    """Delete a job with all that is stored of it; what it was, or None where that is damaged: such a job is named by
    its number. Raises JobError or StorageError.

    ``job``: a number, a puzzle's name for its newest finished enumeration, or a `JobRecord`. ``database``: as for
    `open_map`.
    """
    from farthest.models.database import open_database
    from farthest.models.job_reader import job_text
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        number, name = repository.find_to_delete(job_text(job))
        record = None if name is None else repository.get(number)
        repository.delete(number)
        return record


def puzzle_names() -> list[str]:
    """The names of the catalogue's puzzles; parametric names such as ``sliding-3x4`` are known besides."""
    return catalogue.names()


def load_puzzle(puzzle: GivenPuzzle) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name or a TOML file; or of an object of a class of one's own. Such a
    class may run in this process from then on, also where a stored job or a file names it. Raises PuzzleError."""
    return puzzle_given(puzzle)


def random_boards(
    puzzle: GivenPuzzle, count: SupportsIndex = 1, *, seed: SupportsIndex, to: GivenBoard = "goal"
) -> list[str]:
    """Boards from which moves lead to ``to`` (a board; ``goal``: to any of the goals): each is any of them with the
    same chance, so that one may come twice. The same for the same ``seed``, 0 or more.

    Raises PuzzleError, also where it is not known which boards can be solved, or BoardError.
    """
    from farthest.search.solvable import random_boards as drawn

    loaded = puzzle_given(puzzle)
    boards = drawn(loaded, whole("count", count) or 0, index(seed), target_given(loaded, to))
    return [loaded.definition.format_board(board) for board in boards]
