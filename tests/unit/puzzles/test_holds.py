"""Where boards are taken for a move: what is taken is what the move changes, and it goes where the picture has it."""

import random
from dataclasses import replace

import numpy

import families
import farthest
from cases import for_each
from farthest.puzzles.definition import Board
from farthest.puzzles.family import board_hold, board_picture
from farthest.puzzles.picture import Area, Hold, Picture, Shape
from farthest.puzzles.puzzle import Puzzle
from farthest.search.expansion import forward_space

NAMES = [
    *(name for name in families.PUZZLES if not name.startswith("python")),
    "8-puzzle-slide",
    "wilson-theta",
    "rush-hour-60",
    "red-donkey",
    "pegs-triangle-15",
    "hanoi-4-5",
    "lights-3x4-c3",
    "die-hard-jugs",
    "pancake-7",
    "burnt-pancake-4",
]


def moves(puzzle: Puzzle, steps: int) -> list[tuple[Board, str | tuple[int, int], Board]]:
    """The moves on the boards of a random walk: board, name, board."""
    goals, start = puzzle.definition.origin_boards
    board = tuple(max(0, content) for content in (start if start is not None else goals[0]))
    space, rng = forward_space(puzzle, board), random.Random(5)
    found = []
    for _ in range(steps):
        here = numpy.array([board], dtype=numpy.uint8)
        able = [
            (board, name, tuple(after))
            for name, _, boards in space.neighbours(here, toward=False)
            for after in boards.tolist()
        ]
        if not able:
            break
        found += able
        board = rng.choice(able)[2]
    return found


def pictures(puzzle: Puzzle, *boards: Board) -> list[Picture]:
    """Pieces of one kind are not told apart: each board alone gives them their names."""
    found = [board_picture(puzzle, each) for each in boards]
    if not puzzle.definition.names_swap:
        return found
    return [replace(each, shapes=tuple(replace(shape, text="") for shape in each.shapes)) for each in found]


def within(picture: Picture, area: Area) -> set[Shape]:
    """The shapes whose middle is in the area."""
    return {
        replace(shape)
        for shape in picture.shapes
        if 0 <= shape.x + shape.width / 2 - area.x <= area.width
        and 0 <= shape.y + shape.height / 2 - area.y <= area.height
    }


def moved(shape: Shape, hold: Hold) -> Shape:
    assert hold.target is not None
    x, y = (b - a for a, b in zip(hold.source.middle, hold.target.middle, strict=True))
    return replace(shape, x=round(shape.x + x, 3), y=round(shape.y + y, 3))


@for_each("name", NAMES)
def test_what_is_taken_is_what_the_move_changes(name: str) -> None:
    puzzle = families.PUZZLES[name]() if name in families.PUZZLES else farthest.load_puzzle(name)
    without = puzzle.family == "permutation" and "pancake" not in puzzle.name
    taken = 0
    for board, move, after in moves(puzzle, 6):
        hold = board_hold(puzzle, board, move, after)
        if hold is None:
            assert without
            continue
        taken += 1
        first, second = pictures(puzzle, board, after)
        if not hold.sign:
            assert within(first, hold.source) != within(second, hold.source)
        if hold.target is None:
            continue
        assert within(first, hold.target) != within(second, hold.target)
        assert puzzle.family == "jugs" or hold.shapes
        if not hold.chosen:  # the piece goes the straight way
            reached = {replace(shape, x=round(shape.x, 3), y=round(shape.y, 3)) for shape in second.shapes}
            assert {moved(first.shapes[number], hold) for number in hold.shapes} <= reached
    assert taken or without
