"""What a heuristic offers: values for boards, what it claims, and itself in the kernel's terms; maps of patterns, and
tables of these."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from farthest.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.heuristics.tables import Table as DistanceTable
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Boards, Space


UNREACHABLE = 2**28
"""The value of a board from which no moves lead to a goal. No value is larger; a search never takes it for a bound."""


@dataclass(frozen=True, slots=True)
class Table:
    """The sum over all cells of ``table[label][cell]``: uint8, flat, labels * cells; blanks add nothing."""

    table: bytes


@dataclass(frozen=True, slots=True)
class PatternTable:
    """An additive pattern database: the distance, uint8, of each placement of ``labels`` (all distinct) on the cells.

    The place of a placement: mixed radix, first label first, each digit the number of free cells before the label's.
    ``cell_of``: board cells renumbered before the look-up (identity except for symmetric look-ups); then ``labels`` are
    the board's labels for those of the pattern.
    """

    labels: tuple[int, ...]
    distances: NDArray[np.uint8]
    cell_of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LinearConflict:
    """In a grid, Manhattan distance and two moves more for each piece that must leave its goal row or column."""

    rows: tuple[tuple[int, ...], ...]
    goal: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """For each kind of piece the least sum of distances to different goal cells. ``distances[from][to]``: of pieces."""

    distances: tuple[tuple[int, ...], ...]
    goal: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """The sum over all slots of ``table[content][slot]``, by ``divisor``, rounded up: uint8, flat, contents * slots.

    A content is label * ``turns`` + orientation, of the puzzle's greatest modulus or more; with ``turns`` 1 the label
    (of sliding puzzles the slots are cells). Blanks add nothing.
    """

    turns: int
    table: bytes
    divisor: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """The sum over neighbouring slots of ``pairs[content][content of the next slot]``, and of ``last[content]`` of the
    last slot: uint8, flat. A content is label * ``turns`` + orientation; without orientations ``turns`` is 1.
    """

    turns: int
    pairs: bytes
    last: bytes


@dataclass(frozen=True, slots=True)
class MapTable:
    """A stored map of a pattern puzzle, in which several labels of the puzzle are one label.

    ``space``: of the pattern puzzle, with the map's layout. ``distances``: uint8 in key order, 255 where no goal can be
    reached, 254 for greater distances; or a table of these. ``label_of``: for each of the 256 label bytes the
    pattern's. ``cell_of``: for each cell of the pattern the board's cell that it is read from (identity except for
    symmetric look-ups). ``turned``: for a symmetric look-up, by slot, label and orientation of the board, the image's
    orientation, flat; ``turns``: how many orientations each label has there.
    """

    space: Space
    distances: NDArray[np.uint8] | DistanceTable
    label_of: bytes
    cell_of: tuple[int, ...]
    turned: bytes = b""
    turns: int = 1


Component = Table | PatternTable | LinearConflict | Matching | Contents | Gaps | MapTable
"""What the kernel's searches update move by move. The search for one blank in the metric step has the first four; the
one for all arrangements has ``Table``, ``Contents``, ``Gaps`` and ``MapTable``."""


class Heuristic(Protocol):
    """An estimate of the number of moves of the player from a board to the nearest goal."""

    name: str
    """As written on the command line; the same text in the same database gives the same heuristic."""
    admissible: bool = True
    """Whether it is proven never to be more than the distance."""
    consistent: bool = True
    """Whether it is proven that no move of the player makes it smaller by more than 1 (and that it is 0 at goals)."""

    @abstractmethod
    def values(self, boards: Boards) -> NDArray[np.int32]:
        """The values of boards, uint8 (N, cells): int32 (N,), from 0 to ``UNREACHABLE``."""

    def terms(self) -> list[list[Component]] | None:
        """The heuristic as the greatest of several sums of components; None where that is not possible, such as for the
        least over several goals, or where a component other than a MapTable can be ``UNREACHABLE``."""
        return None


@dataclass(frozen=True, slots=True)
class PatternMap:
    """A stored map that serves as a pattern database: dense, complete, of distances to the goal.

    ``puzzle``: the derived puzzle; ``space``: compiled with the map's layout. ``distances``: uint8 or uint16, in key
    order (for an additive pattern the places of `PatternTable`), or a table of them; the type's largest value where
    there is none. They may only be read. ``holes``: whether a key has no distance. ``job``: which
    the map is of.
    """

    puzzle: Puzzle
    space: Space
    distances: NDArray[np.uint8] | NDArray[np.uint16] | DistanceTable
    holes: bool
    job: int


@dataclass(frozen=True, slots=True)
class WholePatternMap(PatternMap):
    """With its distances as they are stored."""

    distances: NDArray[np.uint8] | NDArray[np.uint16]


LoadMap = Callable[["Puzzle"], PatternMap]
"""Gives the map of a derived puzzle. Raises MissingMapError, with the command that makes it, where there is none."""


def check_text(heuristic: object) -> None:
    """Raises SettingError where a heuristic is not named by a text, as callers from Python may do."""
    if not isinstance(heuristic, str):
        raise SettingError(
            f"heuristic {heuristic!r} is {type(heuristic).__name__}; expected a name, such as 'zero'"
        )
