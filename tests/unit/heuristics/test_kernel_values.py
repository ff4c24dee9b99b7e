"""The kernel's values of boards are those of the numpy batches."""

from random import Random

import hypothesis
import numpy as np
from hypothesis import strategies as st

import naive
from cases import for_each
from farthest.families.sliding.definition import sliding
from farthest.heuristics.registry import applicable, open_heuristic
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.search.arrangement_engine import arrangement_engine
from farthest.search.contract import Problem
from farthest.search.engines import kernel_search
from farthest.search.solvable import random_boards
from strategies import puzzles


def check_kernel(puzzle: Puzzle, boards: list[tuple[int, ...]]) -> None:
    """Every heuristic that has terms."""
    definition = sliding(puzzle)
    for name in applicable(puzzle):
        heuristic = open_heuristic(name, puzzle, definition.goals)
        terms = heuristic.terms()
        if terms is None:
            continue
        search = kernel_search(definition, definition.goals, terms)
        values = heuristic.values(np.array(boards, dtype=np.uint8))
        assert [search.evaluate(bytes(board)) for board in boards] == values.tolist(), name


@hypothesis.settings(max_examples=15)
@hypothesis.given(puzzles(most=1000), st.randoms(use_true_random=False))
def test_sliding_puzzles_of_every_kind(puzzle: Puzzle, random: Random) -> None:
    definition = sliding(puzzle)
    hypothesis.assume(definition.counts[0] == 1 and puzzle.metric == "step")
    check_kernel(
        puzzle, random.sample(every := list(naive.arrangements(definition.counts)), min(len(every), 20))
    )


@for_each(
    "name",
    [
        "sliding-2x3-slide",
        "sliding-3x4-slide",
        "two-blanks",
        "pancake-6",
        "burnt-pancake-4",
        "topspin-8-4",
        "lrx-6",
        "pyraminx",
        "cube-2x2x2-htm",
    ],
)
def test_arrangements(name: str) -> None:
    """The search of arrangement boards in general: of a goal 0, else at least 1."""
    puzzle = load(name)
    goals = puzzle.definition.origin_boards[0]
    boards = np.array([*random_boards(puzzle, 20, 1), goals[0]], dtype=np.uint8)
    checked = 0
    for text in applicable(puzzle):
        heuristic = open_heuristic(text, puzzle, goals)
        engine = arrangement_engine(Problem(puzzle, goals[0], "goal", text), heuristic)
        if engine is not None:
            expected = np.maximum(heuristic.values(boards), 1)
            expected[puzzle.definition.at_goal(boards)] = 0
            assert [engine.lower_bound(tuple(board)) for board in boards.tolist()] == expected.tolist()
            checked += 1
    assert checked >= 2


@for_each("name", ["8-puzzle", "15-puzzle", "eight-kinds", "red-and-white", "sliding-4x6", "wilson-theta"])
def test_the_catalogue(name: str) -> None:
    puzzle = load(name)
    definition = sliding(puzzle)
    pieces = [label for label, count in enumerate(definition.counts) for _ in range(count)]
    rng = np.random.default_rng(5)
    check_kernel(puzzle, [tuple(rng.permutation(pieces).tolist()) for _ in range(30)])
