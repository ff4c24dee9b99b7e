"""`farthest solve`: known answers, what it prints, and what it says of bad input."""

import json
from pathlib import Path
from typing import Any

import pytest

import farthest
from farthest.coordinator.search.settings import SearchOutcome
from integration.conftest import Run, RunJson, alter

EASY = "867254310"
"""A board of the 8-puzzle, 30 moves from the goal."""

FIELDS = {
    "job": type(None),
    "puzzle": str,
    "board": str,
    "target": str,
    "algorithm": str,
    "heuristic": str,
    "length": int,
    "solutions": int,
    "moves": list,
    "paths": list,
    "optimal": bool,
    "bound": int,
    "nodes": int,
    "nodes_a_second": float,
    "expanded": type(None),
    "iterations": list,
    "seconds": float,
    "digest": str,
    "resumed": type(None),
    "database": type(None),
}


def test_the_seed(run_json: RunJson) -> None:
    """S1: 16 solutions of 30 moves, and a first limit of 24."""
    found = run_json("solve", "eight-kinds", "--heuristic", "nearest", "--all")
    assert {name: type(value) for name, value in found.items()} == FIELDS
    assert (found["length"], found["solutions"], found["optimal"]) == (30, 16, True)
    assert [one["bound"] for one in found["iterations"]] == [24, 26, 28, 30]
    assert len({json.dumps(path) for path in found["paths"]}) == 16
    assert found["moves"] == found["paths"][0]
    assert found["nodes"] == sum(one["nodes"] for one in found["iterations"])
    stored = {json.dumps(path["moves"]) for path in run_path(run_json)}
    assert {json.dumps(path) for path in found["paths"]} == stored


def run_path(run_json: RunJson) -> Any:
    """All solutions of the seed's board, of the stored map."""
    run_json("enumerate", "eight-kinds")
    return run_json("path", "eight-kinds", "┘│└/─□─/┐│┌", "--all")["paths"]


@pytest.mark.parametrize(
    ("options", "iterations"),
    [
        (["--algorithm", "iddfs"], True),
        (["--algorithm", "bfs"], False),
        (["--algorithm", "astar"], False),
        (["--heuristic", "linear-conflict"], True),
        (["--threads", "3"], True),
    ],
)
def test_every_way_finds_a_shortest_solution(run_json: RunJson, options: list[str], iterations: bool) -> None:
    found = run_json("solve", "8-puzzle", "123045678", "--to", "123 405 678", *options)
    assert (found["length"], found["solutions"], found["optimal"]) == (1, 1, True)
    assert found["moves"] == [[4, 3]]
    assert (found["iterations"] != []) == iterations
    assert (found["expanded"] is None) == iterations


def test_the_start_is_solved_where_no_board_is_named(run: Run) -> None:
    result = run("solve", "eight-kinds", "--progress", "--store")
    assert "30 moves, an optimal solution" in result.stdout
    assert "moves: " in result.stdout
    assert "job 1 in farthest.db" in result.stdout
    said = result.stderr.splitlines()
    assert said[0].startswith("begun job=1 bound=")
    assert said[-1].startswith("iteration bound=30 nodes=")


def test_all_are_listed(run: Run) -> None:
    text = run("solve", "eight-kinds", "--all", "--limit", "2", "--no-progress").stdout
    assert "30 moves, 16 optimal solutions" in text
    assert "and 14 more" in text
    assert sum(line.count("-") >= 30 for line in text.splitlines()) == 2


@pytest.mark.parametrize(
    ("puzzle", "board", "length", "solutions"),
    [
        ("eight-kinds", (), 30, 16),
        ("8-puzzle", ("123456780",), 0, 1),
        ("die-hard-jugs", (), 6, 1),
        ("pancake-4", ("4231",), 4, 4),
    ],
)
def test_all_are_counted_and_none_is_listed(
    run: Run, run_json: RunJson, puzzle: str, board: tuple[str, ...], length: int, solutions: int
) -> None:
    asked = ("solve", puzzle, *board, "--all", "--limit", "0", "--store")
    found = run_json(*asked)
    assert (found["length"], found["solutions"], found["paths"], found["moves"]) == (
        length,
        solutions,
        [],
        None,
    )
    assert "more" not in run(*asked).stdout
    assert run_json("show", "1")["paths"] == []


def test_a_solved_board_takes_no_moves(run_json: RunJson, run: Run) -> None:
    for options in ([], ["--all"], ["--algorithm", "dfs"]):
        found = run_json("solve", "8-puzzle", "123456780", *options)
        assert (found["length"], found["solutions"], found["moves"], found["nodes"]) == (0, 1, [], 0)
    assert "0 moves: the board is a goal already" in run("solve", "8-puzzle", "123456780").stdout


def test_what_is_not_proven_shortest_is_said(run: Run, run_json: RunJson) -> None:
    greedy = ["solve", "8-puzzle", EASY, "--heuristic", "misplaced+manhattan"]
    found = run_json(*greedy)
    assert found["optimal"] is False
    assert found["length"] == len(found["moves"]) >= 30
    assert "not proven shortest: misplaced+manhattan may be more than the distance" in run(*greedy).stdout
    assert run_json("solve", "8-puzzle", EASY, "--algorithm", "dfs")["optimal"] is False


def test_a_job_of_a_search(run: Run, run_json: RunJson) -> None:
    found = run_json("solve", "eight-kinds", "--all", "--limit", "3", "--store")
    (listed,) = run_json("jobs")["jobs"]
    assert (listed["kind"], listed["status"], listed["depth"]) == ("search", "finished", 30)
    assert listed["parameters"]["board"] == found["board"]
    assert listed["result"]["nodes"] == found["nodes"]
    assert listed["digest"] == found["digest"]
    shown = run_json("show", "1")
    assert shown["paths"] == found["paths"]
    assert [one["nodes"] for one in shown["iterations"]] == [one["nodes"] for one in found["iterations"]]
    assert "solutions     16" in run("show", "1").stdout
    assert "┘│└/─□─/┐│┌ to goal" in run("jobs").stdout
    assert run_json("delete", "1")["bytes"] > 300


@pytest.mark.parametrize("algorithm", ["bfs", "dfs", "astar"])
def test_a_job_of_a_search_of_the_graph(run: Run, run_json: RunJson, algorithm: str) -> None:
    found = run_json("solve", "3-puzzle", "10/23", "--algorithm", algorithm, "--store")
    assert found["moves"]
    assert run_json("show", "1")["paths"] == found["paths"]
    text = run("show", "1").stdout
    assert f"expanded      {found['expanded']:,} boards" in text
    assert "{}-{}".format(*found["moves"][0]) in text


def test_a_search_is_never_taken_for_a_map(run: Run, run_json: RunJson) -> None:
    run_json("enumerate", "eight-kinds")
    run_json("solve", "eight-kinds", "--store")
    assert run_json("show", "eight-kinds")["job"] == 1
    assert run_json("distance", "eight-kinds", "┘│└/─□─/┐│┌")["job"] == 1
    for command in (
        ["distance", "2", "┘│└/─□─/┐│┌"],
        ["path", "2", "┘│└/─□─/┐│┌"],
        ["states", "2", "--farthest"],
        ["plot", "2", "layers.svg"],
        ["resume", "2"],
        ["watch", "2"],
        ["cancel", "2"],
    ):
        said = run(*command, status=2).stderr
        assert said.startswith("Error: ")
        assert "search" in said or "already finished" in said or "finished and cannot" in said
    assert run_json("delete", "eight-kinds")["job"] == 1
    assert "named by number (2)" in run("show", "eight-kinds", status=2).stderr


def test_a_file_of_boards(folder: Path, run: Run) -> None:
    (folder / "boards.txt").write_text(f"{EASY}\n")
    assert (
        "boards.txt' is a file; to read boards from it, write - < boards.txt"
        in run("solve", "8-puzzle", "boards.txt", status=2).stderr
    )


BAD: list[tuple[list[str], list[str]]] = [
    (["eight-kindz"], ["eight-kindz", "did you mean", "eight-kinds"]),
    (["15-puzzle"], ["15-puzzle", "no start", "name a board"]),
    (["8-puzzle", "12345678"], ["8 cells", "expected 9", "is written like"]),
    (["8-puzzle", "123456779"], ["board '123456779'", "8-puzzle"]),
    (["8-puzzle", "213456780"], ["cannot be solved", "parity"]),
    (["8-puzzle", EASY, "--to", "nowhere"], ["board 'nowhere'", "8-puzzle"]),
    (["cube-3x3x3", "R UF F2"], ["3 pieces", 'write "moves: R UF F2"']),
    (
        ["15-puzzle", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15", "--to", "start"],
        ["no start", "name a board instead"],
    ),
    (["8-puzzle", EASY, "--heuristic", "manhatten"], ["manhatten", "manhattan"]),
    (["eight-kinds", "--heuristic", "manhattan"], ["manhattan", "eight-kinds"]),
    (["8-puzzle", EASY, "--heuristic", "manhattan,"], ["a name is missing"]),
    (["8-puzzle", EASY, "--heuristic", ""], ["a name is missing"]),
    (
        ["8-puzzle", EASY, "--heuristic", "@1-4"],
        ["no finished map of 8-puzzle@1-4", "farthest enumerate 8-puzzle@1-4"],
    ),
    (["8-puzzle", EASY, "--heuristic", "@1-9"], ["@1-9", "8-puzzle"]),
    (["8-puzzle", EASY, "--algorithm", "idastar"], ["idastar", "'ida'", "'astar'"]),
    (
        ["8-puzzle", EASY, "--algorithm", "bfs", "--heuristic", "manhattan"],
        ["--heuristic", "bfs", "ida or astar"],
    ),
    (["8-puzzle", EASY, "--algorithm", "bfs", "--all"], ["bfs", "--all", "--algorithm ida"]),
    (
        ["8-puzzle", EASY, "--algorithm", "astar", "--workers", "celery"],
        ["astar", "one process", "leave --workers out"],
    ),
    (["8-puzzle", EASY, "--heuristic", "misplaced+manhattan", "--all"], ["--all", "take another heuristic"]),
    (["8-puzzle", EASY, "--limit", "5"], ["--limit needs --all"]),
    (["8-puzzle", EASY, "--all", "--limit", "-1"], ["--limit", "0<=x<=1000000000"]),
    (["8-puzzle", EASY, "--all", "--limit", "1" + 20 * "0"], ["--limit", "0<=x<=1000000000"]),
    (["8-puzzle", EASY, "--threads", "0"], ["--threads", "4096"]),
    (
        ["8-puzzle", EASY, "--memory", "1GiB", "--heuristic", "manhattan"],
        ["--memory", "--heuristic auto", "ida keeps no boards", "manhattan says which tables"],
    ),
    (["8-puzzle", EASY, "--memory", "1GiB", "--algorithm", "iddfs"], ["--memory", "iddfs keeps no boards"]),
    (["8-puzzle", EASY, "--algorithm", "bfs", "--memory", "lots"], ["lots", "not a size"]),
    (["8-puzzle", EASY, "--algorithm", "bfs", "--memory", "1kB"], ["memory", "--memory"]),
    (["8-puzzle", EASY, "--database", "nowhere/x.db"], ["nowhere", "does not exist"]),
    (["8-puzzle", EASY, "--workers", "processes"], ["processes", "'celery'"]),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input(run: Run, arguments: list[str], expected: list[str]) -> None:
    said = run("solve", *arguments, status=2).stderr
    assert "Error: " in said
    assert not [part for part in expected if part not in said]
    assert "Traceback" not in said


def test_a_wrong_redis(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("FARTHEST_REDIS_WAIT_SECONDS", "0")
    said = run("solve", "8-puzzle", EASY, "--workers", "celery", status=2).stderr
    assert "Redis cannot be reached" in said
    assert "FARTHEST_REDIS_URL" in said


def test_a_damaged_database_is_told(run: Run, run_json: RunJson) -> None:
    run_json("solve", "eight-kinds", "--store")
    alter("UPDATE solution SET moves = 'x'")
    assert run("show", "1", status=2).stderr.startswith("Error: ")


def test_what_cannot_be_solved_is_proven_where_it_is_not_known(run: Run, folder: Path) -> None:
    """Three pegs in a row: the first jump leaves two that cannot jump."""
    assert "cannot be solved" in run("solve", "pegs-triangle-15", pegs(), status=2).stderr


def pegs() -> str:
    definition = farthest.load_puzzle("pegs-triangle-15").definition
    board = [0] * definition.cells
    board[0] = board[-1] = 1
    return definition.format_board(board)


def test_the_python_function(folder: Path) -> None:
    found = farthest.solve("eight-kinds", all_solutions=True, threads=2)
    assert isinstance(found, SearchOutcome)
    assert (found.length, found.solutions, found.job) == (30, 16, None)
    assert not (folder / "farthest.db").exists()
    kept = farthest.solve("8-puzzle", EASY, store=True, heuristic="linear-conflict")
    assert (kept.length, kept.job) == (30, 1)
    assert [job.kind for job in farthest.jobs()] == ["search"]
    with pytest.raises(farthest.SettingError, match="mannhattan"):
        farthest.solve("8-puzzle", EASY, heuristic="zero,mannhattan")
    with pytest.raises(farthest.SettingError, match="heuristic 5 is int; expected a name"):
        farthest.solve("8-puzzle", EASY, heuristic=5)  # type: ignore[arg-type]
    with pytest.raises(farthest.SettingError, match="heuristic 5 is int; expected a name"):
        farthest.compare("8-puzzle", [EASY], heuristics=[5])  # type: ignore[list-item]
    with pytest.raises(farthest.UnreachableError):
        farthest.solve("8-puzzle", "213456780")
    with pytest.raises(ValueError, match="limit is 100000000000000000000; expected at most 1000000000"):
        farthest.solve("8-puzzle", EASY, all_solutions=True, limit=10**20)
    with pytest.raises(ValueError, match="algorithm is 'idastar'; expected one of ida, iddfs, bfs"):
        farthest.solve("8-puzzle", EASY, algorithm="idastar")  # type: ignore[arg-type]


def test_only_long_searches_are_stored(run: Run, run_json: RunJson, folder: Path) -> None:
    said = run("solve", "eight-kinds", "--all", "--limit", "1", "--progress")
    assert "kept" not in said.stdout
    assert said.stderr.startswith("begun bound=")
    run("solve", "8-puzzle", EASY, "--algorithm", "bfs")
    assert not list(folder.iterdir())
    assert "kept as job 1 in farthest.db" in run("solve", "eight-kinds", "--store").stdout
    assert run_json("solve", "eight-kinds")["job"] is None
    assert len(run_json("jobs")["jobs"]) == 1
    assert "proved" in run("verify", "1").stdout


def test_a_long_search_is_stored_and_proved(
    run: Run, run_json: RunJson, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run_json("solve", "eight-kinds", "--all", "--heuristic", "nearest")
    monkeypatch.setattr("farthest.coordinator.search.solve.STORE_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("farthest.coordinator.search.solve.COMMIT_SECONDS", 0.0)
    said = run("solve", "eight-kinds", "--all", "--progress", "--json", "--heuristic", "nearest")
    found = json.loads(said.stdout)
    assert (found["job"], found["database"], found["digest"]) == (1, "farthest.db", expected["digest"])
    assert "stored job=1" in said.stderr.splitlines()
    assert "proved" in run("verify", "1").stdout
