"""From when on a search is stored, and what becomes of it then."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import farthest
import small_pieces
from farthest.coordinator.search import solve as search_solve
from farthest.coordinator.search.settings import SearchOutcome, SearchReporter, SearchSettings
from farthest.coordinator.search.solve import SearchInterrupted
from farthest.coordinator.search.storage import SearchStorage
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.searches import Searches
from farthest.search.contract import Problem
from searching import solve_problem


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    """A search of some hundred pieces, which is looked at after each."""
    monkeypatch.setattr(search_solve, "COMMIT_SECONDS", 0.0)
    return small_pieces.problem(monkeypatch.setattr, small_pieces.FEWER)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "maps" / "maps.db"


class Told(SearchReporter):
    """Notes what it hears; is told that it is time to store the search after some looks, and stops it after others."""

    def __init__(self, storing: Any = None, looks: int = 0, stop: int = -1) -> None:
        self.stored_as: list[int] = []
        self.notices: list[str] = []
        self._storing, self._looks, self._stop = storing, looks, stop

    def progress(self, known: dict[str, Any]) -> None:
        self._looks -= 1
        self._stop -= 1
        if self._storing is not None and self._looks == 0:
            self._storing()
        if self._stop == 0:
            raise KeyboardInterrupt

    def stored(self, job: int) -> None:
        self.stored_as.append(job)

    def notice(self, text: str) -> None:
        self.notices.append(text)


def solved(
    problem: Problem, file: Path, told: Told, store: bool | None = None, **options: Any
) -> SearchOutcome:
    file.parent.mkdir(exist_ok=True)
    with closing(SearchStorage(str(file), store=store)) as storage:
        return solve_problem(problem, SearchSettings(threads=1, **options), storage, told)


def test_a_short_search_leaves_nothing(problem: Problem, file: Path) -> None:
    told = Told()
    assert solved(problem, file, told).job is None
    with pytest.raises(SearchInterrupted) as stopped:
        solved(problem, file, Told(stop=20))
    assert stopped.value.bound is None
    assert not file.exists()
    assert (told.stored_as, told.notices) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("all_solutions", [False, True])
@pytest.mark.parametrize("looks", [0, *(pytest.param(looks, marks=pytest.mark.slow) for looks in (5, 60))])
def test_a_long_search_is_stored_whole(
    problem: Problem, file: Path, monkeypatch: pytest.MonkeyPatch, looks: int, all_solutions: bool
) -> None:
    """From the beginning, in a first iteration, and when some are over."""
    expected = solve_problem(problem, SearchSettings(threads=1, all_solutions=all_solutions))
    told = patient_until(looks, monkeypatch)
    found = solved(problem, file, told, all_solutions=all_solutions)
    assert (found.job, told.stored_as, found.resumed) == (1, [1], None)
    assert (found.digest, found.nodes, found.paths) == (expected.digest, expected.nodes, expected.paths)
    with open_database(str(file), create=False) as database:
        (record,) = Jobs(database).list()
        stored = [(one.bound, one.nodes, one.pieces) for one in Searches(database).iterations(1)]
        assert stored == [(one.bound, one.nodes, one.pieces) for one in expected.iterations]
        assert (record.status, record.digest) == ("finished", expected.digest)
        assert Searches(database).listed(1) == len(expected.paths)


def patient_until(looks: int, monkeypatch: pytest.MonkeyPatch, stop: int = -1) -> Told:
    """It is time to store a search when it was looked at so often."""
    if looks == 0:
        monkeypatch.setattr(search_solve, "STORE_AFTER_SECONDS", 0.0)
        return Told(stop=stop)
    return Told(lambda: monkeypatch.setattr(search_solve, "monotonic", lambda: float("inf")), looks, stop)


def test_a_stored_search_is_gone_on_with(
    problem: Problem, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = solve_problem(problem, SearchSettings(threads=1))
    with pytest.raises(SearchInterrupted) as stopped:
        solved(problem, file, patient_until(20, monkeypatch, stop=60))
    assert stopped.value.bound is not None
    monkeypatch.undo()
    small_pieces.cut(small_pieces.FEWER, monkeypatch.setattr)
    told = Told()
    found = solved(problem, file, told)
    assert (found.job, found.resumed) == (1, stopped.value.bound)
    assert (found.digest, found.nodes) == (expected.digest, expected.nodes)
    assert told.stored_as == []


@pytest.mark.slow
def test_what_store_says_holds(problem: Problem, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_solve, "STORE_AFTER_SECONDS", 0.0)
    assert solved(problem, file, Told(), store=False).job is None
    assert not file.exists()
    assert solved(problem, file, Told(), algorithm="astar").job is None  # it could not be continued
    monkeypatch.setattr(search_solve, "STORE_AFTER_SECONDS", 1000.0)
    assert solved(problem, file, Told(), store=True).job == 1
    assert solved(problem, file, Told(), store=True, algorithm="astar").job == 2


def test_a_search_that_cannot_be_stored_goes_on(
    problem: Problem, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_solve, "STORE_AFTER_SECONDS", 0.0)

    class Removing(Told):
        def begun(self, job: int | None, bound: int) -> None:
            file.parent.rmdir()

    told = Removing()
    assert solved(problem, file, told).length == small_pieces.LENGTH
    (notice,) = told.notices
    assert "does not exist" in notice
    assert notice.endswith("the search goes on, and is not stored")


def test_the_python_function(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert farthest.solve("eight-kinds").job is None
    assert not Path("farthest.db").exists()
    assert farthest.solve("eight-kinds", store=True).job == 1
    assert farthest.solve("eight-kinds", store=False).job is None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FARTHEST_DATABASE_URL", raising=False)
    return tmp_path
