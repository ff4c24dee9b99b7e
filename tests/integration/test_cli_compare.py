"""`farthest compare`: S4's experiment."""

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import farthest
from farthest.heuristics import ALGORITHMS
from farthest.queries.output_files import route_file
from farthest.search.comparison import Entrant, Run, Tally
from farthest.search.solvable import random_boards
from integration.conftest import Run as RunCommand
from integration.conftest import RunJson

SMALL = ("compare", "sliding-2x3", "--instances", "6")


def by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{each['algorithm']} {each['heuristic'] or ''}".strip(): each for each in document["algorithms"]}


def test_all_algorithms_with_two_heuristics(run: RunCommand, run_json: RunJson, folder: Path) -> None:
    farthest.enumerate("sliding-2x3", database="farthest.db").close()
    arguments = (*SMALL, "--algorithms", "iddfs,bfs,dfs,astar,ida", "--heuristic", "misplaced+manhattan")
    document = run_json(*arguments, "--heuristic", "manhattan", "--csv", "runs.csv", "--routes", "routes")
    assert (document["puzzle"], document["instances"], document["seed"]) == ("sliding-2x3", 6, 1)
    assert (document["map"], document["disagreements"]) == (1, [])
    found = by_name(document)
    assert list(found) == [
        "iddfs",
        "bfs",
        "dfs",
        "astar misplaced+manhattan",
        "astar manhattan",
        "ida misplaced+manhattan",
        "ida manhattan",
    ]
    assert [name for name, each in found.items() if each["optimal"]] == [
        "iddfs",
        "bfs",
        "astar manhattan",
        "ida manhattan",
    ]
    shortest = found["bfs"]["moves"]
    assert all(each["moves"] == shortest for each in found.values() if each["optimal"])
    assert found["dfs"]["moves"]["mean"] > shortest["mean"]
    assert found["bfs"]["boards"]["mean"] == shortest["mean"] + 1
    assert found["ida manhattan"]["expanded"] is None
    assert found["astar manhattan"]["expanded"]["mean"] < found["bfs"]["expanded"]["mean"]
    check_rows(folder / "runs.csv", found)
    assert sorted(path.name for path in (folder / "routes").iterdir()) == sorted(
        f"{name.replace(' ', '-')}.txt" for name in found
    )
    check_routes(folder / "routes" / "ida-manhattan.txt", shortest["most"])
    check_routes(folder / "routes" / "dfs.txt", found["dfs"]["moves"]["most"])


def check_rows(file: Path, found: dict[str, dict[str, Any]]) -> None:
    """A row for each board and algorithm, from which the means follow."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6 * len(found)
    for name, each in found.items():
        runs = [row for row in rows if f"{row['algorithm']} {row['heuristic']}".strip() == name]
        assert [int(row["number"]) for row in runs] == list(range(1, 7))
        for measure in ("moves", "boards", "generated"):
            assert sum(int(row[measure]) for row in runs) / 6 == pytest.approx(each[measure]["mean"])
        assert {row["optimal"] for row in runs} == {"yes" if each["optimal"] else "no"}


def check_routes(file: Path, longest: float) -> None:
    """Each route goes from the random board to the goal, by moves."""
    puzzle = farthest.load_puzzle("sliding-2x3")
    boards = random_boards(puzzle, 6, 1)
    routes = file.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    assert len(routes) == 6
    lengths = []
    for number, (route, board) in enumerate(zip(routes, boards, strict=True), 1):
        heading, *lines = route.splitlines()
        lengths.append(len(lines) - 1)
        assert heading == f"board {number}: {len(lines) - 1} moves, {len(lines)} boards"
        way = [puzzle.definition.parse_board(line) for line in lines]
        assert (way[0], way[-1]) == (board, puzzle.definition.origin_boards[0][0])
        for here, there in pairwise(way):
            assert there in [after for _, after in farthest.copies(puzzle, here)]
    assert max(lengths) == longest


def test_for_people(run: RunCommand, folder: Path) -> None:
    result = run(*SMALL, "--algorithms", "bfs,dfs,ida")
    lines = result.stdout.splitlines()
    assert lines[0] == "6 random boards of sliding-2x3, seed 1"
    assert lines[2].split() == ["algorithm", "seconds", "expanded", "generated", "moves", "boards"]
    assert [line.split()[0] for line in lines[3:12:3]] == ["bfs", "dfs", "ida"]
    assert lines[9].split()[4] == "-"
    assert lines[-2] == "Not proven to be shortest: the solutions of dfs."
    assert lines[-1] == "bfs and ida manhattan agree on the shortest ways."
    assert "There is no stored map to compare with: farthest.db" in result.stderr
    farthest.enumerate("sliding-2x3", database="farthest.db", max_depth=3).close()
    assert "job 1 does not have all distances" in run(*SMALL, "--algorithms", "ida").stderr
    farthest.enumerate("sliding-2x3", database="farthest.db").close()
    alone = run(*SMALL, "--algorithms", "ida").stdout.splitlines()[-1]
    assert alone == "ida manhattan finds the shortest ways, and with the map of job 2."


def test_the_same_seed_gives_the_same(run_json: RunJson) -> None:
    def figures(*arguments: str) -> list[Any]:
        document = run_json(*SMALL, "--algorithms", "dfs,astar", *arguments)
        return [
            {key: value for key, value in each.items() if key != "seconds"} for each in document["algorithms"]
        ]

    assert figures() == figures("--seed", "1") != figures("--seed", "2")


def test_other_families(run_json: RunJson) -> None:
    for puzzle, heuristic in (("pancake-5", "gap"), ("hanoi-3-3", None)):
        document = run_json("compare", puzzle, "--instances", "3", "--algorithms", "bfs,astar,ida,iddfs")
        found = document["algorithms"]
        assert heuristic is None or found[1]["heuristic"] == heuristic
        assert len({each["moves"]["mean"] for each in found}) == 1
        assert document["disagreements"] == []


def test_maps_of_patterns(run: RunCommand, run_json: RunJson) -> None:
    wanted = ("--algorithms", "astar,ida", "--heuristic", "@1-2+@3-5", "--heuristic", "zero")
    assert (
        "no finished map of sliding-2x3@1.2; run `farthest enumerate" in run(*SMALL, *wanted, status=2).stderr
    )
    farthest.enumerate("sliding-2x3@1-2", database="farthest.db").close()
    assert "farthest enumerate" in run(*SMALL, *wanted, status=2).stderr
    farthest.enumerate("sliding-2x3@3-5", database="farthest.db").close()
    document = run_json(*SMALL, *wanted)
    assert document["disagreements"] == []
    found = by_name(document)
    assert found["ida @1-2+@3-5"]["generated"]["mean"] < found["ida zero"]["generated"]["mean"]
    assert found["astar @1-2+@3-5"]["moves"] == found["astar zero"]["moves"]


def test_a_map_that_says_something_else(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy

    from farthest.queries.distance_map import DistanceMap

    farthest.enumerate("sliding-2x3", database="farthest.db").close()
    monkeypatch.setattr(
        DistanceMap, "distances", lambda self, boards: numpy.full(len(boards), 3, dtype=numpy.int32)
    )
    result = run(*SMALL, "--algorithms", "bfs,ida", status=1)
    assert "Wrong: board 1: the map of job 1 says 3, bfs " in result.stderr
    assert "contradictions in all." in result.stderr
    assert "agree" not in result.stdout


def test_disagreements_are_told_once_each() -> None:
    tally = Tally()
    entrant = Entrant("bfs", None)
    run = Run(entrant, 1, (0, 1), 4, (), 5, 6, 0.1, True)
    tally.expect(1, 4, "one")
    tally.add(run)
    tally.expect(1, None, "two")
    assert tally.disagreements == ["board 1: one says 4, two no way"]


def test_names_of_files() -> None:
    two = [Entrant("ida", "sym:@1-7+@8-15"), Entrant("ida", "zero"), Entrant("astar", "a/b")]
    assert [route_file(two, entrant) for entrant in two] == [
        "ida-sym_@1-7+@8-15.txt",
        "ida-zero.txt",
        "astar.txt",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--algorithms", "bfs,idda"], "algorithm 'idda' is not known; did you mean 'ida' or 'iddfs'?"),
        (["--algorithms", ""], f"algorithm '' is not known; expected {', '.join(ALGORITHMS)}"),
        (["--algorithms", "bfs", "--heuristic", "manhattan"], "only ida and astar use a heuristic"),
        (["--heuristic", "manhatan"], "did you mean 'manhattan'?"),
        (["--heuristic", ""], "heuristic ''"),
        (["--instances", "0"], "0 is not in the range 1<=x<=1000000"),
        (["--seed", "-1"], "-1 is not in the range"),
        (["--csv", "runs.txt"], "runs.txt: a table of runs is a .csv file"),
        (["--csv", "no/runs.csv"], "there is no folder no; make it first"),
        (["--csv", "there.csv"], "there.csv exists already; choose another name, or --force"),
        (["--routes", "there.csv"], "there.csv is a file; expected the name of a folder"),
        (["--routes", "no/routes"], "no/routes: there is no folder no; make it first"),
        (["--routes", "full", "--algorithms", "bfs"], "bfs.txt exists already"),
        (["--database", "none.db"], "none.db: there is no such database"),
    ],
)
def test_what_is_wrong(run: RunCommand, folder: Path, arguments: list[str], message: str) -> None:
    (folder / "there.csv").write_text("mine")
    (folder / "full").mkdir()
    (folder / "full" / "bfs.txt").write_text("mine")
    result = run(*SMALL, *arguments, status=2)
    assert message in result.stderr
    assert (folder / "there.csv").read_text() == (folder / "full" / "bfs.txt").read_text() == "mine"
    assert sorted(path.name for path in folder.rglob("*.*")) == ["bfs.txt", "there.csv"]


def test_a_search_without_memory_is_given_up(run: RunCommand, run_json: RunJson, folder: Path) -> None:
    arguments = (*SMALL, "--memory", "1k", "--algorithms", "bfs,ida", "--csv", "runs.csv", "--force")
    result = run(*arguments, "--routes", "routes", status=1)
    assert "bfs gave up on 6 boards; its figures do not count them:" in result.stderr
    assert "which take the 1.0 KiB of memory allowed" in result.stderr
    rows = (folder / "runs.csv").read_text().splitlines()
    assert len(rows) == 13
    assert rows[1].endswith(",bfs,,,,,,,")
    assert (folder / "routes" / "bfs.txt").read_text().startswith("board 1: given up")
    broad, deep = run_json(*arguments, status=1)["algorithms"]
    assert (broad["failed"], broad["moves"], deep["failed"]) == (6, None, 0)
    assert deep["moves"] is not None


def test_files_are_replaced_when_told(run: RunCommand, folder: Path) -> None:
    (folder / "runs.csv").write_text("old")
    run(*SMALL, "--algorithms", "ida", "--csv", "runs.csv", "--force")
    assert (folder / "runs.csv").read_text().count("\n") == 7


def test_a_puzzle_without_a_goal(run: RunCommand, folder: Path) -> None:
    text = 'name = "ring"\nfamily = "python"\n[python]\nclass = "python_spaces:Ring"\n'
    (folder / "ring.toml").write_text(text)
    assert "puzzle ring: it has no goal" in run("compare", "ring.toml", status=2).stderr


@pytest.mark.slow
def test_the_table_of_the_seed(run_json: RunJson) -> None:
    """S4's means of 100 random boards: BFS 92,862.58 loops and 22.93 boards, A* 1,061.63 and 23.23, DFS 121,282.10 and
    47,658.85. Other boards, so ours lie around them: the mean distance of all boards is 21.97 moves, with a standard
    deviation of 3.4; breadth first any number of the 181,440 boards is as likely. Depth first all depends on the order
    in which moves are tried."""
    farthest.enumerate("8-puzzle", database="farthest.db").close()
    heuristics = ("--heuristic", "misplaced+manhattan", "--heuristic", "manhattan")
    document = run_json(
        "compare", "8-puzzle", "--algorithms", "bfs,dfs,astar,ida", *heuristics, "--instances", "40"
    )
    assert (document["map"], document["disagreements"], document["instances"]) == (1, [], 40)
    found = by_name(document)
    breadth, depth, theirs = found["bfs"], found["dfs"], found["astar misplaced+manhattan"]
    assert 21.97 - 1.4 < breadth["moves"]["mean"] < 21.97 + 1.4
    assert 70_000 < breadth["expanded"]["mean"] < 112_000
    assert 20_000 < depth["expanded"]["mean"] < 160_000
    assert 10_000 < depth["boards"]["mean"] < 90_000
    assert 0 < theirs["moves"]["mean"] - breadth["moves"]["mean"] < 1
    assert 300 < theirs["expanded"]["mean"] < 3000
    assert found["ida manhattan"]["moves"] == found["astar manhattan"]["moves"] == breadth["moves"]
