"""Searches for shortest solutions, comparisons of algorithms, and values of heuristics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from math import inf
from operator import index
from typing import TYPE_CHECKING, Literal, SupportsIndex

from farthest.api.maps import whole
from farthest.families.user_input import puzzle_given, target_given

if TYPE_CHECKING:
    from pathlib import Path

    import numpy
    from numpy.typing import NDArray

    from farthest.api.bars import SearchBar
    from farthest.coordinator.search.settings import SearchOutcome, SearchSettings
    from farthest.coordinator.search.solve import Solver
    from farthest.families.user_input import GivenBoard, GivenPuzzle
    from farthest.heuristics import Algorithm
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.comparison import Run


def solve(
    puzzle: GivenPuzzle,
    board: GivenBoard | None = None,
    *,
    to: GivenBoard = "goal",
    algorithm: Algorithm = "ida",
    heuristic: str | None = None,
    all_solutions: bool = False,
    limit: SupportsIndex = 1000,
    first: bool = False,
    within: float = 1.0,
    threads: SupportsIndex | None = None,
    workers: Literal["threads", "celery"] = "threads",
    database: str | Path | None = None,
    store: bool | None = None,
    progress: bool | None = None,
) -> SearchOutcome:
    """Search for a shortest solution of a board, or with ``all_solutions`` for all of them; what was found.

    ``board``: None: the puzzle's start. ``to``: a board; ``goal`` stands for any of the goals. ``heuristic``: None:
    ``auto``, which takes stored tables, or makes some and keeps them in ``database``, unless ``store`` is False or
    the search is small. ``limit``: most solutions in ``paths``. ``first``: the first solution is enough; ``within``:
    one is that is proven to have at most so many times the fewest moves. ``threads``: None: one per processor;
    ``workers``: who searches. ``store``: True: the search is a job in ``database`` (named as for `open_map`) from its
    beginning; None: it is once it has run for 10 seconds, if it can be gone on with; False: it is not. Where it may
    be stored, one that was broken off is gone on with. Pattern databases are read from there in any case.
    ``progress``: as for `enumerate`. The outcome's ``length`` is None where the search itself has proven that there
    is no solution. Raises PuzzleError, BoardError (UnreachableError for a board that cannot be solved), SettingError,
    SearchError, JobError (a pattern database that was not enumerated), ResourceError or StorageError.
    """
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.search.contract import start_or

    loaded = puzzle_given(puzzle)
    settings = SearchSettings(
        algorithm,
        all_solutions,
        whole("limit", limit) or 0,
        workers,
        whole("threads", threads),
        within=inf if first else within,
    )
    with _solver(loaded, to, heuristic, settings, database, store, progress) as (solver, _):
        return solver.solve(start_or(loaded, board))


@contextmanager
def _solver(
    puzzle: Puzzle,
    to: GivenBoard,
    heuristic: str | None,
    settings: SearchSettings,
    database: str | Path | None,
    store: bool | None,
    progress: bool | None,
    boards: int | None = None,
) -> Iterator[tuple[Solver, SearchBar]]:
    """What searches so many boards, one after the other, and what shows its progress. ``boards``: None: one."""
    from farthest.api.bars import SearchBar, progress_bar
    from farthest.coordinator.search.solve import Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.heuristics import AUTO

    chosen = AUTO if heuristic is None else heuristic
    keeps = store is not False or boards is not None
    with (
        closing(SearchStorage(database, store=store, makes_tables=keeps)) as storage,
        progress_bar(progress) as bar,
    ):
        reporter = SearchBar(bar, 1 if boards is None else boards)
        yield Solver(puzzle, target_given(puzzle, to), chosen, settings, storage, reporter), reporter


def solve_many(
    puzzle: GivenPuzzle,
    boards: Iterable[GivenBoard],
    *,
    to: GivenBoard = "goal",
    algorithm: Algorithm = "ida",
    heuristic: str | None = None,
    subgroup: str | None = None,
    threads: SupportsIndex | None = None,
    database: str | Path | None = None,
    progress: bool | None = None,
) -> list[SearchOutcome | None]:
    """Search for a shortest solution of each board, one after the other: the tables of the heuristic are made once.

    The outcomes in the order of the boards; None for a board that is known to be unsolvable without a search. The
    arguments are those of `solve`; no search is stored, and tables that ``auto`` makes are kept. ``subgroup``: as in
    ``<U,R2,F2>``, of a permutation puzzle: boards that its moves take to each other are solved together, by enumerating
    their coset; those that are alone are searched. Raises as `solve` does, but no UnreachableError.
    """
    from farthest.coordinator.search.settings import SearchSettings
    from farthest.errors import UnreachableError
    from farthest.search.contract import start_or

    loaded = puzzle_given(puzzle)
    wanted = [start_or(loaded, board) for board in boards]
    settings = SearchSettings(algorithm, threads=whole("threads", threads))
    found: list[SearchOutcome | None] = []
    with _solver(loaded, to, heuristic, settings, database, False, progress, len(wanted)) as (
        solver,
        reporter,
    ):
        cosets = None
        if subgroup is not None:
            from farthest.coordinator.search.coset_boards import BoardsByCosets

            cosets = BoardsByCosets(solver, subgroup, dict(enumerate(wanted)), reporter)
        for number, board in enumerate(wanted):
            try:
                outcome = (cosets and cosets.take(number)) or solver.solve(board)
            except UnreachableError:
                outcome = None
            found.append(outcome)
            reporter.answered()
    return found


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
    ``heuristics``: for A* and IDA*, each is compared; none: ``auto``, which is Manhattan where it is for the puzzle,
    else the strongest that needs no stored map; for IDA* tables, if the first board takes more than about a second.
    ``memory``: bytes for the boards that a search keeps; None: four fifths of what is free. A search that needs more
    has ``failed``. One `Run` for each board and algorithm, the first board's first.
    ``database``: where pattern databases are read, as for `open_map`.
    ``progress``: as for `enumerate`. Raises PuzzleError, BoardError, SettingError, JobError (a pattern database that
    was not enumerated) or StorageError.
    """

    from farthest.api.bars import progress_bar
    from farthest.coordinator.search.solve import pattern_heuristic
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.machine import memory_limit
    from farthest.search.comparison import Comparison, entrants
    from farthest.search.contract import start_or

    loaded = puzzle_given(puzzle)
    named = [word.strip() for word in algorithms.split(",")] if isinstance(algorithms, str) else algorithms
    asked = [heuristics] if isinstance(heuristics, str) else heuristics
    entrants(loaded, named, asked)
    wanted = [boards] if isinstance(boards, str) else boards
    searched = [start_or(loaded, board) for board in wanted]
    with ExitStack() as stack:
        storage = stack.enter_context(closing(SearchStorage(database)))
        chosen = entrants(
            loaded,
            named,
            asked,
            lambda: pattern_heuristic(loaded, searched[0], storage) if searched else None,
        )
        limit = memory_limit(None if memory is None else index(memory))
        comparison = Comparison(loaded, chosen, memory=limit, load_map=storage.load_map)
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
    """The values of a heuristic, one for each board, shape (boards,): moves that it still needs at least; -1
    where the heuristic proves that no moves lead there.

    ``boards``: as for `DistanceMap.distances`. ``heuristic``: as for `solve`; None: the strongest that needs no stored
    map. ``to``: a board; ``goal``: any of the goals. ``database``: where pattern databases are read, as for `open_map`.
    Raises PuzzleError, BoardError, SettingError, JobError (a pattern database that was not enumerated) or StorageError.
    """
    import numpy

    from farthest.coordinator.search.storage import SearchStorage
    from farthest.heuristics.contract import UNREACHABLE
    from farthest.heuristics.registry import default_heuristic, open_heuristic
    from farthest.queries.stored_map import label_rows
    from farthest.search.contract import targets

    loaded = puzzle_given(puzzle)
    chosen = default_heuristic(loaded) if heuristic is None else heuristic
    wanted = targets(loaded, target_given(loaded, to))
    with closing(SearchStorage(database, store=False)) as storage:
        opened = open_heuristic(chosen, loaded, wanted, storage.load_map)
        values = opened.values(label_rows(loaded, boards)).astype(numpy.int64)
    return numpy.where(values >= UNREACHABLE, -1, values)
