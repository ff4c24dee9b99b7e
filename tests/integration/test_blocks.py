"""Sliding blocks from the file to the proof: maps, optimal solutions that can be played, goals."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import farthest
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from farthest.spaces import compile_space
from integration.conftest import Run

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
    assert len(path.split("moves: ")[1].split(", ")) == 59
    assert "proved; 1,398 states" in run("verify", "pennant").stdout
    error = run("distance", "pennant", "AABB/AACC/12../DEFF/DEG.", status=2).stderr
    assert "the cells of B C F G are not whole pieces" in error


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


@pytest.mark.parametrize("direction", ["to", pytest.param("from", marks=pytest.mark.slow)])
def test_solutions_can_be_played(folder: Path, direction: str) -> None:
    puzzle = load("rush-hour-60")
    origin = Origin("to", "goal") if direction == "to" else Origin("from", "start")
    with farthest.enumerate(puzzle, origin=origin) as made:
        start = puzzle.definition.format_board(puzzle.definition.origin_boards[1] or ())
        boards = list(made.path(start if direction == "to" else made.farthest()[0]))
        assert (boards[0], len(boards)) == (start, 61 if direction == "to" else 70)
        for board, after in pairwise(boards):
            moves = compile_space(puzzle).neighbours(
                np.array([puzzle.definition.parse_board(board)], dtype=np.uint8), toward=False
            )
            assert after in [text for _, _, found in moves for text in puzzle.definition.texts(found)]


def test_a_limit_of_depth_gives_the_same_layers(folder: Path) -> None:
    puzzle = load("hakoiri-musume-step")
    with farthest.enumerate(puzzle, max_depth=20) as part:
        assert part.layers[:4] == (1, 4, 10, 13)
        assert part.verify().ok
