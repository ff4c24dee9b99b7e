"""The moves on a board with the distance after each, compared with the naive model."""

import random

import pytest

import naive
from farthest.families.sliding.definition import sliding
from farthest.puzzles.puzzle import Origin
from farthest.queries.paths import LargeGraphError
from unit.queries.conftest import MapOf
from unit.queries.test_distance_map import CASES


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_neighbours_are_those_of_the_naive_model(map_of: MapOf, name: str, origin: Origin | None) -> None:
    distance_map = map_of(name, origin)
    definition = sliding(distance_map.puzzle)
    found = naive.distances(distance_map.puzzle, origin)
    for board in random.Random(3).sample(sorted(found), min(len(found), 20)):
        moves = distance_map.neighbours(board)
        assert sorted((each.labels, each.move) for each in moves) == sorted(
            naive.moves(distance_map.puzzle, board)
        )
        assert [each.distance for each in moves] == [found.get(each.labels, -1) for each in moves]
        assert [each.board for each in moves] == [definition.format_board(each.labels) for each in moves]
        order = [(each.distance < 0, each.distance) for each in moves]
        assert order == sorted(order)


def test_a_graph_of_too_many_boards_is_told(map_of: MapOf) -> None:
    distance_map = map_of("eight-kinds")
    board = "┘─└/│□│/┐─┌"
    boards = sum(len(level.boards) for level in distance_map.solution_graph(board).levels)
    assert distance_map.solution_graph(board, limit=boards).count() == 72
    with pytest.raises(LargeGraphError, match="more than"):
        distance_map.solution_graph(board, limit=boards - 1)
