"""The verbs of the command line as functions; `import farthest` offers them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from farthest.errors import PuzzleError
from farthest.families.python.puzzle_space import PuzzleSpace
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.job import Outcome
    from farthest.coordinator.reporter import Reporter
    from farthest.coordinator.search.settings import SearchOutcome, SearchReporter
    from farthest.heuristics.contract import Algorithm
    from farthest.models.records import JobRecord
    from farthest.queries.distance_map import DistanceMap
    from farthest.search.comparison import Run


def puzzle_names() -> list[str]:
    """The names of the catalogue's puzzles; parametric names such as ``sliding-3x4`` are known besides."""
    return catalogue.names()


def load_puzzle(puzzle: str | PuzzleSpace) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name or a TOML file; or of an object of a class of one's own. Such a
    class may run in this process from then on, also where a stored job or a file names it. Raises PuzzleError."""
    return _puzzle(puzzle)


def enumerate(  # noqa: A001 - the verb of the command line
    puzzle: str | Puzzle | PuzzleSpace,
    *,
    database: str | None = None,
    origin: Origin | None = None,
    max_depth: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    reporter: Reporter | None = None,
) -> DistanceMap:
    """Enumerate a puzzle, store its map, and return the map.

    ``database``: as for `open_map`; the file is made where there is none. ``origin``: the states at distance
    0; None: what the puzzle says. ``max_depth``: the last layer wanted. ``threads``: None: one a processor.
    ``memory``: bytes that may be used. An enumeration that was broken off is resumed. Raises PuzzleError,
    BoardError (of the origin), ResourceError or StorageError.
    """
    from farthest.coordinator.enumeration.job import Settings, enumerate_puzzle
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap

    opened = open_database(database, create=True)
    try:
        settings = Settings(origin=origin, max_depth=max_depth, threads=threads, memory=memory)
        outcome = enumerate_puzzle(_puzzle(puzzle), opened, settings, reporter)
        assert outcome.job is not None, "what is stored has a number"
        return DistanceMap(opened, Jobs(opened).get(outcome.job))
    except BaseException:
        opened.close()
        raise


def histogram(
    puzzle: str | Puzzle | PuzzleSpace,
    *,
    origin: Origin | None = None,
    max_depth: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Enumerate a puzzle for its layers and farthest boards alone: the least memory, and nothing is stored.

    The arguments are those of `enumerate`.
    """
    from farthest.coordinator.enumeration.job import Settings, enumerate_puzzle

    settings = Settings(
        origin=origin, max_depth=max_depth, threads=threads, memory=memory, histogram_only=True
    )
    return enumerate_puzzle(_puzzle(puzzle), None, settings, reporter)


def submit(
    puzzle: str | Puzzle | PuzzleSpace,
    *,
    database: str | None = None,
    origin: Origin | None = None,
    max_depth: int | None = None,
    histogram_only: bool = False,
) -> JobRecord:
    """Queue an enumeration for `farthest coordinator` services; the job.

    The arguments are those of `enumerate`; with ``histogram_only`` no map is kept. Raises as `enumerate` does.
    """
    from farthest.coordinator.enumeration.queue import submit_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.models.database import open_database

    settings = Settings(origin=origin, max_depth=max_depth, histogram_only=histogram_only)
    with open_database(database, create=True) as opened:
        return submit_puzzle(_puzzle(puzzle), opened, settings)[0]


def solve(
    puzzle: str | Puzzle | PuzzleSpace,
    board: str | Sequence[int] | None = None,
    *,
    to: str = "goal",
    algorithm: Algorithm = "ida",
    heuristic: str | None = None,
    all_solutions: bool = False,
    limit: int = 1000,
    threads: int | None = None,
    workers: Literal["threads", "celery"] = "threads",
    database: str | None = None,
    store: bool | None = None,
    reporter: SearchReporter | None = None,
) -> SearchOutcome:
    """Search for a shortest solution of a board, or with ``all_solutions`` for all of them; what was found.

    ``board``: text or the label of each cell; None: the puzzle's start. ``to``: ``goal``, ``start`` or a board.
    ``heuristic``: None: the strongest that needs no stored map. ``limit``: most solutions in ``paths``. ``threads``:
    None: one a processor; ``workers``: who searches. ``store``: True: the search is a job in ``database`` (named as for
    `open_map`) from its beginning; None: it is once it has run for 10 seconds, if it can be gone on with; False: it is
    not. Where it may be stored, one that was broken off is gone on with. Pattern databases are read from there in any
    case. The outcome's ``length`` is None where the search itself has proven that there is no solution. Raises
    PuzzleError, BoardError (UnreachableError for a board that cannot be solved), SettingError, SearchError, JobError (a
    pattern database that was not enumerated), ResourceError or StorageError.
    """
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.heuristics.registry import default_heuristic
    from farthest.search.problem import start_or

    loaded = _puzzle(puzzle)
    chosen = default_heuristic(loaded, algorithm) if heuristic is None else heuristic
    settings = SearchSettings(algorithm, all_solutions, limit, workers, threads)
    with SearchStorage(database, store=store) as storage:
        return Solver(loaded, to, chosen, settings, storage, reporter).solve(start_or(loaded, board))


def random_boards(
    puzzle: str | Puzzle | PuzzleSpace, count: int = 1, *, seed: int, to: str = "goal"
) -> list[str]:
    """Boards from which moves lead to ``to`` (``goal``, ``start`` or a board): each is any of them with the same
    chance, so that one may come twice. The same for the same ``seed``, 0 or more.

    Raises PuzzleError, also where it is not known which boards can be solved, or BoardError.
    """
    from farthest.search.random_boards import random_boards as drawn

    loaded = _puzzle(puzzle)
    return [loaded.definition.format_board(board) for board in drawn(loaded, count, seed, to)]


def compare(
    puzzle: str | Puzzle | PuzzleSpace,
    boards: Iterable[str | Sequence[int]],
    *,
    algorithms: Sequence[str] = ("bfs", "dfs", "astar", "ida"),
    heuristics: Sequence[str] = (),
    memory: int | None = None,
    database: str | None = None,
) -> list[Run]:
    """Search the same boards for the puzzle's goal with several algorithms; what each run found and cost.

    ``heuristics``: for A* and IDA*, each is compared; none: Manhattan where it is for the puzzle, else the strongest
    that needs no stored map. ``memory``: bytes for the boards that a search keeps; None: four fifths of what is free.
    A run that needs more has ``failed``. ``database``: where pattern databases are read, as for `open_map`. Raises
    PuzzleError, BoardError, SettingError, JobError (a pattern database that was not enumerated) or StorageError.
    """
    from contextlib import ExitStack

    from farthest.coordinator.estimate import available_memory
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps
    from farthest.search.comparison import Comparison, entrants
    from farthest.search.problem import start_or

    loaded = _puzzle(puzzle)
    chosen = entrants(loaded, algorithms, heuristics)
    with ExitStack() as stack:
        maps = None
        if any("@" in text for text in heuristics):
            maps = PatternMaps(stack.enter_context(open_database(database, create=False)))
        limit = available_memory() * 4 // 5 if memory is None else memory
        comparison = Comparison(loaded, chosen, memory=limit, load_map=maps)
        return list(comparison.runs([start_or(loaded, board) for board in boards]))


def cancel_job(job: str | int, database: str | None = None) -> JobRecord:
    """Take a job out of the queue, or stop the coordinator's work on it; the job. Raises JobError or StorageError.

    ``job``: a number, or a puzzle's name for its newest job.
    """
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.cancel(named_job(repository, str(job)).id)


def resume_job(job: str | int, database: str | None = None) -> JobRecord:
    """Queue a job again that was cancelled, interrupted, or failed; the job. ``job``, errors: as for `cancel_job`."""
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.requeue(named_job(repository, str(job)).id)


def jobs(database: str | None = None) -> list[JobRecord]:
    """All jobs of a database, oldest first."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        return Jobs(opened).list()


def delete_job(job: str | int, database: str | None = None) -> JobRecord:
    """Delete a job with all that is stored of it; what it was. Raises as `open_map` does."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        record = repository.find(str(job))
        repository.delete(record.id)
        return record


def _puzzle(puzzle: str | Puzzle | PuzzleSpace) -> Puzzle:
    if isinstance(puzzle, PuzzleSpace):
        from farthest.families.python.definition import puzzle_of

        return puzzle_of(puzzle)
    given: object = puzzle
    if isinstance(given, type):
        raise PuzzleError(f"{given.__name__} is a class, expected an object of it; write {given.__name__}()")
    return puzzle if isinstance(puzzle, Puzzle) else catalogue.load(puzzle)
