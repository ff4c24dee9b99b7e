"""The kernel's spaces with orbits and orientations, by their binding: what is refused, and where bytes go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest import _kernel

CLASSES = bytes(range(4)) + b"\xff" * 252
MOVE = ([1, 0, 3, 2], 0, 0)


def space(**changes: Any) -> _kernel.ArrangementSpace:
    """Two orbits of two pieces each, the first of three orientations."""
    arguments: dict[str, Any] = {
        "slots": 4,
        "counts": [1, 1, 1, 1],
        "parity": [],
        "moves": [MOVE],
        "orbits": [(0b0101, 3), (0b1010, 1)],
        "twisted": [1, 0],
        "deltas": [[2, 0, 1, 0]],
    }
    return _kernel.ArrangementSpace(**(arguments | {"moves": [([2, 1, 0, 3], 0, 0)]} | changes))


@for_each(
    "changes",
    [
        {"orbits": [(0b0101, 3)]},
        {"orbits": [(0b0101, 3), (0b1110, 1)]},
        {"orbits": [(0b0101, 3), (0b1010, 1), (0b10000, 1)]},
        {"orbits": [(0b0111, 3), (0b1000, 1)], "counts": [1, 1, 2]},
        {"orbits": [(0b0101, 0), (0b1010, 1)]},
        {"orbits": [(0b0101, 65), (0b1010, 1)]},
        {"twisted": [2]},
        {"twisted": [0, 0]},
        {"twisted": [4]},
        {"twisted": [-1]},
        {"moves": [MOVE]},
        {"deltas": [[2, 0, 1]]},
        {"deltas": [[2, 0, 1, 0], [0, 0, 0, 0]]},
        {"deltas": [[256, 0, 0, 0]]},
        {"deltas": [[-1, 0, 0, 0]]},
        {"parity": [0, 1, 0, 1]},
    ],
)
def test_orbits_and_orientations_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|more than|needs"):
        space(**changes)


def test_boards_with_orientations_go_where_they_are_told() -> None:
    kernel = space()
    assert (kernel.keys, kernel.bits, kernel.reversible) == (36, 9, True)
    assert not space(deltas=[[1, 0, 0, 0]]).reversible
    keys = np.arange(36, dtype=np.uint64)
    boards = np.full((36, 10), 7, dtype=np.uint8)
    labels, turns = [1, 2, 3, 4], [9, 8, 5, 6]
    kernel.decode(keys, 10, labels, bytes(range(4)), boards.reshape(-1), turns)
    assert (boards[:, [0, 7]] == 7).all()
    assert len({tuple(board) for board in boards.tolist()}) == 36
    assert (boards[:, [8, 6]] == 0).all()
    assert (boards[:, [9, 5]] < 3).all()
    back = np.empty(36, dtype=np.uint64)
    kernel.encode(boards.reshape(-1), 10, labels, CLASSES, back, turns)
    assert (back == keys).all()
    boards[:, 9] = 3
    kernel.encode(boards.reshape(-1), 10, labels, CLASSES, back, turns)
    assert (back == 2**64 - 1).all()


@for_each("turns", [[4, 5, 6], [4, 5, 6, 10], [4, 5, 6, 7, 8]])
def test_positions_of_orientations_that_do_not_fit_are_refused(turns: list[int]) -> None:
    kernel, keys = space(), np.zeros(1, dtype=np.uint64)
    boards = np.zeros(10, dtype=np.uint8)
    with pytest.raises(ValueError, match="positions"):
        kernel.encode(boards, 10, [0, 1, 2, 3], CLASSES, keys, turns)
    with pytest.raises(ValueError, match="positions"):
        kernel.decode(keys, 10, [0, 1, 2, 3], bytes(range(4)), boards, turns)
