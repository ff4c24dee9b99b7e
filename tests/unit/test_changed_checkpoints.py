"""A job that goes on from what was changed meanwhile: it is told, or the result is right."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

import small_pieces
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.search import solve as search_solve
from farthest.coordinator.search.settings import SearchSettings
from farthest.coordinator.search.solve import SearchInterrupted
from farthest.coordinator.settings import Settings
from farthest.errors import FarthestError
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from searching import solve_problem, stored_in
from stopping import StoppedAfter, StoppedAt

Result = TypeVar("Result")


def result_or_message(action: Callable[[], Result]) -> Result | str:
    try:
        return action()
    except FarthestError as error:
        return str(error)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunk SET depth = 8",
        "UPDATE chunk SET codec = 'zstd:uint16'",
        "UPDATE chunk SET checksum = 'other'",
        "UPDATE chunk SET payload = x'00'",
        "UPDATE chunk SET last_key = 100",
        "UPDATE chunk SET record_digest = NULL",
        "DELETE FROM chunk",
        "UPDATE layer SET states = states + 1 WHERE depth = 3",
        "UPDATE layer SET depth = 90 WHERE depth = 3",
        "DELETE FROM layer WHERE depth = 9",
        "UPDATE job SET layout = replace(layout, '0', '1')",
        "UPDATE job SET parameters = replace(parameters, 'goal', 'start')",
        "UPDATE job SET keys = 100",
        "UPDATE job SET depth = 3",
        "UPDATE job SET unit = 'uint16'",
        "UPDATE job SET status = 'finished'",
        "UPDATE job SET finished = created",
        "UPDATE job SET progress = '{'",
        "UPDATE job SET lease_until = 'far', status = 'running'",
        "UPDATE puzzle SET digest = 'other'",
        "UPDATE puzzle SET definition = replace(definition, '2', '1')",
    ],
)
def test_an_enumeration(tmp_path: Path, statement: str) -> None:
    puzzle = load("sliding-2x3")
    expected = enumerate_puzzle(puzzle, None)
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        with pytest.raises(Interrupted):
            enumerate_puzzle(puzzle, database, Settings(), StoppedAt(9))
        with database.write() as connection:
            assert connection.exec_driver_sql(statement).rowcount
        outcome = result_or_message(lambda: enumerate_puzzle(puzzle, database, Settings()))
        if isinstance(outcome, str):
            assert "farthest delete 1" in outcome
        else:
            assert outcome.digest == expected.digest


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE iteration SET nodes = nodes + 1",
        "UPDATE iteration SET solutions = 'many'",
        "UPDATE iteration SET complete = NOT complete",
        "UPDATE iteration SET kept = kept + 1",
        "UPDATE subtree SET place = place || '.1'",
        "UPDATE subtree SET node = replace(node, '1', '2')",
        "UPDATE subtree SET root = root + 1",
        "DELETE FROM subtree",
        "UPDATE job SET parameters = replace(parameters, 'true', 'false')",
        "UPDATE job SET layout = '{}'",
        "UPDATE job SET depth = 3",
    ],
)
def test_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    monkeypatch.setattr(search_solve, "COMMIT_SECONDS", 0.0)
    problem = small_pieces.problem(monkeypatch.setattr, small_pieces.FEWER)
    settings = SearchSettings(all_solutions=True, threads=1)
    expected = solve_problem(problem, settings)
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        with pytest.raises(SearchInterrupted):
            solve_problem(problem, settings, stored_in(database), StoppedAfter())
        with database.write() as connection:
            assert connection.exec_driver_sql(statement).rowcount
        outcome = result_or_message(lambda: solve_problem(problem, settings, stored_in(database)))
        if isinstance(outcome, str):
            assert "farthest delete 1" in outcome
        else:
            assert outcome.digest == expected.digest
