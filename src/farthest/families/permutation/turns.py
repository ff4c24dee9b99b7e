"""Turns of a whole puzzle that a piece holds: what its file tells of them, and their group.

A puzzle without fixed parts, such as the 2x2x2 cube, is enumerated with a piece held: boards that are one another
turned as a whole are one state. Its moves then do not show all its symmetries. The turns act on the puzzle's slots and
on further ones behind them, where the held pieces are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.families.permutation.groups import product
from farthest.families.permutation.moves import Move
from farthest.families.permutation.points import Points
from farthest.json_fields import integers, items, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.groups import Permutation as Element

MOST_TURNS = 1_000
"""Ways to turn a whole puzzle."""


@dataclass(frozen=True, slots=True)
class Turns:
    """``held``: for each held piece the number of its orientations. ``moves``: turns that make all; each acts on the
    puzzle's slots, then on those of the held pieces."""

    held: tuple[int, ...]
    moves: tuple[Move, ...]

    def points(self, moduli: Sequence[int]) -> Points:
        """The points of the puzzle's slots, whose orientations are ``moduli``, and of the held ones."""
        return Points((*moduli, *self.held))


def turn_group(turns: Turns, points: Points) -> list[Element] | None:
    """All turns as permutations of the points; None where they are more than ``MOST_TURNS``."""
    unit = tuple(range(len(points.places)))
    moves = [points.element(move.to, move.delta) for move in turns.moves]
    found = {unit: None}
    queue = [unit]
    for element in queue:
        for move in moves:
            after = product(element, move)
            if after not in found:
                found[after] = None
                queue.append(after)
                if len(found) > MOST_TURNS:
                    return None
    return list(found)


def all_moves(moves: Sequence[Element], group: Sequence[Element]) -> list[Element]:
    """The moves, each seen from every side: conjugated by every turn."""
    found: dict[Element, None] = {}
    for turn in group:
        for move in moves:
            image = [0] * len(move)
            for point, after in enumerate(move):
                image[turn[point]] = turn[after]
            found[tuple(image)] = None
    return list(found)


def turns_problem(turns: Turns, moduli: Sequence[int], moves: Sequence[Move]) -> str | None:
    """Why these cannot be the turns of a puzzle with these slots and moves, or None when they can."""
    slots = len(moduli) + len(turns.held)
    points = turns.points(moduli)
    for move in turns.moves:
        if sorted(move.to) != list(range(slots)) or len(move.delta) != slots:
            return f"the turn {move.name} is not a permutation of {slots} slots, those of the held pieces among them"
        for slot, (to, delta) in enumerate(zip(move.to, move.delta, strict=True)):
            if points.moduli[slot] != points.moduli[to] or not 0 <= delta < points.moduli[slot]:
                return f"the turn {move.name} takes a piece to a slot with other orientations"
    group = turn_group(turns, points)
    if group is None:
        return f"they make more than {MOST_TURNS:,} turns of the whole puzzle"
    first = len(points.places) - sum(turns.held)
    homes = {tuple(turn[first:]): turn for turn in group}
    if len(homes) < len(group):
        return "two turns take the held pieces to the same places; hold more pieces"
    held = tuple(range(first, len(points.places)))
    own = [
        points.element((*move.to, *range(len(moduli), slots)), (*move.delta, *[0] * len(turns.held)))
        for move in moves
    ]
    known = set(own)
    back = {tuple(turn.index(point) for point in held): turn for turn in group}
    for seen in all_moves(own, group):
        turn = back.get(tuple(seen[point] for point in held))
        if turn is None or product(seen, turn) not in known:
            return "a move, seen from another side, is none of the moves followed by a turn"
    return None


def turns_from_fields(fields: Any) -> Turns:
    """The turns that had these fields, as JSON gives them. Raises TypeError, KeyError."""
    return Turns(
        held=integers(fields["held"]),
        moves=tuple(
            Move(text(move["name"]), integers(move["to"]), integers(move["delta"]))
            for move in items(fields["moves"])
        ),
    )
