"""The proof's model of permutation puzzles: it agrees with the space on every key, and maps are proved by it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.verify.local import Means
from farthest.verify.maps import verify_map
from farthest.verify.models import LayoutError, model_of
from farthest.verify.report import Stored
from permutations import distances, samples

SAMPLES = samples()


def stored(puzzle: Puzzle) -> tuple[Any, dict[str, Any], np.ndarray[Any, Any]]:
    """The space, its layout, and the plain model's distances by key."""
    space = compile_space(puzzle)
    found = distances(puzzle)
    assert space.keys is not None
    array = np.full(space.keys, 255, dtype=np.uint8)
    array[space.encode(np.array(list(found), dtype=np.uint8))] = list(found.values())
    return space, space.layout_fields(), array


def proved(puzzle: Puzzle, layout: dict[str, Any], array: np.ndarray[Any, Any]) -> set[str]:
    """The checks that fail."""
    stored = Stored(puzzle, layout, puzzle.origin)
    report = verify_map(stored, [(None, array)], Means(2**30, Path(), 2), unit="uint8", length=len(array))
    return {check.name for check in report.failures}


@pytest.mark.parametrize("name", [*SAMPLES, "pancake-5", "burnt-pancake-3", "topspin-6-4", "lrx-5"])
def test_maps_are_proved_and_keys_are_those_of_the_space(name: str) -> None:
    puzzle = SAMPLES[name] if name in SAMPLES else load(name)
    space, layout, array = stored(puzzle)
    model = model_of(puzzle, puzzle.origin, layout)
    assert model.keys == space.keys
    keys = np.arange(space.keys, dtype=np.uint64)[:: max(1, space.keys // 500)]
    assert (model.boards(keys) == space.decode(keys)).all()
    assert (model.codes(space.decode(keys)) == keys).all()
    assert proved(puzzle, layout, array) == set()
    array[np.flatnonzero(array != 255)[-1]] = 99
    assert proved(puzzle, layout, array)


def test_boards_without_a_key_have_none() -> None:
    for puzzle in SAMPLES.values():
        space, layout, _ = stored(puzzle)
        model = model_of(puzzle, puzzle.origin, layout)
        boards = np.random.default_rng(1).permuted(
            space.decode(np.arange(min(space.keys, 200), dtype=np.uint64)), axis=1
        )
        codes = model.codes(boards)
        right = codes < space.keys
        assert (space.decode(codes[right]) == boards[right]).all()


@for_each(
    ("change", "message"),
    [
        ({"version": 2}, "version 2; expected 1"),
        ({"orbits": [[0, 1]]}, "the layout's orbits are"),
        ({"classes": [0, 0, 1, 2, 3]}, "the layout's classes are"),
        ({"counts": [2, 1, 1, 1, 0]}, "the layout's classes are"),
        ({"twisted": [17]}, "the layout's twisted labels are"),
        ({"turned": [17]}, "the layout's turned slots are"),
        ({"parity": [0, 1]}, "the layout's parity is not"),
        ({"sums": "x"}, "the key layout is malformed"),
        ({"orbits": None}, "the key layout is malformed"),
    ],
)
def test_layouts_of_other_puzzles(change: dict[str, Any], message: str) -> None:
    puzzle = load("pancake-5")
    _, layout, _ = stored(puzzle)
    with pytest.raises(LayoutError, match=message):
        model_of(puzzle, puzzle.origin, {**layout, **change})


def test_origins() -> None:
    puzzle = load("pancake-5")
    _, layout, _ = stored(puzzle)
    for where, board in (("goal", [0, 1, 2, 3, 4]), ("2 1 3 4 5", [1, 0, 2, 3, 4])):
        model = model_of(puzzle, Origin("to", where), layout)
        assert model.origins().tolist() == [board]
