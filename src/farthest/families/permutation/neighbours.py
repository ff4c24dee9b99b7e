"""What both kinds of space of a permutation puzzle share: its origin, the neighbours of boards, what is unreachable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.layout import twist_sum
from farthest.families.permutation.moves import Move, inverse, odd
from farthest.puzzles.definition import Board
from farthest.puzzles.origin_boards import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PermutationBoards:
    """A permutation puzzle and its origin. A board: the labels of all slots, then, if any are turned, the orientations.

    ``moves_away`` are the moves that lead away from the origin, named as the player's moves that they are or take back.
    """

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.origins = origins
        self.definition: Permutation = permutation(puzzle)
        self.cells = self.definition.cells
        self.code_bytes = 8
        self.moves_both_ways = True
        played = self.definition.generators
        back = tuple(
            Move(move.name, *inverse(move, self.definition.slot_moduli).effect)
            for move in self.definition.generators
        )
        self.moves_toward, self.moves_away = (played, back) if origin.direction == "to" else (back, played)

    def moved(self, boards: NDArray[np.uint8], move: Move) -> NDArray[np.uint8]:
        """The boards (N, cells) after the move."""
        import numpy as np

        definition, slots = self.definition, self.definition.slots
        out = np.empty_like(boards)
        to = np.array(move.to)
        out[:, to] = boards[:, :slots]
        if definition.oriented:
            modulo = np.array(definition.slot_moduli, dtype=np.uint8)
            turns = (boards[:, slots:] + np.array(move.delta, dtype=np.uint8)) % modulo
            if any(definition.ignore):
                turns[np.array(definition.ignore)[boards[:, :slots]]] = 0
            out[:, slots + to] = turns
        return out

    def neighbours(
        self, boards: NDArray[np.uint8], *, toward: bool
    ) -> Iterator[tuple[str, NDArray[np.intp], NDArray[np.uint8]]]:
        """See Space: every move can be made on every board."""
        import numpy as np

        rows = np.arange(len(boards))
        for move in self.moves_toward if toward else self.moves_away:
            yield move.name, rows, self.moved(boards, move)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space."""
        definition = self.definition
        names = [name or "pieces" for name in definition.orbit_names]
        for orbit, slots in enumerate(definition.orbits):
            total = twist_sum(definition, orbit, self.origins)
            if total is None:
                continue
            here = sum(board[definition.slots + slot] for slot in slots) % definition.moduli[orbit]
            if here != total:
                return (
                    f"orientations: no move changes the sum of those of the {names[orbit]} modulo "
                    f"{definition.moduli[orbit]}, which is {total} for all boards that can be reached, and {here} here"
                )
        distinct = [
            orbit
            for orbit, slots in enumerate(definition.orbits)
            if len(slots) > 1 and sum(of == orbit for of in definition.label_orbit) == len(slots)
        ]
        for chosen in [*combinations(distinct, 1), *combinations(distinct, 2)]:
            among = [slot for orbit in chosen for slot in definition.orbits[orbit]]
            if any(odd(move.to, among) for move in definition.generators):
                continue
            parities = {_parity(origin, among) for origin in self.origins}
            if len(parities) == 1 and _parity(board, among) not in parities:
                pieces = " and ".join(names[orbit] for orbit in chosen)
                return (
                    f"parity: every move permutes the {pieces} evenly, and this board would need an odd permutation of "
                    "them (it would be in reach with any two of them exchanged)"
                )
        return None


def origin_boards(puzzle: Puzzle, origin: Origin) -> list[Board]:
    """The boards at depth 0, in a fixed order, none twice. Raises BoardError when ``origin.where`` is not a board,
    PuzzleError when there is no start."""
    return sorted(set(origin_patterns(puzzle.definition, origin.where, puzzle.name)))


def _parity(board: Sequence[int], slots: Sequence[int]) -> int:
    """Parity of the order of the labels on these slots, all distinct."""
    return sum(board[a] > board[b] for a, b in combinations(sorted(slots), 2)) % 2
