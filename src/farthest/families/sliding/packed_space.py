"""Sliding puzzles of any size: boards packed into codes, a label for each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.families.sliding.definition import sliding
from farthest.spaces.packed import UNCHANGED, PackedMove, PackedSpace

if TYPE_CHECKING:
    from farthest.spaces.arrangement import ArrangementSpace


def packed_space(space: ArrangementSpace) -> PackedSpace:
    """The packed space of the same puzzle and origin."""
    counts = sliding(space.puzzle).counts
    moves = [
        PackedMove(move.to, [UNCHANGED] * space.cells, move.require, move.forbid) for move in space.moves_away
    ]
    total = sum(label * count for label, count in enumerate(counts))
    return PackedSpace(space, [len(counts)] * space.cells, total, moves, undirected=space.undirected)
