"""Permutation puzzles of any size by name: ``pancake-7``, ``burnt-pancake-5``, ``topspin-8-4``, ``lrx-6``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import PieceSet, assemble
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.moves import Move, listed
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.wording import shown

_PUBLISHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.json")
_NAME = re.compile(r"(pancake|burnt-pancake|topspin|lrx)-([0-9]+)(?:-([0-9]+))?")


def parametric_puzzle(name: str) -> Puzzle | None:
    """The puzzle of such a name, else None. Raises PuzzleError for an impossible size."""
    found = _NAME.fullmatch(name)
    if not found or (found[1] == "topspin") != (found[3] is not None):
        return None
    slots = _number(
        name, found[2], 1 if found[1] == "burnt-pancake" else 3 if found[1] == "lrx" else 2, MAX_SLOTS
    )
    if found[1] == "pancake":
        title = f"{slots} pancakes: turn over the top ones"
        moves = [_reversal(slots, top, burnt=False) for top in range(2, slots + 1)]
    elif found[1] == "burnt-pancake":
        title = f"{slots} pancakes burnt on one side: turn over the top ones"
        moves = [_reversal(slots, top, burnt=True) for top in range(1, slots + 1)]
    elif found[1] == "topspin":
        width = _number(name, found[3] or "", 2, slots)
        title = f"TopSpin: {slots} pieces on a ring, {width} of them on the turntable"
        moves = [*_turns(slots), _reversal(slots, width, burnt=False)]
    else:
        title = f"{slots} pieces on a ring: turn it left or right, exchange the first two"
        moves = [*_turns(slots), Move("X", (1, 0, *range(2, slots)), (0,) * slots)]
    if found[1] == "topspin":
        moves[-1] = Move("F", moves[-1].to, moves[-1].delta)
    return _puzzle("-".join([found[1], str(slots), *([str(width)] if found[3] else [])]), title, slots, moves)


def _puzzle(name: str, title: str, slots: int, generators: Sequence[Move]) -> Puzzle:
    modulus = 2 if name.startswith("burnt") else 1
    moves = listed(generators, [modulus] * slots, "generator", inverses=True)
    assert moves is not None  # at most one for each slot, and its inverse
    pieces = tuple((str(number), 0) for number in range(1, slots + 1))
    return Puzzle(
        name=name,
        title=title,
        source="the plain puzzle of this size",
        family="permutation",
        metric="generator",
        origin=Origin(),
        known=_published(name),
        definition=assemble([PieceSet("", modulus, pieces)], moves),
    )


def _reversal(slots: int, top: int, burnt: bool) -> Move:
    to = (*range(top - 1, -1, -1), *range(top, slots))
    return Move(str(top), to, tuple(int(burnt and slot < top) for slot in range(slots)))


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


def _published(name: str) -> tuple[KnownAnswer, ...]:
    import json

    with open(_PUBLISHED, encoding="utf-8") as file:
        published = json.load(file)
    return tuple(
        KnownAnswer(
            states=answer["states"],
            eccentricity=answer["eccentricity"],
            layers=tuple(answer["layers"]),
            farthest=None,
            source=answer["source"],
        )
        for answer in published
        if answer["name"] == name
    )
