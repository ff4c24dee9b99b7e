"""Values of many boards at once against plain models of each heuristic, and both against the true distances."""

from itertools import permutations
from math import inf
from random import Random

import hypothesis
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import families
import naive
from cases import for_each
from farthest.families.sliding.definition import sliding
from farthest.heuristics.contract import UNREACHABLE
from farthest.heuristics.registry import applicable, open_heuristic
from farthest.heuristics.sliding_distances import least_assignments
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.expansion import forward_space
from heuristic_models import value
from strategies import make_puzzle, puzzles

Boards = NDArray[np.uint8]


def graph(puzzle: Puzzle, most: int) -> tuple[Boards, list[tuple[int, int]]]:
    """Boards that can be reached from one that the puzzle names, whole layers until there are ``most``; and the moves
    between these, as pairs of rows."""
    first = tuple(max(content, 0) for content in families.a_board(puzzle))
    space = forward_space(puzzle, first)
    row_of = {first: 0}
    moves: list[tuple[int, int]] = []
    done = 0
    while done < len(row_of):
        layer = np.array(list(row_of)[done:], dtype=np.uint8)
        grows = len(row_of) < most
        for _, rows, after in space.neighbours(layer, toward=False):
            for row, board in zip(rows.tolist(), map(tuple, after.tolist()), strict=True):
                if grows or board in row_of:
                    moves.append((done + row, row_of.setdefault(board, len(row_of))))
        done += len(layer)
    return np.array(list(row_of), dtype=np.uint8), moves


def told(values: list[float]) -> list[int]:
    return [UNREACHABLE if value == inf else int(value) for value in values]


def check_models(puzzle: Puzzle, boards: Boards) -> None:
    """Every heuristic that is for the puzzle gives its model's values."""
    goals = puzzle.definition.origin_boards[0]
    for name in applicable(puzzle):
        expected = told([value(name, puzzle, tuple(board), goals) for board in boards.tolist()])
        found = open_heuristic(name, puzzle, goals).values(boards)
        assert found.dtype == np.int32
        assert found.tolist() == expected, name


OTHERS = {
    "pancakes, two alike": """
        name = "p"
        family = "permutation"
        [permutation]
        goal = "1 2 2 3"
        [permutation.generators]
        a = "(1 2)"
        b = "(1 3)"
        c = "(1 4)(2 3)"
    """,
    "burnt pancakes, one not burnt, only some turns": """
        name = "b"
        family = "permutation"
        [permutation]
        goal = "1 2 3 3"
        modulus = 2
        ignore = "2"
        [permutation.generators]
        a = "(1+1)"
        b = "(1+1 2+1)"
        c = "(1+1 3+1)(2+1)"
    """,
    "lights, wildcards": """
        name = "l"
        family = "lights"
        [lights]
        goal = ["00#", "0*0", "#00"]
    """,
    "lights, several colours at once": """
        name = "l"
        family = "lights"
        metric = "multi"
        [lights]
        goals = ["00/01", "10/10"]
        colours = 3
    """,
    "hanoi, wildcards": """
        name = "h"
        family = "hanoi"
        [hanoi]
        pegs = 3
        discs = 4
        goals = ["2**2", "*111"]
    """,
    "pegs, several goals": """
        name = "g"
        family = "pegs"
        [pegs]
        start = ["oo.oo"]
        goals = ["*..*.", "..o.o"]
    """,
    "two lines of walls": """
        name = "w"
        family = "sliding"
        [sliding]
        goal = ["1 2 # 3", "4 5 6 7", "8 # 9 0"]
    """,
}


@for_each("name", [name for name in families.PUZZLES if not name.startswith("python")])
def test_small_puzzles_of_every_family(name: str) -> None:
    puzzle = families.PUZZLES[name]()
    if puzzle.definition.has_origin("goal"):
        check_a_part(puzzle)


@for_each("name", OTHERS)
def test_goals_of_other_kinds(name: str) -> None:
    check_a_part(parse_puzzle(OTHERS[name], "o.toml"))


def check_a_part(puzzle: Puzzle) -> None:
    """The models on some boards, and the claims on more: in a part of the space distances are too large at most."""
    boards, moves = graph(puzzle, 400)
    check_models(puzzle, boards[:: len(boards) // 30 + 1])
    distance = np.where(puzzle.definition.at_goal(boards), 0, 10**6)
    before, after = np.array(moves).T
    while (shorter := distance[before] > distance[after] + 1).any():
        np.minimum.at(distance, before[shorter], distance[after[shorter]] + 1)
    for name in applicable(puzzle):
        values = open_heuristic(name, puzzle, puzzle.definition.origin_boards[0]).values(boards)
        assert ((values <= distance) | (distance == 10**6)).all(), name
        assert (values[before] <= values[after] + 1).all(), name


def test_all_pieces_alike() -> None:
    puzzle = load("red-and-white")
    check_a_part(puzzle)


@hypothesis.settings(max_examples=10)
@hypothesis.given(puzzles(most=220), st.randoms(use_true_random=False))
def test_sliding_puzzles_of_every_kind(puzzle: Puzzle, random: Random) -> None:
    """Also boards that no moves lead to; and the claims, against distances by a dictionary of boards."""
    definition = sliding(puzzle)
    every = list(naive.arrangements(definition.counts))
    boards = np.array(random.sample(every, min(len(every), 8)), dtype=np.uint8)
    check_models(puzzle, boards)
    truth = naive.distances(puzzle, Origin("to", "goal"))
    check_claims(puzzle, truth)


def check_claims(puzzle: Puzzle, truth: dict[Board, int]) -> None:
    """No value is more than the distance, and no move takes away more than 1."""
    steps = [(board, after) for board in truth for after, _ in naive.moves(puzzle, board)]
    boards = np.array(list(truth), dtype=np.uint8)
    distances = np.array(list(truth.values()))
    for name in applicable(puzzle):
        heuristic = open_heuristic(name, puzzle, puzzle.definition.origin_boards[0])
        assert heuristic.admissible
        assert heuristic.consistent
        assert (heuristic.values(boards) <= distances).all(), name
        if steps:
            before, after = (np.array(each, dtype=np.uint8) for each in zip(*steps, strict=True))
            assert (heuristic.values(before) <= heuristic.values(after) + 1).all(), name


def test_a_piece_that_cannot_come_back() -> None:
    """Pieces go round one way, and one place cannot be left."""
    puzzle = make_puzzle(goals=[(1, 2, 0, 3)], edges=((0, 1), (1, 2)), arcs=((0, 3),))
    boards = np.array([(1, 2, 0, 3), (0, 2, 3, 1), (2, 3, 1, 0)], dtype=np.uint8)
    for name in ("nearest", "manhattan", "matching"):
        heuristic = open_heuristic(name, puzzle, puzzle.definition.origin_boards[0])
        assert heuristic.values(boards).tolist() == [0, UNREACHABLE, 5]
        assert heuristic.terms() is None


def test_least_assignments() -> None:
    rng = np.random.default_rng(1)
    for rows, columns in ((1, 1), (2, 2), (3, 5), (4, 4)):
        costs = rng.integers(-20, 20, size=(60, rows, columns)).astype(np.int32)
        expected = [
            min(
                sum(problem[row, column] for row, column in enumerate(chosen))
                for chosen in permutations(range(columns), rows)
            )
            for problem in costs
        ]
        assert least_assignments(costs).tolist() == expected
    assert least_assignments(np.empty((0, 2, 2), dtype=np.int32)).tolist() == []
