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
    from farthest.search.stages import Stages

BOARDS_A_WIDTH = 1 << 12
"""Boards that a beam generates for each board of its width, as long as none has found an answer."""
LEAST_WIDTH = 8
NODES_A_BOARD = 8
"""Nodes of the search by stages for each board of a beam: they take some third of the time."""
BOARDS_A_TRY = 1 << 7
"""Boards of a beam for each try to solve a board by the words of a group."""

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
        self._spelled = False  # the best answer is one of words

    def efforts(self, nodes: Sequence[int], *, shortest: bool) -> Sequence[int]:
        """The boards to be generated after iterations of so many nodes: efforts that were not named before. So a search
        that goes on after a stop makes those of earlier iterations again, and finds the same answers. ``shortest``: a
        shortest solution is asked for."""
        found = [min(most // SHARE, MOST_EFFORT) for most in accumulate(nodes, max) if most >= FROM]
        every = [*(() if shortest else FIRST_EFFORTS), *found]
        new, self._efforts = every[self._efforts :], len(every)
        return new

    @cached_property
    def _stages(self) -> Stages | None:
        from farthest.search.stages import stages_of

        return stages_of(self._problem)

    @cached_property
    def _beam(self) -> Beam:
        return Beam(self._problem, self._heuristic)

    def look(self, boards: int, stopped: Callable[[], bool] = lambda: False) -> Way | None:
        """Looks for a shorter answer than the best, which it then is; None where none is found. About ``boards`` boards
        are generated at most by a beam, or nodes that cost as much by stages; where neither finds one, the words of a
        group do. It ends early when ``stopped``. The answer is proved: its moves lead to a target."""
        begun = perf_counter()
        way = self._by_stages(boards, stopped)
        if self._stages is None or (way is None and self.best is None and boards > FIRST_EFFORTS[0]):
            way = self._by_beam(boards, stopped)
        if way is None and boards > FIRST_EFFORTS[0] and (self.best is None or self._spelled):
            way = self._by_words(boards // BOARDS_A_TRY, stopped)
            self._spelled = self._spelled or way is not None
        self.seconds += perf_counter() - begun
        if way is not None:
            boards_along(self._problem.puzzle, self._problem.board, way, target_test(self._problem))
            self.best = way
        return way

    def _by_words(self, tries: int, stopped: Callable[[], bool]) -> Way | None:
        from farthest.search.words import word_answers

        found = word_answers(self._problem)
        way = None if found is None else found.search(tries, stopped)
        return way if way is not None and (self._below is None or len(way) < self._below) else None

    @property
    def _below(self) -> int | None:
        return None if self.best is None else len(self.best)

    def _by_stages(self, boards: int, stopped: Callable[[], bool]) -> Way | None:
        if self._stages is None:
            return None
        way, generated = self._stages.search(boards * NODES_A_BOARD, self._below, stopped)
        self.generated += generated
        return way

    def _by_beam(self, boards: int, stopped: Callable[[], bool]) -> Way | None:
        width = max(LEAST_WIDTH, int(boards / self._boards_a_width))
        if width <= self._widest:
            return None
        self._widest = width
        way, generated = self._beam.search(width, boards, self._below, stopped)
        self.generated += generated
        if way is not None:
            self._boards_a_width = generated / width
        return way
