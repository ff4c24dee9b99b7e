"""Permutation puzzles of any size: boards packed into codes, a piece and its orientation for each slot.

The content of a slot is the number of its label among those of its orbit, times the orbit's modulus, plus the
orientation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.families.permutation.neighbours import PermutationBoards
from farthest.spaces.packed import CONTENTS, UNCHANGED, PackedMove, PackedSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.spaces.contract import Boards


class PackedPermutationSpace(PackedSpace):
    """See PackedSpace."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        known = PermutationBoards(puzzle, origin, origins)
        definition = self._definition = known.definition
        self._modulus = list(definition.slot_moduli)
        of_orbit = [0] * len(definition.orbits)
        self._number: list[int] = []  # of each label among those of its orbit
        for orbit in definition.label_orbit:
            self._number.append(of_orbit[orbit])
            of_orbit[orbit] += 1
        radices = [0] * definition.slots
        for orbit, slots in enumerate(definition.orbits):
            for slot in slots:
                radices[slot] = of_orbit[orbit] * definition.moduli[orbit]
        moves = [
            PackedMove(move.to, [self._turned(slot, turn) for slot, turn in enumerate(move.delta)])
            for move in known.moves_away
        ]
        super().__init__(known, radices, None, moves, undirected=definition.symmetric)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        """See PackedSpace; 255 where a label or an orientation is none of the slot's."""
        import numpy as np

        slots = self._definition.slots
        labels = boards[:, :slots]
        turns = boards[:, slots:] if self._definition.oriented else np.zeros_like(labels)
        orbit_of = np.empty(slots, dtype=np.int64)
        for orbit, own in enumerate(self._definition.orbits):
            orbit_of[list(own)] = orbit
        number = np.array(self._number)[np.minimum(labels, len(self._number) - 1)]
        wrong = (labels >= len(self._number)) | (turns >= np.array(self._modulus))
        wrong |= np.array(self._definition.label_orbit)[np.minimum(labels, len(self._number) - 1)] != orbit_of
        return np.where(wrong, 255, number * np.array(self._modulus) + turns).astype(np.uint8)

    def boards(self, contents: NDArray[np.integer[Any]]) -> Boards:
        """See PackedSpace."""
        import numpy as np

        slots = self._definition.slots
        boards = np.zeros((len(contents), self.cells), dtype=np.uint8)
        for orbit, own in enumerate(self._definition.orbits):
            labels = [label for label, of in enumerate(self._definition.label_orbit) if of == orbit]
            here, modulus = list(own), self._definition.moduli[orbit]
            boards[:, here] = np.array(labels, dtype=np.uint8)[contents[:, here] // modulus]
            if self._definition.oriented:
                boards[:, slots + np.array(own)] = contents[:, here] % modulus
        return boards

    def _turned(self, slot: int, turn: int) -> bytes:
        """What each content of the slot becomes when it is turned; the labels that are ignored stay as they are."""
        if not turn:
            return UNCHANGED
        return _table(self._definition, slot, turn)


def _table(definition: Permutation, slot: int, turn: int) -> bytes:
    orbit = next(at for at, slots in enumerate(definition.orbits) if slot in slots)
    modulus, table = definition.moduli[orbit], bytearray(UNCHANGED)
    labels = [label for label, of in enumerate(definition.label_orbit) if of == orbit]
    for number, label in enumerate(labels):
        for turned in range(modulus):
            if not definition.ignore[label] and number * modulus + turned < CONTENTS:
                table[number * modulus + turned] = number * modulus + (turned + turn) % modulus
    return bytes(table)
