"""`--heuristic auto`: what a search takes of what is stored, and what it makes."""

import json
from pathlib import Path

import pytest

import farthest
from farthest.coordinator.search.settings import SearchSettings
from farthest.coordinator.search.solve import Solver
from farthest.coordinator.search.storage import SearchStorage
from integration.conftest import Run, RunJson

EASY = "867254310"


def test_a_stored_map_answers(run_json: RunJson) -> None:
    searched = run_json("solve", "8-puzzle", EASY, "--all")
    assert searched["heuristic"] == "linear-conflict"
    run_json("enumerate", "8-puzzle")
    found = run_json("solve", "8-puzzle", EASY, "--all")
    assert (found["heuristic"], found["nodes"], found["iterations"]) == ("map", 0, [])
    assert (found["length"], found["solutions"]) == (searched["length"], searched["solutions"])
    assert sorted(found["paths"]) == sorted(searched["paths"])
    assert run_json("solve", "8-puzzle", EASY)["moves"] == found["moves"]
    assert run_json("solve", "8-puzzle", EASY, "--to", "start")["heuristic"] == "linear-conflict"


def test_a_stopped_search_goes_on_with_its_heuristic(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it would have another one now."""

    class Stopped(farthest.FarthestError):
        pass

    def fails(*_: object) -> None:
        raise Stopped

    puzzle = farthest.load_puzzle("8-puzzle")
    board = puzzle.definition.parse_board(EASY)
    storage = SearchStorage(store=True)
    with monkeypatch.context() as patched:
        patched.setattr("farthest.coordinator.search.storage.SearchRecorder.finish", fails)
        with pytest.raises(Stopped):
            Solver(puzzle, "goal", "misplaced", SearchSettings(), storage).solve(board)
    storage.close()
    run("enumerate", "8-puzzle")
    found = run_json("solve", "8-puzzle", EASY)
    assert (found["job"], found["heuristic"], found["length"]) == (1, "misplaced", 30)
    assert run_json("solve", "8-puzzle", EASY)["heuristic"] == "map"


def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simple heuristic is given up at once."""
    monkeypatch.setattr("farthest.search.engines.SlidingEngine.in_a_second", 1)
    monkeypatch.setattr("farthest.search.arrangement_engine.ArrangementEngine.in_a_second", 1)


def test_all_distances_are_made_where_they_are_few(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    hurried(monkeypatch)
    asked = ("solve", "8-puzzle", EASY)
    assert run_json(*asked, "--no-store")["heuristic"] == "linear-conflict"
    assert not list(folder.iterdir())
    said = run(*asked)
    assert "all distances of 8-puzzle, 11.2 MiB, are made once in about" in said.stderr
    assert "30 moves, an optimal solution" in said.stdout
    assert "by map" in said.stdout
    assert run(*asked).stderr == ""


@pytest.mark.parametrize(
    ("puzzle", "board", "length"),
    [("8-puzzle", EASY, 30), ("pyraminx", "moves: R L U' B R' U L B' R U", 9)],
)
def test_tables_are_made_and_kept(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch, puzzle: str, board: str, length: int
) -> None:
    simple = run_json("solve", puzzle, board)
    assert simple["length"] == length
    hurried(monkeypatch)
    monkeypatch.setattr("farthest.coordinator.search.choice.WHOLE_STATES", 0)
    said = run("solve", puzzle, board, "--memory", "100kB", "--store", "--json")
    assert "made once in about" in said.stderr
    assert "kept in farthest.db; --memory for more" in said.stderr
    found = json.loads(said.stdout)
    assert found["length"] == length
    assert found["heuristic"].startswith(("sym:@", "@"))
    assert found["nodes"] < simple["nodes"]
    made = len(run_json("jobs")["jobs"])
    again = run("solve", puzzle, board, "--memory", "100kB", "--store", "--json")
    assert again.stderr == ""
    assert json.loads(again.stdout)["digest"] == found["digest"]
    assert len(run_json("jobs")["jobs"]) == made + 1


def test_many_boards_share_the_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)
    boards = farthest.random_boards("8-puzzle", 3, seed=1)
    found = farthest.solve_many("8-puzzle", boards)
    assert [one.heuristic for one in found if one is not None] == ["map"] * 3
    assert [job.kind for job in farthest.jobs()] == ["enumeration"]
