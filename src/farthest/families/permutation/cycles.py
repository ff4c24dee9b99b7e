"""Permutations as people write them: cycles with twists, and images.

``(1 2 3)(4 5)``: the content of slot 1 goes to slot 2, that of 2 to 3, that of 3 to 1. ``(1+1 2+2 3)``: on its way the
content of slot 1 turns by 1, that of slot 2 by 2. ``(4+1)``: the content of slot 4 stays and turns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[(),])|(?P<slot>\d{1,9})(?:(?P<twist>[+-]\d{1,9}))?(?![\d+-])|(?P<wrong>\S))"
)

Images = tuple[list[int], list[int]]
"""``to`` and ``delta`` of a move, both indexed by the slot that the content comes from, from 0; twists as written."""


class NotationError(ValueError):
    """The text or the array is not a permutation; the message says where and what was expected."""


def read_cycles(text: str, slots: int, first: int) -> Images:
    """The permutation of ``slots`` slots, numbered from ``first``, that a product of disjoint cycles is.

    Raises NotationError.
    """
    to, delta = list(range(slots)), [0] * slots
    seen: set[int] = set()
    cycle: list[int] | None = None
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        assert found is not None  # what is not blank matches, if only as wrong
        place = found.end()
        if found["wrong"]:
            raise NotationError(
                f"{found['wrong']!r} at place {place}; expected slots in brackets such as (1 2 3)(4 5)"
            )
        if found["mark"] == "(":
            if cycle is not None:
                raise NotationError(f"a bracket opens in a cycle at place {place}; close the cycle before it")
            cycle = []
        elif found["mark"] == ")":
            if cycle is None:
                raise NotationError(f"a bracket closes no cycle at place {place}; open one before it")
            for i, slot in enumerate(cycle):
                to[slot] = cycle[(i + 1) % len(cycle)]
            cycle = None
        elif cycle is None:
            raise NotationError(
                f"{found[0].strip()!r} at place {place} is in no cycle; put it in brackets, as (1 2 3)"
            )
        elif found["slot"]:
            slot = _slot(int(found["slot"]), slots, first)
            if slot in seen:
                raise NotationError(
                    f"slot {found['slot']} appears twice; expected disjoint cycles, leave it out once"
                )
            seen.add(slot)
            cycle.append(slot)
            delta[slot] = int(found["twist"] or 0)
    if cycle is not None:
        raise NotationError("the last cycle is not closed; add a bracket: (1 2 3)")
    return to, delta


def read_images(values: Sequence[object], slots: int, first: int) -> list[int]:
    """The permutation given by the slot that the content of each slot goes to. Raises NotationError."""
    if len(values) != slots:
        raise NotationError(f"{len(values)} images, expected {slots}, one a slot")
    to = []
    for value in values:
        if type(value) is not int:
            raise NotationError(
                f"{value!r} is not a slot; expected whole numbers from {first} to {slots - 1 + first}"
            )
        to.append(_slot(value, slots, first))
    twice = sorted({image for image in to if to.count(image) > 1})
    if twice:
        raise NotationError(
            f"two slots go to slot {twice[0] + first}: not a permutation; expected each slot once, correct one of them"
        )
    return to


def _slot(number: int, slots: int, first: int) -> int:
    if not first <= number < slots + first:
        raise NotationError(
            f"slot {number} is out of range; expected {first} to {slots - 1 + first} (numbered from {first})"
        )
    return number - first
