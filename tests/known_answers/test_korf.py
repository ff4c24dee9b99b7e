"""Korf's hundred boards of the 15-puzzle: the lengths of their shortest solutions, as published in 1985."""

from pathlib import Path

import pytest

import farthest
from cases import for_each
from farthest.puzzles.board_sets import board_set

BOARDS = {known.number: (known.text, known.length) for known in board_set("korf-100").boards}
PUZZLE = "15-puzzle-blank-first"
PATTERNS = ("1-3.6.7", "4.5.8.9.12", "10.11.13-15")


def test_the_lengths_sum_up_as_published() -> None:
    assert sorted(BOARDS) == list(range(1, 101))
    assert sum(length for _, length in BOARDS.values()) == 5305


@for_each("number", [12, 42, 55, 79])
def test_the_easiest(number: int) -> None:
    board, length = BOARDS[number]
    found = farthest.solve(PUZZLE, board, heuristic="manhattan", threads=1, store=False)
    assert (found.length, len(found.paths[0])) == (length, length)
    every = farthest.solve(
        PUZZLE, board, heuristic="linear-conflict", all_solutions=True, threads=1, store=False
    )
    assert every.length == length


@pytest.mark.night
def test_every_fourth_with_three_patterns(tmp_path: Path) -> None:
    database = str(tmp_path / "patterns.db")
    for pattern in PATTERNS:
        farthest.enumerate(f"{PUZZLE}@{pattern}", database=database).close()
    heuristic = "sym:" + "+".join(f"@{pattern}" for pattern in PATTERNS)
    for number in range(1, 101, 4):
        board, length = BOARDS[number]
        found = farthest.solve(PUZZLE, board, heuristic=heuristic, database=database)
        assert found.length == length
