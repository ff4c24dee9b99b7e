"""The net of a pattern: the puzzle's, with colours for the pieces that the pattern tells apart.

Pieces that are alike are drawn as the first of them; pieces that are in no class are grey, and where it matters how
these are turned, their first sticker is black. Where the puzzle itself has such a colour, another is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from farthest.families.permutation.net import FIXED, MOST_RINGS, Net, piece_colours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.definition import Permutation

_UNTOLD = ("grey", "black", "brown", "pink", "cyan")
"""Colours for pieces that are in no class."""


def pattern_net(puzzle: Permutation, pattern: Permutation, relabel: Sequence[int], others: str) -> Net | None:
    """The net of a pattern whose definition is whole but for it; None where it would have too many rings. ``relabel``:
    for each label of the puzzle that of the pattern; ``others``: how pieces are written that are in no class."""
    assert puzzle.net is not None
    moduli, now = puzzle.slot_moduli, pattern.slot_moduli
    goal, made = puzzle.goals[0], pattern.goals[0]
    first = {relabel[label]: label for label in reversed(range(len(puzzle.tokens)))}
    colours = piece_colours(puzzle.net, moduli, goal)
    used = {sticker.colour for sticker in puzzle.net.stickers}
    plain, turned = [*(colour for colour in _UNTOLD if colour not in used), *_UNTOLD][:2]
    stickers = []
    for sticker in puzzle.net.stickers:
        if sticker.slot == FIXED:
            stickers.append(sticker)
            continue
        slot, modulus = sticker.slot, moduli[sticker.slot]
        label = made[slot]
        turn = goal[puzzle.slots + slot] if puzzle.oriented else 0
        number = (sticker.place - turn) % modulus
        counted = now[slot] > 1 and not pattern.ignore[label]
        if pattern.tokens[label] != others:
            colour = colours.get((first[label], sticker.ring, number), plain)
        else:
            colour = turned if counted and number == sticker.ring == 0 else plain
        if now[slot] == modulus:
            place, ring = (sticker.place if counted else number), sticker.ring
        else:
            place, ring = 0, sticker.ring * modulus + number
        if ring >= MOST_RINGS:
            return None
        stickers.append(replace(sticker, place=place, ring=ring, colour=colour))
    return Net(tuple(stickers))
