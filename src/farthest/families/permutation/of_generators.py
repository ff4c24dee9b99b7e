"""The puzzle whose moves are given permutations of points.

Points that no generator moves are left out, and orbits whose points always move with those of another. Points of one
orbit that are turned in a cycle are one piece, called by the first of them; each other point is a piece (stickers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from farthest.families.permutation.assembly import PieceSet, assemble, slot_moduli
from farthest.families.permutation.fields import MAX_POINTS, MAX_SLOTS, name_problem
from farthest.families.permutation.moves import MAX_MOVES, Move, listed
from farthest.families.permutation.reach import base
from farthest.families.permutation.stickers import pieces_of
from farthest.puzzles.pattern_maker import others_token

if TYPE_CHECKING:
    from farthest.errors import PuzzleError
    from farthest.families.permutation.definition import Permutation

Generator = tuple[str, Mapping[int, int]]
"""A name, perhaps empty, and the images of the points that are moved, at least one."""


def of_generators(
    generators: Sequence[Generator],
    metric: str,
    fail: Callable[[str], PuzzleError],
    *,
    inverses: bool = True,
) -> Permutation:
    """The puzzle. A generator without a name that can be a move's is called g and its number. ``fail`` makes the error
    of a problem."""
    points = sorted({point for _, images in generators for point in images})
    slot_of = {point: slot for slot, point in enumerate(points)}
    moves = [
        Move(name, tuple(slot_of[images.get(point, point)] for point in points), (0,) * len(points))
        for name, (_, images) in zip(_names([name for name, _ in generators]), generators, strict=True)
    ]
    pieces = pieces_of([str(point) for point in points], moves)
    sets, moduli = pieces.sets, slot_moduli(pieces.sets)
    if len(moduli) > MAX_POINTS:
        raise fail(
            f"the moved points are {len(moduli)} pieces; at most {MAX_POINTS} are possible; take fewer points"
        )
    if len(moduli) > MAX_SLOTS:
        told = _told_by_a_base(sets, pieces.moves)
        if told is None:
            raise fail(
                f"the moved points are {len(moduli)} pieces; at most {MAX_SLOTS} are possible where the order of the "
                "group is more than 4.6e18, or is not found in seconds; take fewer points"
            )
        sets = told
    every = listed(pieces.moves, moduli, metric, inverses=inverses)
    if every is None:
        raise fail(f"more than {MAX_MOVES} moves with all powers; take the metric generator")
    return assemble(sets, every)


def _told_by_a_base(sets: Sequence[PieceSet], moves: Sequence[Move]) -> list[PieceSet] | None:
    """The sets with all pieces alike but those that tell where the others are; None: these are not found in time."""
    slots = [(number, place) for number, each in enumerate(sets) for place in range(len(each.pieces))]
    whole = assemble(sets, moves)
    levels = base(whole, whole.goals[0])
    if levels is None:
        return None
    told = {slots[level.slot] for level in levels}
    others = others_token([token for each in sets for token, _ in each.pieces])
    return [
        replace(
            each,
            pieces=tuple(
                piece if (number, place) in told else (others, 0) for place, piece in enumerate(each.pieces)
            ),
            ignore=frozenset([others]),
        )
        for number, each in enumerate(sets)
    ]


def _names(given: Sequence[str]) -> list[str]:
    names: list[str] = []
    for number, name in enumerate(given, 1):
        names.append(name if name not in names and not name_problem(name) else f"g{number}")
    return names
