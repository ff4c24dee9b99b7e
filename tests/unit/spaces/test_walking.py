"""Successors in both styles: copies of a board, and one board changed in place."""

import random
from itertools import pairwise

import numpy
import pytest

import farthest
from cases import for_each
from families import PUZZLES, a_board
from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.search.walking import Walker, boards_along, copies, successors_of
from farthest.spaces import compile_space
from farthest.spaces.contract import Space


def asked(space: Space, board: Board) -> list[tuple[object, Board]]:
    """What the space's neighbours are, of one board."""
    row = numpy.array([board], dtype=numpy.uint8)
    return [(name, tuple(after[0].tolist())) for name, _, after in space.neighbours(row, toward=False)]


def some_boards(puzzle: Puzzle, most: int) -> list[Board]:
    """The boards nearest to one, in all directions; where there are more, some at the ends of random walks too."""
    successors, draw = successors_of(puzzle), random.Random(5)
    near = dict.fromkeys([a_board(puzzle)])
    waiting = list(near)
    while waiting and len(near) < most:
        fresh = dict.fromkeys(after for _, after in successors(waiting.pop(0)) if after not in near)
        near |= fresh
        waiting += fresh
    far = []
    for board in list(near)[:: 1 + most // 10] if waiting else ():
        for _ in range(10):
            board = draw.choice(successors(board) or [("", board)])[1]
        far.append(board)
    return [*near, *far]


@pytest.mark.parametrize(
    "most", [12, pytest.param(300, marks=pytest.mark.slow)], ids=["some boards", "many boards"]
)
@pytest.mark.parametrize("name", PUZZLES)
def test_both_styles_give_what_the_space_gives(name: str, most: int) -> None:
    puzzle = PUZZLES[name]()
    boards = some_boards(puzzle, most)
    space = compile_space(puzzle, Origin("from", puzzle.definition.format_board(boards[0])))
    successors = successors_of(space)
    for board in boards:
        expected = asked(space, board)
        assert successors(board) == expected
        walker = Walker(space, board)
        assert walker.moves() == [move for move, _ in expected]
        for number, (move, after) in enumerate(expected):
            assert walker.make(number) == move
            assert (walker.board, walker.way) == (after, (move,))
            assert walker.undo() == move
            assert (walker.board, walker.way) == (board, ())
    assert copies(space, puzzle.definition.format_board(boards[-1])) == asked(space, boards[-1])


@for_each("name", PUZZLES)
def test_a_walk_and_all_the_way_back(name: str) -> None:
    puzzle, draw = PUZZLES[name](), random.Random(7)
    walker = Walker(puzzle, a_board(puzzle))
    passed = [walker.board]
    while walker.moves() and len(passed) < 15:
        walker.make(draw.randrange(len(walker.moves())))
        passed.append(walker.board)
    way = walker.way
    for here, there, move in zip(passed, passed[1:], way, strict=False):
        assert (move, there) in copies(puzzle, here)
    assert boards_along(puzzle, passed[0], way, passed[-1].__eq__)[-1].tolist() == list(passed[-1])
    for board in reversed(passed[:-1]):
        walker.undo()
        assert walker.board == board
    assert walker.way == ()


def test_the_seed() -> None:
    """Both of S3's styles, under iterative deepening, on its 2x2 board: 4 moves."""
    puzzle = farthest.load_puzzle("3-puzzle")
    (goal,) = puzzle.definition.origin_boards[0]

    def by_copies(board: Board, depth: int) -> bool:
        if depth == 0:
            return board == goal
        return any(by_copies(after, depth - 1) for _, after in farthest.copies(puzzle, board))

    def in_place(walker: farthest.Walker, depth: int) -> bool:
        if depth == 0:
            return walker.board == goal
        for number in range(len(walker.moves())):
            walker.make(number)
            if in_place(walker, depth - 1):
                return True
            walker.undo()
        return False

    start = puzzle.definition.parse_board("0 3 / 1 2")
    walker = farthest.Walker(puzzle, "0 3 / 1 2")
    assert [by_copies(start, depth) for depth in range(5)] == [False] * 4 + [True]
    assert [in_place(walker, depth) for depth in range(5)] == [False] * 4 + [True]
    boards = list(map(tuple, boards_along(puzzle, start, walker.way, goal.__eq__).tolist()))
    assert (len(boards), boards[-1]) == (5, goal)
    assert all(there in [after for _, after in copies(puzzle, here)] for here, there in pairwise(boards))


def test_patterns_have_no_moves_of_their_own() -> None:
    puzzle = farthest.load_puzzle("sliding-2x3@1-2")
    with pytest.raises(PuzzleError, match="pattern"):
        copies(puzzle, a_board(puzzle))
    with pytest.raises(PuzzleError, match="pattern"):
        Walker(puzzle, a_board(puzzle))


def test_what_is_wrong() -> None:
    puzzle = farthest.load_puzzle("3-puzzle")
    with pytest.raises(BoardError, match="piece 3"):
        Walker(puzzle, "0 1 / 2 2")
    with pytest.raises(BoardError, match="3 labels"):
        copies(puzzle, (0, 1, 2))
    with pytest.raises(BoardError):
        copies(puzzle, (0, 1, 2, WILDCARD))
    walker = Walker(puzzle, "0 3 / 1 2")
    with pytest.raises(IndexError, match="list of 2 moves"):
        walker.make(2)
    with pytest.raises(IndexError, match="list of 2 moves"):
        walker.make(-1)
    with pytest.raises(IndexError, match="no move"):
        walker.undo()
    with pytest.raises(ValueError, match="cannot be made"):
        boards_along(puzzle, walker.board, ["up"])


def test_a_puzzle_by_its_name() -> None:
    assert copies("8-puzzle", "867254301") == copies(farthest.load_puzzle("8-puzzle"), "867254301")
