"""The naive model against published numbers, and against itself in other words."""

from collections import Counter
from itertools import pairwise
from math import factorial, prod

import pytest
from hypothesis import given

import naive
from cases import for_each
from farthest.families.sliding.definition import sliding
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.puzzle import Origin, Puzzle
from strategies import grid_rows, make_puzzle, puzzles

EIGHT_KINDS_LAYERS = [
    *(1, 4, 8, 8, 16, 32, 60, 72, 136, 200, 376, 512, 944, 1232, 2188, 2756, 4786, 5648, 8934, 9024),
    *(12664, 10596, 12164, 7328, 6405, 2540, 1564, 344, 148, 24, 6),
]
EIGHT_KINDS_FARTHEST = {  # board -> number of optimal solutions
    "┘─└/│□│/┐─┌": 72,
    "┘│└/│□─/┐─┌": 32,
    "┘│└/─□─/┐│┌": 16,
    "┘│└/─□│/┐─┌": 32,
    "┘─└/─□│/┐│┌": 32,
    "┘─└/│□─/┐│┌": 32,
}


@pytest.mark.night
def test_eight_kinds_has_hirois_states_and_six_farthest_boards() -> None:
    puzzle = make_puzzle(
        rows=grid_rows(3, 3), goals=[[1, 2, 3, 4, 0, 4, 5, 2, 6]], tokens=["□", "┌", "─", "┐", "│", "└", "┘"]
    )
    found = naive.distances(puzzle)
    assert naive.layers(found) == EIGHT_KINDS_LAYERS
    farthest = {
        sliding(puzzle).format_board(board): naive.count_solutions(puzzle, found, board)
        for board, distance in found.items()
        if distance == 30
    }
    assert farthest == EIGHT_KINDS_FARTHEST


@pytest.mark.night
def test_hirois_start_has_sixteen_different_legal_solutions() -> None:
    puzzle = load("eight-kinds")
    found = naive.distances(puzzle)
    start = sliding(puzzle).parse_board("┘│└/─□─/┐│┌")
    ways = naive.solutions(puzzle, found, start)
    assert len(ways) == len(set(map(tuple, ways))) == 16
    for way in ways:
        assert (way[0], way[-1], len(way)) == (start, sliding(puzzle).goals[0], 31)
        for here, there in pairwise(way):
            assert there in [other for other, _ in naive.moves(puzzle, here)]


@pytest.mark.night
def test_eight_puzzle_has_two_farthest_boards_with_forty_solutions() -> None:
    puzzle = make_puzzle(rows=grid_rows(3, 3), goals=[[1, 2, 3, 4, 5, 6, 7, 8, 0]], tokens="012345678")
    found = naive.distances(puzzle)
    assert len(found) == 181_440
    assert sum(found.values()) / len(found) == pytest.approx(21.97, abs=0.005)
    farthest = [board for board, distance in found.items() if distance == 31]
    assert sorted(sliding(puzzle).format_board(board) for board in farthest) == [
        "647/850/321",
        "867/254/301",
    ]
    for board in farthest:
        assert naive.count_solutions(puzzle, found, board) == 40


def test_two_by_two_example_takes_four_moves() -> None:
    puzzle = make_puzzle(rows=grid_rows(2, 2), goals=[[0, 1, 2, 3]], start=[0, 3, 1, 2])
    found = naive.distances(puzzle)
    start = sliding(puzzle).start
    assert start is not None
    assert found[start] == 4
    assert naive.layers(found) == [1, 2, 2, 2, 2, 2, 1]


@for_each("name", ["sliding-2x2", "sliding-2x3", "sliding-2x4", "sliding-3x2"])
@for_each("metric", ["", "-slide"])
def test_small_boards_have_the_published_layers(name: str, metric: str) -> None:
    puzzle = load(name + metric)
    published = [known.layers for known in puzzle.known if known.layers]
    assert published
    for layers in published:
        assert naive.layers(naive.distances(puzzle)) == list(layers)


def test_slides_stop_at_walls_and_blanks() -> None:
    puzzle = make_puzzle(
        rows=[[0, 1, 2, 3, -1, 4], [5, 6, 7, 8, 9, 10]], goals=[[0, *range(1, 11)]], metric="slide"
    )
    named = {move for _, move in naive.moves(puzzle, sliding(puzzle).goals[0])}
    assert named == {(1, 0), (2, 0), (3, 0), (5, 0)}
    two_blanks = make_puzzle(rows=[[0, 1, 2, 3]], goals=[[0, 1, 0, 2]], metric="slide")
    assert naive.moves(two_blanks, (0, 1, 0, 2)) == [
        ((1, 0, 0, 2), (1, 0)),
        ((0, 1, 2, 0), (3, 2)),
        ((0, 0, 1, 2), (1, 2)),
    ]


def test_pieces_pass_an_arc_one_way_only() -> None:
    puzzle = make_puzzle(arcs=((0, 1), (1, 2), (2, 0)), goals=[[0, 1, 2]])
    assert naive.moves(puzzle, (0, 1, 2)) == [((2, 1, 0), (2, 0))]
    assert naive.moves(puzzle, (0, 1, 2), backward=True) == [((1, 0, 2), (1, 0))]


@pytest.mark.night
@given(puzzles(most=500))
def test_moves_taken_back_are_moves_the_other_way_round(puzzle: Puzzle) -> None:
    boards = list(naive.arrangements(sliding(puzzle).counts))
    forward = {(board, other) for board in boards for other, _ in naive.moves(puzzle, board)}
    backward = {(other, board) for board in boards for other, _ in naive.moves(puzzle, board, backward=True)}
    assert forward == backward


@pytest.mark.night
@given(puzzles(most=2_000))
def test_arrangements_are_all_and_different(puzzle: Puzzle) -> None:
    counts = sliding(puzzle).counts
    boards = list(naive.arrangements(counts))
    assert len(boards) == len(set(boards)) == factorial(sum(counts)) // prod(map(factorial, counts))
    assert all(Counter(board) == Counter(dict(enumerate(counts))) for board in boards)


@pytest.mark.night
@given(puzzles(most=2_000))
def test_origins_are_the_boards_that_match_a_goal(puzzle: Puzzle) -> None:
    expected = {
        board
        for board in naive.arrangements(sliding(puzzle).counts)
        for goal in sliding(puzzle).goals
        if all(
            label == content or (label == WILDCARD and content)
            for label, content in zip(goal, board, strict=True)
        )
    }
    assert naive.origin_boards(puzzle, Origin("to", "goal")) == expected


def test_keys_follow_the_documented_order() -> None:
    layout = {"version": 1, "slots": [2, 0, 1], "classes": [0, 1], "counts": [1, 2], "parity": None}
    assert naive.boards_in_key_order(layout) == [(1, 1, 0), (0, 1, 1), (1, 0, 1)]
    layout = {"version": 1, "slots": [0, 1, 2, 3], "classes": [0, 1], "counts": [2, 2], "parity": None}
    assert naive.boards_in_key_order(layout) == [
        (0, 0, 1, 1),
        (0, 1, 0, 1),
        (1, 0, 0, 1),
        (0, 1, 1, 0),
        (1, 0, 1, 0),
        (1, 1, 0, 0),
    ]
    layout = {
        "version": 1,
        "slots": [0, 1, 2],
        "classes": [0, 1, 2],
        "counts": [1, 1, 1],
        "parity": [0, 1, 0],
    }
    assert naive.boards_in_key_order(layout) == [(0, 1, 2), (1, 0, 2), (1, 2, 0)]
