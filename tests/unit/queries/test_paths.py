"""Optimal solutions, compared with the naive model and with the programs that the project was created from."""

import random

import numpy
import pytest

import naive
from farthest.errors import StorageError, UnreachableError
from farthest.families.sliding.definition import sliding
from farthest.puzzles.puzzle import Origin
from farthest.queries.paths import Level, SolutionGraph, nearer_moves, walk
from unit.queries.conftest import MapOf
from unit.queries.test_distance_map import CASES


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_solutions_are_those_of_the_naive_model(map_of: MapOf, name: str, origin: Origin | None) -> None:
    distance_map = map_of(name, origin)
    definition = sliding(distance_map.puzzle)
    found = naive.distances(distance_map.puzzle, origin)
    sample = random.Random(7).sample(sorted(found), min(len(found), 6))
    for board in sample:
        count = naive.count_solutions(distance_map.puzzle, found, board, origin)
        assert distance_map.count_solutions(board) == count
        if count <= 2000:
            expected = naive.solutions(distance_map.puzzle, found, board, origin)
            solutions = list(distance_map.solutions(board))
            assert sorted(solutions) == sorted(
                [[definition.format_board(each) for each in way] for way in expected]
            )
            assert solutions[0] == distance_map.path(board)
            assert list(distance_map.solutions(board, limit=2)) == solutions[:2]


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_moves_name_the_cells(map_of: MapOf, name: str, origin: Origin | None) -> None:
    distance_map = map_of(name, origin)
    graph = distance_map.solution_graph(distance_map.farthest()[0])
    for way in distance_map.solutions_of(graph, 3):
        boards = [tuple(board) for board in way.boards.tolist()]
        for before, after, move in zip(boards, boards[1:], way.moves, strict=False):
            assert (after, move) in naive.moves(distance_map.puzzle, before)


@pytest.mark.parametrize(
    ("board", "count"),
    [
        ("┘─└/│□│/┐─┌", 72),
        ("┘│└/│□─/┐─┌", 32),
        ("┘│└/─□─/┐│┌", 16),
        ("┘│└/─□│/┐─┌", 32),
        ("┘─└/─□│/┐│┌", 32),
        ("┘─└/│□─/┐│┌", 32),
    ],
)
def test_the_six_farthest_boards_of_the_seed(map_of: MapOf, board: str, count: int) -> None:
    distance_map = map_of("eight-kinds")
    assert distance_map.count_solutions(board) == count
    solutions = {tuple(way) for way in distance_map.solutions(board)}
    assert len(solutions) == count
    assert {len(way) for way in solutions} == {31}
    assert {way[0] for way in solutions} == {board}
    assert {way[-1] for way in solutions} == {"┌─┐/│□│/└─┘"}


@pytest.mark.parametrize("board", ["8 6 7 / 2 5 4 / 3 0 1", "6 4 7 / 8 5 0 / 3 2 1"])
def test_the_two_farthest_boards_of_the_8_puzzle(map_of: MapOf, board: str) -> None:
    distance_map = map_of("8-puzzle")
    assert distance_map.distance(board) == 31
    assert distance_map.count_solutions(board) == 40
    assert len({tuple(way) for way in distance_map.solutions(board)}) == 40


def test_an_origin_is_its_own_solution(map_of: MapOf) -> None:
    distance_map = map_of("8-puzzle")
    assert distance_map.path("123456780") == ["123/456/780"]
    assert list(distance_map.solutions("123456780")) == [["123/456/780"]]
    assert distance_map.count_solutions("123456780") == 1


def test_no_solution_of_an_unreachable_board(map_of: MapOf) -> None:
    with pytest.raises(UnreachableError):
        map_of("8-puzzle").path("123456870")
    with pytest.raises(UnreachableError):
        map_of("8-puzzle").count_solutions("123456870")


def test_counts_beyond_64_bits() -> None:
    """A graph whose 100 levels have two boards each, each joined with both of the next: 2**100 ways."""
    graph = SolutionGraph.__new__(SolutionGraph)
    boards = numpy.zeros((2, 4), dtype=numpy.uint8)
    first, to, moves = numpy.array([0, 2, 4]), numpy.array([0, 1, 0, 1]), numpy.array([0, 1, 1, 0])
    graph.distance, graph.distances, graph.places = 100, numpy.array([100]), numpy.array([0])
    graph.levels = [Level(boards[:1], first[:2], to[:2], moves[:2], ["a", "b"])]
    graph.levels += [Level(boards, first, to, moves, ["a", "b"])] * 99
    graph.origins = boards
    assert graph.count() == 2**100
    assert len({tuple(way) for way, _ in zip(graph.solutions(), range(50), strict=False)}) == 50


def test_a_map_that_contradicts_itself(map_of: MapOf) -> None:
    distance_map = map_of("8-puzzle")
    start = numpy.array(distance_map.labels("867254301"), dtype=numpy.uint8)
    nearer = nearer_moves(distance_map.space, distance_map.lookup, lambda depth: iter(()))
    with pytest.raises(StorageError, match="contradicts itself"):
        walk(nearer, start, 30)
    with pytest.raises(StorageError, match="contradicts itself"):
        SolutionGraph(distance_map.space, nearer, start[None], numpy.array([30]))
