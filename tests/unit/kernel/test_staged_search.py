"""The kernel's search by stages: what it finds on a small puzzle, and what it refuses."""

import pytest

from cases import for_each
from farthest import _kernel

SWAP = ([1, 0, 2], 0, 0, [1, 1, 0])
TURN = ([1, 2, 0], 0, 0, [0, 0, 0])
BACK = ([2, 0, 1], 0, 0, [0, 0, 0])
ALL = (range(6), bytes(range(256)))
GOAL = bytes([0, 1, 2, 0, 0, 0])


def test_the_kernels_search() -> None:
    search = _kernel.StagedSearch([2, 2, 2], [SWAP, TURN, BACK], GOAL, [([[0], [1], [2]], [ALL])])
    assert search.search(GOAL, 5, 100) == (0, [])
    assert search.search(bytes([1, 0, 2, 1, 1, 0]), 5, 100)[1] == [0]
    assert search.search(bytes([1, 0, 2, 1, 1, 0]), 1, 100)[1] is None
    assert search.search(bytes([0, 1, 2, 1, 0, 0]), 50, 1 << 20)[1] is None  # the sum of turns never changes
    for board in (b"", bytes([0, 1, 3, 0, 0, 0]), bytes([0, 1, 2, 2, 0, 0])):
        with pytest.raises(ValueError, match=r"."):
            search.search(board, 5, 100)


@for_each(
    ("goal", "stages"),
    [
        (GOAL, []),
        (GOAL[:5], [([[0]], [ALL])]),
        (GOAL, [([], [ALL])]),
        (GOAL, [([[0]], [])]),
        (GOAL, [([[3]], [ALL])]),
        (GOAL, [([[]], [ALL])]),
        (GOAL, [([[0]], [([6], bytes(256))])]),
        (GOAL, [([[0]], [([], bytes(256))])]),
        (GOAL, [([[0]], [([0] * 300, bytes(256))])]),
        (GOAL, [([[0]], [([0], bytes(255))])]),
        (GOAL, [([[0]], [ALL] * 9)]),
    ],
)
def test_the_kernel_refuses_stages_that_do_not_fit(
    goal: bytes, stages: list[tuple[list[list[int]], list[tuple[range, bytes]]]]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        _kernel.StagedSearch([2, 2, 2], [SWAP, TURN, BACK], goal, stages)
