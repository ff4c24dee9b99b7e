"""Spaces of numbered elements of a group: the kernel's successors are those of the boards."""

from __future__ import annotations

import numpy as np
import pytest

import farthest
from cases import for_each
from farthest import _kernel
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.group_spaces import ChainSpace
from farthest.families.permutation.reach import base
from farthest.puzzles.puzzle import Direction, Origin, Puzzle

GROUPS = {
    "M11": "(1,2,3,4,5,6,7,8,9,10,11);(3,7,11,8)(4,10,5,6)",
    "turned pieces": "(1,2,3)(4,6,5);(1,4,7)(2,5,8)(3,6,9)",
    "one cycle": "(1,2,3,4,5,6,7)",
}


def space_of(puzzle: Puzzle, direction: Direction) -> ChainSpace:
    """A space of that kind, though another might be chosen."""
    definition = permutation(puzzle)
    board = definition.goals[0]
    levels = base(definition, board)
    assert levels is not None
    return ChainSpace(puzzle, Origin(direction), [board], levels)


@for_each("direction", ["from", "to"])
@for_each("name", GROUPS)
def test_successors_are_those_of_the_boards(name: str, direction: Direction) -> None:
    space = space_of(farthest.Permutations(GROUPS[name], inverses=False), direction)
    keys = np.arange(space.keys, dtype=np.uint64)
    boards = space.decode(keys)
    assert np.array_equal(space.encode(boards), keys)
    expected = [space.encode(moved) for _, _, moved in space.neighbours(boards, toward=False)]
    found = np.frombuffer(memoryview(space.successors(keys.data, 2)), dtype=np.uint64)
    assert np.array_equal(np.sort(found), np.sort(np.concatenate(expected)))
    with pytest.raises(ValueError, match="out of range"):
        space.successors(np.array([space.keys], dtype=np.uint64).data, 1)


def test_points_that_are_no_chain() -> None:
    for levels, moves in ([(0, b"123")], []), ([(0, b"1234")], []), ([], [b"12"]):
        with pytest.raises(ValueError, match=r"whole points|two elements|no permutation"):
            _kernel.GroupExpander(2, levels, moves)
