"""Boards that are drawn: what a canvas writes, the puzzle reads."""

from __future__ import annotations

import pytest

from farthest.puzzles import catalogue
from farthest.puzzles.family import board_given, family
from farthest.puzzles.picture import Canvas
from farthest.puzzles.puzzle import Puzzle

BOARDS = {
    "8-puzzle": "867254301",
    "15-puzzle": "moves: 11-15 10-11",
    "sliding-2x3": "start",
    "lights-5x5": "10000/01000/00100/00000/00001",
    "lights-2x2-c3": "01/22",
    "pegs-english": "start",
    "pegs-triangle-15": "o/oo/o.o/oooo/ooo.o",
    "cube-3x3x3": "R U F2 L' D B",
    "cube-2x2x2-htm": "R U' F2",
}


def canvas_of(puzzle: Puzzle, board: str | None) -> Canvas:
    found = family(puzzle.family).canvas(
        puzzle.definition, None if board is None else board_given(puzzle, board)
    )
    assert found is not None
    return found


def text_of(canvas: Canvas) -> str:
    signs = [canvas.unset if value < 0 else canvas.values[value].token for value in canvas.held]
    return "".join(sign + end for sign, (_, end) in zip(signs, canvas.cells, strict=True)).strip()


@pytest.mark.parametrize("name", BOARDS)
def test_a_drawn_board_is_read(name: str) -> None:
    puzzle = catalogue.load(name)
    given = BOARDS[name] if BOARDS[name] != "start" or puzzle.definition.has_origin("start") else "goal"
    board = board_given(puzzle, given)
    canvas = canvas_of(puzzle, given)
    assert board_given(puzzle, text_of(canvas)) == board
    fresh = canvas_of(puzzle, None)
    assert fresh.with_text(text_of(canvas)).held == canvas.held
    assert fresh.with_text("nonsense") == fresh
    assert len(fresh.held) == len(canvas.cells)


def test_what_no_move_touches_is_coloured_at_first() -> None:
    fresh = canvas_of(catalogue.load("cube-3x3x3"), None)
    assert text_of(fresh) == "".join(f"....{face}...." for face in "URFDLB")
    assert [at for at, value in enumerate(fresh.held) if value >= 0] == sorted(fresh.fixed)


def test_puzzles_that_are_typed() -> None:
    for name in ("pancake-7", "red-donkey", "pyraminx", "hanoi-3-4"):
        puzzle = catalogue.load(name)
        assert family(puzzle.family).canvas(puzzle.definition, None) is None
