"""`farthest random`, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest

import farthest
from every_board import evenly_spread
from farthest.puzzles.catalogue import load
from farthest.queries import states as drawing
from farthest.queries.distance_map import open_map
from farthest.queries.states import random_states
from farthest.random_source import RandomSource
from integration.conftest import Run, RunJson


def test_boards(run: Run, run_json: RunJson) -> None:
    lines = run("random", "sliding-2x3", "-n", "5", "--seed", "1").stdout.splitlines()
    assert len(lines) == 5
    assert run("random", "sliding-2x3", "--count", "3", "--seed", "1").stdout.splitlines() == lines[:3]
    assert run_json("random", "sliding-2x3", "-n", "2", "--seed", "1") == {
        "puzzle": "sliding-2x3",
        "count": 2,
        "seed": 1,
        "depth": None,
        "boards": lines[:2],
    }
    assert run("random", "sliding-2x3", "-n", "0", "--seed", "1").stdout == ""
    assert run_json("random", "sliding-2x3", "-n", "0", "--seed", "1")["boards"] == []
    run("enumerate", "sliding-2x3")
    found = run("distance", "sliding-2x3", "-", stdin="\n".join(lines)).stdout.split()
    assert all(distance.isdecimal() for distance in found)
    assert run("random", "sliding-2x3", "--seed", "1", "--to", "012354").stdout not in lines


def test_a_new_seed_is_told(run: Run) -> None:
    first = run("random", "15-puzzle", "-n", "3")
    seed = first.stderr.split()[1].rstrip(":")
    assert first.stderr == f"Seed {seed}: --seed {seed} gives these boards again.\n"
    again = run("random", "15-puzzle", "-n", "3", "--seed", seed)
    assert (again.stdout, again.stderr) == (first.stdout, "")


@pytest.mark.parametrize("name", ["2x3", "hakoiri", "sparse"])
def test_states_of_a_layer(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name == "2x3":
        puzzle, depth = "sliding-2x3", 12
    elif name == "hakoiri":
        puzzle, depth = "hakoiri-musume-step", 3
    else:
        puzzle, depth = "rush-hour-58", 2
    with farthest.enumerate(puzzle, max_depth=depth) as stored:
        layer = list(stored.states_at(depth))
        drawn = Counter(random_states(stored, 12 * len(layer), RandomSource(1), depth))
        assert set(drawn) <= set(layer)
        assert evenly_spread([drawn[board] for board in layer])
        few = list(random_states(stored, 4, RandomSource(2), depth))
        monkeypatch.setattr(drawing, "DRAWN_AT_ONCE", 3)
        assert list(random_states(stored, 4, RandomSource(2), depth)) == few
    lines = run("random", puzzle, "--depth", str(depth), "-n", "4", "--seed", "2").stdout.splitlines()
    assert lines == few


def test_states_of_a_map_where_nothing_else_tells(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.search.solvable.MOST_DRAWN", 10)
    error = run("random", "die-hard-jugs", status=2).stderr
    assert error.startswith("Error: puzzle die-hard-jugs: only a map of all distances to the target tells")
    assert "`farthest enumerate die-hard-jugs --to goal` (farthest.db: there is no such database" in error
    run("enumerate", "die-hard-jugs")
    error = run("random", "die-hard-jugs", status=2).stderr
    assert error.endswith(
        "(the newest map of die-hard-jugs, job 1, is not one of all distances to the goal)\n"
    )
    run("enumerate", "die-hard-jugs", "--to", "goal")
    lines = run("random", "die-hard-jugs", "-n", "400", "--seed", "1").stdout.splitlines()
    with open_map(2) as stored:
        boards = [text for depth in range(stored.depth + 1) for text in stored.states_at(depth)]
    assert sorted(set(lines)) == sorted(boards)
    assert evenly_spread([lines.count(board) for board in boards])


def test_sliding_blocks_are_drawn_from_a_map_of_the_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.search.solvable.MOST_DRAWN", 10)
    run("enumerate", "rush-hour-58")
    lines = run("random", "rush-hour-58", "-n", "20", "--seed", "1").stdout.splitlines()
    assert len(lines) == 20
    definition = load("rush-hour-58").definition
    assert all(definition.format_board(definition.parse_board(line)) == line for line in lines)


BAD = [
    (["nosuch"], "no puzzle is called 'nosuch'"),
    (["nosuch.toml"], "nosuch.toml"),
    (["8-puzzle", "-n", "-1"], "-1 is not in the range 0<=x<=1000000000000000"),
    (["8-puzzle", "-n", "1" + 20 * "0"], "is not in the range 0<=x<=1000000000000000"),
    (["8-puzzle", "-n", "many"], "'many' is not a valid integer"),
    (["8-puzzle", "--count", "1.5"], "'1.5' is not a valid integer"),
    (["8-puzzle", "--seed", "-1"], "-1 is not in the range x>=0"),
    (["8-puzzle", "--seed", "one"], "'one' is not a valid integer"),
    (["8-puzzle", "--depth", "-1"], "-1 is not in the range x>=0"),
    (["8-puzzle", "--depth", "3"], "there is no such database; make one with `farthest enumerate PUZZLE`"),
    (["8-puzzle", "--depth", "3", "--database", "nowhere://x"], "nowhere"),
    (["8-puzzle", "--depth", "3", "--to", "start"], "--depth and --to exclude each other"),
    (["8-puzzle", "--to", "12345678"], "8 cells, expected 9"),
    (["8-puzzle", "--to", "123456788"], "piece 8 appears twice"),
    (["sliding-3x3", "--to", "start"], "it has no start; name a board instead"),
    (["pegs-english"], "only a map of all distances to the target tells"),
    (["8-puzzle", "12"], "unexpected extra argument"),
    ([], "Missing argument 'PUZZLE'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input(run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    monkeypatch.setattr("farthest.search.solvable.MOST_DRAWN", 10)
    result = run("random", *arguments, status=2)
    assert message in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_bad_layers_and_maps(run: Run, folder: Path) -> None:
    run("enumerate", "3-puzzle")
    error = run("random", "3-puzzle", "--depth", "7", status=2).stderr
    assert error == "Error: job 1 (3-puzzle) has no layer 7; its layers are 0 to 6\n"
    error = run("random", "8-puzzle", "--depth", "7", status=2).stderr
    assert error.endswith("store a map first: farthest enumerate 8-puzzle\n")
    file = folder / "3-puzzle.toml"
    file.write_text(
        'name = "3-puzzle"\nfamily = "sliding"\n[sliding]\ngoal = ["0 1", "2 3"]\n', encoding="utf-8"
    )
    error = run("random", str(file), "--depth", "1", status=2).stderr
    assert error.startswith(
        "Error: the newest map of 3-puzzle, job 1, is of another puzzle of that name; store one"
    )
    run("enumerate", "3-puzzle", "--histogram-only")
    assert run("random", "3-puzzle", "--depth", "6", "--seed", "1").stdout
    with farthest.open_map(1) as stored, pytest.raises(farthest.JobError, match="has no layer 7"):
        random_states(stored, 1, RandomSource(1), 7)
