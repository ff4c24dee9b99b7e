"""Points that always move together, such as the stickers of a corner, made into one piece that is turned.

Both kinds are found by maps between points that commute with all generators. Such a map is known from the image of one
point: it sends what a product of generators makes of that point to what the product makes of its image.

* A permutation of an orbit that commutes takes each point to the next one on the same piece.
* A map of one orbit into another that commutes tells where the second orbit's points are from where those of the first
  are, as for the two stickers of an edge that is never flipped. The second orbit is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from farthest.families.permutation.assembly import PieceSet, parts
from farthest.families.permutation.fields import MAX_MODULUS
from farthest.families.permutation.moves import Move

MOST_POINTS = 1000
"""Orbits of more points are not compared with each other: that takes time by the square of their number."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The sets of pieces, one for each orbit of the points, and the moves on their slots."""

    sets: list[PieceSet]
    moves: list[Move]


def pieces_of(names: Sequence[str], moves: Sequence[Move]) -> Pieces:
    """The pieces of points with these names; a piece is called by the first of its points in the orbit that is kept.

    Of the ways to make two pieces or more of an orbit's points the one with the fewest is chosen. The states are as
    many as before.
    """
    sets: list[PieceSet] = []
    place: dict[int, tuple[int, int]] = {}
    firsts: list[int] = []
    for orbit in _independent(parts(len(names), moves), moves):
        turn = _turn(orbit, moves)
        here: list[int] = []
        for point in orbit:
            if point not in place:
                here.append(point)
                cycle = _cycle(point, turn)
                place.update((each, (len(firsts) + len(here) - 1, i)) for i, each in enumerate(cycle))
        firsts += here
        modulus = len(orbit) // len(here)
        sets.append(PieceSet("", modulus, tuple((names[point], 0) for point in here)))
    return Pieces(sets, [_on_pieces(move, firsts, place) for move in moves])


def _independent(orbits: Sequence[Sequence[int]], moves: Sequence[Move]) -> list[Sequence[int]]:
    """The orbits without those whose points always move with the points of another one; of two that move with each
    other the first stays."""
    kept = list(orbits)
    if sum(map(len, orbits)) > MOST_POINTS:
        return kept
    for orbit in reversed(orbits):
        others = [other for other in kept if other is not orbit and len(other) % len(orbit) == 0]
        if any(_commuting(other[0], image, moves) is not None for other in others for image in orbit):
            kept.remove(orbit)
    return kept


def _on_pieces(move: Move, firsts: Sequence[int], place: dict[int, tuple[int, int]]) -> Move:
    goes = [place[move.to[point]] for point in firsts]
    return Move(move.name, tuple(slot for slot, _ in goes), tuple(turn for _, turn in goes))


def _cycle(point: int, turn: dict[int, int]) -> list[int]:
    cycle = [point]
    while turn[cycle[-1]] != point:
        cycle.append(turn[cycle[-1]])
    return cycle


def _turn(orbit: Sequence[int], moves: Sequence[Move]) -> dict[int, int]:
    """The permutation of the orbit's points with the longest cycles, all as long, that commutes with all moves."""
    best, longest = {point: point for point in orbit}, 1
    for image in orbit[1:]:
        turn = _commuting(orbit[0], image, moves)
        if turn is not None:
            length = len(_cycle(orbit[0], turn))
            if longest < length <= min(len(orbit) // 2, MAX_MODULUS):
                best, longest = turn, length
    return best


def _commuting(point: int, image: int, moves: Sequence[Move]) -> dict[int, int] | None:
    """The map of the orbit of ``point`` onto that of ``image`` that commutes with all moves; None: there is none."""
    turn, queue = {point: image}, [point]
    for each in queue:
        for move in moves:
            after, expected = move.to[each], move.to[turn[each]]
            if after not in turn:
                turn[after] = expected
                queue.append(after)
            elif turn[after] != expected:
                return None
    return turn
