"""The kernel's values of boards are those of the numpy batches."""

from random import Random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import naive
from farthest.heuristics.registry import applicable, open_heuristic
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Puzzle
from farthest.puzzles.sliding import sliding
from farthest.search.sliding_engine import kernel_search
from strategies import puzzles


def check_kernel(puzzle: Puzzle, boards: list[tuple[int, ...]]) -> None:
    """Every heuristic that has terms."""
    body = sliding(puzzle)
    for name in applicable(puzzle):
        heuristic = open_heuristic(name, puzzle, body.goals)
        terms = heuristic.terms()
        if terms is None:
            continue
        search = kernel_search(body, body.goals, terms)
        values = heuristic.values(np.array(boards, dtype=np.uint8))
        assert [search.evaluate(bytes(board)) for board in boards] == values.tolist(), name


@hypothesis.settings(max_examples=15)
@hypothesis.given(puzzles(most=1000), st.randoms(use_true_random=False))
def test_sliding_puzzles_of_every_kind(puzzle: Puzzle, random: Random) -> None:
    body = sliding(puzzle)
    hypothesis.assume(body.counts[0] == 1 and puzzle.metric == "step")
    check_kernel(puzzle, random.sample(every := list(naive.arrangements(body.counts)), min(len(every), 20)))


@pytest.mark.parametrize(
    "name", ["8-puzzle", "15-puzzle", "eight-kinds", "red-and-white", "sliding-4x6", "wilson-theta"]
)
def test_the_catalogue(name: str) -> None:
    puzzle = load(name)
    body = sliding(puzzle)
    pieces = [label for label, count in enumerate(body.counts) for _ in range(count)]
    rng = np.random.default_rng(5)
    check_kernel(puzzle, [tuple(rng.permutation(pieces).tolist()) for _ in range(30)])
