"""A search that is taken up again after each commit, from what that has stored: the same as one that was not."""

from collections.abc import Callable
from pathlib import Path

import pytest

import small_pieces
from farthest.coordinator.search import solve as search_solve
from farthest.coordinator.search.settings import SearchOutcome, SearchReporter, SearchSettings
from farthest.coordinator.search.solve import SearchInterrupted
from farthest.errors import DamagedMapError, LostStateError
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.searches import Searches
from farthest.search.contract import Problem
from searching import solve_problem, stored_in


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    return small_pieces.problem(monkeypatch.setattr, small_pieces.FEWER)


class Stopper(SearchReporter):
    """Stops a search, as Ctrl-C does, after some commits."""

    def __init__(self, commits: int) -> None:
        self.left = commits

    def progress(self, known: dict[str, object]) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def solve_with_breaks(
    problem: Problem, database: Database, settings: SearchSettings, commits: int
) -> tuple[SearchOutcome, int]:
    """What comes out, and how often the search was broken off."""
    for breaks in range(10_000):
        try:
            return solve_problem(problem, settings, stored_in(database), Stopper(commits)), breaks
        except SearchInterrupted:
            continue
    raise AssertionError("it never ends")


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits are made at every look."""
    monkeypatch.setattr(search_solve, "COMMIT_SECONDS", 0.0)


class Losing(SearchReporter):
    """Every so many commits the working state is lost."""

    def __init__(self, commits: int) -> None:
        self.commits, self.seen, self.notices = commits, 0, 0

    def progress(self, known: dict[str, object]) -> None:
        self.seen += 1
        if self.seen % self.commits == 0:
            raise LostStateError("Redis has lost the search")

    def notice(self, text: str) -> None:
        self.notices += 1


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_a_search_goes_on_after_any_number_of_losses_with_progress_between_them(
    problem: Problem, tmp_path: Path
) -> None:
    losing = Losing(8)
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        found = solve_problem(problem, SearchSettings(threads=1), stored_in(database), losing)
    assert found.length == small_pieces.LENGTH
    assert losing.notices > search_solve.LOSSES_ALLOWED


@pytest.mark.usefixtures("often")
def test_a_search_that_gets_nowhere_for_losses_ends(problem: Problem) -> None:
    with pytest.raises(LostStateError, match="lost 9 times since anything was stored"):
        solve_problem(problem, SearchSettings(threads=1), None, Losing(1))


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(
    ("all_solutions", "commits"), [(False, 30), pytest.param(True, 15, marks=pytest.mark.slow)]
)
def test_a_search_goes_on_where_it_was(
    problem: Problem, tmp_path: Path, all_solutions: bool, commits: int
) -> None:
    settings = SearchSettings(all_solutions=all_solutions, threads=1)
    expected = solve_problem(problem, settings)
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        found, breaks = solve_with_breaks(problem, database, settings, commits)
        assert breaks > 1
        assert same(found) == same(expected)
        assert found.digest == expected.digest
        (record,) = Jobs(database).list()
        assert record.result is not None
        assert (record.status, record.depth, record.result["nodes"]) == ("finished", 36, expected.nodes)
        assert Searches(database).pieces(record.id) == []


def same(outcome: SearchOutcome) -> list[object]:
    iterations = [(one.bound, one.nodes, one.solutions, one.pieces) for one in outcome.iterations]
    return [outcome.length, outcome.solutions, outcome.nodes, outcome.paths, iterations]


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_other_searches_are_not_gone_on_with(problem: Problem, tmp_path: Path) -> None:
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        with pytest.raises(SearchInterrupted):
            solve_problem(problem, SearchSettings(threads=1), stored_in(database), Stopper(20))
        others: list[Callable[[], SearchOutcome]] = [
            lambda: solve_problem(problem, SearchSettings(all_solutions=True), stored_in(database)),
            lambda: solve_problem(problem, SearchSettings(all_solutions=True, limit=3), stored_in(database)),
        ]
        for number, other in enumerate(others, 2):
            outcome = other()
            assert (outcome.job, outcome.resumed) == (number, None)
        again = solve_problem(problem, SearchSettings(threads=2), stored_in(database))
        assert again.job == 1
        assert again.resumed is not None


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_a_search_that_is_cut_otherwise_is_begun_anew(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        with pytest.raises(SearchInterrupted):
            solve_problem(problem, SearchSettings(threads=1), stored_in(database), Stopper(20))
        small_pieces.cut("5000 24 13999", monkeypatch.setattr)
        outcome = solve_problem(problem, SearchSettings(threads=1), stored_in(database))
        assert (outcome.job, outcome.resumed) == (2, None)


@pytest.mark.parametrize(
    "change", ["'[1, 2]'", "replace(node, '[', '[1, ')", "replace(node, '1', '2')", "''"]
)
@pytest.mark.usefixtures("often")
def test_damaged_pieces_are_told(problem: Problem, tmp_path: Path, change: str) -> None:
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        with pytest.raises(SearchInterrupted):
            solve_problem(problem, SearchSettings(threads=1), stored_in(database), Stopper(30))
        with database.write() as connection:
            connection.exec_driver_sql(f"UPDATE subtree SET node = {change} WHERE node IS NOT NULL")
        with pytest.raises(DamagedMapError, match="farthest delete 1"):
            solve_problem(problem, SearchSettings(threads=1), stored_in(database))


@pytest.mark.parametrize("rows", ["node IS NOT NULL", "place = (SELECT MIN(place) FROM subtree)", "true"])
@pytest.mark.usefixtures("often")
def test_missing_pieces_are_told(problem: Problem, tmp_path: Path, rows: str) -> None:
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        with pytest.raises(SearchInterrupted):
            solve_problem(problem, SearchSettings(threads=1), stored_in(database), Stopper(30))
        with database.write() as connection:
            connection.exec_driver_sql(f"DELETE FROM subtree WHERE {rows}")
        with pytest.raises(DamagedMapError, match="were stored; remove the job with `farthest delete 1`"):
            solve_problem(problem, SearchSettings(threads=1), stored_in(database))
