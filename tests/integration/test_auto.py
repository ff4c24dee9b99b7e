"""`--heuristic auto`: what a search takes of what is stored, and what it makes."""

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
