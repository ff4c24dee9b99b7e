"""The goals that a job is told to reach: which jobs tell of them, and how they are found while layers are, for a job
that keeps no map that could be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.models.records import BOARDS_KEPT, Answers, FirstGoals
from farthest.puzzles.definition import WILDCARD
from farthest.spaces.contract import NO_KEY, reduced, reduced_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.spaces.contract import Boards, Space
    from farthest.stores.contract import JobStore

STATES_READ = 1_000_000
"""Stores are asked for the keys of goals. Where they do not tell, or goals have wildcards, all states are read
until a goal is found; after so many the search for goals is given up."""


class GoalsOfLayers:
    """Looks for the goals in each layer, from depth 0 on, until some are found."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._patterns = space.puzzle.definition.origin_boards[0]
        self._wild = any(WILDCARD in pattern for pattern in self._patterns)
        self._states = 0
        self._found: FirstGoals | None = None
        self._given_up = False

    def look(self, store: JobStore, depth: int, states: int) -> None:
        """The last layer found has so many states."""
        if self._found is not None or self._given_up:
            return
        self._states += states
        goals = self._looked_up(store, depth)
        if goals is None and self._states <= STATES_READ:
            goals = self._read(store, depth, states)
        if goals is None:
            self._given_up = True
        elif len(goals):
            texts = self._space.puzzle.definition.texts(goals[:BOARDS_KEPT])
            self._found = FirstGoals(depth, len(goals), texts)

    def _looked_up(self, store: JobStore, depth: int) -> Boards | None:
        """The goals in the layer; None where they have no keys, or the store does not tell whether it has one."""
        import numpy

        if self._wild or self._space.keys is None:
            return None
        boards = numpy.array(self._patterns, dtype=numpy.uint8)
        held = [key != NO_KEY and store.holds(depth, key) for key in self._space.encode(boards).tolist()]
        return None if None in held else boards[numpy.array(held, dtype=bool)]

    def _read(self, store: JobStore, depth: int, states: int) -> Boards | None:
        """The same; None where the store keeps only some states, as of the last layer that is wanted."""
        boards = boards_of(self._space, store.keys(depth, states))
        return boards[self._space.puzzle.definition.at_goal(boards)] if len(boards) == states else None

    @property
    def answers(self) -> Answers:
        """What is known: nothing where some states were not looked at."""
        return {} if self._given_up else {"goal": self._found}


def tells_goals(space: Space) -> bool:
    """Whether moves are counted from a board, and may lead to a goal."""
    origin, definition = space.origin, space.puzzle.definition
    of_moves = definition.has_moves and origin.direction == "from"
    return of_moves and origin.where != "goal" and definition.has_origin("goal")


def tells_start(space: Space) -> bool:
    """Whether the puzzle has a start that does not lead to all states of a map of distances to an origin.

    Representatives are by symmetries that fix the goal, not the start. All states are joined to the start where moves
    can be taken back and lead to one board.
    """
    definition = space.puzzle.definition
    if not definition.has_moves or space.origin.direction == "from" or not definition.has_origin("start"):
        return False
    return reduced(space) is None and not (space.undirected and len(space.origins) == 1)


def boards_of(space: Space, codes: Sequence[int] | Sequence[bytes], most: int | None = None) -> Boards:
    """The boards of all states that codes stand for, ``most`` of them where symmetries take packed codes to more."""
    import numpy

    some = numpy.array(codes, dtype=numpy.uint64 if space.code_bytes == 8 else f"S{space.code_bytes}")
    kept, runs = reduced(space), reduced_runs(space)
    if kept is not None:
        return kept.members(some)[1]
    boards = space.decode(some)
    return boards if runs is None else runs.images(boards, most)
