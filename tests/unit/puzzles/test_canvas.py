"""Boards that are drawn: what a canvas writes, the puzzle reads."""

from __future__ import annotations

import pytest

from cases import for_each
from farthest.errors import BoardError
from farthest.families.permutation.definition import permutation
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
    "pyraminx": "moves: U L' R B'",
    "skewb": "moves: UBR UFL'",
    "megaminx": "moves: A L' B2",
    "hungarian-rings-small": "moves: A B'",
}


def canvas_of(puzzle: Puzzle, board: str | None) -> Canvas:
    found = family(puzzle.family).canvas(
        puzzle.definition, None if board is None else board_given(puzzle, board)
    )
    assert found is not None
    return found


def text_of(canvas: Canvas) -> str:
    signs = [canvas.unset if value < 0 else canvas.values[value].token for value in canvas.held]
    return (
        canvas.before
        + "".join(sign + end for sign, (_, end) in zip(signs, canvas.cells, strict=True)).strip()
    )


@for_each("name", BOARDS)
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
    assert fresh.with_text("R" * 54).held == tuple(
        value if at in fresh.fixed else 1 for at, value in enumerate(fresh.held)
    )


def test_puzzles_that_are_typed() -> None:
    for name in ("pancake-7", "red-donkey", "mathieu-m12", "hanoi-3-4"):
        puzzle = catalogue.load(name)
        assert family(puzzle.family).canvas(puzzle.definition, None) is None


@for_each(
    ("text", "told"),
    [
        ("stickers: yyy", "3 stickers, expected 24"),
        ("stickers:" + "x" * 24, "a sticker is 'x', expected one of y r b g"),
        ("stickers:" + "y" * 24, "no piece has these colours in this order"),
    ],
)
def test_wrong_colours(text: str, told: str) -> None:
    with pytest.raises(BoardError, match=told):
        catalogue.load("pyraminx").definition.parse_board(text)


def test_a_piece_that_is_there_twice() -> None:
    """Each piece of this board exists, and one is on two places."""
    puzzle = catalogue.load("pyraminx")
    goal = text_of(canvas_of(puzzle, "goal"))
    definition = permutation(puzzle)
    assert definition.net is not None
    edges = [slot for slot in range(definition.slots) if definition.slot_moduli[slot] == 2]
    of = {(each.slot, each.place): at for at, each in enumerate(definition.net.stickers)}
    signs = list(goal.removeprefix("stickers:"))
    for place in range(2):
        signs[of[edges[0], place]] = signs[of[edges[1], place]]
    with pytest.raises(BoardError, match="twice"):
        definition.parse_board("stickers:" + "".join(signs))
