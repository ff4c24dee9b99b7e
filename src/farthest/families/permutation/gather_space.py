"""Permutation puzzles for the kernel's arrangement spaces: labels in words, or orientations in words."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.families.permutation.layout import MEND, Layout
from farthest.families.permutation.neighbours import PermutationBoards
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY
from farthest.spaces.too_large import kernel_limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.spaces.contract import EngineKind


class PermutationSpace(PermutationBoards):
    """See GatherSpace."""

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], layout: Layout) -> None:
        super().__init__(puzzle, origin, origins)
        self.engine: EngineKind = "gather"
        self.layout = layout
        self._class_of = bytearray(b"\xff" * 256)
        for position, label in enumerate(layout.classes):
            self._class_of[label] = position
        self._labels = bytes(layout.classes)
        slots = self.definition.slots
        self._positions = range(slots)
        self._twists: Sequence[int] = range(slots, 2 * slots) if layout.twisted or layout.turned else ()

    @property
    def undirected(self) -> bool:
        """See Space."""
        return self.definition.symmetric

    @cached_property
    def keys(self) -> int:
        """See GatherSpace."""
        return self.layout.keys

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        return self.layout.to_dict()

    def shards_at(self, shard_classes: int) -> int:
        """See GatherSpace."""
        return prod(self.layout.radices[: min(shard_classes, self.kernel.shard_levels)])

    @cached_property
    def kernel(self) -> _kernel.ArrangementSpace:
        """See GatherSpace."""
        return self.compile_kernel()

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.ArrangementSpace:
        """See GatherSpace."""
        layout = self.layout
        moves = [(move.to, 0, 0) for move in self.moves_away]
        deltas = [move.delta for move in self.moves_away] if self._twists else []
        orbits = [
            (sum(1 << slot for slot in orbit), modulus)
            for orbit, modulus in zip(layout.orbits, layout.moduli, strict=True)
        ]
        twisted = [layout.classes.index(label) for label in layout.twisted]
        # Of an orbit without digits the sum says nothing: its orientations never change.
        sums = [
            total or 0 if modulus > 1 else 0
            for total, modulus in zip(layout.sums, layout.moduli, strict=True)
        ]

        def build(classes: int) -> _kernel.ArrangementSpace:
            return _kernel.ArrangementSpace(
                layout.slots,
                layout.counts,
                layout.parity or (),
                moves,
                classes,
                isa,
                orbits,
                twisted,
                deltas,
                layout.turned,
                sums if layout.turned else (),
            )

        with kernel_limits(self.puzzle, self.keys, MEND):
            kernel = build(1)
            levels = min(shard_classes, kernel.shard_levels)
            return kernel if levels == 1 else build(levels)

    def shard_order(self, shards: int) -> range:
        """See GatherSpace: in the order of the keys."""
        return range(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        """See GatherSpace."""
        keys = array("Q", bytes(8 * len(boards)))
        self._encode(bytes(chain.from_iterable(boards)), keys)
        return [key if self._summed(board) else NO_KEY for key, board in zip(keys, boards, strict=True)]

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """See Space."""
        import numpy as np

        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        keys = np.empty(len(rows), dtype=np.uint64)
        self._encode(rows.reshape(-1), keys)
        for orbit, total in enumerate(self.layout.sums):
            if total is not None:
                slots = np.array(self.layout.orbits[orbit]) + self.definition.slots
                keys[rows[:, slots].sum(axis=1) % self._modulus(orbit) != total] = NO_KEY
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """See Space."""
        import numpy as np

        slots = self.definition.slots
        boards = np.zeros((codes.size, self.cells), dtype=np.uint8)
        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        self.kernel.decode(keys, self.cells, self._positions, self._labels, boards.reshape(-1), self._twists)
        for orbit, total in enumerate(self.layout.sums):
            if total is not None and orbit in self._followers:
                here = np.array(self.layout.orbits[orbit])
                modulus = self._modulus(orbit)
                rows, which = np.nonzero(boards[:, here] == self._followers[orbit])
                known = boards[:, slots + here].sum(axis=1) % modulus
                boards[rows, slots + here[which]] = (total + modulus - known) % modulus
        return boards

    def _encode(self, boards: Any, keys: Any) -> None:
        self.kernel.encode(boards, self.cells, self._positions, self._class_of, keys, self._twists)

    def _summed(self, board: Sequence[int]) -> bool:
        """Whether the orientations have the sums that never change."""
        return all(
            total is None
            or sum(board[self.definition.slots + s] for s in slots) % self._modulus(orbit) == total
            for orbit, (slots, total) in enumerate(zip(self.layout.orbits, self.layout.sums, strict=True))
        )

    def _modulus(self, orbit: int) -> int:
        """Of the orientations in one of the layout's orbits, counted or not."""
        return self.definition.slot_moduli[self.layout.orbits[orbit][0]]

    @cached_property
    def _followers(self) -> dict[int, int]:
        """For each of the layout's orbits with a fixed sum, but those with turned slots, the label whose orientation
        follows from the others."""
        where = {slots: orbit for orbit, slots in enumerate(self.layout.orbits)}
        return {
            where[self.definition.orbits[of]]: label
            for label, of in enumerate(self.definition.label_orbit)
            if self.definition.moduli[of] > 1
            and not self.definition.ignore[label]
            and label not in self.layout.twisted
            and not set(self.definition.orbits[of]) & set(self.layout.turned)
        }
