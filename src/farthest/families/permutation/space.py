"""Permutation puzzles compiled for the kernel's arrangement spaces: labels in words, or orientations in words.

Few kinds of piece on many slots leave too little to a word, and orientations of very many equal pieces fit no line of
the kernel: such puzzles are enumerated by ``scatter_space``.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from math import factorial, prod
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.layout import MEND, Layout, choose_layout
from farthest.families.permutation.neighbours import PermutationBoards, origin_boards
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, Space
from farthest.spaces.packed_layout import is_packed
from farthest.spaces.too_large import check_keys, kernel_limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.spaces.contract import EngineKind

MOST_PLACES = 2**16
"""Shards at the least: a shard takes a kilobyte or two besides its states, of which these would have few."""

LEAST_BITS = 4
"""States in a word at the least: with fewer, sorted runs of codes take less memory."""

MOST_PROGRAM_BITS = 2**27
"""States of a line, times the programs that may be needed for it: some seconds and 200 MB."""


def compile(puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> Space:  # noqa: A001 - what families call it
    """See ``spaces.compile_space``."""
    definition = permutation(puzzle)
    origins = origin_boards(puzzle, origin)
    if is_packed(layout):
        from farthest.families.permutation.packed_space import PackedPermutationSpace

        return PackedPermutationSpace(puzzle, origin, origins)
    if layout is None or "turned" not in layout or layout.get("gathered"):
        chosen = (
            choose_layout(definition, origins) if layout is None else Layout.from_dict(layout, definition)
        )
        check_keys(puzzle, chosen.keys, MEND)
        space = PermutationSpace(puzzle, origin, origins, chosen)
        if layout is not None or _gathered(space):
            return space
    from farthest.families.permutation.scatter_space import SlotwiseSpace

    return SlotwiseSpace(puzzle, origin, origins, layout)


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

    @property
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
                [total or 0 for total in layout.sums] if layout.turned else (),
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


def _gathered(space: PermutationSpace) -> bool:
    """Whether the first of two labels or more, whose places are shards, has not too many, and the kernel can exchange
    the orientations of equal pieces: in full words, by not too many programs."""
    layout, counts = space.layout, space.definition.counts
    if layout.radices[0] > MOST_PLACES or (len(layout.classes) == 1 and layout.twists == 1):
        return False
    if not layout.exchanges:
        return True
    several = [label for label in layout.twisted if counts[label] > 1]
    ways = prod(factorial(counts[label]) * layout.modulus_of[label] ** counts[label] for label in several)
    moves = len(space.definition.generators)
    programs = min(moves * prod(layout.radices), moves * ways if layout.turned else ways)
    try:
        kernel = space.kernel
    except ResourceError:
        return False
    return (
        kernel.bits >= LEAST_BITS
        and programs * kernel.bits * (kernel.words // kernel.lines) <= MOST_PROGRAM_BITS
    )
