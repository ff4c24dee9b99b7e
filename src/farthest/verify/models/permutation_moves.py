"""The moves of permutation puzzles, made slot by slot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthest.families.permutation.definition import permutation
from farthest.puzzles.origin_boards import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards


class PermutationMoves:
    """The moves of a Model, and what its boards hold slot by slot: the number of the label among those of its orbit,
    times the number of orientations there, plus the orientation."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self._body = permutation(puzzle)
        self._origin = origin
        self._moduli = np.array(self._body.slot_moduli, dtype=np.int64)

    @property
    def radices(self) -> list[int]:
        """For each slot the number of its contents."""
        kinds = self._body.label_orbit
        found = {
            slot: kinds.count(orbit) * self._body.moduli[orbit]
            for orbit, slots in enumerate(self._body.orbits)
            for slot in slots
        }
        return [found[slot] for slot in range(self._body.slots)]

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        """See packed.Moves."""
        slots = self._body.slots
        found = np.empty((len(boards), slots), dtype=np.int64)
        for orbit, own in enumerate(self._body.orbits):
            number = np.full(256, -1, dtype=np.int64)
            number[self._labels(orbit)] = range(len(self._labels(orbit)))
            found[:, list(own)] = number[boards[:, list(own)]] * self._body.moduli[orbit]
        if self._body.oriented:
            turns = boards[:, slots:].astype(np.int64)
            found = np.where((found >= 0) & (turns < self._moduli), found + turns, -1)
        return found

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        """See packed.Moves."""
        boards = np.zeros((len(contents), self._body.cells), dtype=np.uint8)
        for orbit, own in enumerate(self._body.orbits):
            labels = np.array(self._labels(orbit))
            for slot in own:
                number, turn = np.divmod(contents[:, slot], self._moduli[slot])
                boards[:, slot] = labels[number]
                if self._body.oriented:
                    boards[:, self._body.slots + slot] = turn
        return boards

    def _labels(self, orbit: int) -> list[int]:
        return [label for label, of in enumerate(self._body.label_orbit) if of == orbit]

    def origins(self) -> Boards:
        """See Model."""
        return np.array(origin_patterns(self._body, self._origin.where, ""), dtype=np.uint8)

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model: all moves made, or taken back where distances are counted to the origin."""
        found = []
        slots, forward = self._body.slots, self._origin.direction == "from"
        ignored = np.array(self._body.ignore)
        for move in self._body.generators:
            to, delta = np.array(move.to), np.array(move.delta)
            after = np.empty_like(boards)
            if forward:
                after[:, to] = boards[:, :slots]
            else:
                after[:, :slots] = boards[:, to]
            if self._body.oriented:
                if forward:
                    after[:, slots + to] = (boards[:, slots:] + delta) % self._moduli
                else:
                    after[:, slots:] = (boards[:, slots + to].astype(np.int64) - delta) % self._moduli
                after[:, slots:][ignored[after[:, :slots]]] = 0
            found.append(after)
        rows = np.tile(np.arange(len(boards)), len(found))
        return rows, np.concatenate(found)
