"""Permutation puzzles whose states are expanded one by one.

``SlotwiseSpace`` is for what no line of the kernel can hold: orientations of very many equal pieces; and few kinds of
piece on many slots. The key is the rank of the labels' arrangement, and then a digit for the orientation in each slot.
``PackedPermutationSpace`` has boards of any number packed into codes: the content of a slot is the number of its label
among those of its orbit, times the orbit's modulus, plus the orientation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.gather_space import PermutationBoards
from farthest.families.permutation.layout import MEND, Layout, counted_labels, twist_sum
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, check_keys, damaged_layout, kernel_limits
from farthest.spaces.packed import CONTENTS, UNCHANGED, CodedSpace, PackedMove, PackedSpace

if TYPE_CHECKING:
    from farthest.spaces.contract import Boards


class SlotwiseSpace(PermutationBoards, CodedSpace):
    """Dense. ``layout``: of the arrangement; ``turned``: the slots whose orientations have digits.

    An orbit whose orientations have a sum that never changes has no digit for its last slot.
    """

    def __init__(
        self, puzzle: Puzzle, origin: Origin, origins: list[Board], fields: dict[str, Any] | None
    ) -> None:
        super().__init__(puzzle, origin, origins)
        if fields is None:
            self.layout, self.turned = _chosen(self.definition, origins)
        else:
            self.layout = Layout.from_dict(fields, self.definition)
            turned = fields["turned"]
            slots = set(range(self.definition.slots))
            if not isinstance(turned, list) or not set(turned) <= slots or len(set(turned)) < len(turned):
                raise damaged_layout(f"turned: {turned!r}")
            self.turned = tuple(turned)
        self._radix = [self.definition.slot_moduli[slot] for slot in self.turned]
        self.keys: int = self.layout.keys * prod(self._radix)
        check_keys(puzzle, self.keys, MEND)
        self._class_of = np.full(256, 255, dtype=np.uint8)
        self._class_of[list(self.layout.classes)] = np.arange(len(self.layout.classes))

    def layout_fields(self) -> dict[str, Any]:
        """The fields of a space that keeps orientations by piece, and ``turned``."""
        return {**self.layout.to_dict(), "turned": list(self.turned)}

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        slots = self.definition.slots
        keys = self._ranks(np.ascontiguousarray(boards[:, :slots]))
        none = keys == NO_KEY
        for slot, radix in zip(self.turned, self._radix, strict=True):
            digit = boards[:, slots + slot]
            none |= digit >= radix
            keys = keys * np.uint64(radix) + digit
        keys[none | self.wrong_sums(self.layout, boards)] = NO_KEY
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        slots = self.definition.slots
        boards = np.zeros((codes.size, self.cells), dtype=np.uint8)
        rest = codes.astype(np.uint64)
        for slot, radix in zip(reversed(self.turned), reversed(self._radix), strict=True):
            boards[:, slots + slot] = rest % np.uint64(radix)
            rest //= np.uint64(radix)
        boards[:, :slots] = self._arrangements(rest)
        for orbit, total in zip(self.layout.orbits, self.layout.sums, strict=True):
            if total is not None:
                here = slots + np.array(orbit)
                modulus = self.definition.slot_moduli[orbit[0]]
                boards[:, here[-1]] = (total + modulus - boards[:, here[:-1]].sum(axis=1) % modulus) % modulus
        return boards

    @cached_property
    def label_ranks(self) -> _kernel.ArrangementSpace | None:
        """Ranks the arrangements of the labels; None where there is one label and one arrangement."""
        if len(self.layout.classes) == 1:
            return None
        orbits = [(sum(1 << slot for slot in orbit), 1) for orbit in self.layout.orbits]
        with kernel_limits(self.puzzle, self.keys, MEND):
            return _kernel.ArrangementSpace(self.layout.slots, self.layout.counts, (), [], orbits=orbits)

    def _ranks(self, labels: NDArray[np.uint8]) -> NDArray[np.uint64]:
        slots = self.definition.slots
        keys = np.empty(len(labels), dtype=np.uint64)
        if self.label_ranks is None:
            keys[:] = np.where((labels == self.layout.classes[0]).all(axis=1), 0, NO_KEY)
        else:
            self.label_ranks.encode(labels.reshape(-1), slots, range(slots), self._class_of, keys)
        return keys

    def _arrangements(self, ranks: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Labels (N, slots). Raises ValueError when a rank is out of range."""
        slots = self.definition.slots
        labels = np.full((ranks.size, slots), self.layout.classes[0], dtype=np.uint8)
        if self.label_ranks is not None:
            self.label_ranks.decode(
                ranks, slots, range(slots), bytes(self.layout.classes), labels.reshape(-1)
            )
        elif ranks.any():
            raise ValueError("no such key")
        return labels


def _chosen(definition: Permutation, origins: Sequence[Board]) -> tuple[Layout, tuple[int, ...]]:
    """The arrangement's layout, and the slots whose orientations have digits."""
    order = sorted(range(len(definition.tokens)), key=lambda label: (definition.label_orbit[label], label))
    sums = tuple(twist_sum(definition, orbit, origins) for orbit in range(len(definition.orbits)))
    turned: list[int] = []
    for orbit, slots in enumerate(definition.orbits):
        if counted_labels(definition, orbit):
            turned += slots if sums[orbit] is None else slots[:-1]
    layout = Layout(
        tuple(order),
        tuple(definition.counts[label] for label in order),
        definition.orbits,
        (1,) * len(definition.orbits),
        (),
        sums,
        None,
    )
    return layout, tuple(turned)


class PackedPermutationSpace(PackedSpace):
    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        plain = PermutationBoards(puzzle, origin, origins)
        definition = self._definition = plain.definition
        self._labels = [definition.labels_of(orbit) for orbit in range(len(definition.orbits))]
        self._number = [
            self._labels[orbit].index(label) for label, orbit in enumerate(definition.label_orbit)
        ]
        radices = [len(self._labels[orbit]) * definition.moduli[orbit] for orbit in definition.slot_orbits]
        guarded = {label for own in definition.guards for guard in own for label in guard.labels}
        kind_of = {label: kind for kind, label in enumerate(sorted(guarded), 1)}
        moves = [
            PackedMove(
                move.to,
                [self._turned(slot, turn) for slot, turn in enumerate(move.delta)],
                guards=[
                    (
                        [kind_of[label] for label in guard.labels],
                        sum(1 << s for s in guard.slots),
                        guard.joined,
                    )
                    for guard in own
                ],
            )
            for move, own in zip(plain.moves_away, plain.guards_away, strict=True)
        ]
        kinds = [self._kinds(orbit, kind_of) for orbit in definition.slot_orbits] if guarded else []
        self._moves_toward, self._moves_away = plain.moves_toward, plain.moves_away
        super().__init__(plain, radices, None, moves, undirected=plain.undirected, kinds=kinds)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        """255 where a label or an orientation is none of the slot's."""
        slots, moduli = self._definition.slots, np.array(self._definition.slot_moduli)
        labels = boards[:, :slots]
        turns = boards[:, slots:] if self._definition.oriented else np.zeros_like(labels)
        held = np.minimum(labels, len(self._number) - 1)
        wrong = (labels != held) | (turns >= moduli)
        wrong |= np.array(self._definition.label_orbit)[held] != np.array(self._definition.slot_orbits)
        return np.where(wrong, 255, np.array(self._number)[held] * moduli + turns).astype(np.uint8)

    def boards(self, contents: NDArray[np.integer[Any]]) -> Boards:
        slots = self._definition.slots
        boards = np.zeros((len(contents), self.cells), dtype=np.uint8)
        for own, labels, modulus in zip(
            self._definition.orbits, self._labels, self._definition.moduli, strict=True
        ):
            here = np.array(own)
            boards[:, here] = np.array(labels, dtype=np.uint8)[contents[:, here] // modulus]
            if self._definition.oriented:
                boards[:, slots + here] = contents[:, here] % modulus
        return boards

    def _kinds(self, orbit: int, kind_of: Mapping[int, int]) -> bytes:
        """The kind of each content of the orbit's slots."""
        modulus = self._definition.moduli[orbit]
        kinds = [kind_of.get(label, 0) for label in self._labels[orbit] for _ in range(modulus)]
        return bytes(kinds[:CONTENTS]).ljust(CONTENTS, b"\0")

    def _turned(self, slot: int, turn: int) -> bytes:
        """What each content of the slot becomes when it is turned; the labels that are ignored stay as they are."""
        if not turn:
            return UNCHANGED
        orbit, table = self._definition.slot_orbits[slot], bytearray(UNCHANGED)
        modulus = self._definition.moduli[orbit]
        for number, label in enumerate(self._labels[orbit]):
            for turned in range(modulus):
                if not self._definition.ignore[label] and number * modulus + turned < CONTENTS:
                    table[number * modulus + turned] = number * modulus + (turned + turn) % modulus
        return bytes(table)
