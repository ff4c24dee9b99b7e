"""The verbs of the command line as functions; `import farthest` offers them.

What all of them take: a *puzzle* is a name of the catalogue, a parametric name, the path of a file (text or Path), a
`Puzzle`, or an object of a class derived from `PuzzleSpace`. A *board* is text in any form that the command line reads,
the word ``goal`` (of several the first that the puzzle draws) or ``start``, ``moves: R U' F2`` (what these moves make
of the goal), or the number in each cell: a tuple, a list or a numpy array. An *origin* is an `Origin`; or text, ``to
goal``, ``from start``; or a board, counted in the puzzle's own direction. A *database* is a URL or a file (text or
Path). TypeError says what was expected where it is none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from farthest.families.given import origin_given, puzzle_given, target_given
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from pathlib import Path

    import numpy
    from numpy.typing import NDArray

    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.coordinator.settings import Outcome
    from farthest.families.given import GivenBoard, GivenOrigin, GivenPuzzle
    from farthest.heuristics.algorithms import Algorithm
    from farthest.models.records import JobRecord
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.pattern_maps import StoredPattern
    from farthest.search.comparison import Run


def puzzle_names() -> list[str]:
    """The names of the catalogue's puzzles; parametric names such as ``sliding-3x4`` are known besides."""
    return catalogue.names()


def load_puzzle(puzzle: GivenPuzzle) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name or a TOML file; or of an object of a class of one's own. Such a
    class may run in this process from then on, also where a stored job or a file names it. Raises PuzzleError."""
    return puzzle_given(puzzle)


def enumerate(  # noqa: A001 - the verb of the command line
    puzzle: GivenPuzzle,
    *,
    database: str | Path | None = None,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    threads: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
    map: Literal["full", "residues"] | None = None,
    progress: bool | None = None,
) -> DistanceMap:
    """Enumerate a puzzle, store its map, and return the map.

    ``database``: as for `open_map`; the file is made where there is none. ``origin``: the states at distance
    0; None: what the puzzle says. ``max_depth``: the last layer wanted. ``threads``: None: one a processor.
    ``memory``: bytes that may be used. ``map``: "full" keeps every distance in the database, "residues" a bit or two of
    each in a file, for puzzles whose moves can be taken back; None: full, residues beyond 2^30 keys where they can be.
    ``progress``: a progress bar; None: in a notebook and on a terminal; True: elsewhere too, as lines on standard
    error. An enumeration that was broken off is resumed. Where the memory is used up before ``max_depth``, the map ends
    with the last complete layer (its ``depth``). Raises PuzzleError, BoardError (of the origin), ResourceError,
    StorageError, or SettingError (of the folder of files).
    """
    from farthest.coordinator.bars import progress_bar
    from farthest.coordinator.enumeration.bar import EnumerationBar
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.queries.distance_map import DistanceMap

    loaded = puzzle_given(puzzle)
    settings = Settings(
        origin=origin_given(loaded, origin),
        max_depth=_whole("max_depth", max_depth),
        threads=_whole("threads", threads),
        memory=_whole("memory", memory),
        residues=None if map is None else _residues(map),
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
    progress: bool | None = None,
) -> Outcome:
    """Enumerate a puzzle for its layers and farthest boards alone: the least memory, and nothing is stored.

    The arguments are those of `enumerate`; where the memory is used up before ``max_depth``, the outcome's ``stopped``
    says so.
    """
    from farthest.coordinator.bars import progress_bar
    from farthest.coordinator.enumeration.bar import EnumerationBar
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.coordinator.settings import Settings

    loaded = puzzle_given(puzzle)
    settings = Settings(
        origin=origin_given(loaded, origin),
        max_depth=_whole("max_depth", max_depth),
        threads=_whole("threads", threads),
        memory=_whole("memory", memory),
        histogram_only=True,
    )
    with progress_bar(progress) as bar:
        return enumerate_puzzle(loaded, None, settings, EnumerationBar(bar))


def submit(
    puzzle: GivenPuzzle,
    *,
    database: str | Path | None = None,
    origin: GivenOrigin | None = None,
    max_depth: SupportsIndex | None = None,
    histogram_only: bool = False,
) -> JobRecord:
    """Queue an enumeration for `farthest coordinator` services; the job.

    The arguments are those of `enumerate`; with ``histogram_only`` no map is kept. Raises as `enumerate` does.
    """
    from farthest.coordinator.enumeration.queue import submit_puzzle
    from farthest.coordinator.settings import Settings
    from farthest.models.database import open_database

    loaded = puzzle_given(puzzle)
    settings = Settings(
        origin=origin_given(loaded, origin),
        max_depth=_whole("max_depth", max_depth),
        histogram_only=histogram_only,
    )
    with open_database(database, create=True) as opened:
        return submit_puzzle(loaded, opened, settings)[0]


def solve(
    puzzle: GivenPuzzle,
    board: GivenBoard | None = None,
    *,
    to: GivenBoard = "goal",
    algorithm: Algorithm = "ida",
    heuristic: str | None = None,
    all_solutions: bool = False,
    limit: SupportsIndex = 1000,
    threads: SupportsIndex | None = None,
    workers: Literal["threads", "celery"] = "threads",
    database: str | Path | None = None,
    store: bool | None = None,
    progress: bool | None = None,
) -> SearchOutcome:
    """Search for a shortest solution of a board, or with ``all_solutions`` for all of them; what was found.

    ``board``: None: the puzzle's start. ``to``: a board; ``goal`` stands for any of the goals. ``heuristic``: None:
    the strongest that needs no stored map. ``limit``: most solutions in ``paths``. ``threads``: None: one a
    processor; ``workers``: who searches. ``store``: True: the search is a job in ``database`` (named as for
    `open_map`) from its beginning; None: it is once it has run for 10 seconds, if it can be gone on with; False: it
    is not. Where it may be stored, one that was broken off is gone on with. Pattern databases are read from there
    in any case. ``progress``: as for `enumerate`. The outcome's ``length`` is None where the search itself has proven
    that there is no solution. Raises PuzzleError, BoardError (UnreachableError for a board that cannot be solved),
    SettingError, SearchError, JobError (a pattern database that was not enumerated), ResourceError or StorageError.
    """
    from farthest.coordinator.bars import progress_bar
    from farthest.coordinator.search.bar import SearchBar
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.heuristics.registry import default_heuristic
    from farthest.search.problem import start_or

    loaded = puzzle_given(puzzle)
    settings = SearchSettings(
        algorithm, all_solutions, _whole("limit", limit) or 0, workers, _whole("threads", threads)
    )
    chosen = default_heuristic(loaded, algorithm) if heuristic is None else heuristic
    with SearchStorage(database, store=store) as storage, progress_bar(progress) as bar:
        solver = Solver(loaded, target_given(loaded, to), chosen, settings, storage, SearchBar(bar))
        return solver.solve(start_or(loaded, board))


def solve_many(
    puzzle: GivenPuzzle,
    boards: Iterable[GivenBoard],
    *,
    to: GivenBoard = "goal",
    algorithm: Algorithm = "ida",
    heuristic: str | None = None,
    threads: SupportsIndex | None = None,
    database: str | Path | None = None,
    progress: bool | None = None,
) -> list[SearchOutcome | None]:
    """Search for a shortest solution of each board, one after the other: the tables of the heuristic are made once.

    The outcomes in the order of the boards; None for a board that is known to be unsolvable without a search. The
    arguments are those of `solve`; no search is stored. Raises as `solve` does, but no UnreachableError.
    """
    from farthest.coordinator.bars import progress_bar
    from farthest.coordinator.search.bar import SearchBar
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.errors import UnreachableError
    from farthest.heuristics.registry import default_heuristic
    from farthest.search.problem import start_or

    loaded = puzzle_given(puzzle)
    wanted = [start_or(loaded, board) for board in boards]
    chosen = default_heuristic(loaded, algorithm) if heuristic is None else heuristic
    settings = SearchSettings(algorithm, threads=_whole("threads", threads))
    found: list[SearchOutcome | None] = []
    with SearchStorage(database, store=False) as storage, progress_bar(progress) as bar:
        reporter = SearchBar(bar, len(wanted))
        solver = Solver(loaded, target_given(loaded, to), chosen, settings, storage, reporter)
        for board in wanted:
            try:
                found.append(solver.solve(board))
            except UnreachableError:
                found.append(None)
            reporter.board_done()
    return found


def random_boards(
    puzzle: GivenPuzzle, count: SupportsIndex = 1, *, seed: SupportsIndex, to: GivenBoard = "goal"
) -> list[str]:
    """Boards from which moves lead to ``to`` (a board; ``goal``: to any of the goals): each is any of them with the
    same chance, so that one may come twice. The same for the same ``seed``, 0 or more.

    Raises PuzzleError, also where it is not known which boards can be solved, or BoardError.
    """
    from farthest.search.random_boards import random_boards as drawn

    loaded = puzzle_given(puzzle)
    boards = drawn(loaded, _whole("count", count) or 0, index(seed), target_given(loaded, to))
    return [loaded.definition.format_board(board) for board in boards]


def compare(
    puzzle: GivenPuzzle,
    boards: str | Iterable[GivenBoard],
    *,
    algorithms: str | Sequence[str] = ("bfs", "dfs", "astar", "ida"),
    heuristics: str | Sequence[str] = (),
    memory: SupportsIndex | None = None,
    database: str | Path | None = None,
    progress: bool | None = None,
) -> list[Run]:
    """Search the same boards for the puzzle's goal with several algorithms; what each search found and cost.

    ``boards``: a text is one board. ``algorithms``: names, or a text as on the command line, ``ida,astar``.
    ``heuristics``: for A* and IDA*, each is compared; none: Manhattan where it is for the puzzle, else the strongest
    that needs no stored map. ``memory``: bytes for the boards that a search keeps; None: four fifths of what is free. A
    search that needs more has ``failed``. ``database``: where pattern databases are read, as for `open_map`.
    ``progress``: as for `enumerate`. Raises PuzzleError, BoardError, SettingError, JobError (a pattern database that
    was not enumerated) or StorageError.
    """
    from contextlib import ExitStack

    from farthest.coordinator.bars import progress_bar
    from farthest.heuristics.partitions import in_full
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps
    from farthest.search.comparison import Comparison, entrants
    from farthest.search.problem import start_or
    from farthest.sizes import available_memory

    loaded = puzzle_given(puzzle)
    named = [word.strip() for word in algorithms.split(",")] if isinstance(algorithms, str) else algorithms
    asked = [heuristics] if isinstance(heuristics, str) else heuristics
    chosen = entrants(loaded, named, asked)
    wanted = [boards] if isinstance(boards, str) else boards
    with ExitStack() as stack:
        maps = None
        if any("@" in in_full(text, loaded) for text in asked):
            maps = PatternMaps(stack.enter_context(open_database(database, create=False)))
        limit = available_memory() * 4 // 5 if memory is None else index(memory)
        comparison = Comparison(loaded, chosen, memory=limit, load_map=maps)
        searched = [start_or(loaded, board) for board in wanted]
        count = len(searched) * len(chosen)
        bar = stack.enter_context(progress_bar(progress))
        runs = []
        for run in comparison.runs(searched):
            runs.append(run)
            bar.tell(f"{len(runs):,} of {count:,} searches", len(runs) / count)
        return runs


def heuristic_values(
    puzzle: GivenPuzzle,
    boards: Iterable[GivenBoard] | NDArray[numpy.integer],
    heuristic: str | None = None,
    *,
    to: GivenBoard = "goal",
    database: str | Path | None = None,
) -> NDArray[numpy.int64]:
    """The values of a heuristic, one for each board: moves that it still needs at least; -1 where the heuristic proves
    that no moves lead there.

    ``boards``: as for `DistanceMap.distances`. ``heuristic``: as for `solve`; None: the strongest that needs no stored
    map. ``to``: a board; ``goal``: any of the goals. ``database``: where pattern databases are read, as for `open_map`.
    Raises PuzzleError, BoardError, SettingError, JobError (a pattern database that was not enumerated) or StorageError.
    """
    import numpy

    from farthest.coordinator.search.storage import SearchStorage
    from farthest.heuristics.contract import UNREACHABLE
    from farthest.heuristics.registry import default_heuristic, open_heuristic
    from farthest.queries.board_text import label_rows
    from farthest.search.problem import targets

    loaded = puzzle_given(puzzle)
    chosen = default_heuristic(loaded) if heuristic is None else heuristic
    wanted = targets(loaded, target_given(loaded, to))
    with SearchStorage(database, store=False) as storage:
        opened = open_heuristic(chosen, loaded, wanted, storage.load_map)
        values = opened.values(label_rows(loaded, boards)).astype(numpy.int64)
    return numpy.where(values >= UNREACHABLE, -1, values)


def pattern_map(pattern: GivenPuzzle, database: str | Path | None = None) -> StoredPattern:
    """The stored map of a pattern, ``15-puzzle@1-7``, or of any puzzle to its goal, whole in memory: ``distances`` in
    the order of keys, and the ``space`` whose ``encode`` makes keys of boards (uint8, shape (boards, cells)).

    ``database``: as for `open_map`. Raises PuzzleError, JobError where it was not enumerated, ResourceError where it
    does not fit in memory, or StorageError.
    """
    from farthest.models.database import open_database
    from farthest.queries.pattern_maps import PatternMaps

    with open_database(database, create=False) as opened:
        return PatternMaps(opened).whole(puzzle_given(pattern))


def cancel_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord:
    """Take a job out of the queue, or stop the coordinator's work on it; the job. Raises JobError or StorageError.

    ``job``: a number, a puzzle's name for its newest job, or a `JobRecord`.
    """
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import job_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.cancel(named_job(repository, job_text(job)).id)


def resume_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord:
    """Queue a job again that was cancelled, interrupted, or failed; the job. ``job``, errors: as for `cancel_job`."""
    from farthest.coordinator.enumeration.queue import named_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import job_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        return repository.requeue(named_job(repository, job_text(job)).id)


def jobs(database: str | Path | None = None) -> list[JobRecord]:
    """All jobs of a database, oldest first."""
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs

    with open_database(database, create=False) as opened:
        return Jobs(opened).list()


def delete_job(job: str | SupportsIndex | JobRecord, database: str | Path | None = None) -> JobRecord | None:
    """Delete a job with all that is stored of it; what it was, or None where that is damaged: such a job is named by
    its number. Raises JobError or StorageError.

    ``job``: a number, a puzzle's name for its newest finished enumeration, or a `JobRecord`.
    """
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.naming import job_text

    with open_database(database, create=False) as opened:
        repository = Jobs(opened)
        number, name = repository.find_to_delete(job_text(job))
        record = None if name is None else repository.get(number)
        repository.delete(number)
        return record


def _residues(kind: str) -> bool:
    if kind not in ("full", "residues"):
        raise ValueError(f"map: expected full or residues, got {kind!r}; `histogram` keeps none")
    return kind == "residues"


def _whole(name: str, value: Any) -> int | None:
    """A whole number of any type, or None. Raises TypeError."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    return index(value)
