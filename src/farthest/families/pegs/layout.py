"""The key layout of a peg space: which holes are bits of the key, and how the others follow from them.

Jumps keep some parities of holes: sums modulo 2 that each jump changes twice or not at all. Of the boards that agree
with the origin in all of them, as many holes as there are such parities follow from the others: these are *dropped*,
and the others are the bits of the key (docs/key-layout.md). The choices made here change speed, never distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from farthest.errors import StorageError
from farthest.spaces.contract import damaged_layout, layout_json, read_layout

VERSION = 1
LINE_BITS = 9
"""Holes that are told by the place in a line of the kernel."""
LINES, BOARDS = "lines", "boards"
"""Kinds of layout: bits of a class of boards, enumerated by lines of them; or the board itself as a bit mask."""

Changes = Sequence[int]
"""For each jump the bit mask of the holes that it changes."""


class Dropped(NamedTuple):
    """A hole with a peg where an odd number of the bits in ``parity`` of the key are 1; ``flipped``: an even number."""

    hole: int
    parity: int
    flipped: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Bit i of the key is hole ``holes[i]``; all other holes are dropped."""

    holes: tuple[int, ...]
    dropped: tuple[Dropped, ...]

    def to_dict(self) -> dict[str, Any]:
        """As stored with a job."""
        return {"version": VERSION, "kind": LINES, **layout_json(self)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any], holes: int) -> Layout:
        """Inverse of ``to_dict``. ``holes``: of the board. Raises StorageError for damaged or foreign fields."""
        layout = read_layout(fields, cls, VERSION)
        named = sorted((*layout.holes, *(one.hole for one in layout.dropped)))
        if named != list(range(holes)) or any(
            not 0 <= one.parity < 1 << len(layout.holes) for one in layout.dropped
        ):
            raise damaged_layout("it is not one of this board")
        return layout


def kind_of(fields: dict[str, Any]) -> str:
    """The kind of a stored layout. Raises StorageError when it is of another version."""
    if fields.get("version") != VERSION or fields.get("kind") not in (LINES, BOARDS):
        raise StorageError(
            f"stored key layout: version {fields.get('version')!r} of kind {fields.get('kind')!r}, expected version "
            f"{VERSION} of {LINES} or {BOARDS}; the map was written by another version of farthest, use that one"
        )
    return str(fields["kind"])


@lru_cache(maxsize=16)
def parities(holes: int, changes: tuple[int, ...]) -> list[int]:
    """Bit masks of holes, independent of each other, that each jump changes an even number of."""
    pivots = _reduced(changes, range(holes))
    found = []
    for hole in range(holes):
        if hole not in pivots:
            found.append(1 << hole | sum(1 << pivot for pivot, row in pivots.items() if row >> hole & 1))
    return found


def choose_layout(holes: int, changes: Changes, board: int) -> Layout:
    """The layout of the class of ``board``, a bit mask, that is enumerated fast."""
    order = _near_order(holes, changes)
    pivots = _reduced(changes, order)
    bits = {hole: i for i, hole in enumerate(hole for hole in order if hole in pivots)}
    dropped = []
    for hole in order:
        if hole not in pivots:
            needed = [pivot for pivot, row in pivots.items() if row >> hole & 1]
            parity = sum(1 << bits[pivot] for pivot in needed)
            pegs = sum(board >> pivot & 1 for pivot in needed)
            dropped.append(Dropped(hole, parity, bool((board >> hole ^ pegs) & 1)))
    return Layout(tuple(bits), tuple(dropped))


def _reduced(changes: Changes, order: Iterable[int]) -> dict[int, int]:
    """A basis of the sums of changes: for each of its holes of its own, the first ones in ``order`` that there can be,
    the sum that has this hole and none of the others'."""
    rows, pivots = [change for change in changes if change], dict[int, int]()
    for hole in order:
        found = next((row for row in rows if row >> hole & 1), None)
        if found is None:
            continue
        rows = [row ^ found if row >> hole & 1 else row for row in rows]
        rows = [row for row in dict.fromkeys(rows) if row]
        for pivot, row in pivots.items():
            if row >> hole & 1:
                pivots[pivot] = row ^ found
        pivots[hole] = found
    return pivots


_WEIGHTS = (-1, 2, 9, 0)
"""What a triple is worth to each of its holes, by how many of them are in order already."""


def _near_order(holes: int, changes: Changes) -> list[int]:
    """The holes so that the first LINE_BITS hold as many triples of a jump as can be, and few jumps change some of
    them: then the boards of one line have much the same number of pegs, and most lines are empty in a layer."""
    triples = list(dict.fromkeys(changes))
    members = {triple: [hole for hole in range(holes) if triple >> hole & 1] for triple in triples}
    triples_of = [[triple for triple in triples if triple >> hole & 1] for hole in range(holes)]

    def grown(first: int) -> list[int]:
        """The holes from ``first`` on, each the one that joins most triples with those before it."""
        joined = [_WEIGHTS[0] * len(those) for those in triples_of]
        order, inside, left = [first], 0, [hole for hole in range(holes) if hole != first]
        while left:
            for triple in triples_of[order[-1]]:
                before = (triple & inside).bit_count()
                for hole in members[triple]:
                    joined[hole] += _WEIGHTS[before + 1] - _WEIGHTS[before]
            inside |= 1 << order[-1]
            order.append(max(left, key=joined.__getitem__))  # of equals the first
            left.remove(order[-1])
        return order

    def value(order: list[int]) -> tuple[int, int, list[int]]:
        line = sum(1 << hole for hole in order[:LINE_BITS])
        inside = sum(triple & ~line == 0 for triple in triples)
        return -inside, sum(triple & line != 0 for triple in triples), order

    return min(map(grown, range(holes)), key=value)
