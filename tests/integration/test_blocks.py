"""Sliding blocks from the file to the proof: maps, optimal solutions that can be played, goals."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import farthest
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from farthest.spaces import compile_space
from integration.conftest import Run, RunJson

WIDE = """
name   = "wide"
source = "a test"
family = "blocks"
metric = "slide"

[blocks]
start    = ["A#B#C#D#", "#E#F#G#H", "I#J#K#L#", "#M#N#O#P", "Q#R#ST.."]
goal     = [".#.#.#.#", "#.#.#.#.", ".#.#.#.#", "#.#.#.#.", ".#.#..ST"]
distinct = true
"""
"""Codes of 16 bytes."""


def test_from_the_command_line(run: Run) -> None:
    output = run("enumerate", "pennant").stdout
    assert "pennant: 1,398 states, eccentricity 80" in output
    assert "goal first reached at depth 59, in 1 board:\n  " in output
    goal = output.split("in 1 board:\n  ")[1].split("\n")[0]
    assert run("distance", "pennant", goal, "AABB/AACC/21../EDGG/EDFF").stdout == "59\n0\n"
    path = run("path", "pennant", goal).stdout
    assert path.count("\n\n") > 3
    assert len(path.split("moves: ")[1].split("\n")[0].split(", ")) == 59
    assert "proved; 1,398 states" in run("verify", "pennant").stdout
    error = run("distance", "pennant", "AABB/AACC/12../DEFF/DEG.", status=2).stderr
    assert "the cells of B C F G are not whole pieces" in error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pennant", pytest.param("pegs-triangle-15", marks=pytest.mark.night)])
def test_what_the_start_leads_to_is_kept_with_the_job(run: Run, run_json: RunJson, name: str) -> None:
    """The same by a map from the start: its boards are looked up in that to the goal."""
    from_start, to_goal = run_json("enumerate", name), run_json("enumerate", name, "--to", "goal")
    with farthest.open_map(from_start["job"]) as reached, farthest.open_map(to_goal["job"]) as toward:
        boards = [board for depth in range(reached.depth + 1) for board in reached.states_at(depth)]
        distances = toward.distances(boards)
        depth = int(distances.max())
        farthest_of_them = [board for board, found in zip(boards, distances, strict=True) if found == depth]
        assert to_goal["from_start"] == {
            "states": int((distances >= 0).sum()),
            "depth": depth,
            "farthest": len(farthest_of_them),
            "boards": sorted(farthest_of_them, key=boards.index),
        }
        assert from_start["goal"]["depth"] == reached.distance("goal") == len(reached.path("goal").moves)
    told = run("path", name, "goal")  # not by the newer map, which is counted from the goal
    assert told.stdout == run("path", str(from_start["job"]), "goal").stdout
    shown = run("show", str(to_goal["job"])).stdout
    assert f"leads to {to_goal['from_start']['states']:,} of the {to_goal['states']:,} states" in shown
    assert f"first reached at depth {from_start['goal']['depth']}" in run("show", "1").stdout
    assert run_json("show", str(from_start["job"]))["result"]["goal"] == from_start["goal"]


@pytest.mark.parametrize(
    "asked",
    [
        ["pennant"],
        ["pegs-triangle-15"],
        ["jugs-8-5-3"],
        ["8-puzzle", "--from", "123/456/870"],
        ["roundabout"],
    ],
    ids=" ".join,
)
def test_goals_are_told_without_a_map(run_json: RunJson, asked: list[str]) -> None:
    """States are read, or bitmaps are asked for a key."""
    without = run_json("enumerate", *asked, "--map", "none")["goal"]
    assert without == run_json("enumerate", *asked)["goal"]
    assert (without is None) == ("--from" in asked), "odd permutations do not lead to even ones"


def test_goals_that_are_not_stored_are_looked_for_when_they_are_asked_for(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill between the result and its answers."""
    monkeypatch.setattr("farthest.queries.states.answers_of", lambda distance_map: {})
    assert "goal" not in run_json("enumerate", "pennant")
    assert run_json("path", "pennant", "goal")["distance"] == 59


def test_a_rush_hour_board_by_name(run: Run) -> None:
    output = run("enumerate", "rush-IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM").stdout
    assert "2,332 states" in output
    assert "goal first reached at depth 60" in output
    assert "proved; 2,332 states" in run("verify", "1").stdout
    elsewhere = run("distance", "1", "IBB#oo/IEELDD/JAALoo/JoKooM/FFKooM/GGHHHM", status=2).stderr
    assert "the cells of E are not whole pieces where they may be" in elsewhere


def test_codes_of_16_bytes(folder: Path) -> None:
    (folder / "wide.toml").write_text(WIDE, encoding="utf-8")
    with farthest.enumerate("wide.toml") as made:
        assert made.layers[:4] == (1, 3, 7, 4)
        assert sum(made.layers) == 30
        assert made.distance("A#B#C#D#/#E#F#G#H/I#J#K#L#/#M#N#O#./Q#R#S.TP") == 2
        assert made.verify().ok


def test_packed_codes(folder: Path, run: Run, run_json: RunJson) -> None:
    rows = ["AABBCCDD", "EEFFGGHH", "IIJJKKLL", "MMNNOOPP", "QRSTUVWX", "QRSTUVWX", "YZab..cc", "defg..hh"]
    (folder / "many.toml").write_text(
        'name = "many"\nsource = "a test"\nfamily = "blocks"\nmetric = "step"\n'
        f"[blocks]\nstart = {rows}\ndistinct = true\n",
        encoding="utf-8",
    )
    with farthest.enumerate("many.toml", max_depth=3) as made:
        assert made.layers == (1, 6, 27, 95)
        assert len(list(made.path(made.farthest()[0]))) == 4
        assert made.verify().ok
    run("enumerate", "./many.toml", "--max-depth", "4", "--histogram-only")
    assert run_json("show", "2")["layers"] == [1, 6, 27, 95, 265]


@pytest.mark.parametrize("direction", ["to", pytest.param("from", marks=pytest.mark.slow)])
def test_solutions_can_be_played(folder: Path, direction: str) -> None:
    puzzle = load("rush-hour-60")
    origin = Origin("to", "goal") if direction == "to" else Origin("from", "start")
    with farthest.enumerate(puzzle, origin=origin) as made:
        start = puzzle.definition.format_board(puzzle.definition.origin_boards[1] or ())
        boards = list(made.path(start if direction == "to" else made.farthest()[0]))
        assert (boards[0], len(boards)) == (start, 61 if direction == "to" else 70)
        space = compile_space(puzzle)
        for board, after in pairwise(boards):
            moves = space.neighbours(
                np.array([puzzle.definition.parse_board(board)], dtype=np.uint8), toward=False
            )
            assert after in [text for _, _, found in moves for text in puzzle.definition.texts(found)]


def test_a_limit_of_depth_gives_the_same_layers(folder: Path) -> None:
    puzzle = load("hakoiri-musume-step")
    with farthest.enumerate(puzzle, max_depth=20) as part:
        assert part.layers[:4] == (1, 4, 10, 13)
        assert part.verify().ok


def cells_of(text: str) -> dict[str, set[tuple[int, int]]]:
    """Of each sign the places where it stands."""
    found: dict[str, set[tuple[int, int]]] = {}
    for row, line in enumerate(text.split("/")):
        for column, sign in enumerate(line):
            found.setdefault(sign, set()).add((row, column))
    return found


def shape_of(cells: set[tuple[int, int]]) -> set[tuple[int, int]]:
    top, left = min(row for row, _ in cells), min(column for _, column in cells)
    return {(row - top, column - left) for row, column in cells}


def moved_names(boards: list[str], moves: list[str], alike: str) -> None:
    """Each move moves what it names and nothing else, and no piece changes its shape; ``alike``: written alike."""
    for before, after, move in zip(boards, boards[1:], moves, strict=False):
        old, new = cells_of(before), cells_of(after)
        assert {sign for sign in old if sign not in EMPTY and old[sign] != new[sign]} == {move.split()[0]}
        for sign in set(old) - set(EMPTY) - set(alike):
            assert shape_of(old[sign]) == shape_of(new[sign])


EMPTY = "0."


@pytest.mark.slow
def test_letters_move_as_pieces_in_all_that_shows_a_path(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    farthest.enumerate("pennant").close()
    (goal,) = run_json("states", "1", "--farthest", "--limit", "1")["boards"]
    one = run_json("path", "1", goal)["paths"][0]
    moved_names(one["boards"], one["moves"], "")
    for path in run_json("path", "1", goal, "--all", "--limit", "5")["paths"]:
        moved_names(path["boards"], path["moves"], "")
        assert sorted(cells_of(path["boards"][-1])) == sorted(cells_of(path["boards"][0]))
    text = run("path", "1", goal).stdout
    drawn = "\n".join(line for line in text.splitlines() if ":" not in line)
    assert text.split("moves: ")[1].split("\n")[0].split(", ") == one["moves"]
    assert all(sign in drawn for sign in one["boards"][-1].replace("/", ""))
    with farthest.open_map("pennant") as opened:
        assert opened.path(goal) == one["boards"]
    assert ", ".join(one["moves"]) in run("path", "1", goal, "--all", "--limit", "1").stdout
    run("path", "1", goal, "--svg", str(tmp_path / "path.svg"))
    drawn = (tmp_path / "path.svg").read_text()
    assert [move for move in one["moves"] if f">{move}</text>" not in drawn] == []


@pytest.mark.slow
def test_letters_move_as_pieces_in_solutions_of_klotski(run: Run, run_json: RunJson) -> None:
    """81 moves: 2 3 4 5 are alike, and so are the four of 7, which have one name."""
    found = run_json("solve", "hakoiri-musume-move", "--store")
    assert found["length"] == 81
    drawn = run("solve", "hakoiri-musume-move").stdout
    assert drawn.split("moves: ")[1].split("\n")[0].split(", ") == found["moves"]
    boards = drawn_boards(drawn)
    assert len(boards) == 82
    moved_names(boards, found["moves"], "7")
    assert run_json("show", "1")["paths"] == found["paths"]
    assert "proved" in run("verify", "1").stdout


def drawn_boards(text: str) -> list[str]:
    """The boards that are drawn side by side, in blocks of a title and five rows."""
    boards = []
    for block in text.split("\n\n")[1:]:
        lines = block.split("\n")
        if len(lines) == 6:
            for column in range(0, len(lines[1]) + 1, WIDTH):
                rows = ["".join(line[column : column + WIDTH].split()) for line in lines[1:]]
                boards += ["/".join(rows)] if rows[0] else []
    return boards


WIDTH = 22
"""Of a drawing with its longest title, ``7 at 4,3 up right``, and the gap."""
