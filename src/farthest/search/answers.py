"""An answer before the optimum is proven: the best solution that a search for any solution has found so far.

How much is searched is said by a number of boards and never by the time. So equal searches find the same answers,
whoever makes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.search.beam import Beam
from farthest.search.plain import target_test
from farthest.search.walking import boards_along

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.heuristics.contract import Heuristic
    from farthest.search.contract import Problem, Way

BOARDS_A_WIDTH = 1 << 12
"""Boards that a beam generates for each board of its width, as long as none has found an answer."""
LEAST_WIDTH = 8


class Answers:
    """Answers for one board. ``best``: the shortest so far."""

    def __init__(self, problem: Problem) -> None:
        self.best: Way | None = None
        self._problem = problem
        self._heuristic: Heuristic | None = None
        self._beam: Beam | None = None
        self._boards_a_width = float(BOARDS_A_WIDTH)
        self._widest = 0

    def guide(self, heuristic: Heuristic) -> None:
        """From now on boards are judged by this heuristic."""
        self._heuristic = heuristic
        self._beam = None
        self._widest = 0

    def look(self, boards: int, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Looks for a shorter answer; whether there is one. About ``boards`` boards are generated at most; it ends
        early when ``stopped``. The answer is proved: its moves lead to a target."""
        width = max(LEAST_WIDTH, int(boards / self._boards_a_width))
        if self._heuristic is None or width <= self._widest:
            return False
        self._widest = width
        if self._beam is None:
            self._beam = Beam(self._problem, self._heuristic)
        way, generated = self._beam.search(
            width, boards, None if self.best is None else len(self.best), stopped
        )
        if way is None:
            return False
        boards_along(self._problem.puzzle, self._problem.board, way, target_test(self._problem))
        self.best = way
        self._boards_a_width = generated / width
        return True
