"""Guards: on which boards a move of a permutation puzzle can be made, for bandaged and shape-shifting puzzles.

A move may have several guards, and can be made on a board where all of them hold. A guard looks at where pieces stand,
never at how they are turned.

* An *illegal* place, as twsearch has them: a piece that may not stand in a slot. No board with one is a state. A move
  is refused where it leads to such a board, and on such a board itself: so a move back has the same boards.
* A *block*, as ksolve has them: pieces that are joined. A move moves all of them or none. The slots that a move moves
  are those whose contents go elsewhere or turn, even if how they are turned does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, order=True)
class Guard:
    """None of the pieces with these ``labels`` stands in one of ``slots``; or, where they are ``joined``, all of them
    do or none. Labels and slots ascend."""

    labels: tuple[int, ...]
    slots: tuple[int, ...]
    joined: bool

    def taken_back(self, to: Sequence[int]) -> Guard:
        """The guard that holds after a move where this one holds before it. ``to``: of that move."""
        return Guard(self.labels, tuple(sorted(to[slot] for slot in self.slots)), self.joined)

    def holds(self, boards: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """On which boards, labels (N, slots), it holds."""
        held: NDArray[np.int64] = np.isin(boards[:, list(self.slots)], self.labels).sum(axis=1)
        none: NDArray[np.bool_] = held == 0
        if not self.joined:
            return none
        all_: NDArray[np.bool_] = held == np.isin(boards, self.labels).sum(axis=1)
        return none | all_

    def holds_on(self, labels: Sequence[int]) -> bool:
        """Whether it holds on one board, the labels of its slots."""
        there = {slot for slot, label in enumerate(labels) if label in self.labels}
        return not there & {*self.slots} or (self.joined and there <= {*self.slots})


MoveGuards = tuple[Guard, ...]


def possible(guards: Iterable[Guard], boards: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """On which boards, labels (N, slots), all guards hold."""
    found = np.ones(len(boards), dtype=bool)
    for guard in guards:
        found &= guard.holds(boards)
    return found
