"""Breadth first and A* side by side: the numbers of the searches themselves."""

from __future__ import annotations

import pytest

import farthest
from farthest.families.user_input import board_given
from farthest.heuristics import PlainAlgorithm
from farthest.search import side_by_side as module
from farthest.search.side_by_side import LISTED, heuristic_for, side_by_side

ALGORITHMS: tuple[PlainAlgorithm, ...] = ("bfs", "astar")


@pytest.mark.parametrize(("name", "text"), [("8-puzzle", "1 2 3/6 8 4/7 5 0"), ("hanoi-4-3", "start")])
def test_each_side_has_the_numbers_of_its_search(name: str, text: str) -> None:
    puzzle = farthest.load_puzzle(name)
    board, heuristic = board_given(puzzle, text), heuristic_for(puzzle)
    assert heuristic is not None
    sides = side_by_side(puzzle, board, heuristic, lambda: None)
    for side, algorithm in zip(sides, ALGORITHMS, strict=True):
        answer = farthest.solve(puzzle, board, algorithm=algorithm)
        assert side.found is not None
        assert answer.length is not None
        assert (side.found.length, side.found.expanded) == (answer.length, answer.expanded)
        assert sum(side.layers) == answer.expanded
        assert len(side.layers) == answer.length + 1
        assert side.first[0] == (board, 0)
        assert len(side.first) == min(LISTED, answer.expanded or 0)
        assert side.estimates[0] <= answer.length if side.heuristic else not side.estimates


def test_a_search_that_finds_too_much_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BOARDS", 200)
    puzzle = farthest.load_puzzle("pancake-7")
    board = board_given(puzzle, "3 1 5 7 2 6 4")
    broad, best = side_by_side(puzzle, board, "gap", lambda: None)
    assert broad.found is None
    assert broad.layers[:2] == [1, 6]
    assert best.found is not None
    assert best.found.length == 7


def test_puzzles_without_a_heuristic_or_a_goal_are_not_compared() -> None:
    assert heuristic_for(farthest.load_puzzle("red-donkey")) is None
