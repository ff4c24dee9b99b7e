"""Permutation puzzles of any size by name: ``pancake-7``, ``burnt-pancake-5``, ``reversals-6``, ``topspin-8-4``,
``lrx-6``, and ``topspin-8-4-free``, whose ring is turned freely: piece 1 holds it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import PieceSet, assemble
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.groups import Turns
from farthest.families.permutation.moves import MAX_MOVES, Move, listed
from farthest.puzzles.puzzle import Origin, Puzzle, published
from farthest.wording import shown

_NAME = re.compile(r"(pancake|burnt-pancake|reversals|topspin|lrx)-([0-9]+)(?:-([0-9]+)(-free)?)?")


def parametric_puzzle(name: str) -> Puzzle | None:
    """The puzzle of such a name, else None. Raises PuzzleError for an impossible size."""
    found = _NAME.fullmatch(name)
    if not found or (found[1] == "topspin") != (found[3] is not None):
        return None
    free = found[4] is not None
    least = 1 if found[1] == "burnt-pancake" else 3 if found[1] == "lrx" or free else 2
    most = min(MAX_SLOTS, int((2 * MAX_MOVES) ** 0.5) if found[1] == "reversals" else MAX_SLOTS)
    slots = _number(name, found[2], least, most)
    width, turns = slots, None
    if found[1] == "pancake":
        title = f"{slots} pancakes: turn over the top ones"
        moves = [_reversal(slots, top, burnt=False) for top in range(2, slots + 1)]
    elif found[1] == "burnt-pancake":
        title = f"{slots} pancakes burnt on one side: turn over the top ones"
        moves = [_reversal(slots, top, burnt=True) for top in range(1, slots + 1)]
    elif found[1] == "reversals":
        title = f"{slots} pieces in a row: reverse any that are beside each other"
        moves = []
        for first, last in combinations(range(slots), 2):
            to = (first + last - slot if first <= slot <= last else slot for slot in range(slots))
            moves.append(Move(f"{first + 1}-{last + 1}", tuple(to), (0,) * slots))
    elif found[1] == "topspin":
        width = _number(name, found[3] or "", 2, slots)
        title = f"TopSpin: {slots} pieces on a ring, {width} of them on the turntable"
        if free:
            title += "; the ring is turned freely"
            moves = [_reversal_on_ring(slots, width, first) for first in range(slots)]
            turns = Turns((1,), (_turns(slots)[0],))
        else:
            moves = [*_turns(slots), replace(_reversal(slots, width, burnt=False), name="F")]
    else:
        title = f"{slots} pieces on a ring: turn it left or right, exchange the first two"
        moves = [*_turns(slots), Move("X", (1, 0, *range(2, slots)), (0,) * slots)]
    size = f"{slots}-{width}" if found[3] else str(slots)
    name = f"{found[1]}-{size}{found[4] or ''}"
    modulus = 2 if found[1] == "burnt-pancake" else 1
    every = listed(moves, [modulus] * len(moves[0].to), "generator", inverses=True)
    assert every is not None  # at most one for each slot, and its inverse
    pieces = tuple((str(number), 0) for number in range(2 if free else 1, slots + 1))  # piece 1 is held
    return Puzzle(
        name=name,
        title=title,
        source="the plain puzzle of this size",
        family="permutation",
        metric="generator",
        origin=Origin(),
        known=published(__file__, name),
        definition=replace(assemble([PieceSet("", modulus, pieces)], every), turns=turns),
    )


def _reversal(slots: int, top: int, burnt: bool) -> Move:
    to = (*range(top - 1, -1, -1), *range(top, slots))
    return Move(str(top), to, tuple(int(burnt and slot < top) for slot in range(slots)))


def _reversal_on_ring(slots: int, width: int, first: int) -> Move:
    """The pieces from one on are reversed, then the ring is turned until that of its last slot is there again."""
    to = [2 * first + width - 1 - slot if (slot - first) % slots < width else slot for slot in range(slots)]
    home = tuple((slot - to[-1] - 1) % slots for slot in to[:-1])
    return Move(str((first + 1) % slots + 1), home, (0,) * (slots - 1))


def _turns(slots: int) -> list[Move]:
    left = tuple((slot - 1) % slots for slot in range(slots))
    right = tuple((slot + 1) % slots for slot in range(slots))
    still = (0,) * slots
    return [Move("L", left, still), Move("R", right, still)]


def _number(name: str, digits: str, least: int, most: int) -> int:
    # Compared as texts first: a number of many digits is not worth reading.
    digits = digits.lstrip("0") or "0"
    number = int(digits) if len(digits) <= len(str(most)) else most + 1
    if not least <= number <= most:
        side = "smaller" if number > most else "larger"
        raise PuzzleError(f"{shown(name)}: expected a number from {least} to {most}; choose a {side} one")
    return number
