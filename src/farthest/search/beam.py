"""Beam search: an answer to any board, level by level, of which only the most promising boards are kept.

No answer is promised, and none is proven to be shortest. What it finds depends on the problem, the width and the number
of boards alone. Source: B. Lowerre, The HARPY speech recognition system, 1976.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE, Heuristic
from farthest.random_source import RandomSource
from farthest.search.expansion import Children, MoveNumbers, children, forward_space
from farthest.search.levels import ClosedSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from farthest.search.contract import Problem, Way
    from farthest.spaces.contract import Boards

    Keys = NDArray[numpy.uint64]
    _Step = tuple[NDArray[numpy.int32], NDArray[numpy.uint16]]
    """Of the boards of a level, the rows of those before them and the moves."""

SLICE = 1 << 15
"""Boards that are expanded at once: the memory of a wide beam is that of a slice's children."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Boards of one level, uint8 (N, cells): board i was reached from board ``rows[i]`` of the level before by move
    ``moves[i]``; ``keys``: what tells it from others; ``values``: of the heuristic."""

    boards: Boards
    rows: NDArray[numpy.intp]
    moves: NDArray[numpy.intp]
    keys: NDArray[numpy.uint64]
    values: NDArray[numpy.int32]

    def only(self, chosen: NDArray[numpy.intp] | NDArray[numpy.bool_]) -> _Kept:
        """Some of the boards."""
        return _Kept(
            self.boards[chosen], self.rows[chosen], self.moves[chosen], self.keys[chosen], self.values[chosen]
        )

    def best(self, width: int) -> _Kept:
        """The boards with the least values; of equal ones those with the least keys, which is any."""
        if len(self.values) <= width:
            return self
        return self.only(numpy.sort(numpy.lexsort((self.keys, self.values))[:width]))


class Beam:
    """Beam searches for one board."""

    def __init__(self, problem: Problem, heuristic: Heuristic) -> None:
        """Raises PuzzleError, BoardError or ResourceError as `forward_space` does."""
        self._problem = problem
        self._heuristic = heuristic
        self._space = forward_space(problem.puzzle, problem.board)
        self._numbers = MoveNumbers()
        rng = RandomSource(1)
        words = -(-self._space.cells // 8)
        self._factors = [numpy.uint64(rng.below(2**63) | 1) for _ in range(words)]

    def search(
        self, width: int, most: int, below: int | None, stopped: Callable[[], bool]
    ) -> tuple[Way | None, int]:
        """A way of fewer than ``below`` moves, or None, and how many boards were generated: about ``most`` end the
        search, as does ``stopped``, which is asked for each level. ``width``: boards that each level keeps."""
        boards = numpy.array([self._problem.board], dtype=numpy.uint8)
        seen = ClosedSet()
        seen.add(self._keys(boards))
        steps: list[_Step] = []
        generated = 0
        while (
            len(boards) and generated < most and not stopped() and (below is None or len(steps) < below - 1)
        ):
            room = UNREACHABLE if below is None else below - 1 - len(steps)
            kept: list[_Kept] = []
            for start in range(0, len(boards), SLICE):
                found = children(self._space, boards[start : start + SLICE], self._numbers)
                generated += len(found.boards)
                goals = numpy.flatnonzero(self._problem.at_target(found.boards))
                if len(goals):
                    last = int(found.rows[goals[0]]) + start, int(found.moves[goals[0]])
                    return self._way(steps, *last), generated
                kept = [_joined([*kept, self._hopeful(found, start, seen, room)]).best(width)]
            boards = kept[0].boards
            steps.append((kept[0].rows.astype(numpy.int32), kept[0].moves.astype(numpy.uint16)))
            seen.add(kept[0].keys)
        return None, generated

    def _hopeful(self, found: Children, start: int, seen: ClosedSet, room: int) -> _Kept:
        """The new boards among those found, from which the heuristic allows a way of at most ``room`` - 1 moves.
        ``start``: the number of the first board whose children they are."""
        keys, fresh = numpy.unique(self._keys(found.boards), return_index=True)
        new = ~seen.holds(keys)
        keys, fresh = keys[new], fresh[new]
        boards = found.boards[fresh]
        values = numpy.maximum(self._heuristic.values(boards), 1)
        new = values < room
        fresh = fresh[new]
        return _Kept(boards[new], found.rows[fresh] + start, found.moves[fresh], keys[new], values[new])

    def _keys(self, boards: Boards) -> Keys:
        """A number for each board, equal for equal boards; two others have the same by chance alone, and then one of
        them is left out, which costs no more than a longer answer."""
        padded = numpy.zeros((len(boards), 8 * len(self._factors)), dtype=numpy.uint8)
        padded[:, : boards.shape[1]] = boards
        keys = numpy.zeros(len(boards), dtype=numpy.uint64)
        for word, factor in zip(padded.view(numpy.uint64).T, self._factors, strict=True):
            keys = (keys ^ word) * factor
            keys ^= keys >> numpy.uint64(29)
        return keys

    def _way(self, steps: Sequence[_Step], row: int, move: int) -> Way:
        moves = [move]
        for rows, made in reversed(steps):
            moves.append(int(made[row]))
            row = int(rows[row])
        return tuple(self._numbers.names[move] for move in reversed(moves))


def _joined(parts: Sequence[_Kept]) -> _Kept:
    """The boards of the parts, each once, with ascending keys."""
    if len(parts) == 1:
        return parts[0]
    together = _Kept(
        *(numpy.concatenate([getattr(part, one.name) for part in parts]) for one in fields(_Kept))
    )
    return together.only(numpy.unique(together.keys, return_index=True)[1])
