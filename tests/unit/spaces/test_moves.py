"""Moves of the sliding family, in both metrics and both directions, against the naive model."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from arrangements import arrangement_space
from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.arrangement import Move
from strategies import grid_rows, make_puzzle, puzzles


def after(move: Move, board: Board) -> Board | None:
    """The board after the move, or None where it is not legal."""
    for cell, label in enumerate(board):
        if (move.require >> cell & 1 and label != 0) or (move.forbid >> cell & 1 and label == 0):
            return None
    out = [-1] * len(board)
    for cell, label in enumerate(board):
        out[move.to[cell]] = label
    return tuple(out)


def results(moves: list[Move], board: Board) -> Counter[tuple[Board, tuple[int, int]]]:
    """What the moves lead to, each with its name."""
    reached = [(after(move, board), move.name) for move in moves]
    return Counter((other, name) for other, name in reached if other is not None)


@given(st.data())
def test_moves_are_those_of_the_naive_model(data: st.DataObject) -> None:
    puzzle = data.draw(puzzles())
    pieces = [label for label, count in enumerate(sliding(puzzle).counts) for _ in range(count)]
    board = tuple(data.draw(st.permutations(pieces)))
    to, away = arrangement_space(puzzle, Origin("to")), arrangement_space(puzzle, Origin("from"))
    forward = results(list(to.moves_toward), board)
    assert forward == Counter(naive.moves(puzzle, board))
    assert results(list(away.moves_away), board) == forward
    backward = results(list(to.moves_away), board)
    assert {other for other, _ in backward} == {b for b, _ in naive.moves(puzzle, board, backward=True)}
    for move in to.moves_toward:
        other = after(move, board)
        if other is not None:
            assert after(move.inverse(), other) == board
            assert other[move.name[0]] == 0
            assert board[move.name[1]] == 0


@pytest.mark.slow
@given(st.data())
def test_neighbours_of_many_boards_are_those_of_each(data: st.DataObject) -> None:
    puzzle = data.draw(puzzles(most=720))
    space = arrangement_space(puzzle)
    boards = list(naive.arrangements(sliding(puzzle).counts))[:60]
    found: list[list[Board]] = [[] for _ in boards]
    backward = puzzle.origin.direction == "from"
    played = {move.name[::-1] if backward else move.name for move in space.moves_toward}
    for name, rows, moved in space.neighbours(np.array(boards, dtype=np.uint8), toward=True):
        assert name in played
        for row, other in zip(rows.tolist(), moved.tolist(), strict=True):
            found[row].append(tuple(other))
    for board, others in zip(boards, found, strict=True):
        assert sorted(others) == sorted(other for other, _ in naive.moves(puzzle, board, backward))


def names(puzzle: Puzzle, board: Board) -> set[tuple[int, int]]:
    return {name for _, name in results(list(arrangement_space(puzzle).moves_toward), board)}


def test_steps_on_a_grid_with_a_wall() -> None:
    # 0 # 1
    # 2 3 4
    puzzle = make_puzzle(rows=[[0, -1, 1], [2, 3, 4]], goals=[(0, 1, 2, 3, 4)])
    assert names(puzzle, (0, 1, 2, 3, 4)) == {(2, 0)}
    assert names(puzzle, (1, 2, 3, 0, 4)) == {(2, 3), (4, 3)}


def test_slides_stop_at_walls_and_at_other_blanks() -> None:
    # 0 1 2 3
    # 4 # 5 6
    puzzle = make_puzzle(rows=[[0, 1, 2, 3], [4, -1, 5, 6]], goals=[(0, 1, 2, 3, 4, 5, 6)], metric="slide")
    assert names(puzzle, (0, 1, 2, 3, 4, 5, 6)) == {(1, 0), (2, 0), (3, 0), (4, 0)}
    assert names(puzzle, (1, 2, 3, 4, 0, 5, 6)) == {(0, 4)}
    two = make_puzzle(rows=[[0, 1, 2, 3], [4, -1, 5, 6]], goals=[(0, 1, 2, 0, 3, 4, 5)], metric="slide")
    assert names(two, (0, 1, 2, 0, 3, 4, 5)) == {(1, 0), (2, 0), (4, 0), (1, 3), (2, 3), (6, 3)}


def test_one_slide_moves_each_piece_one_cell() -> None:
    puzzle = make_puzzle(rows=grid_rows(1, 4), goals=[(0, 1, 2, 3)], metric="slide")
    slide = next(move for move in arrangement_space(puzzle).moves_toward if move.name == (3, 0))
    assert after(slide, (0, 1, 2, 3)) == (1, 2, 3, 0)
    assert slide.odd  # a cycle of four
    assert not Move((1, 2, 0), 0, 0, (0, 1)).odd


def test_arcs_let_pieces_through_one_way() -> None:
    puzzle = make_puzzle(edges=((0, 1),), arcs=((1, 2), (2, 0)), goals=[(0, 1, 2)])
    # The blank in cell 0: pieces may come from cell 1 over the edge and from cell 2 over its arc.
    assert names(puzzle, (0, 1, 2)) == {(1, 0), (2, 0)}
    assert names(puzzle, (1, 2, 0)) == {(1, 2)}
    assert names(puzzle, (1, 0, 2)) == {(0, 1)}


def test_moves_away_are_the_inverses_of_moves_toward() -> None:
    puzzle = make_puzzle(edges=((0, 1),), arcs=((1, 2), (2, 0)), goals=[(0, 1, 2)])
    for direction in ("to", "from"):
        space = arrangement_space(puzzle, Origin(direction))
        assert [move.inverse() for move in space.moves_toward] == list(space.moves_away)
        assert not space.kernel.reversible


@pytest.mark.parametrize("metric", ["step", "slide"])
def test_grids_are_reversible(metric: str) -> None:
    puzzle = make_puzzle(rows=grid_rows(2, 3), goals=[(0, 1, 1, 2, 2, 2)], metric=metric)
    assert arrangement_space(puzzle).kernel.reversible
