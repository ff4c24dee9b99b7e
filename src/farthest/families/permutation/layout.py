"""The key layout of permutation puzzles, and what their moves never change: sums of orientations, parities.

docs/key-layout.md defines the key of a board by this layout; it is stored with every map. The choices made here change
speed and memory, never distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import comb, log, prod
from typing import Any

from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.moves import Move, odd
from farthest.puzzles.definition import Board
from farthest.spaces.arrangement import WORD_BITS, digit_parity, sums_along, word_labels
from farthest.spaces.contract import damaged_layout, layout_json, read_layout

LINE_WORDS = 512
"""Most words of a line of the kernel (kernel/include/farthest/layout.hpp)."""


def counted_labels(definition: Permutation, orbit: int) -> list[int]:
    """The labels of the orbit whose orientations matter."""
    return [
        label
        for label in definition.labels_of(orbit)
        if definition.moduli[orbit] > 1 and not definition.ignore[label]
    ]


def by_slot(definition: Permutation, orbit: int) -> bool:
    """Whether all orientations in the orbit matter, and some are of equal pieces."""
    counts = [definition.counts[label] for label in counted_labels(definition, orbit)]
    return max(counts, default=1) > 1 and sum(counts) == len(definition.orbits[orbit])


def turned_slots(definition: Permutation, sums: Sequence[int | None]) -> tuple[int, ...]:
    """The slots whose orientations have digits; last the orbit that fills the words and a line of the kernel best."""
    found = [
        slots if total is None else slots[:-1]
        for orbit, (slots, total) in enumerate(zip(definition.orbits, sums, strict=True))
        if by_slot(definition, orbit)
    ]

    def filling(slots: tuple[int, ...]) -> tuple[bool, int, int]:
        modulus = definition.slot_moduli[slots[0]] if slots else 2
        word = min(len(slots), int(log(WORD_BITS, modulus) + 1e-9))
        return modulus ** (len(slots) - word) <= LINE_WORDS, modulus**word, len(slots)

    return tuple(slot for slots in sorted(found, key=filling) for slot in slots)


VERSION = 1

MEND = "make it smaller: make more pieces equal, ignore orientations, or take a pattern of some pieces (PUZZLE@PIECES)"
"""What makes a puzzle of this family smaller."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Label ``classes[j]`` is placed j-th and occurs ``counts[j]`` times; the classes fill the ``orbits`` in order.

    ``moduli``: of the orientations in each orbit, 1 where they do not count. ``twisted``: the labels whose orientations
    are digits of the key, in order; of a label that occurs several times those of all its pieces, in the order of their
    slots. ``turned``: the slots whose orientations are digits after these, of orbits with equal pieces where all
    orientations matter. ``sums``: for each orbit the sum of its orientations if that never changes, else None; then the
    orientation of one label, or of one slot, which is not among these, follows from the others.
    ``parity``: None, or for each slot the parity of the digit sum of boards whose first class is there.
    """

    classes: tuple[int, ...]
    counts: tuple[int, ...]
    orbits: tuple[tuple[int, ...], ...]
    moduli: tuple[int, ...]
    twisted: tuple[int, ...]
    sums: tuple[int | None, ...]
    parity: tuple[int, ...] | None
    turned: tuple[int, ...] = ()

    @property
    def slots(self) -> int:
        """The number of slots."""
        return sum(self.counts)

    @property
    def radices(self) -> list[int]:
        """The radix of each class's digit."""
        out, orbits, free = [], iter(self.orbits), 0
        for count in self.counts:
            free = free or len(next(orbits))
            out.append(comb(free, count))
            free -= count
        return out

    @property
    def modulus_of(self) -> dict[int, int]:
        """For each label the modulus of its orbit."""
        return {label: self.moduli[orbit] for label, orbit in self.orbit_of.items()}

    @property
    def orbit_of(self) -> dict[int, int]:
        """For each label the number of its orbit."""
        whole = [orbit for orbit, slots in enumerate(self.orbits) for _ in slots]
        return dict(zip(self.classes, (whole[at] for at in (0, *accumulate(self.counts))), strict=False))

    @property
    def count_of(self) -> dict[int, int]:
        """For each label how often it occurs."""
        return dict(zip(self.classes, self.counts, strict=True))

    @property
    def twists(self) -> int:
        """The product of the radices of the digits of orientations."""
        modulus = {slot: m for orbit, m in zip(self.orbits, self.moduli, strict=True) for slot in orbit}
        by_piece = prod(int(self.modulus_of[label] ** self.count_of[label]) for label in self.twisted)
        return by_piece * prod(modulus[slot] for slot in self.turned)

    @property
    def exchanges(self) -> bool:
        """Whether moves exchange digits of orientations: those of equal pieces."""
        return bool(self.turned) or any(self.count_of[label] > 1 for label in self.twisted)

    @property
    def keys(self) -> int:
        """The number of keys."""
        return prod(self.radices) * self.twists // (1 if self.parity is None else 2)

    def to_dict(self) -> dict[str, Any]:
        """As stored with a job."""
        fields = {"version": VERSION, "slots": list(range(self.slots)), **layout_json(self), "gathered": True}
        if not self.turned:
            del fields["turned"], fields["gathered"]
        return fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any], definition: Permutation) -> Layout:
        """Inverse of ``to_dict``. Raises StorageError for fields of another version or puzzle, or damaged."""
        own = fields if fields.get("gathered") else {**fields, "turned": []}
        layout = read_layout(own, cls, VERSION)
        if not layout._fits(definition):
            raise damaged_layout("it is not one of this puzzle")
        return layout

    def _fits(self, definition: Permutation) -> bool:
        """Whether labels, counts and orbits are the puzzle's, and the other fields have values of theirs."""
        orbit_of = [definition.orbits[of] for of in definition.label_orbit]
        return (
            sorted(self.classes) == list(range(len(definition.tokens)))
            and self.counts == tuple(definition.counts[label] for label in self.classes)
            and list(self.orbits)
            == [orbit for orbit, _ in groupby(orbit_of[label] for label in self.classes)]
            and len(self.moduli) == len(self.sums) == len(self.orbits)
            and all(
                m in (1, definition.slot_moduli[o[0]]) for m, o in zip(self.moduli, self.orbits, strict=True)
            )
            and all(
                total is None
                or (total in range(definition.slot_moduli[o[0]]) and definition.slot_moduli[o[0]] > 1)
                for total, o in zip(self.sums, self.orbits, strict=True)
            )
            and set(self.twisted) <= {label for label, m in self.modulus_of.items() if m > 1}
            and len(set(self.twisted)) == len(self.twisted)
            and self._turned_fit(definition)
            and (self.parity is None or (len(self.parity) == definition.slots and set(self.parity) <= {0, 1}))
        )

    def _turned_fit(self, definition: Permutation) -> bool:
        """Whether the turned slots are those of whole orbits, one after another, less one where there is a sum."""
        if not set(self.turned) <= set(range(definition.slots)):
            return False
        orbit_of = {slot: orbit for orbit, slots in enumerate(self.orbits) for slot in slots}
        parts = [(orbit, list(slots)) for orbit, slots in groupby(self.turned, orbit_of.__getitem__)]
        return len(set(self.turned)) == len(self.turned) and all(
            len(slots) == len(self.orbits[orbit]) - (self.sums[orbit] is not None)
            and definition.slot_moduli[slots[0]] == self.moduli[orbit] > 1
            and not any(
                definition.orbits[definition.label_orbit[t]] == self.orbits[orbit] for t in self.twisted
            )
            for orbit, slots in parts
        )


def choose_layout(definition: Permutation, origins: Sequence[Board]) -> Layout:
    """The layout that enumerates fastest."""
    sums = [twist_sum(definition, orbit, origins) for orbit in range(len(definition.orbits))]
    twisted = [label for orbit, total in enumerate(sums) for label in _twisted(definition, orbit, total)]
    turned = turned_slots(definition, sums)
    order = list(range(len(definition.orbits)))
    labels = [definition.labels_of(orbit) for orbit in order]
    if twisted or turned:
        order.sort(
            key=lambda orbit: -len(definition.orbits[orbit])
        )  # shards are the places of the first labels
    else:
        words = [word_labels(definition.counts, own, _most(definition, own)) for own in labels]
        order.sort(key=lambda orbit: prod(_radices(definition.counts, words[orbit])))
        own = labels[order[-1]]
        rest = sorted(set(own) - set(words[order[-1]]), key=lambda label: (-definition.counts[label], label))
        labels[order[-1]] = [*rest[-1:], *rest[:-1], *words[order[-1]]]  # few shards first
    classes = tuple(label for orbit in order for label in labels[orbit])
    counts = tuple(definition.counts[label] for label in classes)
    counted = {definition.label_orbit[label] for label in twisted}
    counted |= {orbit for orbit, slots in enumerate(definition.orbits) if set(slots) & set(turned)}
    return Layout(
        classes,
        counts,
        tuple(definition.orbits[orbit] for orbit in order),
        tuple(definition.moduli[orbit] if orbit in counted else 1 for orbit in order),
        _digit_order(definition, twisted),
        tuple(sums[orbit] for orbit in order),
        None
        if twisted or turned
        else _parities(definition.generators, classes, counts, len(definition.orbits), origins),
        turned,
    )


def twist_sum(definition: Permutation, orbit: int, origins: Iterable[Board]) -> int | None:
    """The sum, modulo its modulus, of the orientations in the orbit, of all boards that moves join to the origins; None
    where they are not turned, or it is not always the same."""
    modulus, slots = definition.moduli[orbit], definition.orbits[orbit]
    if (
        modulus == 1
        or any(definition.ignore[label] for label in definition.labels_of(orbit))
        or any(sum(move.delta[s] for s in slots) % modulus for move in definition.generators)
    ):
        return None
    found = {sum(board[definition.slots + slot] for slot in slots) % modulus for board in origins}
    return found.pop() if len(found) == 1 else None


def _twisted(definition: Permutation, orbit: int, total: int | None) -> list[int]:
    """The labels of the orbit whose orientations must be told."""
    labels = counted_labels(definition, orbit)
    if by_slot(definition, orbit):
        return []
    return labels if total is None else labels[:-1]


def _most(definition: Permutation, labels: Sequence[int]) -> int:
    """How many of an orbit's labels a word may hold: the first label of all is always outside."""
    return len(labels) - (len(labels) == len(definition.counts) and len(labels) > 1)


def _radices(counts: Sequence[int], labels: Sequence[int]) -> list[int]:
    return [comb(sum(counts[label] for label in labels[i:]), counts[first]) for i, first in enumerate(labels)]


def _digit_order(definition: Permutation, labels: Sequence[int]) -> tuple[int, ...]:
    """The labels, single ones first, with those of these last that fill a word's 64 bits best."""
    several = [label for label in labels if definition.counts[label] > 1]
    labels = [label for label in labels if definition.counts[label] == 1]
    modulus = {label: definition.moduli[definition.label_orbit[label]] for label in labels}
    best: dict[int, tuple[int, ...]] = {1: ()}
    for label in labels:
        for bits, chosen in list(best.items()):
            if bits * modulus[label] <= WORD_BITS:
                best.setdefault(bits * modulus[label], (*chosen, label))
    word = best[max(best)]
    return (*(label for label in labels if label not in word), *word, *several)


def _parities(
    moves: Sequence[Move],
    classes: Sequence[int],
    counts: Sequence[int],
    orbits: int,
    origins: Iterable[Board],
) -> tuple[int, ...] | None:
    """For each slot the parity of all reachable boards with the first class there, if there is just one."""
    if orbits != 1 or len(classes) < 3 or any(count != 1 for count in counts):
        return None
    signs = [(move.to, odd(move.to, range(len(classes)))) for move in moves]
    starts = [(board.index(classes[0]), digit_parity(classes, board[: len(classes)])) for board in origins]
    parity = sums_along(starts, lambda slot: ((to[slot], sign) for to, sign in signs), 2)
    return None if parity is None else tuple(parity.get(slot, 0) for slot in range(len(classes)))
