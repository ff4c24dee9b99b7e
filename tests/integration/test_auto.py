"""`--heuristic auto`: what a search takes of what is stored, and what it makes."""

import json
from contextlib import closing
from pathlib import Path

import pytest

import farthest
from farthest.coordinator.search.choice import Choice, Stage
from farthest.coordinator.search.settings import SearchReporter, SearchSettings
from farthest.coordinator.search.solve import Solver
from farthest.coordinator.search.storage import SearchStorage
from farthest.search.contract import Problem
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
    said = run(*asked, "--no-store").stderr
    assert "no tables are made with --no-store: the search goes on with linear-conflict" in said
    assert "all distances are made in about" in said
    assert not list(folder.iterdir())
    warned = run(*asked)
    assert "all distances of 8-puzzle, 11.2 MiB, are made once in about" in warned.stderr
    assert "30 moves, an optimal solution" in warned.stdout
    assert "by map" in warned.stdout
    assert run(*asked).stderr == ""


@pytest.mark.parametrize(
    ("puzzle", "board", "length"),
    [
        ("8-puzzle", EASY, 30),
        pytest.param("pyraminx", "moves: R L U' B R' U L B' R U", 9, marks=pytest.mark.slow),
    ],
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


@pytest.mark.slow
def test_stored_patterns_are_taken_first(run_json: RunJson, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also additive ones that no rule would choose, and a plain one."""
    hurried(monkeypatch)
    monkeypatch.setattr("farthest.coordinator.search.choice.WHOLE_STATES", 0)
    asked = ("solve", "8-puzzle", EASY, "--memory", "20kB")
    for pattern in ("1-4", "5-8"):
        run_json("enumerate", f"8-puzzle@{pattern}")
    assert run_json(*asked)["heuristic"] == "sym:@1-4+@5-8"
    run_json("enumerate", "8-puzzle@plain:1-5")
    assert run_json(*asked, "--memory", "1MiB")["heuristic"] == "@plain:1-5"


@pytest.mark.slow
def test_larger_tables_are_made_where_the_search_takes_longer(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(monkeypatch)
    for name, size in (("WHOLE_STATES", 0), ("MADE_FIRST", 5_000), ("MOST_MADE", 2**20)):
        monkeypatch.setattr(f"farthest.coordinator.search.choice.{name}", size)
    asked = ("solve", "8-puzzle", EASY, "--json")
    said = run(*asked)
    small, larger = (line for line in said.stderr.splitlines() if "tables of" in line)
    assert small.startswith("Note: tables of 3.5 KiB for sym:@")
    assert larger.startswith("Note: the search takes longer than larger tables: tables of ")
    found = json.loads(said.stdout)
    assert found["length"] == 30
    assert f" for {found['heuristic']}, made once in" in larger
    again = run(*asked)
    assert again.stderr == ""
    assert json.loads(again.stdout)["heuristic"] == found["heuristic"]


def test_tables_at_hand_are_tried_for_as_long_as_larger_ones_take_and_half_as_long_for_the_next_board(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("WHOLE_STATES", 0), ("MADE_FIRST", 5_000), ("MOST_MADE", 2**20)):
        monkeypatch.setattr(f"farthest.coordinator.search.choice.{name}", size)
    puzzle = farthest.load_puzzle("8-puzzle")
    problem = Problem(puzzle, puzzle.definition.parse_board(EASY), "goal", "auto")
    with closing(SearchStorage(str(folder / "farthest.db"))) as storage:
        choice = Choice(puzzle, "goal", SearchSettings(), storage, SearchReporter())
        first = choice.stages(problem)
        assert next(first) == Stage("linear-conflict", 1.0)
        small = next(first)
        assert (small.heuristic[:5], small.seconds) == ("sym:@", 1.0)
        second = choice.stages(problem)
        assert next(second) == Stage(small.heuristic, 0.5)
        large = next(second)
        assert (large.heuristic != small.heuristic, large.seconds) == (True, None)
        assert list(choice.stages(problem)) == [large]


def test_many_boards_share_the_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)
    boards = farthest.random_boards("8-puzzle", 3, seed=1)
    found = farthest.solve_many("8-puzzle", boards)
    assert [one.heuristic for one in found if one is not None] == ["map"] * 3
    assert [job.kind for job in farthest.jobs()] == ["enumeration"]


def test_representatives_are_few_where_states_are_not() -> None:
    """All distances of 16 discs are made, of 784 million representatives; those of 18 are too many."""
    for discs, few in ((16, True), (18, False)):
        puzzle = farthest.load_puzzle(f"hanoi-4-{discs}")
        choice = Choice(puzzle, "goal", SearchSettings(), None, SearchReporter())
        assert (choice.whole is not None) == few


def test_candidates_are_shown(run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.coordinator.search.choice.WHOLE_STATES", 0)
    found = run_json("heuristic", "8-puzzle", "--memory", "5kB")["candidates"]
    assert [each["heuristic"] for each in found if each["taken"]] == ["sym:@1-3.5+@4.7.8+@6"]
    assert not any(each["fits"] for each in found if each["bytes"] > 5000)
    assert found[-1]["heuristic"] == "linear-conflict"
    assert (found[-1]["mean"], found[-1]["sampled"]) == (None, pytest.approx(15, abs=1))
    assert all(each["sampled"] is None for each in found[:-1])
    shown = run("heuristic", "8-puzzle", "--memory", "5kB").stdout
    assert shown.splitlines()[0].split() == ["memory", "mean", "sampled", "made", "in", "heuristic"]
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("auto")] == [
        "sym:@1-3.5+@4.7.8+@6"
    ]
    assert run_json("heuristic", "lights-5x5", "--memory", "1GiB")["candidates"][-1]["taken"]


def test_algorithms_are_compared_with_tables_where_boards_are_hard(
    run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("compare", "8-puzzle", "--instances", "3", "--algorithms", "astar,ida")
    easy = run_json(*asked)
    assert [each["heuristic"] for each in easy["algorithms"]] == ["manhattan", "manhattan"]
    hurried(monkeypatch)
    hard = run_json(*asked)
    assert hard["algorithms"][0]["heuristic"] == "manhattan"
    assert "@" in hard["algorithms"][1]["heuristic"]
    assert hard["disagreements"] == []


def test_discs_that_may_be_anywhere(run_json: RunJson, tmp_path: Path) -> None:
    """Patterns of them alone have no distances."""
    file = tmp_path / "last.toml"
    file.write_text('name = "last"\nfamily = "hanoi"\n[hanoi]\npegs = 3\ndiscs = 6\ngoal = "*****2"\n')
    found = run_json("heuristic", str(file), "--memory", "1MiB")
    assert found["candidates"]
