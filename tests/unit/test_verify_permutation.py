"""The plain model of permutation puzzles, by which maps are proved, against the naive one and the space's keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest.families.permutation.definition import permutation
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.verify.models import LayoutError, Model, model_of
from permutations import distances, moved, samples, unmoved

SAMPLES = samples()
PARAMETRIC = ["pancake-5", "burnt-pancake-3", "topspin-6-4", "lrx-5"]


def all_boards(puzzle: Puzzle) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.array(sorted(distances(puzzle)), dtype=np.uint8)


def model(puzzle: Puzzle, **changed: object) -> Model:
    layout = {**compile_space(puzzle).layout_fields(), **changed}
    found = model_of(puzzle, puzzle.origin, layout)
    assert found.keys is not None
    return found


@for_each("name", [*SAMPLES, *PARAMETRIC])
def test_codes_are_those_of_the_space(name: str) -> None:
    puzzle = SAMPLES.get(name) or load(name)
    space, plain, boards = compile_space(puzzle), model(puzzle), all_boards(puzzle)
    codes = plain.codes(boards)
    assert plain.keys == space.keys
    assert (codes == space.encode(boards)).all()
    assert (plain.boards(codes) == boards).all()
    assert plain.keys is not None
    every = np.arange(plain.keys, dtype=np.uint64)
    assert (plain.codes(plain.boards(every)) == every).sum() >= len(boards)


@for_each("name", [*SAMPLES, *PARAMETRIC])
def test_successors_are_those_of_the_naive_model(name: str) -> None:
    puzzle = SAMPLES.get(name) or load(name)
    definition, boards = permutation(puzzle), all_boards(puzzle)[:200]
    one = unmoved if puzzle.origin.direction == "to" else moved
    rows, after = model(puzzle).successors(boards)
    expected = [
        (row, one(definition, move, tuple(board)))
        for move in definition.generators
        for row, board in enumerate(boards.tolist())
    ]
    assert [(row, tuple(board)) for row, board in zip(rows.tolist(), after.tolist(), strict=True)] == expected
    assert {tuple(board) for board in model(puzzle).origins().tolist()} == set(definition.goals)


def test_boards_without_a_key() -> None:
    none = 2**64 - 1
    swapped = np.array([[1, 0, 2, 3, 4, 5]], dtype=np.uint8)
    assert model(SAMPLES["even moves, to"]).codes(swapped).tolist() == [none]
    turned = np.array([[0, 1, 2, 3, 1, 0, 0, 0]], dtype=np.uint8)
    assert model(SAMPLES["sums, by piece"]).codes(turned).tolist() == [none]
    assert model(SAMPLES["sums, by slot"]).codes(turned.clip(0, 1)).tolist() == [none]


@for_each(
    ("name", "changed"),
    [
        ("turned, to", {"version": 2}),
        ("turned, to", {"orbits": [[0, 1], [2, 3]]}),
        ("turned, to", {"orbits": 3}),
        ("turned, to", {"classes": [0, 1, 2, 2]}),
        ("two orbits, to", {"classes": [3, 0, 1, 2, 4, 5, 6]}),
        ("turned, to", {"counts": [1, 1, 1, 2]}),
        ("even moves, to", {"parity": [0, 1, 0]}),
        ("few kinds, to", {"parity": [0] * 7}),
    ],
)
def test_damaged_layouts_are_refused(name: str, changed: dict[str, object]) -> None:
    with pytest.raises(LayoutError):
        model(SAMPLES[name], **changed)
