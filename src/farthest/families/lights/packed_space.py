"""Lamps of any number: boards packed into codes, a colour for each lamp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.spaces.packed import CONTENTS, UNCHANGED, PackedMove
from farthest.spaces.packed_digits import PackedDigits

if TYPE_CHECKING:
    from farthest.families.lights.boards import LightsBoards


def packed_space(known: LightsBoards) -> PackedDigits:
    """The packed space of the same puzzle and origin: a press leaves all lamps in place, and turns some on."""
    colours, cells = known.definition.colours, range(known.cells)
    turned = [
        bytes((colour + added) % colours if colour < colours else colour for colour in range(CONTENTS))
        for added in range(colours)
    ]
    moves = [
        PackedMove(cells, [turned[added] if lamp in press else UNCHANGED for lamp in cells])
        for _, press, added in known.presses(forward=known.forward(toward=False))
    ]
    return PackedDigits(known, moves)
