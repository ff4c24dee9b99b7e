"""Whole histograms of the catalogue's permutation puzzles."""

from typing import Any

import pytest

from catalogued import catalogued
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.puzzles.puzzle import Puzzle

QUICK_STATES, SLOW_STATES = 1_000_000, 50_000_000
SLOW = {"coxeter-e6"}
"""They take longer than others of so many states."""
MOST_STATES = 100_000_000


def cases() -> list[Any]:
    return [
        pytest.param(
            puzzle,
            layers,
            id=puzzle.name,
            marks=pytest.mark.night
            if sum(layers) > SLOW_STATES
            else pytest.mark.slow
            if sum(layers) > QUICK_STATES or puzzle.name in SLOW
            else [],
        )
        for puzzle in catalogued()
        for layers in {known.layers for known in puzzle.known if known.layers}
        if puzzle.family == "permutation" and sum(layers) <= MOST_STATES
    ]


@pytest.mark.parametrize(("puzzle", "layers"), cases())
def test_histogram(puzzle: Puzzle, layers: tuple[int, ...]) -> None:
    outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True))
    assert outcome.layers == layers
    assert all(known.states in (None, outcome.states) for known in puzzle.known)
