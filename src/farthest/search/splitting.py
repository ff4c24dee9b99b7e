"""The splits of a problem's iterations; in small spaces a split is the whole iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.search.levels import breadth_first_split, nearest_goal

if TYPE_CHECKING:
    from farthest.heuristics.contract import Heuristic
    from farthest.search.expansion import MoveSource
    from farthest.search.levels import LastMoves, Levels
    from farthest.search.problem import Problem


class Splitter:
    """Splits iterations; the levels continue to the end if none has ``widest`` boards: equal boards are merged there.

    If an iteration ends in its split without a solution, the next bound is the lower bound that a breadth-first search
    without a heuristic proves, if that is greater. In a small space, where no level has ``probed`` boards, that is the
    distance itself, or it is proven that no goal can be reached. The boards of that search are not counted.
    """

    def __init__(
        self, space: MoveSource, problem: Problem, heuristic: Heuristic, last: LastMoves | None = None
    ) -> None:
        """``last``: see `breadth_first_split`."""
        self._space = space
        self._problem = problem
        self._heuristic = heuristic
        self._last = last
        self._nearest: tuple[int | None] | None = None

    def split(self, bound: int, parts: int, *, widest: int, probed: int) -> Levels:
        """The split of the iteration with this bound, at the first level with ``parts`` boards unless it is the whole
        iteration."""
        found = breadth_first_split(
            self._space, self._problem, self._heuristic, bound, parts, most=widest, last=self._last
        )
        if found.next_bound is not None and not found.roots and not found.solutions:
            if self._nearest is None:
                self._nearest = (nearest_goal(self._space, self._problem, probed),)
            (nearest,) = self._nearest
            found.next_bound = None if nearest is None else max(nearest, found.next_bound)
        return found
