"""A puzzle with some of its moves, or sequences of them, as its only moves: ``cube-3x3x3<U,R>``.

Slots that none of the moves touches are left out. Pieces that can be in one orientation only in each slot, such as the
edges of ``<U,R>``, are not turned any more; of their stickers in a net, each is then a ring.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from farthest.families.permutation.assembly import distinct, parts
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.moves import Move
from farthest.families.permutation.net import FIXED, MOST_RINGS, Net, Sticker
from farthest.families.permutation.some_moves_text import read_chosen
from farthest.puzzles.origin_names import WORDS
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from farthest.errors import PuzzleError
    from farthest.puzzles.definition import Board


def with_moves(parent: Puzzle, text: str, fail: Callable[[str], PuzzleError]) -> Puzzle:
    """The puzzle with these moves alone. Raises what ``fail`` makes of a problem."""
    chosen = read_chosen(parent, text, fail)
    definition = _reduced(permutation(parent), chosen.moves, fail)
    return replace(
        parent,
        name=f"{parent.name}<{chosen.text}>",
        title=f"{parent.title}: the moves {chosen.text.replace(',', ', ')} alone",
        source=f"moves of {parent.name}",
        origin=parent.origin if parent.origin.where in WORDS else Origin(),
        known=(),
        definition=definition,
    )


@dataclass(frozen=True, slots=True)
class _Orbit:
    """``slots`` of the parent; ``turned``: of each, the orientation that a piece has there which has 0 in the first of
    them, where that is always the same; else None."""

    slots: tuple[int, ...]
    modulus: int
    turned: tuple[int, ...] | None


def _reduced(parent: Permutation, moves: Sequence[Move], fail: Callable[[str], PuzzleError]) -> Permutation:
    boards = [*parent.goals, *([] if parent.start is None else [parent.start])]
    kept = _touched(parent, moves, boards)
    orbits = [
        _orbit(parent, slots, moves, boards) for slots in parts(parent.slots, moves) if {*slots} <= {*kept}
    ]
    place = {slot: number for number, slot in enumerate(kept)}
    moduli = [1 if orbit.turned is not None else orbit.modulus for orbit in orbits]
    label_of: dict[tuple[int, int], int] = {}
    tokens: list[str] = []
    counts: list[int] = []
    label_orbit: list[int] = []
    ignore: list[bool] = []
    for number, orbit in enumerate(orbits):
        held = Counter(boards[0][slot] for slot in orbit.slots)
        if any(Counter(board[slot] for slot in orbit.slots) != held for board in boards[1:]):
            raise fail(
                "its boards have pieces in places between which these moves carry none; take more moves"
            )
        for label, count in sorted(held.items()):
            label_of[number, label] = len(tokens)
            tokens.append(parent.tokens[label])
            counts.append(count)
            label_orbit.append(number)
            ignore.append(moduli[number] > 1 and parent.ignore[label])
    orbit_of = {slot: number for number, orbit in enumerate(orbits) for slot in orbit.slots}
    oriented = any(modulus > 1 for modulus in moduli)

    def changed(board: Board) -> Board:
        labels = tuple(label_of[orbit_of[slot], board[slot]] for slot in kept)
        if not oriented:
            return labels
        return *labels, *(board[parent.slots + slot] if moduli[orbit_of[slot]] > 1 else 0 for slot in kept)

    name_of = {
        slot: name for slots, name in zip(parent.orbits, parent.orbit_names, strict=True) for slot in slots
    }
    made = [
        Move(
            move.name,
            tuple(place[move.to[slot]] for slot in kept),
            tuple(move.delta[slot] if moduli[orbit_of[slot]] > 1 else 0 for slot in kept),
        )
        for move in moves
    ]
    return Permutation(
        slots=len(kept),
        orbit_names=tuple(name_of[orbit.slots[0]] for orbit in orbits),
        orbits=tuple(tuple(place[slot] for slot in orbit.slots) for orbit in orbits),
        moduli=tuple(moduli),
        tokens=tuple(tokens),
        counts=tuple(counts),
        label_orbit=tuple(label_orbit),
        ignore=tuple(ignore),
        generators=distinct(made, {place[slot]: moduli[orbit_of[slot]] for slot in kept}),
        goals=tuple(dict.fromkeys(changed(goal) for goal in parent.goals)),
        start=None if parent.start is None else changed(parent.start),
        net=None if parent.net is None else _net(parent.net, place, orbits),
    )


def _touched(parent: Permutation, moves: Sequence[Move], boards: Sequence[Board]) -> list[int]:
    """The slots that a move changes, or in which boards differ; all if these are too few for a puzzle."""
    slots = parent.slots
    kept = [
        slot
        for slot in range(slots)
        if any(move.to[slot] != slot or move.delta[slot] for move in moves)
        or len({(board[slot], board[slots + slot] if parent.oriented else 0) for board in boards}) > 1
    ]
    return kept if len(kept) > 1 else list(range(slots))


def _orbit(
    parent: Permutation, slots: tuple[int, ...], moves: Sequence[Move], boards: Sequence[Board]
) -> _Orbit:
    modulus = parent.slot_moduli[slots[0]]
    if modulus == 1:
        return _Orbit(slots, 1, None)
    turned = {slots[0]: 0}
    queue = [slots[0]]
    for slot in queue:
        for move in moves:
            to, turn = move.to[slot], (turned[slot] + move.delta[slot]) % modulus
            if to not in turned:
                turned[to] = turn
                queue.append(to)
    stays = len(turned) == len(slots) and all(
        (turned[slot] + move.delta[slot] - turned[move.to[slot]]) % modulus == 0
        for slot in slots
        for move in moves
    )
    first: dict[int, int] = {}
    for board in boards:
        for slot in slots:
            label, turn = board[slot], (board[parent.slots + slot] - turned.get(slot, 0)) % modulus
            stays = stays and (parent.ignore[label] or first.setdefault(label, turn) == turn)
    rings = (
        max((each.ring for each in parent.net.stickers if each.slot in slots), default=0)
        if parent.net is not None
        else 0
    )
    stays = stays and (rings + 1) * modulus <= MOST_RINGS
    return _Orbit(slots, modulus, tuple(turned[slot] for slot in slots) if stays else None)


def _net(net: Net, place: dict[int, int], orbits: Sequence[_Orbit]) -> Net:
    """The net with other slots. Stickers that no move touches stay as they are on the goal."""
    unturned = {
        slot: (turn, orbit.modulus)
        for orbit in orbits
        for slot, turn in zip(orbit.slots, orbit.turned or (), strict=False)
    }

    def changed(sticker: Sticker) -> Sticker:
        slot = place.get(sticker.slot, FIXED)
        if slot == FIXED:
            return replace(sticker, slot=FIXED, place=0, ring=0)
        if sticker.slot not in unturned:
            return replace(sticker, slot=slot)
        turn, modulus = unturned[sticker.slot]
        ring = sticker.ring * modulus + (sticker.place - turn) % modulus
        return replace(sticker, slot=slot, place=0, ring=ring)

    return Net(tuple(map(changed, net.stickers)))
