"""Packed spaces of boards of digits, as many as they are: a field of bits for each digit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.spaces.packed import PackedMove, PackedSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards
    from farthest.spaces.digit_boards import DigitBoards


class PackedDigits(PackedSpace):
    """See PackedSpace. ``moves_away``: what the kernel makes; None: numpy finds the successors."""

    def __init__(self, known: DigitBoards, moves_away: Sequence[PackedMove] | None = None) -> None:
        self.known = known
        super().__init__(known, known.radices, None, moves_away, undirected=known.undirected)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        """See PackedSpace."""
        return self.known.digits(boards)

    def boards(self, contents: NDArray[np.integer[Any]]) -> Boards:
        """See PackedSpace."""
        return self.known.boards(contents)
