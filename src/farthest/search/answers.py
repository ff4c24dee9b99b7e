"""An answer before the optimum is proven: the best solution that a search for any solution has found so far.

How much is searched is said by a number of boards and never by the time. So equal searches find the same answers,
whoever makes them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING

from farthest.search.beam import Beam
from farthest.search.plain import target_test
from farthest.search.walking import boards_along

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from farthest.heuristics.contract import Heuristic
    from farthest.search.contract import Problem, Way

BOARDS_A_WIDTH = 1 << 12
"""Boards that a beam generates for each board of its width, as long as none has found an answer."""
LEAST_WIDTH = 8

FROM = 1 << 24
"""An answer is looked for after an iteration with so many nodes: then it costs little beside the next one, and if it is
as short as can be, the last iteration of all is not needed."""
SHARE = 1 << 7
"""Nodes for each board that is generated for an answer: they are far cheaper."""
FIRST_EFFORTS = (1 << 16, 1 << 18, 1 << 20)
"""Boards generated before the first iteration where a shortest solution is not asked for."""
MOST_EFFORT = 1 << 23


class Answers:
    """Answers for one board. ``best``: the shortest so far. ``generated``: boards; ``seconds``: spent on it."""

    def __init__(self, problem: Problem, heuristic: Heuristic) -> None:
        self.best: Way | None = None
        self.generated = 0
        self.seconds = 0.0
        self._problem = problem
        self._heuristic = heuristic
        self._boards_a_width = float(BOARDS_A_WIDTH)
        self._widest = 0
        self._efforts = 0

    def efforts(self, nodes: Sequence[int], *, shortest: bool) -> Sequence[int]:
        """The boards to be generated after iterations of so many nodes: efforts that were not named before. So a search
        that goes on after a stop makes those of earlier iterations again, and finds the same answers. ``shortest``: a
        shortest solution is asked for."""
        found = [min(most // SHARE, MOST_EFFORT) for most in accumulate(nodes, max) if most >= FROM]
        every = [*(() if shortest else FIRST_EFFORTS), *found]
        new, self._efforts = every[self._efforts :], len(every)
        return new

    @cached_property
    def _beam(self) -> Beam:
        return Beam(self._problem, self._heuristic)

    def look(self, boards: int, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Looks for a shorter answer; whether there is one. About ``boards`` boards are generated at most; it ends
        early when ``stopped``. The answer is proved: its moves lead to a target."""
        width = max(LEAST_WIDTH, int(boards / self._boards_a_width))
        if width <= self._widest:
            return False
        self._widest = width
        begun, below = perf_counter(), None if self.best is None else len(self.best)
        way, generated = self._beam.search(width, boards, below, stopped)
        self.generated += generated
        self.seconds += perf_counter() - begun
        if way is None:
            return False
        boards_along(self._problem.puzzle, self._problem.board, way, target_test(self._problem))
        self.best = way
        self._boards_a_width = generated / width
        return True
