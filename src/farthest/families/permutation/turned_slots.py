"""Orbits whose orientations are kept by slot: all of them matter, and some are of equal pieces."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from farthest.spaces.layout import WORD_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.definition import Permutation

LINE_WORDS = 512
"""Most words of a line of the kernel (kernel/include/farthest/layout.hpp)."""


def counted_labels(definition: Permutation, orbit: int) -> list[int]:
    """The labels of the orbit whose orientations matter."""
    return [
        label
        for label, of in enumerate(definition.label_orbit)
        if of == orbit and definition.moduli[orbit] > 1 and not definition.ignore[label]
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
